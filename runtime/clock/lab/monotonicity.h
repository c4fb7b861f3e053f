/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Watches one source in one thread: whether it runs backwards or stands still. */
#ifndef ETWAS_CLOCK_LAB_MONOTONICITY_H
#define ETWAS_CLOCK_LAB_MONOTONICITY_H

#include <stdbool.h>
#include <stdint.h>

/* Begins zeroed. Values are ticks of the source, or of the reference if a comment says so. */
struct etwas_lab_monotonicity_watch {
    bool begun;
    bool stalled; /* the current value was already counted as a stall */
    int64_t last;
    int64_t since; /* by the reference: when that value was read first */
    uint64_t readings;
    uint64_t backward;
    uint64_t largest_backward;
    uint64_t stalls;
    uint64_t longest_stall; /* by the reference */
};

/*
 * Adds one reading: the source showed `stamp` between the reference's `before` and `after`. A stamp
 * that does not change for more than `limit` ticks of the reference is a stall. Only the certain
 * part of that time counts: from the end of the first reading to the beginning of the last.
 */
void etwas_lab_monotonicity_watch_add_reading(struct etwas_lab_monotonicity_watch *watch,
                                              int64_t before, int64_t stamp, int64_t after,
                                              uint64_t limit);

/* Adds the counts of `from` to `to`, which continues from its own last stamp. */
void etwas_lab_monotonicity_watch_merge(struct etwas_lab_monotonicity_watch *to,
                                        const struct etwas_lab_monotonicity_watch *from);

#endif
