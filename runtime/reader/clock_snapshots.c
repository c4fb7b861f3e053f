/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/clock_snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "etl/record.h"
#include "reader/index.h"
#include "reader/trace.h"
#include "reader/trace_table.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES
#define CLOCK_SNAPSHOT_BYTES (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record)

enum {
    CHUNK_BYTES = 16384
};

bool etwas_clock_snapshots_match(const uint8_t *bytes)
{
    struct etwas_etl_full_header header;
    uint32_t version;

    memcpy(&header, bytes, sizeof header);
    memcpy(&version, bytes + sizeof header, sizeof version);
    return header.header_type == ETWAS_ETL_FULL_HEADER64 &&
           header.marker_flags == ETWAS_ETL_MARKER_FLAGS && etwas_etl_is_own_record(&header) &&
           header.type == ETWAS_ETL_CLOCK_SNAPSHOT_TYPE && header.size >= CLOCK_SNAPSHOT_BYTES &&
           version == ETWAS_ETL_CLOCK_SNAPSHOT_VERSION;
}

/*
 * Adds the clock snapshot of a record. *running_from is the stamp of the first one that was taken
 * after the file was opened.
 */
static bool snapshots_add_record(struct etwas_clock_snapshot_list *list, const uint8_t *bytes,
                                 int64_t *running_from)
{
    struct etwas_etl_clock_snapshot_record record;
    struct etwas_clock_snapshot snapshot;

    memcpy(&record, bytes, sizeof record);
    if (record.clock_snapshot.reason == ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED ||
        record.clock_snapshot.reason == ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED) {
        *running_from = INT64_MAX;
    } else if (record.clock_snapshot.reason == ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING &&
               *running_from == INT64_MAX) {
        *running_from = record.clock_snapshot.raw_stamp;
    }
    snapshot = (struct etwas_clock_snapshot){
        .raw = record.clock_snapshot.raw_stamp,
        .qpc_ns = record.clock_snapshot.qpc_ns,
        .filetime = record.clock_snapshot.filetime,
        .suspended_ns = record.clock_snapshot.suspended_ns,
        .qpc_error_ns = record.clock_snapshot.qpc_error_ns,
        .filetime_error_ns = record.clock_snapshot.filetime_error_ns,
    };
    return etwas_clock_snapshot_list_add(list, &snapshot);
}

/*
 * Adds the clock snapshots among the records from `offset` to `end`, up to the first invalid or cut
 * record. Returns false without memory.
 */
static bool snapshots_add_range(struct etwas_trace *trace, struct etwas_clock_snapshot_list *list,
                                uint64_t offset, uint64_t end, int64_t *running_from)
{
    uint8_t chunk[CHUNK_BYTES];
    uint64_t chunk_at = 0;
    size_t got = 0;
    struct etwas_record record;

    for (; offset + CLOCK_SNAPSHOT_BYTES <= end; offset += etwas_etl_round_up_8(record.size)) {
        const uint8_t *bytes;

        if (got == 0 || offset + CLOCK_SNAPSHOT_BYTES > chunk_at + got) {
            chunk_at = offset;
            got = etwas_trace_file_read(trace, offset, chunk,
                                        end - offset < sizeof chunk ? (size_t)(end - offset)
                                                                    : sizeof chunk);
            if (got < CLOCK_SNAPSHOT_BYTES) {
                return true;
            }
        }
        bytes = chunk + (offset - chunk_at);
        if (etwas_record_measure(bytes, &record) != ETWAS_RECORD_MEASURED) {
            return true;
        }
        if (etwas_clock_snapshots_match(bytes) &&
            !snapshots_add_record(list, bytes, running_from)) {
            return false;
        }
    }
    return true;
}

uint32_t etwas_clock_snapshots_first_buffer_end(struct etwas_trace *trace)
{
    struct etwas_etl_buffer_header header;

    return etwas_trace_file_read(trace, 0, &header, sizeof header) == sizeof header ? header.offset
                                                                                    : 0;
}

