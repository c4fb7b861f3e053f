/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/timeline.h"

#include <string.h>

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_clock_knot_interval_ns = ETWAS_CLOCK_KNOT_INTERVAL_NS;
#endif

void etwas_clock_timeline_begin(struct etwas_clock_timeline *timeline,
                                const struct etwas_clock_reading *started)
{
    timeline->readings[0] = *started;
    timeline->count = 1;
}

/* The start's stays, and of the older half behind it every second. */
static void thin(struct etwas_clock_timeline *timeline)
{
    const uint32_t half = ETWAS_CLOCK_TIMELINE_READINGS / 2;
    uint32_t kept = 1;

    for (uint32_t index = 2; index < half; index += 2) {
        timeline->readings[kept++] = timeline->readings[index];
    }
    memmove(&timeline->readings[kept], &timeline->readings[half],
            (timeline->count - half) * sizeof *timeline->readings);
    timeline->count -= half - kept;
}

void etwas_clock_timeline_add(struct etwas_clock_timeline *timeline,
                              const struct etwas_clock_reading *reading)
{
    if (timeline->count == ETWAS_CLOCK_TIMELINE_READINGS) {
        thin(timeline);
    }
    timeline->readings[timeline->count++] = *reading;
}
