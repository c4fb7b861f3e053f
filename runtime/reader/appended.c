/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions of an appended file. Each session numbered its buffers from 1 again. Buffers are
 * numbered when a processor takes them and written when they are full, so the first buffer in the
 * file need not be number 1. Where a number 1 appears again, the session begins with the first
 * repeated number since the number 1 before, or with buffers just before it that were open together
 * with the new number 1.
 */
#include "reader/trace.h"

#include <stdlib.h>
#include <string.h>

#include "etl/record.h"
#include "reader/buffer_walk.h"
#include "reader/index.h"

#define NONE SIZE_MAX

/* Returns the stamp of the buffer's first record; INT64_MAX if it cannot be read. */
static int64_t appended_first_stamp(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry)
{
    /* every header with a stamp at this offset begins like it */
    struct etwas_etl_system_header system;
    struct etwas_record record;
    uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES];

    if (etwas_buffer_beginning_read(trace, entry, bytes) < sizeof system ||
        etwas_record_measure(bytes, &record) != ETWAS_RECORD_MEASURED ||
        record.kind == ETWAS_RECORD_PERFINFO || record.kind == ETWAS_RECORD_MESSAGE ||
        record.kind == ETWAS_RECORD_OPAQUE) {
        return INT64_MAX;
    }
    memcpy(&system, bytes, sizeof system);
    return system.time_stamp;
}

/*
 * Returns where the session begins whose number 1 is at `first_number_at`: at `begin` or earlier,
 * but behind `before`.
 */
static size_t appended_find_begin(struct etwas_trace *trace, const struct etwas_index *index,
                                  size_t before, size_t begin, size_t first_number_at)
{
    int64_t first = appended_first_stamp(trace, &index->entries[first_number_at]);
    int64_t last = etwas_index_entry_collected(trace, &index->entries[first_number_at]);

    while (begin > before + 1) {
        int64_t collected = etwas_index_entry_collected(trace, &index->entries[begin - 1]);

        if (collected < first || collected > last) {
            break;
        }
        begin--;
    }
    return begin;
}

bool etwas_index_find_sessions(struct etwas_trace *trace, struct etwas_index *index)
{
    /* by number: index behind the last buffer with it */
    size_t *last_at = calloc(index->count + 1, sizeof *last_at);
    size_t begin = 0;             /* first buffer of this session */
    size_t first_number_at = 0;   /* index of its number 1 */
    size_t first_repeated = NONE; /* first of its numbers that appeared already */
    uint32_t session = 0;

    if (last_at == NULL) {
        return false;
    }
    for (size_t at = 0; at < index->count; at++) {
        int64_t number = index->entries[at].sequence;

        index->entries[at].session = session;
        if (number <= 0 || (uint64_t)number > index->count) {
            continue;
        }
        if (last_at[number] > begin && first_repeated == NONE) {
            first_repeated = at;
        }
        if (number == 1 && last_at[1] > begin) {
            begin = appended_find_begin(trace, index, first_number_at, first_repeated, at);
            first_repeated = NONE;
            session++;
            for (size_t i = begin; i <= at; i++) {
                index->entries[i].session = session;
            }
        }
        first_number_at = number == 1 ? at : first_number_at;
        last_at[number] = at + 1;
    }
    free(last_at);
    return true;
}

/* ---- by place -------------------------------------------------------------------------------- */

/* Finds where the sessions begin, by a complete index. In the file one session follows another. */
static bool appended_find_begins(struct etwas_appended *appended, const struct etwas_index *index)
{
    size_t count = 1;

    for (size_t i = 0; i < index->count; i++) {
        if (index->entries[i].session >= count) {
            count = (size_t)index->entries[i].session + 1;
        }
    }
    free(appended->begins);
    appended->begins = malloc(count * sizeof *appended->begins);
    if (appended->begins == NULL) {
        return false;
    }
    appended->count = count;
    memset(appended->begins, 0xFF, count * sizeof *appended->begins);
    for (size_t i = 0; i < index->count; i++) {
        uint64_t *begin = &appended->begins[index->entries[i].session];

        if (index->entries[i].file_offset < *begin) {
            *begin = index->entries[i].file_offset;
        }
    }
    return true;
}

bool etwas_appended_find(struct etwas_trace *trace)
{
    struct etwas_appended *appended = &trace->appended;
    uint32_t mode = trace->log.fields.start.log_file_mode;
    struct etwas_index index;
    bool found;

    etwas_trace_file_measure(trace);
    if ((mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0 || appended->file_bytes == trace->file_bytes ||
        (trace->log.own && (mode & EVENT_TRACE_FILE_MODE_APPEND) == 0)) {
        return true;
    }
    trace->quiet = true; /* damage is reported when the buffers are read */
    found = etwas_index_build(trace, &index, NULL) == ERROR_SUCCESS &&
            appended_find_begins(appended, &index);
    trace->quiet = false;
    appended->file_bytes = found ? trace->file_bytes : 0;
    etwas_index_free(&index);
    return found;
}

uint32_t etwas_appended_session(const struct etwas_trace *trace, uint64_t offset)
{
    const struct etwas_appended *appended = &trace->appended;
    size_t low = 0;
    size_t high = appended->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (appended->begins[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}