bool etwas_clock_snapshots_add_first_buffer(struct etwas_trace *trace,
                                            struct etwas_clock_snapshot_list *list,
                                            int64_t *running_from)
{
    const struct etwas_index_entry *entry = &trace->log.buffer;
    uint64_t end = entry->data_end;
    uint32_t end_now;

    *running_from = INT64_MAX;
    if (trace->log.clock_snapshots_at == 0) {
        return true;
    }
    end_now = etwas_clock_snapshots_first_buffer_end(trace);
    if (end_now > end && end_now <= entry->buffer_bytes) {
        end = end_now;
    }
    return snapshots_add_range(trace, list, trace->log.clock_snapshots_at, end, running_from);
}

bool etwas_clock_snapshots_add_buffer(struct etwas_trace *trace,
                                      struct etwas_clock_snapshot_list *list, uint64_t offset,
                                      const struct etwas_buffer_beginning *beginning)
{
    struct etwas_index_entry entry;
    int64_t running_from = INT64_MAX;
    bool doubtful;
    uint32_t end;

    /*
     * Buffers must have one size, as in the index: otherwise what follows would be read once
     * for each buffer before it.
     */
    if (!etwas_clock_snapshots_match(beginning->record) ||
        beginning->header.buffer_bytes != trace->log.buffer.buffer_bytes ||
        !etwas_index_entry_check(&beginning->header, offset, trace->file_bytes - offset,
                                 trace->log.session_buffer_bytes, &entry, &doubtful) ||
        entry.compressed) {
        return true;
    }
    end = entry.data_end < entry.file_bytes ? entry.data_end : entry.file_bytes;
    return snapshots_add_range(trace, list, offset + HEADER_BYTES, offset + end, &running_from);
}

bool etwas_clock_snapshots_scan_next(struct etwas_trace *trace,
                                     struct etwas_clock_snapshot_list *list, uint64_t *offset)
{
    uint64_t step = trace->log.buffer.buffer_bytes;
    uint64_t at = *offset;
    struct etwas_buffer_beginning beginning;

    *offset = at + step;
    if (etwas_trace_file_read(trace, at, &beginning, sizeof beginning) < sizeof beginning) {
        return true;
    }
    if (beginning.header.buffer_bytes == 0) {
        uint64_t data = etwas_trace_file_next_data(trace, at);

        if (data > at + step) {
            *offset = data / step * step;
        }
        return true;
    }
    return etwas_clock_snapshots_add_buffer(trace, list, at, &beginning);
}

/* Scans all data buffers of a file whose buffers have one size, as those of etwas do. */
static bool snapshots_scan_all(struct etwas_trace *trace, struct etwas_clock_snapshot_list *list)
{
    uint64_t offset = trace->log.buffer.buffer_bytes;

    while (offset + sizeof(struct etwas_buffer_beginning) <= trace->file_bytes) {
        if (!etwas_clock_snapshots_scan_next(trace, list, &offset)) {
            return false;
        }
    }
    return true;
}

struct etwas_timeline *etwas_clock_snapshots_read_timeline(struct etwas_trace *trace, bool whole)
{
    struct etwas_clock_snapshot_list list = {0};
    struct etwas_timeline *timeline = NULL;
    int64_t running_from;

    whole = whole && trace->log.clock_snapshots_at != 0 && trace->log.uniform;
    if (etwas_clock_snapshots_add_first_buffer(trace, &list, &running_from) &&
        (!whole || snapshots_scan_all(trace, &list))) {
        timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    free(list.snapshots);
    return timeline;
}

void etwas_clock_snapshots_set_timeline(struct etwas_trace *trace, struct etwas_timeline *timeline,
                                        bool complete)
{
    struct etwas_timeline *before = trace->timeline;

    etwas_trace_table_lock();
    trace->timeline = timeline;
    trace->timeline_complete = complete;
    etwas_trace_table_unlock();
    etwas_timeline_free(before);
}
