/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/mapping_copy.h"

#include <string.h>

/* ---- buffer 0 -------------------------------------------------------------------------------- */

static bool validate_buffer_header(const struct etwas_shared_head *head, const uint8_t *first)
{
    struct etwas_etl_buffer_header buffer;

    memcpy(&buffer, first, sizeof buffer);
    return buffer.buffer_bytes == head->buffer_bytes && buffer.saved_offset == head->first_bytes &&
           buffer.current_offset == head->first_bytes && buffer.offset == head->first_bytes &&
           buffer.type == ETWAS_ETL_BUFFER_HEADER && buffer.sequence_number == 0 &&
           (buffer.flags & ETWAS_ETL_BUFFER_COMPRESSED) == 0;
}

static bool validate_log_header(const struct etwas_shared_head *head, const uint8_t *first,
                                uint32_t record_bytes)
{
    struct etwas_etl_system_header record;
    struct etwas_etl_log_header64 log;

    memcpy(&record, first + ETWAS_ETL_BUFFER_HEADER_BYTES, sizeof record);
    memcpy(&log, first + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, sizeof log);
    return record.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
           record.header_type == ETWAS_ETL_SYSTEM64 && record.type == 0 && record.group == 0 &&
           etwas_etl_round_up_8(record.size) == record_bytes &&
           record.version == ETWAS_ETL_LOG_HEADER_CLASS_VERSION &&
           log.start.buffer_bytes == head->buffer_bytes && log.clock_type == head->clock &&
           log.start.pointer_bytes == sizeof(void *) && log.start.start_buffers == 1 &&
           log.start.number_of_processors == head->processors && log.start.end_filetime == 0;
}

static bool validate_own_record(const uint8_t *at, uint8_t type, size_t bytes)
{
    struct etwas_etl_full_header header;

    memcpy(&header, at, sizeof header);
    return header.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
           header.header_type == ETWAS_ETL_FULL_HEADER64 && header.size == bytes &&
           header.type == type && etwas_etl_is_own_record(&header);
}

static bool validate_first(const struct etwas_shared_head *head, const uint8_t *first,
                           uint32_t totals_bytes)
{
    const uint8_t *clock = first + head->first_bytes - sizeof(struct etwas_etl_clock_trust_record);
    const uint8_t *totals = clock - totals_bytes;
    const uint8_t *calibration = totals - sizeof(struct etwas_etl_calibration_record);

    return validate_log_header(head, first,
                               (uint32_t)(calibration - first) - ETWAS_ETL_BUFFER_HEADER_BYTES) &&
           validate_own_record(calibration, ETWAS_ETL_CALIBRATION_TYPE,
                               sizeof(struct etwas_etl_calibration_record)) &&
           validate_own_record(totals, ETWAS_ETL_TOTALS_TYPE, totals_bytes) &&
           validate_own_record(clock, ETWAS_ETL_CLOCK_RECORD_TYPE,
                               sizeof(struct etwas_etl_clock_trust_record));
}

uint32_t etwas_validate_first_buffer(const struct etwas_shared_head *head, const uint8_t *first)
{
    static const uint32_t totals_bytes[] = {sizeof(struct etwas_etl_totals_record),
                                            ETWAS_VALIDATE_OLDER_TOTALS};

    for (size_t index = 0; index < sizeof totals_bytes / sizeof totals_bytes[0]; index++) {
        if (validate_buffer_header(head, first) &&
            validate_first(head, first, totals_bytes[index])) {
            return totals_bytes[index];
        }
    }
    return 0;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* Returns the size of the next record; 0: there is none, or its size is invalid. */
static uint32_t validate_record_bytes(const uint8_t *record, uint64_t left)
{
    uint16_t size;
    uint32_t rounded;

    if (left < sizeof(struct etwas_etl_full_header)) {
        return 0;
    }
    memcpy(&size, record, sizeof size);
    rounded = (uint32_t)etwas_etl_round_up_8(size);
    return size >= sizeof(struct etwas_etl_full_header) && rounded <= left ? rounded : 0;
}

static bool validate_description(const uint8_t *record)
{
    struct etwas_etl_full_header header;

    memcpy(&header, record, sizeof header);
    return header.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
           header.header_type == ETWAS_ETL_FULL_HEADER64 && !etwas_etl_is_own_record(&header);
}

uint64_t etwas_validate_descriptions(uint8_t *descriptions, uint64_t bytes, uint64_t *dropped)
{
    uint64_t kept = 0;
    uint64_t at = 0;
    uint32_t size;

    while ((size = validate_record_bytes(descriptions + at, bytes - at)) != 0) {
        if (validate_description(descriptions + at)) {
            memmove(descriptions + kept, descriptions + at, size);
            kept += size;
        } else {
            ++*dropped;
        }
        at += size;
    }
    *dropped += at != bytes; /* the unreadable rest is at least one description */
    return kept;
}
