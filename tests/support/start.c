/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/start.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/writer.h"

uint32_t session_protocol = ETWAS_PROTOCOL_BEST;

bool sessions_have_sequences(void)
{
    return session_protocol != ETWAS_PROTOCOL_SHARED && can_have_sequences();
}

int use_sequences(void **state)
{
    (void)state;
    session_protocol = ETWAS_PROTOCOL_RSEQ;
    return 0;
}

int use_shared(void **state)
{
    (void)state;
    session_protocol = ETWAS_PROTOCOL_SHARED;
    return 0;
}

static etwas_trace_handle start_with(const char *path, const etwas_session_options *options,
                                     uint32_t protocol)
{
    static unsigned started;
    etwas_session_options chosen = {0};
    etwas_trace_handle session = 0;
    uint32_t in_force;
    char name[64];

    if (options != NULL) {
        chosen = *options;
    }
    if (chosen.protocol == ETWAS_PROTOCOL_BEST) {
        chosen.protocol = protocol;
    }
    (void)snprintf(name, sizeof name, "test session %u of %d", ++started, (int)getpid());
    assert_int_equal(etwas_start(name, path, &chosen, &session), ERROR_SUCCESS);
    assert_int_not_equal(session, 0);
    assert_int_equal(etwas_session_protocol(session, &in_force), ERROR_SUCCESS);
    if (chosen.protocol != ETWAS_PROTOCOL_BEST) {
        assert_int_equal(in_force, chosen.protocol);
    }
    return session;
}

etwas_trace_handle start_session(const char *path, const etwas_session_options *options)
{
    return start_with(path, options, session_protocol);
}

etwas_trace_handle start_shared_session(const char *path, const etwas_session_options *options)
{
    etwas_session_options chosen = {0};

    if (options != NULL) {
        chosen = *options;
    }
    chosen.protocol = ETWAS_PROTOCOL_SHARED;
    return start_with(path, &chosen, ETWAS_PROTOCOL_SHARED);
}

void stop_session(etwas_trace_handle session, etwas_session_counts *counts)
{
    assert_int_equal(etwas_stop(session, counts), ERROR_SUCCESS);
}

etwas_session_counts counts_of(etwas_trace_handle session)
{
    etwas_session_counts counts;

    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    return counts;
}

enum {
    NAME_UNITS = 1025
};

struct answer {
    EVENT_TRACE_PROPERTIES properties;
    etwas_wchar session_name[NAME_UNITS];
    etwas_wchar file_name[NAME_UNITS];
};

static void query(etwas_trace_handle session, struct answer *answer)
{
    memset(answer, 0, sizeof *answer);
    answer->properties.Wnode.BufferSize = sizeof *answer;
    answer->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    answer->properties.LoggerNameOffset = offsetof(struct answer, session_name);
    answer->properties.LogFileNameOffset = offsetof(struct answer, file_name);
    assert_int_equal(ControlTraceW(session, NULL, &answer->properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
}

EVENT_TRACE_PROPERTIES query_session(etwas_trace_handle session)
{
    struct answer answer;

    query(session, &answer);
    return answer.properties;
}

etwas_wchar *session_name(etwas_trace_handle session)
{
    static __thread struct answer answer;

    query(session, &answer);
    return answer.session_name;
}

void expect_nothing_lost_at(etwas_session_counts counts, const char *file, int line)
{
    const struct {
        const char *cause;
        uint64_t events;
    } causes[] = {
        {"lost_no_buffer", counts.lost_no_buffer},
        {"lost_write_error", counts.lost_write_error},
        {"lost_file_full", counts.lost_file_full},
        {"lost_abandoned", counts.lost_abandoned},
        {"lost_backlog_full", counts.lost_backlog_full},
        {"lost_undelivered", counts.lost_undelivered},
        {"lost_in_kernel", counts.lost_in_kernel},
        {"lost_unattached", counts.lost_unattached},
        {"lost_too_large", counts.lost_too_large},
        {"lost_withheld", counts.lost_withheld},
    };
    uint64_t sum = 0;

    for (size_t index = 0; index < sizeof causes / sizeof causes[0]; index++) {
        sum += causes[index].events;
    }
    if (counts.lost == 0 && sum == 0) {
        return;
    }
    print_error("%llu events lost of %llu:", (unsigned long long)counts.lost,
                (unsigned long long)(counts.lost + counts.recorded + counts.overwritten));
    for (size_t index = 0; index < sizeof causes / sizeof causes[0]; index++) {
        if (causes[index].events != 0) {
            print_error(" %s %llu", causes[index].cause, (unsigned long long)causes[index].events);
        }
    }
    print_error("; %llu of %llu buffers free\n", (unsigned long long)counts.buffers_free,
                (unsigned long long)counts.buffers_allocated);
    _fail(file, line);
}

bool has_room(etwas_trace_handle session)
{
    etwas_session_counts counts = counts_of(session);

    return counts.buffers_allocated - counts.buffers_free <=
           query_session(session).MaximumBuffers / 2;
}

void wait_for_room(etwas_trace_handle session)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (!has_room(session)) {
        (void)nanosleep(&pause, NULL);
    }
}

static cpu_set_t all_processors;

void stay_on_one_processor(void)
{
    cpu_set_t one;

    assert_int_equal(sched_getaffinity(0, sizeof all_processors, &all_processors), 0);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

void leave_one_processor(void)
{
    assert_int_equal(sched_setaffinity(0, sizeof all_processors, &all_processors), 0);
}

void expect_exact_account(etwas_trace_handle session, const etwas_session_counts *counts)
{
    struct writer_totals totals = writers_totals(session);

    if (totals.attempted - totals.refused !=
        counts->recorded + counts->overwritten + counts->lost) {
        fail_msg("%llu attempted, %llu refused; %llu recorded, %llu overwritten, %llu lost "
                 "(%llu no buffer, %llu write error, %llu file full, %llu abandoned)",
                 (unsigned long long)totals.attempted, (unsigned long long)totals.refused,
                 (unsigned long long)counts->recorded, (unsigned long long)counts->overwritten,
                 (unsigned long long)counts->lost, (unsigned long long)counts->lost_no_buffer,
                 (unsigned long long)counts->lost_write_error,
                 (unsigned long long)counts->lost_file_full,
                 (unsigned long long)counts->lost_abandoned);
    }
    assert_int_equal(counts->lost, counts->lost_no_buffer + counts->lost_write_error +
                                       counts->lost_file_full + counts->lost_abandoned +
                                       counts->lost_backlog_full + counts->lost_undelivered);
    assert_int_equal(totals.odd_codes, 0);
    assert_int_equal(counts->committed_rseq + counts->committed_shared + counts->lost_no_buffer +
                         counts->lost_backlog_full,
                     totals.attempted - totals.refused);
    if (!sessions_have_sequences()) {
        assert_int_equal(counts->committed_rseq + counts->restarts, 0);
    }
}
