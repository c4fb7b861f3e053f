/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tests of several programs: children of the test, which take part with ETWAS_SHARED in a runtime
 * folder of their own and tell each other on a board how far they are.
 */
#ifndef ETWAS_TESTS_SHARING_PROGRAMS_H
#define ETWAS_TESTS_SHARING_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/fixture.h"

enum {
    MOST_SESSIONS = 64 /* that processes share */
};

/* In memory that all processes of a test share; all 0 at first. */
struct board {
    uint32_t registered; /* so many providers are */
    uint32_t enabled;    /* their callbacks were called so often, to enable … */
    uint32_t disabled;   /* … to disable … */
    uint32_t captured;   /* … and for their state */
    uint32_t level;      /* with this */
    uint64_t keyword;
    uint32_t logged;  /* so many events were recorded … */
    uint32_t lost;    /* … lost, and counted … */
    uint32_t refused; /* … or had no session */
    uint32_t end;     /* the providers shall end */
    int32_t process;  /* of the provider that logged last */
    uint32_t steps;   /* how far a test's own programs are */
    uint32_t go;      /* how far they may go */
};

extern struct board *board;

/*
 * cmocka's setup and teardown of a group: the runtime folder, which a process has as long as it
 * lives, so all tests of a program share it. And of a test: a board, and a folder for its files.
 */
int programs_begin_all(void **state);
int programs_end_all(void **state);
int programs_begin(void **state);
int programs_end(void **state);

/* All 0, for all processes of a test, until it is unmapped; NULL: there is none. */
void *shared_memory(size_t bytes);

#define PROGRAMS_TEST(test) cmocka_unit_test_setup_teardown(test, programs_begin, programs_end)

/* Until the count is so much, 100 s at most. */
bool comes_to(const uint32_t *count, uint32_t wanted);

/* A child that runs this and exits with what it returns. */
int start_program(int (*run)(void));

/* Returns the session that enables the classic provider of this process, 0 if none does. */
uint64_t enabling_session(void);

/* Registers a classic provider that says on the board what its callback hears. */
etwas_trace_handle register_provider(const etwas_guid *control);

/*
 * The same with a modern one, of this group; NULL: of none. When it is asked for its state it
 * writes an event with RUNDOWN. One a process.
 */
uint64_t register_modern(const etwas_guid *provider, const etwas_guid *group);

/*
 * Logs the number into the session that enables the classic provider of this process. A host may
 * answer after a registration has stopped to wait for it, and a flusher may have no processor. So
 * what is lost is counted in board->lost, and logged again.
 */
void log_until_recorded(uint64_t number);

/*
 * EventWrite of its number and this process's id, with this id; level and keyword 1. What is lost
 * is tried again, too.
 */
void write_modern(uint64_t provider, uint16_t id, uint64_t number);

#define RUNDOWN 7777u

/*
 * A program: registers control_guid, logs numbers one after the other while it is enabled, until
 * board->end.
 */
int logging_program(void);

/* A program: registers control_guid and logs nothing until board->end. */
int idle_program(void);

/* Kills it, and waits for it. */
void kill_program(int program);

/* A session of this name with a file in the test's folder. */
etwas_trace_handle start_in_file(const char *name, const char *file);

/* StopTraceA; fails the test when that fails. Returns how many events the session has lost. */
uint32_t stop_by_handle(etwas_trace_handle session);

/* QueryAllTracesA: how many sessions it finds. */
uint32_t query_all(uint32_t *count);

uint32_t enable_with_timeout(etwas_trace_handle session, const etwas_guid *provider,
                             uint32_t timeout_ms);

/* Returns how many files are in the runtime folder. */
uint32_t count_runtime_files(void);

#endif
