/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a reading costs while its code and data are in the caches: each alone, from a fence before
 * it to a fence after it, and in rows, where readings may overlap.
 *
 * The timing takes about as long as what it times. Its own cost is measured in turn with the
 * readings, so that both see the same machine, and the mean of it is subtracted: the timer counts
 * in steps that may be as long as a reading, so a single difference is inexact, but the mean of
 * many is right.
 */
#include <math.h>
#include <stdlib.h>

#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"
#include "clock/lab/tally.h"

enum {
    CHUNK = 256, /* readings between two checks of the time */
    EMPTY_CHUNK = 64,
    FEWEST = 4096,
    MOST = 65536, /* enough for quantiles of one in a thousand, and quickly sorted */
    NS_FOR_EACH = 256,
    ROWS = 512,
};

struct room {
    double readings[MOST];
    double empty[MOST / CHUNK * EMPTY_CHUNK];
    double rows[ROWS];
    double empty_rows[ROWS];
};

/* Adds `count` single readings to `values`, in ns. */
static void cost_time_some(int64_t (*read)(void), double *values, uint32_t count)
{
    const double tick_ns = etwas_lab_counter_tick_ns();
    int64_t ticks[CHUNK];

    etwas_lab_time_each(read, ticks, count);
    for (uint32_t index = 0; index < count; index++) {
        /* Negative if the thread was moved between two counters that differ. */
        int64_t took = ticks[index] > 0 ? ticks[index] : 0;

        values[index] = (double)took * tick_ns;
    }
}

static uint32_t cost_time_singles(struct room *room, uint32_t source, uint64_t budget_ns,
                                  etwas_clock_source_report *report)
{
    int64_t (*read)(void) = etwas_lab_source(source)->read;
    uint64_t most = budget_ns / NS_FOR_EACH;
    uint64_t end_ns = etwas_lab_now_ns() + budget_ns;
    uint32_t count = 0;
    uint32_t empty_count = 0;
    etwas_clock_distribution without;

    most = most < FEWEST ? FEWEST : most > MOST ? MOST : most;
    /* Run twice, so that the counted run finds everything warm. */
    cost_time_some(read, room->readings, CHUNK);
    cost_time_some(NULL, room->empty, EMPTY_CHUNK);
    do {
        cost_time_some(read, &room->readings[count], CHUNK);
        count += CHUNK;
        cost_time_some(NULL, &room->empty[empty_count], EMPTY_CHUNK);
        empty_count += EMPTY_CHUNK;
    } while (count + CHUNK <= most && etwas_lab_now_ns() < end_ns);
    etwas_lab_distribution_of(room->empty, empty_count, &without);
    report->loop_ns = without.mean;
    report->timer_step_ns = etwas_lab_counter_step_ns();
    return count;
}

/*
 * Subtracts the timing's mean. The timer's step may make a cheap reading negative; the mean stays
 * right.
 */
static void cost_subtract(double *values, uint32_t count, etwas_clock_source_report *report)
{
    etwas_clock_distribution *warm = &report->warm_ns;
    struct etwas_lab_tally tally = {{0}};
    double mean;

    etwas_lab_distribution_of(values, count, warm);
    mean = warm->mean - report->loop_ns;
    for (uint32_t index = 0; index < count; index++) {
        values[index] = values[index] > report->loop_ns ? values[index] - report->loop_ns : 0;
        etwas_lab_tally_add(&tally, values[index]);
    }
    etwas_lab_distribution_of(values, count, warm);
    warm->mean = fmin(fmax(mean, warm->minimum), warm->maximum);
    etwas_lab_tally_bins(&tally, &report->warm);
}

static double cost_row_ns(int64_t (*read)(void))
{
    return (double)etwas_lab_time_row(read, CHUNK) * etwas_lab_counter_tick_ns() / CHUNK;
}

static double cost_time_rows(struct room *room, uint32_t source, uint64_t budget_ns)
{
    int64_t (*read)(void) = etwas_lab_source(source)->read;
    uint64_t end_ns = etwas_lab_now_ns() + budget_ns;
    uint32_t count = 0;
    etwas_clock_distribution with;
    etwas_clock_distribution without;

    (void)cost_row_ns(read);
    do {
        room->rows[count] = cost_row_ns(read);
        room->empty_rows[count] = cost_row_ns(NULL);
        count++;
    } while (count < ROWS && etwas_lab_now_ns() < end_ns);
    etwas_lab_distribution_of(room->rows, count, &with);
    etwas_lab_distribution_of(room->empty_rows, count, &without);
    return with.median > without.median ? with.median - without.median : 0;
}

uint32_t etwas_lab_cost_warm(uint32_t source, uint64_t budget_ns, etwas_clock_source_report *report)
{
    struct room *room = malloc(sizeof *room);
    uint32_t count;

    if (room == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    count = cost_time_singles(room, source, budget_ns / 2, report);
    cost_subtract(room->readings, count, report);
    report->back_to_back_ns = cost_time_rows(room, source, budget_ns / 4);
    free(room);
    return ERROR_SUCCESS;
}
