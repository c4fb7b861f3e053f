/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Watches one source in one thread: does it run backwards, does it stand still? */
#ifndef ETWAS_CLOCK_LAB_MONOTONICITY_H
#define ETWAS_CLOCK_LAB_MONOTONICITY_H

#include <stdbool.h>
#include <stdint.h>

/* Starts zeroed. In ticks of the source, and of the reference where it says so. */
struct etwas_lab_monotonicity_watch {
    bool begun;
    bool stalled; /* the value that stands now is a stall already counted */
    int64_t last;
    int64_t since; /* by the reference, when that value had been read first */
    uint64_t readings;
    uint64_t backward;
    uint64_t largest_backward;
    uint64_t stalls;
    uint64_t longest_stall; /* by the reference */
};

/*
 * One reading: the source read `stamp` after the reference read `before` and before it read
 * `after`. Equal stamps that stand for more than `limit` ticks of the reference are a stall: what
 * is certain of that time counts, from the end of the first reading to the beginning of the last.
 */
void etwas_lab_monotonicity_watch_add_reading(struct etwas_lab_monotonicity_watch *watch,
                                              int64_t before, int64_t stamp, int64_t after,
                                              uint64_t limit);

/* Adds what `from` has counted to `to`, which goes on from where it is. */
void etwas_lab_monotonicity_watch_merge(struct etwas_lab_monotonicity_watch *to,
                                        const struct etwas_lab_monotonicity_watch *from);

#endif
