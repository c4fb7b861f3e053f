/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/history.h"

#include <string.h>

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_clock_knot_interval_ns = ETWAS_CLOCK_KNOT_INTERVAL_NS;
#endif

void etwas_clock_history_begin(struct etwas_clock_history *history,
                               const struct etwas_clock_reading *started)
{
    history->readings[0] = *started;
    history->count = 1;
}

/* The start's stays, and of the older half behind it every second. */
static void thin(struct etwas_clock_history *history)
{
    const uint32_t half = ETWAS_CLOCK_HISTORY_READINGS / 2;
    uint32_t kept = 1;

    for (uint32_t index = 2; index < half; index += 2) {
        history->readings[kept++] = history->readings[index];
    }
    memmove(&history->readings[kept], &history->readings[half],
            (history->count - half) * sizeof *history->readings);
    history->count -= half - kept;
}

void etwas_clock_history_add(struct etwas_clock_history *history,
                             const struct etwas_clock_reading *reading)
{
    if (history->count == ETWAS_CLOCK_HISTORY_READINGS) {
        thin(history);
    }
    history->readings[history->count++] = *reading;
}
