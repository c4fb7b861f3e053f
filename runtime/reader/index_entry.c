/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/index_entry.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

bool etwas_index_entry_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                             uint64_t available, uint32_t largest_data_bytes,
                             struct etwas_index_entry *entry, bool *doubtful)
{
    bool compressed = (header->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;
    uint32_t limit = compressed ? largest_data_bytes : header->buffer_bytes;
    bool offset_valid = header->offset >= HEADER_BYTES && header->offset <= limit;
    bool saved_valid = header->saved_offset >= HEADER_BYTES && header->saved_offset <= limit;
    bool wide_index = (header->flags & ETWAS_ETL_BUFFER_PROCESSOR_INDEX) != 0;

    if (header->buffer_bytes < HEADER_BYTES ||
        header->buffer_bytes > ETWAS_ETL_LARGEST_BUFFER_BYTES || available < HEADER_BYTES ||
        (!offset_valid && !saved_valid)) {
        return false;
    }
    *doubtful = header->offset != header->saved_offset;
    *entry = (struct etwas_index_entry){
        .file_offset = file_offset,
        .sequence = header->sequence_number,
        .buffer_bytes = header->buffer_bytes,
        .file_bytes = available < header->buffer_bytes ? (uint32_t)available : header->buffer_bytes,
        .data_end = header->offset,
        .processor = wide_index ? header->processor & ETWAS_ETL_PROCESSOR_INDEX_MASK
                                : header->processor & 0xFF,
        .logger_id = header->logger_id,
        .compressed = compressed,
    };
    /* Of two ends take the later: records say themselves where they stop. Not in compressed
     * buffers, where the end is also the size to decompress to. */
    if (!offset_valid || (saved_valid && !compressed && header->saved_offset > header->offset)) {
        entry->data_end = header->saved_offset;
    }
    return true;
}
