/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace and CloseTrace on running sessions, and the clocks of one. */
#include "reader/live.h"

#include <stdlib.h>

#include "reader/consumer.h"
#include "reader/file_header.h"
#include "reader/trace.h"
#include "reader/trace_table.h"

/* ---- connecting ------------------------------------------------------------------------------ */

/*
 * Replaces the header. A trace that was connected before keeps its names: callers may still read
 * them, and they differ at most in the case of the session's letters. The header of a session has
 * no log file name.
 */
static void live_replace_header(struct etwas_trace *trace, const struct etwas_file_header *log)
{
    etwas_wchar *names = trace->log.names;
    etwas_wchar *log_file_name = trace->log.log_file_name;

    trace->log = *log;
    if (names != NULL) {
        free(log->names);
        trace->log.names = names;
        trace->log.log_file_name = log_file_name;
    }
    etwas_file_header_fill(&trace->log, &trace->logfile.w.LogfileHeader);
}

/* Drops the clocks of the previous session. */
static void live_forget_clocks(struct etwas_trace *trace)
{
    etwas_timeline_free(trace->timeline);
    trace->timeline = NULL;
    trace->clocks_version = 0;
}

uint32_t etwas_live_connect(struct etwas_trace *trace)
{
    struct etwas_trace header = {.descriptor = -1};
    struct etwas_consumer *consumer;
    uint32_t code = trace->connect(trace->session_name, &consumer);
    uint32_t bytes;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    header.head = etwas_consumer_head(consumer, &bytes);
    header.file_bytes = bytes;
    code = etwas_file_header_read(&header);
    if (code != ERROR_SUCCESS) {
        free(header.log.names);
        etwas_consumer_disconnect(consumer);
        return code;
    }
    etwas_trace_table_lock();
    live_replace_header(trace, &header.log);
    live_forget_clocks(trace);
    etwas_trace_table_connect(trace, consumer, &header.information);
    etwas_trace_table_unlock();
    return ERROR_SUCCESS;
}

void etwas_live_disconnect(struct etwas_trace *trace)
{
    struct etwas_consumer *consumer;

    etwas_trace_table_lock();
    etwas_live_update_clocks(trace);
    etwas_trace_table_unlock();
    consumer = etwas_trace_table_disconnect(trace);
    if (consumer != NULL) {
        etwas_consumer_disconnect(consumer);
    }
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static struct etwas_timeline *live_timeline_of(const struct etwas_trace *trace,
                                               const struct etwas_clock_history *clocks)
{
    uint32_t kind = trace->log.fields.clock_type;
    struct etwas_clock_snapshot_list list = {0};
    struct etwas_timeline *timeline = NULL;
    bool complete = true;

    for (uint32_t index = 0; index < clocks->count; index++) {
        const struct etwas_clock_reading *reading = &clocks->readings[index];
        const struct etwas_clock_snapshot snapshot = {
            .raw = etwas_clock_reading_stamp(reading, kind),
            .qpc_ns = reading->qpc_ns,
            .filetime = etwas_clock_reading_filetime(reading, kind),
            .suspended_ns = reading->suspended_ns,
            .qpc_error_ns = etwas_clock_reading_qpc_error_ns(reading, kind),
            .filetime_error_ns = etwas_clock_reading_filetime_error_ns(reading, kind),
        };

        complete = complete && etwas_clock_snapshot_list_add(&list, &snapshot);
    }
    if (complete) {
        timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    free(list.snapshots);
    return timeline;
}

/*
 * New readings come about once a second and take some microseconds; the table stays locked that
 * long.
 */
void etwas_live_update_clocks(struct etwas_trace *trace)
{
    struct etwas_clock_history *clocks = NULL;
    struct etwas_timeline *timeline = NULL;
    uint64_t header = trace->clocks_version;

    if (trace->consumer != NULL) {
        clocks = etwas_consumer_clocks(trace->consumer, &header);
    }
    if (clocks != NULL) {
        timeline = live_timeline_of(trace, clocks);
    }
    free(clocks);
    if (timeline != NULL) {
        etwas_timeline_free(trace->timeline);
        trace->timeline = timeline;
        trace->clocks_version = header;
    }
}
