/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Private sessions: how many there may be, the name of their file, their GUID (R14, R40, R41, R44,
 * R46, R47, R48, R98).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    PRIVATE = EVENT_TRACE_PRIVATE_LOGGER_MODE,
    IN_PROCESS = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC,
    ORDINARY_SESSIONS = 64,
    PRIVATE_SESSIONS = 8,
    IN_PROCESS_SESSIONS = 3
};

static const char *with_process_id(const char *path)
{
    static char with[4096];

    (void)snprintf(with, sizeof with, "%s_%d", path, (int)getpid());
    return with;
}

static etwas_trace_handle start_private(uint32_t mode)
{
    const etwas_session_options options = {
        .log_file_mode = mode | EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 4,
    };

    return start_session(NULL, &options);
}

static void expect_no_more(uint32_t mode)
{
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;
    struct block block;

    prepare_block(&block, folder_path("one too many"));
    block.properties.LogFileMode = mode;
    assert_int_equal(StartTraceA(&session, "one too many", &block.properties),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

static void r47_at_most_8_private_sessions_and_3_of_them_in_process(void **state)
{
    etwas_trace_handle sessions[PRIVATE_SESSIONS];

    (void)state;
    for (int index = 0; index < PRIVATE_SESSIONS; index++) {
        sessions[index] = start_private(index < IN_PROCESS_SESSIONS ? IN_PROCESS : PRIVATE);
        if (index >= IN_PROCESS_SESSIONS - 1) {
            expect_no_more(IN_PROCESS);
        }
        assert_int_equal(log_number(sessions[index], 1), ERROR_SUCCESS);
    }
    expect_no_more(PRIVATE);
    /* The entry of one in the process may be taken by one of the others, and by one of its kind. */
    stop_session(sessions[0], NULL);
    sessions[0] = start_private(PRIVATE);
    expect_no_more(PRIVATE);
    stop_session(sessions[7], NULL);
    sessions[7] = start_private(IN_PROCESS);
    expect_no_more(IN_PROCESS);
    for (int index = 0; index < PRIVATE_SESSIONS; index++) {
        stop_session(sessions[index], NULL);
    }
    /* Without any of the others, three are still the most. */
    for (int index = 0; index < IN_PROCESS_SESSIONS; index++) {
        sessions[index] = start_private(IN_PROCESS);
    }
    expect_no_more(IN_PROCESS);
    for (int index = 0; index < IN_PROCESS_SESSIONS; index++) {
        stop_session(sessions[index], NULL);
    }
}

static void r46_private_sessions_do_not_count_against_the_64_others(void **state)
{
    etwas_trace_handle others[ORDINARY_SESSIONS];
    etwas_trace_handle sessions[PRIVATE_SESSIONS];

    (void)state;
    for (int index = 0; index < ORDINARY_SESSIONS; index++) {
        others[index] = start_session(NULL, &small_recorder);
    }
    expect_no_more(0);
    for (int index = 0; index < PRIVATE_SESSIONS; index++) {
        sessions[index] = start_private(PRIVATE);
        for (int other = 0; other < ORDINARY_SESSIONS; other++) {
            assert_true(sessions[index] != others[other]);
        }
        assert_int_equal(log_number(sessions[index], 1), ERROR_SUCCESS);
    }
    expect_no_more(0);
    expect_no_more(PRIVATE);
    for (int index = 0; index < ORDINARY_SESSIONS; index++) {
        stop_session(others[index], NULL);
    }
    expect_no_more(PRIVATE);
    for (int index = 0; index < PRIVATE_SESSIONS; index++) {
        etwas_session_counts counts;

        stop_session(sessions[index], &counts);
        assert_int_equal(counts.recorded, 1);
    }
}

/* R14, R98: StartTrace leaves the caller's name, QUERY returns the one in force; A and W. */
static void r98_the_process_id_is_appended_to_the_file_name(void **state)
{
    static const uint32_t modes[] = {PRIVATE, IN_PROCESS, PRIVATE | EVENT_TRACE_FILE_MODE_CIRCULAR,
                                     PRIVATE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};
    const char *path = folder_path("x.etl");
    const char *real = with_process_id(path);

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        etwas_wchar wide[512];
        etwas_trace_handle session;
        struct block started;
        struct block block;

        prepare_block(&started, path);
        started.properties.LogFileMode = modes[index];
        started.properties.MaximumFileSize = 1;
        session = start_block("suffix", &started);
        assert_string_equal(started.file_name, path);
        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        prepare_block(&block, "");
        assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_string_equal(block.file_name, real);
        assert_int_equal(QueryTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_memory_equal(block.file_name, wide_of(real, wide, 512),
                            (strlen(real) + 1) * sizeof wide[0]);
        /* R14: without room for the suffix the name does not fit. */
        prepare_block(&block, "");
        block.properties.Wnode.BufferSize =
            (uint32_t)(offsetof(struct block, file_name) + strlen(real));
        assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_MORE_DATA);
        block.properties.Wnode.BufferSize++;
        assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_string_equal(block.file_name, real);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(count_events(real), 1);
        /* The block is good for the next start as it is. */
        session = start_block("suffix", &started);
        stop_session(session, NULL);
        assert_int_equal(count_events(real), 0);
    }
}

static void r98_a_private_set_has_the_number_and_the_process_id(void **state)
{
    char path[4096];
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("set%02d.etl"));
    block.properties.LogFileMode = PRIVATE | EVENT_TRACE_FILE_MODE_NEWFILE;
    block.properties.MaximumFileSize = 1;
    session = start_block("set", &block);
    prepare_block(&block, "");
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    (void)snprintf(path, sizeof path, "%s_%d", folder_path("set01.etl"), (int)getpid());
    assert_string_equal(block.file_name, path);
    stop_session(session, NULL);
    assert_int_equal(count_events(path), 0);
}

