/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events of the class Process for tests, and programs that cause them.
 */
#ifndef ETWAS_TESTS_SYSTEM_PROCESS_EVENTS_H
#define ETWAS_TESTS_SYSTEM_PROCESS_EVENTS_H

#include "system/kernel_fixture.h"

enum {
    PROCESSES = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    SID_AT = 36 + 16,
    NAME_AT = SID_AT + 16,
};

/* The next event from there on of a process; NULL: no other. */
const struct event *next_of(const struct events *events, size_t *at, uint32_t process_id);

uint8_t type_of(const struct event *event);
const char *name_of(const struct event *event);
uint32_t flags_of(const struct event *event);

/* Its beginning, and of ASCII alone. */
const char *command_line_of(const struct event *event);

/* A letter for each event of a process: Start, End, DCStart, DCEnd, exec. */
const char *types_of(const struct events *events, uint32_t process_id);
void expect_types(const struct events *events, uint32_t process_id, const char *expected);

/* All of it but for what is of the event itself. */
void expect_same_process(const struct event *one, const struct event *other);

/* Checks, in the order of the file, that no process begins twice, or ends without a beginning. */
void expect_whole_lives(const struct events *events);

/* ---- the logger's pace ----------------------------------------------------------------------- */

/* While this is 1 the rings are not read. */
extern uint32_t keep_rings_full;

/* The third time that begins follows one that began after now, and is over. */
void await_drains(void);

/* Starts a session and waits until it has emitted the processes that exist. */
etwas_trace_handle start_processes(void);

/* ---- programs -------------------------------------------------------------------------------- */

struct program {
    pid_t process_id;
    int input;
};

/* A shell with this argument, which waits for its input to end. Returns when it runs. */
struct program run_program(const char *argument);
void end_program(const struct program *program);

#endif
