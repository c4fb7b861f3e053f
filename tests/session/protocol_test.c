/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which protocol a session gets, and what it says of it. The test runs a second time in a process
 * without registered restartable sequences.
 */
#include <stdlib.h>
#include <string.h>

#include "session/fixture.h"

enum {
    EVENTS = 10
};

/*
 * Returns the protocol in force in a session that asked for `protocol`. Logs there, and checks
 * which protocol committed.
 */
static uint32_t protocol_given(uint32_t protocol, bool recorder)
{
    const etwas_session_options options = {
        .log_file_mode = recorder ? EVENT_TRACE_BUFFERING_MODE : EVENT_TRACE_FILE_MODE_NONE,
        .protocol = protocol,
    };
    etwas_trace_handle session = start_session(recorder ? NULL : folder_path("f.etl"), &options);
    etwas_session_counts counts;
    uint32_t in_force = 77;

    assert_int_equal(etwas_session_protocol(session, &in_force), ERROR_SUCCESS);
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, EVENTS);
    assert_int_equal(counts.committed_rseq, in_force == ETWAS_PROTOCOL_RSEQ ? EVENTS : 0);
    assert_int_equal(counts.committed_shared, in_force == ETWAS_PROTOCOL_RSEQ ? 0 : EVENTS);
    return in_force;
}

static void the_best_protocol_is_sequences_where_they_can_run_and_shared_elsewhere(void **state)
{
    uint32_t best = can_have_sequences() ? ETWAS_PROTOCOL_RSEQ : ETWAS_PROTOCOL_SHARED;
    const char *tunables = getenv("GLIBC_TUNABLES");
    struct block block;
    etwas_trace_handle session;
    uint32_t in_force = 77;

    (void)state;
    if (tunables != NULL && strstr(tunables, "glibc.pthread.rseq=0") != NULL) {
        assert_int_equal(best, ETWAS_PROTOCOL_SHARED);
    }
    for (int recorder = 0; recorder <= 1; recorder++) {
        assert_int_equal(protocol_given(ETWAS_PROTOCOL_BEST, recorder != 0), best);
        assert_int_equal(protocol_given(ETWAS_PROTOCOL_SHARED, recorder != 0),
                         ETWAS_PROTOCOL_SHARED);
        if (best == ETWAS_PROTOCOL_RSEQ) {
            assert_int_equal(protocol_given(ETWAS_PROTOCOL_RSEQ, recorder != 0),
                             ETWAS_PROTOCOL_RSEQ);
        }
    }
    /* StartTrace has no word for it. */
    prepare_block(&block, folder_path("f.etl"));
    session = start_block("best", &block);
    assert_int_equal(etwas_session_protocol(session, &in_force), ERROR_SUCCESS);
    assert_int_equal(in_force, best);
    stop_session(session, NULL);
}

static void expect_refused(uint32_t protocol, uint32_t code)
{
    const etwas_session_options options = {.protocol = protocol};
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;

    assert_int_equal(etwas_start("refused", folder_path("f.etl"), &options, &session), code);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

static void a_protocol_that_cannot_be_is_refused_and_nothing_is_left(void **state)
{
    static const uint32_t unknown[] = {3, 4, 255, UINT32_MAX};

    (void)state;
    for (size_t index = 0; index < sizeof unknown / sizeof unknown[0]; index++) {
        expect_refused(unknown[index], ERROR_INVALID_PARAMETER);
    }
    if (!can_have_sequences()) {
        expect_refused(ETWAS_PROTOCOL_RSEQ, ERROR_NOT_SUPPORTED);
    }
}

static void only_a_running_session_has_a_protocol(void **state)
{
    etwas_trace_handle session = start_recorder();
    uint32_t protocol = 77;

    (void)state;
    assert_int_equal(etwas_session_protocol(session, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_session_protocol(0, &protocol), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_session_protocol(session + 0x100, &protocol), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_session_protocol(UINT64_MAX, &protocol), ERROR_INVALID_HANDLE);
    stop_session(session, NULL);
    assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_INVALID_HANDLE);
    assert_int_equal(protocol, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_best_protocol_is_sequences_where_they_can_run_and_shared_elsewhere),
        FOLDER_TEST(a_protocol_that_cannot_be_is_refused_and_nothing_is_left),
        FOLDER_TEST(only_a_running_session_has_a_protocol),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
