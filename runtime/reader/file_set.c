/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/file_set.h"

#include <string.h>

#include "etl/utf16.h"
#include "reader/trace.h"

static uint32_t file_set_part_of(const struct etwas_trace *trace)
{
    return trace->log.totals.part;
}

/* Every file has the start of the session, not its own. */
bool etwas_file_set_is_one_session(const struct etwas_trace *a, const struct etwas_trace *b)
{
    const struct etwas_etl_log_header64 *left = &a->log.fields;
    const struct etwas_etl_log_header64 *right = &b->log.fields;
    size_t units = etwas_utf16_length(a->log.names, ETWAS_ETL_LARGEST_RECORD_BYTES);

    return left->clock_type == right->clock_type && left->start_filetime == right->start_filetime &&
           a->log.first_raw == b->log.first_raw &&
           units == etwas_utf16_length(b->log.names, ETWAS_ETL_LARGEST_RECORD_BYTES) &&
           memcmp(a->log.names, b->log.names, units * sizeof *a->log.names) == 0;
}

bool etwas_file_set_is_one_set(const struct etwas_trace *a, const struct etwas_trace *b)
{
    return file_set_part_of(a) != 0 && file_set_part_of(b) != 0 &&
           etwas_file_set_is_one_session(a, b);
}

/*
 * Compares parts by number, and snapshots, which are no parts, by when they were taken; one without
 * an end is still written.
 */
static bool file_set_is_later(const struct etwas_trace *a, const struct etwas_trace *b)
{
    uint64_t left = (uint64_t)a->log.fields.start.end_filetime - 1;
    uint64_t right = (uint64_t)b->log.fields.start.end_filetime - 1;

    return file_set_part_of(a) != file_set_part_of(b) ? file_set_part_of(a) > file_set_part_of(b)
                                                      : left > right;
}

/* Compares each file with each other one, because they are few. */
struct etwas_file_set_member etwas_file_set_member_of(struct etwas_trace *const *traces,
                                                      uint32_t count, uint32_t index,
                                                      bool joins_sessions)
{
    bool (*belong)(const struct etwas_trace *a, const struct etwas_trace *b) =
        joins_sessions ? etwas_file_set_is_one_session : etwas_file_set_is_one_set;
    uint32_t last = index;
    uint32_t before = 0;
    uint32_t first = count;
    uint32_t members = 0;

    for (uint32_t other = 0; other < count; other++) {
        if (other != index && !belong(traces[index], traces[other])) {
            continue;
        }
        if (first == count) {
            first = other;
        }
        members++;
        if (file_set_is_later(traces[other], traces[last])) {
            last = other;
        }
        before +=
            file_set_part_of(traces[other]) < file_set_part_of(traces[index]) ||
            (file_set_part_of(traces[other]) == file_set_part_of(traces[index]) && other < index);
    }
    return (struct etwas_file_set_member){
        .file_number = (size_t)first * count + before,
        .set_number = first,
        .clock = &traces[last]->log.clock,
        .trace = traces[last],
        .has_other_parts = members > 1,
    };
}
