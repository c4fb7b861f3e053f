/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/timeline_align.h"

#include "etl/clock_convert.h"
#include "reader/file_set.h"
#include "reader/timeline.h"
#include "reader/trace_table.h"

enum {
    NS_A_UNIT = 100
};

/* Wall clocks are set while machines run. */
static bool are_of_one_machine(const struct etwas_trace *a, const struct etwas_trace *b)
{
    const etwas_etl_wide apart =
        (etwas_etl_wide)a->log.fields.boot_filetime - b->log.fields.boot_filetime;

    return a->log.own && b->log.own && a->timeline->all_count != 0 && b->timeline->all_count != 0 &&
           etwas_etl_magnitude(apart) < ETWAS_ETL_FILETIME_PER_SECOND;
}

static const struct etwas_clock_snapshot *newest_of(const struct etwas_trace *trace)
{
    return &trace->timeline->all[trace->timeline->all_count - 1];
}

/* NULL: the trace is alone, with the parts of its set. */
static const struct etwas_clock_snapshot *find_reading(struct etwas_trace *const *traces,
                                                       uint32_t count,
                                                       const struct etwas_trace *trace)
{
    const struct etwas_clock_snapshot *newest = NULL;
    bool has_others = false;

    for (uint32_t i = 0; i < count; i++) {
        if (are_of_one_machine(trace, traces[i])) {
            const struct etwas_clock_snapshot *reading = newest_of(traces[i]);

            newest = newest == NULL || reading->qpc_ns > newest->qpc_ns ? reading : newest;
            has_others |= traces[i] != trace && !etwas_file_set_is_one_set(trace, traces[i]);
        }
    }
    return has_others ? newest : NULL;
}

/* Ours count the performance counter in nanoseconds. */
static void use(struct etwas_trace *trace, const struct etwas_clock_snapshot *reading)
{
    if (trace->log.fields.clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        trace->log.clock.anchor_raw = reading->qpc_ns;
        trace->log.clock.anchor_filetime = reading->filetime;
    } else if (trace->log.fields.clock_type == ETWAS_ETL_CLOCK_CYCLES) {
        const etwas_etl_wide since =
            ((etwas_etl_wide)trace->timeline->start_qpc_ns - reading->qpc_ns) / NS_A_UNIT;

        trace->log.base.start_filetime = etwas_etl_saturate(reading->filetime + since);
        trace->timeline->base.start_filetime = trace->log.base.start_filetime;
    }
}

/* Who asks for a time meanwhile has the lock. What was found stays as it is: no reading is changed. */
void etwas_timeline_align(struct etwas_trace *const *traces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct etwas_clock_snapshot *reading = find_reading(traces, count, traces[i]);

        if (reading != NULL) {
            etwas_trace_table_lock();
            use(traces[i], reading);
            etwas_trace_table_unlock();
        }
    }
}
