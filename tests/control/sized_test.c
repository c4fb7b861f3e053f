/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Structs that grow: a caller that knows fewer members than the library, or more.
 */
#include <string.h>

#include "session/fixture.h"

enum {
    UNTOUCHED = 0xA5,
    KNOWN_BYTES = 24, /* what an old caller knows */
    ROOM = 4096
};

/* ---- what the library fills ------------------------------------------------------------------ */

static etwas_trace_handle running;
static etwas_trace_handle open_file;

static uint32_t ask_counts(void *answer, size_t bytes)
{
    return etwas_counts_sized(running, answer, bytes);
}

static uint32_t ask_memory(void *answer, size_t bytes)
{
    return etwas_memory_sized(running, answer, bytes);
}

static uint32_t ask_trust(void *answer, size_t bytes)
{
    return etwas_clock_query_trust_sized(answer, bytes);
}

static uint32_t ask_trace(void *answer, size_t bytes)
{
    return etwas_trace_query_sized(open_file, answer, bytes);
}

static uint32_t ask_clock(void *answer, size_t bytes)
{
    return etwas_trace_query_clock_sized(open_file, answer, bytes);
}

static uint32_t stop_for_counts(void *answer, size_t bytes)
{
    etwas_trace_handle session = start_recorder();

    return etwas_stop_sized(session, answer, bytes);
}

static const struct {
    uint32_t (*ask)(void *answer, size_t bytes);
    size_t bytes;
} questions[] = {
    {ask_counts, sizeof(etwas_session_counts)}, {ask_memory, sizeof(etwas_session_memory)},
    {ask_trust, sizeof(etwas_clock_trust)},     {ask_trace, sizeof(etwas_trace_information)},
    {ask_clock, sizeof(etwas_trace_clock)},     {stop_for_counts, sizeof(etwas_session_counts)},
};

static void expect_bytes(const uint8_t *bytes, size_t from, size_t to, uint8_t value)
{
    for (size_t index = from; index < to; index++) {
        assert_int_equal(bytes[index], value);
    }
}

static void the_library_fills_what_the_caller_knows_and_nothing_behind_it(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {0};

    (void)state;
    running = start_session(folder_path("f.etl"), &small_session);
    assert_int_equal(log_number(running, 1), ERROR_SUCCESS);
    assert_int_equal(etwas_flush(running), ERROR_SUCCESS);
    logfile.LogFileName = (char *)(uintptr_t)folder_path("f.etl");
    open_file = OpenTraceA(&logfile);
    assert_true(open_file != INVALID_PROCESSTRACE_HANDLE);
    for (size_t index = 0; index < sizeof questions / sizeof questions[0]; index++) {
        const size_t whole = questions[index].bytes;
        uint8_t answer[ROOM];
        uint8_t part[ROOM];

        assert_true(KNOWN_BYTES < whole && whole < ROOM);
        memset(answer, UNTOUCHED, sizeof answer);
        assert_int_equal(questions[index].ask(answer, ROOM - 8), ERROR_SUCCESS);
        expect_bytes(answer, whole, ROOM - 8, 0);
        expect_bytes(answer, ROOM - 8, ROOM, UNTOUCHED);

        memset(part, UNTOUCHED, sizeof part);
        assert_int_equal(questions[index].ask(part, KNOWN_BYTES), ERROR_SUCCESS);
        if (questions[index].ask != ask_memory) { /* what is resident may change */
            assert_memory_equal(part, answer, KNOWN_BYTES);
        }
        expect_bytes(part, KNOWN_BYTES, ROOM, UNTOUCHED);
    }
    assert_int_equal(CloseTrace(open_file), ERROR_SUCCESS);
    stop_session(running, NULL);
}

/* ---- what the caller asks for ---------------------------------------------------------------- */

/* Options as a later version may know them. */
struct later_options {
    etwas_session_options options;
    uint64_t later;
};

static void options_the_caller_does_not_know_are_defaults(void **state)
{
    etwas_session_options options;
    etwas_trace_handle session;
    uint32_t code;

    (void)state;
    /* What lies behind the part that is known is anything. */
    memset(&options, UNTOUCHED, sizeof options);
    options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
    options.clock = ETWAS_CLOCK_SYSTEM_TIME;
    options.buffer_size_kb = 4;
    code = etwas_start_sized("old", NULL, &options,
                             offsetof(etwas_session_options, minimum_buffers), &session);
    assert_int_equal(code, ERROR_SUCCESS);
    assert_int_equal(query_session(session).BufferSize, 4);
    assert_int_equal(query_session(session).Wnode.ClientContext, ETWAS_CLOCK_SYSTEM_TIME);
    stop_session(session, NULL);
}

static void options_the_library_does_not_know_are_refused_unless_they_are_0(void **state)
{
    struct later_options options = {
        .options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4}};
    etwas_trace_handle session = 1;

    (void)state;
    options.later = 1;
    assert_int_equal(etwas_start_sized("new", NULL, &options.options, sizeof options, &session),
                     ERROR_NOT_SUPPORTED);
    assert_true(session == 0);
    options.later = 0;
    assert_int_equal(etwas_start_sized("new", NULL, &options.options, sizeof options, &session),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_library_fills_what_the_caller_knows_and_nothing_behind_it),
        cmocka_unit_test(options_the_caller_does_not_know_are_defaults),
        cmocka_unit_test(options_the_library_does_not_know_are_refused_unless_they_are_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
