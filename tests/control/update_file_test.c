/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * UPDATE with the name of a file: the session goes on in it, or writes a snapshot; and names that
 * are refused (R18, R73, R130, R133).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "update.h"

/* R130: a new name; A and W. What was logged before is in the old file, the rest in the new one. */
static void r130_update_with_a_new_name_goes_on_in_another_file(void **state)
{
    static const uint32_t modes[] = {
        0, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_FILE_MODE_PREALLOCATE,
        EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
        EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {
            .log_file_mode = modes[index],
            .maximum_file_size = 1,
            .protocol = (modes[index] & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0
                            ? ETWAS_PROTOCOL_SHARED
                            : ETWAS_PROTOCOL_BEST,
        };
        etwas_trace_handle session = start_session(folder_path("1.etl"), &options);
        etwas_wchar wide[512];
        struct block block;

        for (uint64_t number = 0; number < 3; number++) {
            assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        }
        prepare_block(&block, folder_path("2.etl"));
        assert_int_equal(update(session, &block), ERROR_SUCCESS);
        assert_string_equal(block.file_name, folder_path("2.etl"));
        expect_name(session, folder_path("2.etl"));
        assert_int_equal(count_events(folder_path("1.etl")), 3);
        assert_int_equal(log_number(session, 3), ERROR_SUCCESS);
        prepare_block(&block, "");
        (void)wide_of(folder_path("3.etl"), wide, 512);
        memcpy(block.file_name, wide, sizeof wide);
        assert_int_equal(UpdateTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        expect_name(session, folder_path("3.etl"));
        assert_int_equal(count_events(folder_path("2.etl")), 1);
        assert_int_equal(log_number(session, 4), ERROR_SUCCESS);
        assert_int_equal(log_number(session, 5), ERROR_SUCCESS);
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path("3.etl")), 2);
        /* The first one is free for others since it was left. */
        stop_session(start_session(folder_path("1.etl"), NULL), NULL);
    }
}

/* R133: the given name, the one in force, and each of them after a change. */
static void r133_an_unchanged_name_is_a_bad_pathname(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle set = start_session(folder_path("s%d.etl"), &options);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.FlushTimer = 9;
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    expect_unchanged(session, &before);
    prepare_block(&block, folder_path("s%d.etl"));
    assert_int_equal(update(set, &block), ERROR_BAD_PATHNAME);
    prepare_block(&block, folder_path("s1.etl"));
    assert_int_equal(update(set, &block), ERROR_BAD_PATHNAME);
    prepare_block(&block, folder_path("g.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    prepare_block(&block, folder_path("g.etl"));
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    /* Back to the first is a change. */
    prepare_block(&block, folder_path("f.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(set, NULL);
}

/* A file that cannot be begun: the present one goes on, and nothing else of the request is done. */
static void r130_a_file_that_cannot_be_begun_changes_nothing(void **state)
{
    const etwas_session_options options = {.flush_timer = 60};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_trace_handle other = start_session(folder_path("used.etl"), NULL);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct belongings had = count_belongings();
    char longest[1025];
    const struct {
        const char *name;
        uint32_t code;
    } cases[] = {
        {folder_path("used.etl"), ERROR_BAD_PATHNAME}, /* R18 */
        {folder_path("no/f.etl"), ERROR_PATH_NOT_FOUND},
        {folder_path("."), ERROR_BAD_PATHNAME},
        {"", ERROR_BAD_PATHNAME},
        {"\xFF", ERROR_BAD_PATHNAME},
        {longest, ERROR_FILENAME_EXCED_RANGE},
    };

    (void)state;
    memset(longest, 'l', sizeof longest - 1);
    longest[1024] = 0;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        struct block block;

        prepare_block(&block, cases[index].name);
        block.properties.FlushTimer = 9;
        block.properties.MaximumBuffers = before.MaximumBuffers + 1;
        assert_int_equal(update(session, &block), cases[index].code);
        expect_unchanged(session, &before);
        expect_name(session, folder_path("f.etl"));
    }
    assert_nothing_gained(&had);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    assert_int_equal(count_events(folder_path("used.etl")), 0);
}

/* A name whose header would not fit in a buffer of the session's size; one unit less is good. */
static void a_name_that_the_header_has_no_room_for_is_a_bad_pathname(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4};
    etwas_trace_handle session = 0;
    char name[1025];
    char path[1100];
    struct block block;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[1024] = 0;
    assert_int_equal(etwas_start(name, folder_path("f.etl"), &options, &session), ERROR_SUCCESS);
    assert_int_equal(query_session(session).BufferSize, 4);
    (void)snprintf(path, sizeof path, "%s", folder_path("."));
    while (strlen(path) + 2 < 1024) {
        strcat(path, "/.");
    }
    memcpy(path + strlen(path) - 2, "/x", 2);
    prepare_block(&block, path);
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    assert_false(exists(folder_path("x")));
    prepare_block(&block, folder_path("x"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("x")), 0);
}

/*
 * R73: UPDATE with a new name is a snapshot; nothing is consumed, and the name is the present one.
 */
static void r73_update_of_a_buffering_session_writes_a_snapshot(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct block block;

    (void)state;
    for (uint64_t number = 0; number < 5; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    prepare_block(&block, folder_path("1.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("1.etl")), 5);
    assert_int_equal(log_number(session, 5), ERROR_SUCCESS);
    prepare_block(&block, folder_path("1.etl"));
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    assert_int_equal(count_events(folder_path("1.etl")), 5);
    prepare_block(&block, folder_path("2.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("2.etl")), 6);
    prepare_block(&block, folder_path("no/3.etl"));
    assert_int_equal(update(session, &block), ERROR_PATH_NOT_FOUND);
    /* FLUSH without a name goes to the last one. */
    prepare_block(&block, NULL);
    assert_int_equal(log_number(session, 6), ERROR_SUCCESS);
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("2.etl")), 7);
    stop_session(session, NULL);
}

/*
 * FLUSH leaves the name it was given, so that it can be given again; QUERY says the session's own.
 */
static void r73_a_snapshot_leaves_its_name_in_the_block(void **state)
{
    etwas_trace_handle session;
    struct block block;
    char own[512];

    (void)state;
    prepare_block(&block, folder_path("own.etl"));
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_LOGGER_MODE;
    session = start_block("recorder", &block);
    for (uint64_t round = 1; round <= 2; round++) {
        char path[512];

        assert_int_equal(log_number(session, round), ERROR_SUCCESS);
        if (round == 1) {
            prepare_block(&block, folder_path("named.etl"));
        }
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_string_equal(block.file_name, folder_path("named.etl"));
        (void)snprintf(path, sizeof path, "%s_%d", folder_path("named.etl"), (int)getpid());
        assert_int_equal(count_events(path), round);
    }
    (void)snprintf(own, sizeof own, "%s_%d", folder_path("own.etl"), (int)getpid());
    expect_name(session, own);
    assert_false(exists(own));
    /* Without a name in the call it is the one of the start. */
    prepare_block(&block, NULL);
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(own), 2);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r130_update_with_a_new_name_goes_on_in_another_file),
        FOLDER_TEST(r133_an_unchanged_name_is_a_bad_pathname),
        FOLDER_TEST(r130_a_file_that_cannot_be_begun_changes_nothing),
        FOLDER_TEST(a_name_that_the_header_has_no_room_for_is_a_bad_pathname),
        FOLDER_TEST(r73_update_of_a_buffering_session_writes_a_snapshot),
        FOLDER_TEST(r73_a_snapshot_leaves_its_name_in_the_block),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
