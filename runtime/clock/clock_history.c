/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/clock_reading.h"

#include <ck_pr.h>
#include <string.h>

uint64_t etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;

void etwas_clock_history_begin(struct etwas_clock_history *history,
                               const struct etwas_clock_reading *started)
{
    history->readings[0] = *started;
    ck_pr_fence_release();
    ck_pr_store_32(&history->count, 1);
}

/* Drops every second reading of the older half. The first one stays. */
static void clock_history_thin(struct etwas_clock_history *history)
{
    const uint32_t half = ETWAS_CLOCK_HISTORY_READINGS / 2;
    uint32_t kept = 1;

    ck_pr_inc_32(&history->thins_begun);
    ck_pr_fence_memory();
    for (uint32_t index = 2; index < half; index += 2) {
        history->readings[kept++] = history->readings[index];
    }
    memmove(&history->readings[kept], &history->readings[half],
            (history->count - half) * sizeof *history->readings);
    ck_pr_store_32(&history->count, history->count - (half - kept));
    ck_pr_fence_memory();
    ck_pr_inc_32(&history->thins_ended);
}

void etwas_clock_history_add(struct etwas_clock_history *history,
                             const struct etwas_clock_reading *reading)
{
    if (history->count == ETWAS_CLOCK_HISTORY_READINGS) {
        clock_history_thin(history);
    }
    history->readings[history->count] = *reading;
    /* the reading is complete before it counts; pairs with etwas_clock_history_copy */
    ck_pr_fence_release();
    ck_pr_store_32(&history->count, history->count + 1);
}

void etwas_clock_history_copy(struct etwas_clock_history *copy,
                              const struct etwas_clock_history *history)
{
    uint32_t ended = ck_pr_load_32(&history->thins_ended);
    uint32_t count;

    ck_pr_fence_acquire();
    count = ck_pr_load_32(&history->count);
    count = count < ETWAS_CLOCK_HISTORY_READINGS ? count : ETWAS_CLOCK_HISTORY_READINGS;
    ck_pr_fence_acquire();
    memcpy(copy->readings, history->readings, count * sizeof *copy->readings);
    ck_pr_fence_acquire();
    /* The copy is consistent only if every thinning begun by now had ended before it. */
    copy->count = ck_pr_load_32(&history->thins_begun) == ended || count == 0 ? count : 1;
}
