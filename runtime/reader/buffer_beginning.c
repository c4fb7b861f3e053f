/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/buffer_walk.h"

#include <string.h>

#include "etl/event_metadata.h"
#include "etl/kernel_class.h"
#include "etl/xpress.h"
#include "reader/clock_snapshots.h"
#include "reader/trace.h"

enum {
    ENOUGH_COMPRESSED_BYTES =
        256, /* enough for a clock snapshot or a header, however badly it compresses */
};

size_t etwas_buffer_beginning_read(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                                   uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES])
{
    uint64_t offset = entry->file_offset + ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint8_t compressed[ENOUGH_COMPRESSED_BYTES];
    bool exact;
    size_t got;

    if (!entry->compressed) {
        return etwas_trace_file_read(trace, offset, bytes, ETWAS_BUFFER_BEGINNING_BYTES);
    }
    got = etwas_trace_file_read(trace, offset, compressed, sizeof compressed);
    return etwas_xpress_decode(compressed, got, bytes, ETWAS_BUFFER_BEGINNING_BYTES, &exact);
}

static bool beginning_is_description(const struct etwas_etl_full_header *header)
{
    if (memcmp(&header->guid, &etwas_etl_metadata_class, sizeof header->guid) == 0) {
        return header->type == ETWAS_ETL_EVENT_INFO_TYPE || header->type == ETWAS_ETL_MAP_INFO_TYPE;
    }
    if (memcmp(&header->guid, &etwas_etl_own_class, sizeof header->guid) == 0) {
        return header->type == ETWAS_ETL_MESSAGE_FORMAT_TYPE ||
               header->type == ETWAS_ETL_MANIFEST_CHUNK_TYPE ||
               header->type == ETWAS_ETL_WINDOW_TYPE || header->type == ETWAS_ETL_MISSING_TYPE;
    }
    /*
     * The build id comes behind an image record. In the records of a system logger, which are
     * events, it comes before.
     */
    return etwas_image_record_of(header) == ETWAS_IMAGE_RECORD;
}

/*
 * Records that etwas writes beside the events have buffers of their own, except in relogged files.
 */
uint32_t etwas_buffer_beginning_kind(struct etwas_trace *trace,
                                     const struct etwas_index_entry *entry)
{
    bool relogged = (trace->log.fields.start.log_file_mode & EVENT_TRACE_RELOG_MODE) != 0;
    struct etwas_etl_full_header header;
    uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES];

    if (!trace->log.own || etwas_buffer_beginning_read(trace, entry, bytes) <
                               sizeof(struct etwas_etl_clock_snapshot_record)) {
        return ETWAS_BUFFER_EVENTS;
    }
    if (etwas_clock_snapshots_match(bytes)) {
        return ETWAS_BUFFER_READINGS;
    }
    memcpy(&header, bytes, sizeof header);
    return !relogged && header.header_type == ETWAS_ETL_FULL_HEADER64 &&
                   header.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
                   beginning_is_description(&header)
               ? ETWAS_BUFFER_DESCRIPTIONS
               : ETWAS_BUFFER_EVENTS;
}
