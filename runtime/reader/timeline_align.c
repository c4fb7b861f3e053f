/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/file_set.h"

#include "etl/clock_convert.h"
#include "reader/timeline.h"
#include "reader/trace_table.h"

enum {
    NS_A_UNIT = 100
};

/*
 * Compares the boot times, which may differ by a second, because wall clocks are set while machines
 * run.
 */
static bool align_are_of_one_machine(const struct etwas_trace *a, const struct etwas_trace *b)
{
    const etwas_etl_wide apart =
        (etwas_etl_wide)a->log.fields.boot_filetime - b->log.fields.boot_filetime;

    return a->log.own && b->log.own && a->timeline->all_count != 0 && b->timeline->all_count != 0 &&
           etwas_etl_magnitude(apart) < ETWAS_ETL_FILETIME_PER_SECOND;
}

static const struct etwas_clock_snapshot *align_newest_snapshot(const struct etwas_trace *trace)
{
    return &trace->timeline->all[trace->timeline->all_count - 1];
}

/*
 * Returns the newest clock snapshot of the trace's machine. NULL: no file of another session is of
 * that machine.
 */
static const struct etwas_clock_snapshot *align_find_snapshot(struct etwas_trace *const *traces,
                                                              uint32_t count,
                                                              const struct etwas_trace *trace)
{
    const struct etwas_clock_snapshot *newest = NULL;
    bool has_others = false;

    for (uint32_t i = 0; i < count; i++) {
        if (align_are_of_one_machine(trace, traces[i])) {
            const struct etwas_clock_snapshot *snapshot = align_newest_snapshot(traces[i]);

            newest = newest == NULL || snapshot->qpc_ns > newest->qpc_ns ? snapshot : newest;
            has_others |= traces[i] != trace && !etwas_file_set_is_one_set(trace, traces[i]);
        }
    }
    return has_others ? newest : NULL;
}

/*
 * Moves the trace's time line to the clock snapshot. Files of etwas count the performance counter
 * in nanoseconds.
 */
static void align_apply_snapshot(struct etwas_trace *trace,
                                 const struct etwas_clock_snapshot *snapshot)
{
    if (trace->log.fields.clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        trace->log.clock.anchor_raw = snapshot->qpc_ns;
        trace->log.clock.anchor_filetime = snapshot->filetime;
    } else if (trace->log.fields.clock_type == ETWAS_ETL_CLOCK_CYCLES) {
        const etwas_etl_wide since =
            ((etwas_etl_wide)trace->timeline->start_qpc_ns - snapshot->qpc_ns) / NS_A_UNIT;

        trace->log.base.start_filetime = etwas_etl_saturate(snapshot->filetime + since);
        trace->timeline->base.start_filetime = trace->log.base.start_filetime;
    }
}

/*
 * A thread that requests a time meanwhile holds the lock. The timeline stays as it is, since no
 * clock snapshot changes.
 */
void etwas_timeline_align(struct etwas_trace *const *traces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct etwas_clock_snapshot *snapshot = align_find_snapshot(traces, count, traces[i]);

        if (snapshot != NULL) {
            etwas_trace_table_lock();
            align_apply_snapshot(traces[i], snapshot);
            etwas_trace_table_unlock();
        }
    }
}
