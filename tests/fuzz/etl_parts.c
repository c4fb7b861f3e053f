/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "etl_parts.h"

#include <string.h>

#include "etl/layout.h"

uint64_t etl_number(const uint8_t *at, size_t width)
{
    uint64_t number = 0;

    memcpy(&number, at, width);
    return number;
}

void etl_put(uint8_t *at, size_t width, uint64_t number)
{
    memcpy(at, &number, width);
}

size_t etl_data_end(const uint8_t *bytes, const struct etl_part *buffer)
{
    size_t end = etl_number(bytes + buffer->at + offsetof(struct etwas_etl_buffer_header, offset),
                            sizeof(uint32_t));

    return end >= ETWAS_ETL_BUFFER_HEADER_BYTES && end <= buffer->bytes ? end : buffer->bytes;
}

/* The size of the record that begins here; 0: none does. */
static size_t record_bytes(const uint8_t *at, size_t left, uint32_t *header_type)
{
    bool in_second;

    if (left < sizeof(uint64_t)) {
        return 0;
    }
    *header_type = 0;
    if (at[3] == ETWAS_ETL_MESSAGE_MARKER_FLAGS) {
        return etl_number(at, 2);
    }
    if (at[3] != ETWAS_ETL_MARKER_FLAGS) {
        return 0;
    }
    *header_type = at[2];
    in_second = (at[2] >= ETWAS_ETL_SYSTEM32 && at[2] <= ETWAS_ETL_COMPACT64) ||
                at[2] == ETWAS_ETL_PERFINFO32 || at[2] == ETWAS_ETL_PERFINFO64;
    return etl_number(at + (in_second ? 4 : 0), 2);
}

static void find_records(const uint8_t *bytes, uint32_t buffer, struct etl_parts *parts)
{
    const struct etl_part *part = &parts->buffers[buffer];
    size_t end = etl_data_end(bytes, part);
    uint16_t flags = (uint16_t)etl_number(
        bytes + part->at + offsetof(struct etwas_etl_buffer_header, flags), sizeof flags);

    if ((flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0) {
        return;
    }
    for (size_t at = ETWAS_ETL_BUFFER_HEADER_BYTES;
         at < end && parts->record_count < ETL_RECORDS;) {
        uint32_t header_type;
        size_t record = record_bytes(bytes + part->at + at, end - at, &header_type);

        if (record < sizeof(uint64_t) || record > end - at) {
            return;
        }
        parts->records[parts->record_count++] =
            (struct etl_record){part->at + at, record, buffer, header_type};
        at += etwas_etl_round_up_8(record);
    }
}

void etl_find_parts(const uint8_t *bytes, size_t size, struct etl_parts *parts)
{
    size_t at = 0;

    parts->buffer_count = 0;
    parts->record_count = 0;
    while (parts->buffer_count < ETL_BUFFERS && size - at >= ETWAS_ETL_BUFFER_HEADER_BYTES) {
        size_t bytes_here = etl_number(bytes + at, sizeof(uint32_t));

        /* What has no usable size is as long as the one before, as in most files all are. */
        if (bytes_here < ETWAS_ETL_BUFFER_HEADER_BYTES || bytes_here > size - at) {
            bytes_here =
                parts->buffer_count > 0 ? parts->buffers[parts->buffer_count - 1].bytes : size - at;
            bytes_here = bytes_here < size - at ? bytes_here : size - at;
        }
        parts->buffers[parts->buffer_count] = (struct etl_part){at, bytes_here};
        find_records(bytes, parts->buffer_count++, parts);
        at += bytes_here;
    }
}
