/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_TIMES_H
#define ETWAS_TOOLS_SHIP_READ_TIMES_H

/*
 * The wall clock of a block. While its records are read, some of their stamps are converted by the
 * clocks' readings; lines between a few of these then convert all of them. The lines are kept with
 * the block, since a file that has grown may have more readings, and fewer of the old ones.
 */

#include "ship/read/block.h"

#include <etwas/etwas.h>

#include <stddef.h>

struct etwas_ship_sample {
    int64_t raw;
    int64_t unix_ns;
};

/* All zeroes: none. Memory is kept for the next block. */
struct etwas_ship_samples {
    struct etwas_ship_sample *at;
    size_t count;
    size_t capacity;
    uint64_t error_ns; /* the largest; UINT64_MAX: not known */
    bool failed;       /* no memory, or the file cannot be asked */
};

void etwas_ship_samples_begin(struct etwas_ship_samples *samples);
void etwas_ship_samples_free(struct etwas_ship_samples *samples);

/*
 * Converts stamps of one buffer, in their order, while `trace` knows the readings beside them.
 * Stamps that are within `near` ticks of the previous and the next one may be left to the time
 * segments.
 */
void etwas_ship_samples_take(struct etwas_ship_samples *samples, etwas_trace_handle trace,
                             const int64_t *stamps, size_t count, uint64_t near);

/* A FILETIME as ns since 1970. False: it does not fit, and *unix_ns is the nearest that does. */
bool etwas_ship_unix_ns(int64_t filetime, int64_t *unix_ns);

/*
 * The wall clock in nanoseconds since 1970, as the trace knows it now. False: it cannot be asked.
 */
bool etwas_ship_wall_clock(etwas_trace_handle trace, int64_t raw, int64_t *unix_ns,
                           uint64_t *error_ns);

/* Makes the lines. `samples` are sorted by it. */
void etwas_ship_times_make(struct etwas_ship_samples *samples, struct etwas_ship_times *times);

/* Can they be used? They come from a file. */
bool etwas_ship_times_are_sound(const struct etwas_ship_times *times);

/* Replaces raw stamps by times. What lies outside of the points goes on as the line beside it. */
void etwas_ship_times_convert(const struct etwas_ship_times *times, int64_t *stamps, size_t count);

#endif
