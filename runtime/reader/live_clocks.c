/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a running session, for whoever consumes it: the readings that it has taken so far.
 */
#include "reader/live.h"

#include <stdlib.h>

#include "reader/trace.h"
#include "realtime/consumer.h"

static struct etwas_timeline *timeline_of(const struct etwas_trace *trace,
                                          const struct etwas_clock_history *clocks)
{
    uint32_t kind = trace->log.fields.clock_type;
    struct etwas_knot_list list = {0};
    struct etwas_timeline *timeline = NULL;
    bool complete = true;

    for (uint32_t index = 0; index < clocks->count; index++) {
        const struct etwas_clock_reading *reading = &clocks->readings[index];
        const struct etwas_timeline_knot knot = {
            .raw = etwas_clock_reading_stamp(reading, kind),
            .qpc_ns = reading->qpc_ns,
            .filetime = etwas_clock_reading_filetime(reading, kind),
            .suspended_ns = reading->suspended_ns,
            .qpc_error_ns = etwas_clock_reading_qpc_error_ns(reading, kind),
            .filetime_error_ns = etwas_clock_reading_filetime_error_ns(reading, kind),
        };

        complete = complete && etwas_knot_list_add(&list, &knot);
    }
    if (complete) {
        timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    free(list.knots);
    return timeline;
}

/*
 * About once a second there is something new, and then it takes some microseconds: the table may
 * stay locked for so long.
 */
void etwas_live_update_clocks(struct etwas_trace *trace)
{
    struct etwas_clock_history *clocks = NULL;
    struct etwas_timeline *timeline = NULL;
    uint64_t seen = trace->clocks_seen;

    if (trace->consumer != NULL) {
        clocks = etwas_consumer_clocks(trace->consumer, &seen);
    }
    if (clocks != NULL) {
        timeline = timeline_of(trace, clocks);
    }
    free(clocks);
    if (timeline != NULL) {
        etwas_timeline_free(trace->timeline);
        trace->timeline = timeline;
        trace->clocks_seen = seen;
    }
}
