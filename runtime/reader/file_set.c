/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/file_set.h"

#include <ck_pr.h>
#include <string.h>

#include "etl/utf16.h"
#include "reader/trace.h"

static uint32_t file_set_part_of(const struct etwas_trace *trace)
{
    return trace->log.totals.part;
}

/* The start in every file's header is that of the session, not of the file. */
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
 * Compares parts by number, and snapshots, which are not parts, by the time they were taken. A file
 * without an end is still being written.
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

/* ---- repeated counts ------------------------------------------------------------------------- */

/* Offsets of a count, and of the part of it that other files repeat. */
struct repeated_count {
    size_t count;
    size_t repeated;
};

#define REPEATED_COUNT(count)                                                                      \
    {                                                                                              \
        offsetof(etwas_trace_information, count),                                                  \
            offsetof(etwas_trace_information, repeated_##count)                                    \
    }

static const struct repeated_count repeated_count_fields[] = {
    REPEATED_COUNT(lost_events),        REPEATED_COUNT(lost_buffers),
    REPEATED_COUNT(overwritten_events), REPEATED_COUNT(overwritten_buffers),
    REPEATED_COUNT(attempted_events),
};

static uint64_t *repeated_count_at(struct etwas_trace *trace, size_t offset)
{
    return (uint64_t *)(void *)((uint8_t *)&trace->information + offset);
}

static bool trace_is_recovered(const struct etwas_trace *trace)
{
    return (trace->information.ends & ETWAS_TRACE_IS_RECOVERED) != 0;
}

static bool trace_is_snapshot(const struct etwas_trace *trace)
{
    return (trace->log.fields.start.log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
}

static bool trace_has_same_name(const struct etwas_trace *a, const struct etwas_trace *b)
{
    size_t units = etwas_utf16_length(a->log.log_file_name, ETWAS_ETL_LARGEST_RECORD_BYTES);

    return units == etwas_utf16_length(b->log.log_file_name, ETWAS_ETL_LARGEST_RECORD_BYTES) &&
           memcmp(a->log.log_file_name, b->log.log_file_name,
                  units * sizeof *a->log.log_file_name) == 0;
}

/* Returns whether two files of a session count the same things, at one moment or at two. */
static bool trace_counts_the_same(const struct etwas_trace *a, const struct etwas_trace *b)
{
    if (trace_is_recovered(a) || trace_is_recovered(b)) {
        return trace_is_recovered(a) && trace_is_recovered(b);
    }
    return a->log.totals.part == b->log.totals.part &&
           ((trace_is_snapshot(a) && trace_is_snapshot(b)) || trace_has_same_name(a, b));
}

/* The files of a session, of which `first` is the first. */
struct session {
    struct etwas_trace *const *traces;
    uint32_t count;
    uint32_t first;
};

static bool session_has_file(const struct session *session, uint32_t index)
{
    return index == session->first ||
           etwas_file_set_is_one_session(session->traces[session->first], session->traces[index]);
}

/*
 * Returns whether no file that counts the same things has a greater count. The first file's count
 * is taken where counts are equal.
 */
static bool session_count_is_greatest(const struct session *session, uint32_t index,
                                      const struct repeated_count *repeated_count)
{
    struct etwas_trace *trace = session->traces[index];
    uint64_t count = *repeated_count_at(trace, repeated_count->count);

    for (uint32_t i = session->first; i < session->count; i++) {
        uint64_t other = *repeated_count_at(session->traces[i], repeated_count->count);

        if ((other > count || (other == count && i < index)) && session_has_file(session, i) &&
            trace_counts_the_same(trace, session->traces[i])) {
            return false;
        }
    }
    return true;
}

/*
 * Finds the repeated counts of a session. The recovered files together, and the other files
 * together, each count the whole session. The greater sum is right.
 */
static void session_find_repeated(const struct session *session,
                                  const struct repeated_count *repeated_count)
{
    uint64_t sums[] = {0, 0}; /* of the other files, and of the recovered ones */

    for (uint32_t i = session->first; i < session->count; i++) {
        if (session_has_file(session, i)) {
            struct etwas_trace *trace = session->traces[i];
            uint64_t count = *repeated_count_at(trace, repeated_count->count);
            bool counts = session_count_is_greatest(session, i, repeated_count);

            ck_pr_store_64(repeated_count_at(trace, repeated_count->repeated), counts ? 0 : count);
            if (counts && __builtin_add_overflow(sums[trace_is_recovered(trace)], count,
                                                 &sums[trace_is_recovered(trace)])) {
                sums[trace_is_recovered(trace)] = UINT64_MAX;
            }
        }
    }
    for (uint32_t i = session->first; i < session->count; i++) {
        struct etwas_trace *trace = session->traces[i];

        if (session_has_file(session, i) && trace_is_recovered(trace) == (sums[1] < sums[0])) {
            ck_pr_store_64(repeated_count_at(trace, repeated_count->repeated),
                           *repeated_count_at(trace, repeated_count->count));
        }
    }
}

void etwas_repeated_counts_find(struct etwas_trace *const *traces, uint32_t count)
{
    for (uint32_t first = 0; first < count; first++) {
        const struct session session = {traces, count, first};
        bool is_first = true;
        bool is_alone = true;

        for (uint32_t i = 0; i < count && is_first; i++) {
            if (i != first && etwas_file_set_is_one_session(traces[first], traces[i])) {
                is_first = i > first;
                is_alone = false;
            }
        }
        for (size_t i = 0; is_first && !is_alone &&
                           i < sizeof repeated_count_fields / sizeof *repeated_count_fields;
             i++) {
            session_find_repeated(&session, &repeated_count_fields[i]);
        }
    }
}
