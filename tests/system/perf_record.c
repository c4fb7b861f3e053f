/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/perf_record.h"

#include <stdlib.h>
#include <string.h>

void perf_record_begin(struct perf_record *record, uint32_t type, uint16_t misc)
{
    memset(record, 0, sizeof *record);
    record->header =
        (struct perf_event_header){.type = type, .misc = misc, .size = sizeof record->header};
}

void perf_record_put(struct perf_record *record, const void *bytes, size_t count)
{
    if (record->header.size + count > sizeof record->bytes) {
        abort();
    }
    memcpy(record->bytes + record->header.size, bytes, count);
    record->header.size = (uint16_t)(record->header.size + count);
}

void perf_record_u32(struct perf_record *record, uint32_t value)
{
    perf_record_put(record, &value, sizeof value);
}

void perf_record_u64(struct perf_record *record, uint64_t value)
{
    perf_record_put(record, &value, sizeof value);
}

void perf_record_text(struct perf_record *record, const char *text)
{
    perf_record_put(record, text, strlen(text) + 1);
    while (record->header.size % 8 != 0) {
        perf_record_put(record, "", 1);
    }
}

void perf_record_origin(struct perf_record *record)
{
    perf_record_u32(record, 10);
    perf_record_u32(record, 11);
    perf_record_u64(record, 12);
    perf_record_u32(record, 13);
    perf_record_u32(record, 0);
    perf_record_u64(record, 14);
}

struct perf_event_header *perf_record_cut(const struct perf_record *record, uint16_t bytes)
{
    struct perf_event_header *cut = malloc(bytes);

    if (cut == NULL) {
        abort();
    }
    memcpy(cut, record->bytes, bytes);
    cut->size = bytes;
    return cut;
}
