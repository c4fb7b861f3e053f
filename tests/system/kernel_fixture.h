/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the tests of the system logger: its sessions, their files, and events to record.
 */
#ifndef ETWAS_TESTS_SYSTEM_KERNEL_FIXTURE_H
#define ETWAS_TESTS_SYSTEM_KERNEL_FIXTURE_H

#include <etwas/KernelTraceControl.h>
#include <pthread.h>
#include <sys/types.h>

#include "session/fixture.h"
#include "system/attempts.h"

enum {
    THREAD_START = 1,
    THREAD_END = 2,
    RUNDOWN_START = 3,
    RUNDOWN_END = 4,
    SWITCH = 36,
    HANDOVERS = 2000,
    FLAGS = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

extern const etwas_guid thread_class;
extern const etwas_guid perf_info_class;

/* The NT Kernel Logger with these EnableFlags, into k.etl of the test's folder, with clock QPC. */
void prepare_kernel_block(struct block *block, uint32_t flags);
etwas_trace_handle start_kernel(uint32_t flags);

/* The same, with ExcludeKernelStack. */
etwas_trace_handle start_without_kernel_stacks(uint32_t flags);

/* Asserts what the update answers. */
void update_kernel_flags(etwas_trace_handle session, uint32_t flags, uint32_t code);

/* EnableFlags that the session says. */
uint32_t kernel_flags_of(etwas_trace_handle session);

/* Returns the number at an offset of the payload. */
uint32_t u32_at(const struct event *event, size_t offset);
uint64_t u64_at(const struct event *event, size_t offset);

bool is_kernel_event(const struct event *event, const etwas_guid *class_guid, uint8_t type);
uint32_t processor_of(const struct event *event);

/* What the logger says of its own: accounts, and when the kernel lost what. */
bool is_account(const struct event *event);

/* Events of a type whose payload says this process, and this thread unless it is 0. */
uint32_t count_threads(const struct events *events, uint8_t type, uint32_t process_id,
                       uint32_t thread_id);

/*
 * Stops it; what was recorded is in the file, and nothing was lost. Where the kernel lost events
 * the test begins again, or is skipped at last: skip_if_lost.
 */
void read_and_account(etwas_trace_handle session, struct events *events);

/* The same, but for what the kernel lost: returns how much. */
uint64_t read_with_loss(etwas_trace_handle session, struct events *events);

/*
 * What a process needs to see the whole system's events, bit by bit: CAP_PERFMON and to read
 * tracefs. Debian's kernels want CAP_SYS_ADMIN while perf_event_paranoid is above 2, as they come.
 */
uint64_t monitoring_capabilities(void);

/* In a child of root's: becomes nobody, with these capabilities alone. */
bool become_nobody_with(uint64_t capabilities);

/* In a child of root's, which becomes nobody itself: 0 is well. Skipped where this is not root. */
void expect_as_nobody(int (*run)(void));

/* A process with two threads more, until it ends. */
pid_t run_child(void);

/* A thread on the caller's processor that waits for requests and answers each. */
struct echo {
    int request[2];
    int answer[2];
    pthread_t thread;
    uint32_t thread_id;
};

/* Starts the echo server and sends one request, so that it is ready. */
void begin_echo(struct echo *echo);
void ask_echo(struct echo *echo);
void end_echo(struct echo *echo);

/*
 * Two threads on one processor that wake each other HANDOVERS times: each request and each answer
 * is a switch at least. The id of the one that was begun.
 */
uint32_t hand_over(void);

/* Until an event found no buffer: its flusher has to wait meanwhile. */
void hand_over_until_no_buffer(etwas_trace_handle session);

/* A thread of this process; 0: there is none. */
uint32_t thread_called(const char *name);

/* NULL, or why there is nothing to test. */
const char *why_no_kernel_events(void);

/* For main: 77, and says why, where the machine lets nobody see. */
int run_kernel_tests(const char *name, const struct CMUnitTest *tests, size_t count);
#define RUN_KERNEL_TESTS(name, tests) run_kernel_tests(name, tests, sizeof(tests) / sizeof *(tests))

#endif
