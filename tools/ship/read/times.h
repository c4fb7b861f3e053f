/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_TIMES_H
#define ETWAS_TOOLS_SHIP_READ_TIMES_H

/*
 * The times of a block. While its records are read, some of their stamps are converted by the clock
 * readings. Straight lines between a few of these samples then convert all stamps. The lines are
 * stored with the block, since a file that has grown may have more readings, and fewer of the old
 * ones.
 */

#include "ship/read/block.h"

#include <etwas/etwas.h>

#include <stddef.h>

struct etwas_ship_sample {
    int64_t raw;
    int64_t unix_ns;
};

/* Zeroed: no samples. The memory is reused for the next block. */
struct etwas_ship_samples {
    struct etwas_ship_sample *at;
    size_t count;
    size_t capacity;
    uint64_t error_ns; /* the largest; UINT64_MAX: unknown */
    bool failed;       /* no memory, or a stamp could not be converted */
};

void etwas_ship_samples_begin(struct etwas_ship_samples *samples);
void etwas_ship_samples_free(struct etwas_ship_samples *samples);

/*
 * Samples stamps of one buffer, in their order, while `trace` knows the readings around them.
 * Stamps within `near` ticks of the previous and the next one may be left to the lines.
 */
void etwas_ship_samples_take(struct etwas_ship_samples *samples, etwas_trace_handle trace,
                             const int64_t *stamps, size_t count, uint64_t near);

/*
 * Converts a FILETIME to ns since 1970. Returns false if it does not fit; *unix_ns is then the
 * nearest value that does.
 */
bool etwas_ship_unix_ns(int64_t filetime, int64_t *unix_ns);

/*
 * Converts a stamp to ns since 1970, as the trace knows the clocks now. Returns false if it cannot
 * be converted.
 */
bool etwas_ship_wall_clock(etwas_trace_handle trace, int64_t raw, int64_t *unix_ns,
                           uint64_t *error_ns);

/* Makes the lines. Sorts `samples`. */
void etwas_ship_times_make(struct etwas_ship_samples *samples, struct etwas_ship_times *times);

/* Returns whether the lines are usable. They may come from a damaged cursor. */
bool etwas_ship_times_are_sound(const struct etwas_ship_times *times);

/* Replaces raw stamps by times. Stamps outside the points are converted by the nearest line. */
void etwas_ship_times_convert(const struct etwas_ship_times *times, int64_t *stamps, size_t count);

#endif
