/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that logs numbers and is killed, and what is recovered of it.
 */
#ifndef ETWAS_TESTS_RECOVER_CRASH_H
#define ETWAS_TESTS_RECOVER_CRASH_H

#include <etwas/etwas.h>

#include "session/fixture.h"

enum {
    CRASH_THREADS = 4
};

/*
 * In memory that the parent shares with the child, for what the child has been told was recorded.
 */
struct crash_progress {
    uint64_t logged[CRASH_THREADS]; /* so many numbers of each thread have been recorded */
    uint32_t is_ready;              /* stored by the child when its session runs */
    char path[4096];                /* where its buffers are */
};

struct crash_progress *crash_progress_new(void);
void crash_progress_free(struct crash_progress *progress);

/* The number that a thread logs as its nth: they are those of one thread, in order. */
uint64_t crash_number(uint32_t thread, uint64_t nth);

/*
 * A child that starts a session with these options, says so, and logs from `threads` threads until
 * it is killed. Its runtime folder is the test's. `file`: of its log file; NULL: none.
 */
int crash_child(const etwas_session_options *options, const char *file, uint32_t threads,
                struct crash_progress *progress);

/* The same; its first thread does this meanwhile. */
int crash_child_that(const etwas_session_options *options, const char *file, uint32_t threads,
                     struct crash_progress *progress,
                     void (*meanwhile)(etwas_trace_handle session));

/* Waits until each of its threads has logged so many, or kills it and fails. */
void crash_await(int child, const struct crash_progress *progress, uint32_t threads,
                 uint64_t count);

void crash_kill(int child);

/* Returns how many events all its threads have logged. */
uint64_t crash_logged(const struct crash_progress *progress);

/* Recovers the mapping at this path, and removes it. Asserts success. */
void crash_recover(const char *source, const char *output, etwas_recovered *recovered);

/* The path of a part of the set log%d.etl, from 1 on; valid until the test ends. */
const char *crash_part(uint32_t part);

/*
 * What the files have of each thread's numbers: none twice, and none that was not logged. All of
 * them, but in a recorder, whose older ones are overwritten. NULL: there is no such file; with %d:
 * the set that crash_part names.
 */
void crash_expect(const char *recovered, const char *log_file,
                  const struct crash_progress *progress, uint32_t threads, bool is_recorder);

#endif
