/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/start.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/handle.h"
#include "support/writer.h"

etwas_trace_handle start_session(const char *path, const etwas_session_options *options)
{
    static unsigned started;
    etwas_trace_handle session = 0;
    char name[64];

    (void)snprintf(name, sizeof name, "test session %u of %d", ++started, (int)getpid());
    assert_int_equal(etwas_start(name, path, options, &session), ERROR_SUCCESS);
    assert_int_not_equal(session, 0);
    return session;
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

EVENT_TRACE_PROPERTIES query_session(etwas_trace_handle session)
{
    enum {
        NAME_BYTES = 2048
    };
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char session_name[NAME_BYTES];
        char file_name[NAME_BYTES];
    } block;

    memset(&block, 0, sizeof block);
    block.properties.Wnode.BufferSize = sizeof block;
    block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block.properties.LoggerNameOffset = sizeof block.properties;
    block.properties.LogFileNameOffset = sizeof block.properties + NAME_BYTES;
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    return block.properties;
}

struct etwas_session *inside_of(etwas_trace_handle session)
{
    struct etwas_session_key key;

    assert_true(etwas_session_key_of(session, &key));
    assert_int_equal(etwas_sessions[key.index].generation, key.generation);
    return &etwas_sessions[key.index];
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
                                       counts->lost_file_full + counts->lost_abandoned);
    assert_int_equal(totals.odd_codes, 0);
}
