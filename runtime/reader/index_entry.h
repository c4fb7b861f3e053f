/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A buffer, as the index knows it. */
#ifndef ETWAS_READER_INDEX_ENTRY_H
#define ETWAS_READER_INDEX_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"

struct etwas_index_entry {
    uint64_t file_offset;
    int64_t sequence;
    uint32_t buffer_bytes; /* in the file, as its header says */
    uint32_t file_bytes;   /* of these, how many the file has: fewer in a buffer that is cut */
    uint32_t data_end;     /* Offset: uncompressed, from the buffer's start */
    uint16_t processor;
    uint16_t logger_id;
    bool compressed;
    uint32_t session; /* of an appended file: which of its sessions, from 0 */
};
_Static_assert(sizeof(struct etwas_index_entry) == 40, "the index is as small as it says");

/* Checks a buffer header against the `available` bytes of the file from its start. False: unusable,
 * nothing filled. *doubtful: usable, but its two ends of data contradict each other. */
bool etwas_index_entry_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                             uint64_t available, uint32_t largest_data_bytes,
                             struct etwas_index_entry *entry, bool *doubtful);

#endif
