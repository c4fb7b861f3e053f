/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/bounds.h"

#include <math.h>

/* Modulo 2^64: stamps are readings of any size and sign, their differences are small. */
static int64_t bounds_difference(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left - (uint64_t)right);
}

void etwas_lab_bounds_add(struct etwas_lab_bounds *bounds, const struct etwas_lab_round *round)
{
    int64_t lowest = bounds_difference(round->answered, round->received);
    int64_t highest = bounds_difference(round->answered, round->sent);

    if (round->received < round->sent) {
        return;
    }
    if (bounds->rounds == 0 ||
        bounds_difference(highest, lowest) <
            bounds_difference(bounds->fastest_highest, bounds->fastest_lowest)) {
        bounds->fastest_lowest = lowest;
        bounds->fastest_highest = highest;
    }
    if (bounds->rounds == 0 || lowest > bounds->lowest) {
        bounds->lowest = lowest;
    }
    if (bounds->rounds == 0 || highest < bounds->highest) {
        bounds->highest = highest;
    }
    bounds->rounds++;
}

static double bounds_middle(int64_t lowest, int64_t highest)
{
    return (double)lowest + (double)bounds_difference(highest, lowest) / 2;
}

static double bounds_half_width(int64_t lowest, int64_t highest)
{
    return (double)bounds_difference(highest, lowest) / 2;
}

void etwas_lab_bounds_report(const struct etwas_lab_bounds *bounds, double tick_ns, double quantum,
                             etwas_clock_offset *offset)
{
    double centre = bounds_middle(bounds->lowest, bounds->highest);
    double bound = bounds_half_width(bounds->lowest, bounds->highest) + quantum;

    if (bound < 0) {
        /*
         * The ends have changed sides: some rounds say at most `highest`, others at least `lowest`.
         */
        centre = bounds_middle(bounds->fastest_lowest, bounds->fastest_highest);
        bound = fmax(centre - (double)bounds->highest, (double)bounds->lowest - centre) +
                bounds_half_width(bounds->fastest_lowest, bounds->fastest_highest) + quantum;
    }
    offset->offset_ns = centre * tick_ns;
    offset->bound_ns = bound * tick_ns;
    offset->rounds = bounds->rounds;
}
