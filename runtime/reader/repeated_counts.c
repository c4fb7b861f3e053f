/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/repeated_counts.h"

#include <ck_pr.h>
#include <string.h>

#include "etl/utf16.h"
#include "reader/file_set.h"

/* A count of a file, and how much of that others tell too. */
struct told {
    size_t count;
    size_t repeated;
};

#define TOLD(count)                                                                                \
    {                                                                                              \
        offsetof(etwas_trace_information, count),                                                  \
            offsetof(etwas_trace_information, repeated_##count)                                    \
    }

static const struct told each_told[] = {
    TOLD(lost_events),         TOLD(lost_buffers),     TOLD(overwritten_events),
    TOLD(overwritten_buffers), TOLD(attempted_events),
};

static uint64_t *at(struct etwas_trace *trace, size_t offset)
{
    return (uint64_t *)(void *)((uint8_t *)&trace->information + offset);
}

static bool is_recovered(const struct etwas_trace *trace)
{
    return (trace->information.ends & ETWAS_TRACE_IS_RECOVERED) != 0;
}

static bool is_snapshot(const struct etwas_trace *trace)
{
    return (trace->log.fields.start.log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
}

static bool has_name_of(const struct etwas_trace *a, const struct etwas_trace *b)
{
    size_t units = etwas_utf16_length(a->log.log_file_name, ETWAS_ETL_LARGEST_RECORD_BYTES);

    return units == etwas_utf16_length(b->log.log_file_name, ETWAS_ETL_LARGEST_RECORD_BYTES) &&
           memcmp(a->log.log_file_name, b->log.log_file_name,
                  units * sizeof *a->log.log_file_name) == 0;
}

/* Of two files of a session: do both tell of the same, at one moment or at two? */
static bool tell_the_same(const struct etwas_trace *a, const struct etwas_trace *b)
{
    if (is_recovered(a) || is_recovered(b)) {
        return is_recovered(a) && is_recovered(b);
    }
    return a->log.totals.part == b->log.totals.part &&
           ((is_snapshot(a) && is_snapshot(b)) || has_name_of(a, b));
}

/* The files of a session, of which `first` is the first. */
struct session {
    struct etwas_trace *const *traces;
    uint32_t count;
    uint32_t first;
};

static bool has(const struct session *session, uint32_t index)
{
    return index == session->first ||
           etwas_file_set_is_one_session(session->traces[session->first], session->traces[index]);
}

/* Does no file that tells the same tell more? Of equal ones the first. */
static bool is_greatest(const struct session *session, uint32_t index, const struct told *told)
{
    struct etwas_trace *trace = session->traces[index];
    uint64_t count = *at(trace, told->count);

    for (uint32_t i = session->first; i < session->count; i++) {
        uint64_t other = *at(session->traces[i], told->count);

        if ((other > count || (other == count && i < index)) && has(session, i) &&
            tell_the_same(trace, session->traces[i])) {
            return false;
        }
    }
    return true;
}

/* Those that are recovered and the others tell of the same session: the greater of both is right. */
static void find_of_session(const struct session *session, const struct told *told)
{
    uint64_t sums[] = {0, 0}; /* of the others, of the recovered */

    for (uint32_t i = session->first; i < session->count; i++) {
        if (has(session, i)) {
            struct etwas_trace *trace = session->traces[i];
            uint64_t count = *at(trace, told->count);
            bool counts = is_greatest(session, i, told);

            ck_pr_store_64(at(trace, told->repeated), counts ? 0 : count);
            if (counts && __builtin_add_overflow(sums[is_recovered(trace)], count,
                                                 &sums[is_recovered(trace)])) {
                sums[is_recovered(trace)] = UINT64_MAX;
            }
        }
    }
    for (uint32_t i = session->first; i < session->count; i++) {
        struct etwas_trace *trace = session->traces[i];

        if (has(session, i) && is_recovered(trace) == (sums[1] < sums[0])) {
            ck_pr_store_64(at(trace, told->repeated), *at(trace, told->count));
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
        for (size_t i = 0; is_first && !is_alone && i < sizeof each_told / sizeof *each_told; i++) {
            find_of_session(&session, &each_told[i]);
        }
    }
}
