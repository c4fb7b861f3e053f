/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of cutting share: files with numbered events of several threads, and all of a file
 * shipped in random steps.
 */
#ifndef ETWAS_TESTS_TOOLS_SHIP_WHOLE_H
#define ETWAS_TESTS_TOOLS_SHIP_WHOLE_H

#include "ship_scene.h"

#include <pthread.h>

enum {
    MOST_EVENTS = 60000,
    WRITERS = 3,
};

extern const struct etwas_ship_limits whole; /* of a block that is all of a small file */
extern const struct etwas_ship_position beginning;

etwas_session_options sequential(void);

/* Below `below`. */
uint32_t draw(uint32_t below);

/* ---- writing --------------------------------------------------------------------------------- */

/* One of the threads that write: events of the numbers from `first` on. */
struct work {
    pthread_t thread;
    etwas_trace_handle session;
    uint64_t first;
    uint32_t events;
    bool has_time; /* it takes some seconds */
};

/* All of them, each with so many events. */
void begin_work(struct work work[WRITERS], etwas_trace_handle session, uint32_t events,
                bool has_time);
void end_work(struct work work[WRITERS]);

/* A session from its start to its end. */
void write_file(const char *path, const etwas_session_options *options, uint32_t events,
                etwas_session_counts *counts);

/* ---- reading --------------------------------------------------------------------------------- */

struct etwas_ship_file *open_file(const char *path);

/* What was shipped of one file, or several of a session. */
struct shipped {
    uint8_t seen[MOST_EVENTS]; /* by number */
    uint64_t events;
    uint64_t decoded;    /* of these, have fields, */
    uint64_t told;       /* and are called scene/Late/Told */
    uint64_t by_buffers; /* of state 0 */
    uint64_t last_buffer;
    uint32_t next_pos;
    uint64_t buffer_rows;
    uint64_t largest_number;
    uint64_t recorded; /* of states 1 */
    uint64_t lost;
    uint64_t ended;
};

struct shipped *shipped_new(void);

/* Fails the test unless the events of each buffer follow one another. */
void take_block(struct shipped *shipped, const struct etwas_ship_block *block);
void take_buffers(struct shipped *shipped, const struct etwas_columns *buffers);

/* Fails the test unless a process that knows nothing but the bounds makes the same bytes. */
void expect_again(const char *path, const struct etwas_ship_bounds *bounds, const uint8_t *bytes,
                  size_t count);

struct etwas_ship_limits some_limits(void);

/* All of a finished file, in random steps, with another process now and then, and its end. */
void ship_file(struct shipped *shipped, const char *path);

/*
 * All that was recorded, each of the numbers up to `events` at most once, and totals that say so.
 */
void expect_all(const struct shipped *shipped, const etwas_session_counts *counts, uint32_t events);

#endif
