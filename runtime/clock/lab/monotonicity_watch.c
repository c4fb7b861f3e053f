/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/monotonicity.h"

static uint64_t watch_larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static void watch_add_equal(struct etwas_lab_monotonicity_watch *watch, int64_t before,
                            uint64_t limit)
{
    uint64_t stood = (uint64_t)before - (uint64_t)watch->since;

    /* A reference that ran backwards itself is of no use. */
    if (before <= watch->since || stood <= limit) {
        return;
    }
    if (!watch->stalled) {
        watch->stalled = true;
        watch->stalls++;
    }
    watch->longest_stall = watch_larger(watch->longest_stall, stood);
}

void etwas_lab_monotonicity_watch_add_reading(struct etwas_lab_monotonicity_watch *watch,
                                              int64_t before, int64_t stamp, int64_t after,
                                              uint64_t limit)
{
    watch->readings++;
    if (watch->begun && stamp == watch->last) {
        watch_add_equal(watch, before, limit);
        return;
    }
    if (watch->begun && stamp < watch->last) {
        watch->backward++;
        watch->largest_backward =
            watch_larger(watch->largest_backward, (uint64_t)watch->last - (uint64_t)stamp);
    }
    watch->begun = true;
    watch->stalled = false;
    watch->last = stamp;
    watch->since = after;
}

void etwas_lab_monotonicity_watch_merge(struct etwas_lab_monotonicity_watch *to,
                                        const struct etwas_lab_monotonicity_watch *from)
{
    to->readings += from->readings;
    to->backward += from->backward;
    to->largest_backward = watch_larger(to->largest_backward, from->largest_backward);
    to->stalls += from->stalls;
    to->longest_stall = watch_larger(to->longest_stall, from->longest_stall);
}
