/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Interrupting restartable sequences at a chosen step and point: the library's tests link with
 * etwas_rseq_run wrapped, so that it is known which step is about to run, and the trap of
 * platform/rseq.h is set for that one.
 */
#ifndef ETWAS_BUFFER_INTERRUPT_H
#define ETWAS_BUFFER_INTERRUPT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/start.h"

/* The steps of publish_rseq.c, quick_rseq.h and switch_rseq.c. */
enum sequence_step {
    STEP_PUBLISH,
    STEP_QUICK,
    STEP_CLAIM,
    STEP_ADOPT,
    STEP_CLOSE,
    STEP_GROW,
    STEP_LOST,
    STEPS
};

enum {
    MOST_POINTS = 5,
    FIRST_QUICK_POINT = 16,
    TAKE_TURNS = UINT8_MAX
};

/*
 * The points of a step are numbered from 1, as in platform/rseq.h: those of the general sequence 1
 * to 4, and 5 where something long is copied. Point 0 is not in the sequence: everything is
 * prepared, and it is about to begin.
 */
uint32_t sequence_first_point(enum sequence_step step);
uint32_t sequence_last_point(enum sequence_step step);

/* Whether this build has the step, and sessions of this mode take it. */
bool sequence_happens(enum sequence_step step, bool buffering);

const char *sequence_step_name(enum sequence_step step);

/* Which sequences of a thread are interrupted, and what the handler does there. */
struct interruptions {
    etwas_trace_handle session;
    enum sequence_step step;
    uint32_t point; /* only this one; TAKE_TURNS: all */
    uint32_t skip;  /* so many times the step is left alone first */
    uint32_t most;  /* 0: no limit */
    bool always;    /* also the next attempt, and the one after it; otherwise every second */
    void (*act)(void *context);
    void *context;

    /* The result: how often each point was interrupted. */
    uint32_t fired[MOST_POINTS + 1];
    uint32_t total;
    /* Working. */
    const struct etwas_pool *pool;
    uint32_t seen;
    uint32_t armed; /* one more than the point, while the trap is set for it; 0: none */
};

/* For main: an argument is the name of the only test to run, with * for any letters. */
void choose_tests(int argument_count, char **arguments);

/* Skips the test by name where sequences cannot run. */
void skip_without_sequences(void);

/* Handles SIGTRAP for the process. Call before the first interruption. */
void interruptions_prepare(void);

/*
 * For the calling thread, until interruptions_end. The session runs. For STEP_PUBLISH the process
 * has no quick way meanwhile but that of TraceEventInstance.
 */
void interruptions_begin(struct interruptions *interruptions);
void interruptions_end(void);

/*
 * Sets the trap for the quick sequences, which cannot be wrapped. Before each event; does nothing
 * for other steps.
 */
void interruptions_arm_quick(void);

/* How many sequences of the whole process were aborted since the last call, quick ones excepted. */
uint64_t sequences_aborted(void);

/* As expect_file_is_exact, by ProcessTrace alone, which takes less time. */
void expect_file_reads_back(etwas_trace_handle session, const char *path,
                            const etwas_session_counts *counts);

/* Takes a snapshot of a recorder nobody writes to: it holds exactly what the counts say. */
void expect_recorder_is_exact(etwas_trace_handle session, const char *path);

/* ---- the place of sessions ------------------------------------------------------------------- */

/*
 * Leaves one free place in the session table, so that each session takes the place of the one
 * before. The sessions that fill the others are stopped by entries_empty.
 */
void entries_fill(void);
void entries_empty(void);

#endif