/* R98: also for what a flight recorder is asked to write; etwas_snapshot means what it is given. */
static void r98_a_private_recorder_writes_snapshots_with_the_suffix(void **state)
{
    etwas_trace_handle session = start_private(PRIVATE);
    struct block block;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    prepare_block(&block, folder_path("snapshot.etl"));
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(with_process_id(folder_path("snapshot.etl"))), 1);
    assert_int_not_equal(access(folder_path("snapshot.etl"), F_OK), 0);
    assert_int_equal(etwas_snapshot(session, folder_path("snapshot.etl")), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("snapshot.etl")), 1);
    stop_session(session, NULL);
}

/* R14: 1,024 characters are the most for a name with its suffix; a refused start leaves nothing. */
static void r14_a_file_name_without_room_for_the_suffix_is_refused(void **state)
{
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;
    struct block block;

    (void)state;
    prepare_block(&block, "x");
    memset(block.file_name, 'x', 1023);
    block.file_name[1023] = 0;
    block.properties.LogFileMode = PRIVATE;
    assert_int_equal(StartTraceA(&session, "long", &block.properties), ERROR_BAD_PATHNAME);
    assert_int_equal(session, 0);
    block.properties.LogFileMode = PRIVATE | EVENT_TRACE_BUFFERING_MODE;
    assert_int_equal(StartTraceA(&session, "long", &block.properties), ERROR_BAD_PATHNAME);
    assert_nothing_gained(&before);
}

/* R44: the GUID is the provider's; R40: a new one without; R41: not twice among all sessions. */
static void r44_a_private_session_has_the_guid_it_was_given(void **state)
{
    static const etwas_guid zero;
    struct block block;
    etwas_trace_handle session;
    etwas_trace_handle other = 77;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LogFileMode = PRIVATE;
    block.properties.Wnode.Guid = control_guid;
    session = start_block("given", &block);
    assert_memory_equal(&block.properties.Wnode.Guid, &control_guid, sizeof control_guid);
    prepare_block(&block, folder_path("g.etl"));
    block.properties.Wnode.Guid = control_guid;
    assert_int_equal(StartTraceA(&other, "ordinary", &block.properties), ERROR_ALREADY_EXISTS);
    block.properties.LogFileMode = IN_PROCESS;
    assert_int_equal(StartTraceA(&other, "in process", &block.properties), ERROR_ALREADY_EXISTS);
    /* R10: names are unique among all of them too. */
    block.properties.Wnode.Guid = first_class;
    assert_int_equal(StartTraceA(&other, "GIVEN", &block.properties), ERROR_ALREADY_EXISTS);
    assert_int_equal(other, 0);
    block.properties.Wnode.Guid = zero;
    other = start_block("new", &block);
    assert_memory_not_equal(&block.properties.Wnode.Guid, &zero, sizeof zero);
    stop_session(other, NULL);
    stop_session(session, NULL);
}

static etwas_trace_handle enabled_by;

static uint32_t note_session(WMIDPREQUESTCODE code, void *context, uint32_t *size, void *buffer)
{
    (void)context;
    (void)size;
    enabled_by = code == WMI_ENABLE_EVENTS ? GetTraceLoggerHandle(buffer) : 0;
    return ERROR_SUCCESS;
}

/* R44, R48: the provider of its GUID, in this process, logs to it. */
static void r44_the_provider_is_enabled_in_a_private_session(void **state)
{
    etwas_trace_handle registration;
    etwas_trace_handle session;
    struct block block;

    (void)state;
    assert_int_equal(
        RegisterTraceGuidsA(note_session, NULL, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LogFileMode = PRIVATE;
    block.properties.Wnode.Guid = control_guid;
    session = start_block("provider", &block);
    assert_int_equal(EnableTrace(1, 7, 5, &control_guid, session), ERROR_SUCCESS);
    assert_int_not_equal(enabled_by, 0);
    assert_int_equal(GetTraceEnableFlags(enabled_by), 7);
    assert_int_equal(log_number(enabled_by, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(enabled_by, 0);
    assert_int_equal(count_events(with_process_id(folder_path("f.etl"))), 1);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r47_at_most_8_private_sessions_and_3_of_them_in_process),
        FOLDER_TEST(r46_private_sessions_do_not_count_against_the_64_others),
        FOLDER_TEST(r98_the_process_id_is_appended_to_the_file_name),
        FOLDER_TEST(r98_a_private_set_has_the_number_and_the_process_id),
        FOLDER_TEST(r98_a_private_recorder_writes_snapshots_with_the_suffix),
        FOLDER_TEST(r14_a_file_name_without_room_for_the_suffix_is_refused),
        FOLDER_TEST(r44_a_private_session_has_the_guid_it_was_given),
        FOLDER_TEST(r44_the_provider_is_enabled_in_a_private_session),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
