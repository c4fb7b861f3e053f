/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of a process without privileges that records itself.
 */
#ifndef ETWAS_TESTS_SYSTEM_OWN_FIXTURE_H
#define ETWAS_TESTS_SYSTEM_OWN_FIXTURE_H

#include "system/kernel_fixture.h"

/* What the child says of itself: in memory that both have. */
struct own_facts {
    uint32_t process_id;
    uint32_t thread_id; /* the thread that does the work */
    etwas_session_counts counts;
    int64_t begin_ns; /* of the work, CLOCK_MONOTONIC_RAW */
    int64_t end_ns;
    uint64_t numbers[64]; /* of the work's */
};

extern struct own_facts *own_facts;

/* Where events can be written by a child that is nobody. */
void open_folder(void);

/* In a child that is to be nobody: becomes it, and wants sessions of its own process. */
void become_own(void);

/* In a child: starts the NT Kernel Logger; it has this rung. */
etwas_trace_handle start_own(uint32_t flags, uint32_t rung);

/* In a child: stops it; nothing was lost but for lack of room in the kernel. */
void stop_own(etwas_trace_handle session);

/* Whether the kernel lets a process without privileges have perf events of its own. */
bool nobody_sees_itself(void);

/*
 * A child that is nobody does the work while a session of its own process records: the events of
 * its file. All that was recorded is in it; skipped where the kernel lost something on a loaded
 * machine, and where it refuses.
 */
void record_own(uint32_t flags, void (*work)(etwas_trace_handle session), struct events *events);

/* For a child that has stopped its session. */
void read_own(struct events *events);

/* Whether the event is of the work's time. */
bool is_in_work(const struct event *event);

/* For main: 77, and says why, where nobody may see even himself. */
int run_own_tests(const char *name, const struct CMUnitTest *tests, size_t count);
#define RUN_OWN_TESTS(name, tests) run_own_tests(name, tests, sizeof(tests) / sizeof *(tests))

#endif
