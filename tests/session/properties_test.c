/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The properties block: sizes, flags, offsets, version 2, GUIDs (R1–R8, R16, R17, R19–R23, R40,
 * R41, R45).
 */
#include <stdlib.h>
#include <string.h>

#include "session/fixture.h"

/* Starting with this block must be refused with this code, with no handle and no file. */
static void expect_refused(struct block *block, uint32_t code)
{
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;

    assert_int_equal(StartTraceA(&session, "refused", &block->properties), code);
    assert_int_equal(session, 0); /* R19 */
    assert_nothing_gained(&before);
}

static void expect_starts(struct block *block)
{
    stop_session(start_block("accepted", block), NULL);
}

static void null_arguments_are_refused(void **state)
{
    etwas_trace_handle session = 77;
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    assert_int_equal(StartTraceA(NULL, "s", &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(StartTraceA(&session, NULL, &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    session = 77;
    assert_int_equal(StartTraceA(&session, "s", NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    session = 77;
    assert_int_equal(StartTraceA(&session, "", &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    assert_int_equal(StartTraceW(NULL, ETWAS_TEXT("s"), &block.properties),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(StartTraceW(&session, NULL, &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(StartTraceW(&session, ETWAS_TEXT("s"), NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_start(NULL, folder_path("f.etl"), NULL, &session),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_start("s", folder_path("f.etl"), NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_start("s", NULL, NULL, &session), ERROR_BAD_PATHNAME);
    assert_int_equal(session, 0);
}

/* R1: a stated size below the structure's; R8: without room for the session's name. */
static void r1_a_block_that_is_too_small_is_a_bad_length(void **state)
{
    static const uint32_t sizes[] = {0, 1, 47, 48, 119};
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        prepare_block(&block, folder_path("f.etl"));
        block.properties.Wnode.BufferSize = sizes[index];
        expect_refused(&block, ERROR_BAD_LENGTH);
    }
    /* "refused" and its 0 are 8 bytes. */
    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    block.properties.Wnode.BufferSize = block.properties.LoggerNameOffset + 7;
    expect_refused(&block, ERROR_BAD_LENGTH);
    block.properties.Wnode.BufferSize++;
    stop_session(start_block("refused", &block), NULL);
}

/* Nothing behind the stated size is read or written: the block ends where the allocation ends. */
static void r1_a_block_of_exactly_the_stated_size_is_enough(void **state)
{
    const char *path = folder_path("exact.etl");
    size_t bytes = sizeof(EVENT_TRACE_PROPERTIES) + sizeof "exact" + strlen(path) + 1;
    EVENT_TRACE_PROPERTIES *properties = calloc(1, bytes);
    etwas_trace_handle session;

    (void)state;
    assert_non_null(properties);
    properties->Wnode.BufferSize = (uint32_t)bytes;
    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->LoggerNameOffset = sizeof *properties;
    properties->LogFileNameOffset = (uint32_t)(sizeof *properties + sizeof "exact");
    memcpy((char *)properties + properties->LogFileNameOffset, path, strlen(path) + 1);
    assert_int_equal(StartTraceA(&session, "exact", properties), ERROR_SUCCESS);
    assert_string_equal((char *)properties + properties->LoggerNameOffset, "exact");
    assert_int_equal(QueryTraceA(session, NULL, properties), ERROR_SUCCESS);
    assert_string_equal((char *)properties + properties->LogFileNameOffset, path);
    assert_int_equal(StopTraceA(session, NULL, properties), ERROR_SUCCESS);
    free(properties);
}

static void r2_the_flag_traced_guid_is_needed(void **state)
{
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.Wnode.Flags = 0;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.properties.Wnode.Flags = ~(WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES);
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_ALL_DATA;
    expect_starts(&block);
}

/* R4, R6, R7: the name is copied to its offset, the file's is read at its own, 0 is no file. */
static void r4_names_stand_at_their_offsets_also_unaligned_ones(void **state)
{
    static const uint32_t shifts[] = {0, 1, 2, 3, 5, 7};
    etwas_wchar wide[64];
    struct block block;
    etwas_trace_handle session;

    (void)state;
    for (size_t index = 0; index < sizeof shifts / sizeof shifts[0]; index++) {
        const char *path = folder_path("unaligned.etl");
        char *names = (char *)&block;
        etwas_wchar copy[64];

        prepare_block(&block, NULL);
        block.properties.LoggerNameOffset += shifts[index];
        block.properties.LogFileNameOffset = offsetof(struct block, file_name) + shifts[index];
        memcpy(names + block.properties.LogFileNameOffset, path, strlen(path) + 1);
        session = start_block("Unaligned", &block);
        assert_string_equal(names + block.properties.LoggerNameOffset, "Unaligned");
        assert_string_equal(names + block.properties.LogFileNameOffset, path);
        stop_session(session, NULL);
        assert_int_equal(count_events(path), 0);

        /* The same with UTF-16, whose units then lie at odd addresses. */
        (void)wide_of(path, wide, 64);
        memcpy(names + block.properties.LogFileNameOffset, wide, sizeof wide);
        assert_int_equal(StartTraceW(&session, ETWAS_TEXT("Wide"), &block.properties),
                         ERROR_SUCCESS);
        memcpy(copy, names + block.properties.LoggerNameOffset, sizeof copy);
        assert_memory_equal(copy, ETWAS_TEXT("Wide"), 5 * sizeof copy[0]);
        memcpy(copy, names + block.properties.LogFileNameOffset, sizeof copy);
        assert_memory_equal(copy, wide, (strlen(path) + 1) * sizeof copy[0]);
        stop_session(session, NULL);
        assert_int_equal(count_events(path), 0);
    }
}

/* Two names in one place cannot both be there. */
static void r8_the_two_offsets_must_differ(void **state)
{
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LoggerNameOffset = block.properties.LogFileNameOffset;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    assert_string_equal(block.file_name, folder_path("f.etl"));
}

/* R5 has the session's name first; a block the other way round is unusual, not wrong. */
static void r5_the_name_areas_may_stand_in_either_order(void **state)
{
    const char *path = folder_path("order.etl");
    struct block block;

    (void)state;
    prepare_block(&block, NULL);
    block.properties.LogFileNameOffset = offsetof(struct block, session_name);
    block.properties.LoggerNameOffset = offsetof(struct block, file_name);
    memcpy(block.session_name, path, strlen(path) + 1);
    stop_session(start_block("order", &block), NULL);
    assert_string_equal(block.file_name, "order");
    assert_string_equal(block.session_name, path);
    /* The file's area ends where the name's begins: without its 0 before that it is not a name. */
    block.properties.LoggerNameOffset = block.properties.LogFileNameOffset + (uint32_t)strlen(path);
    expect_refused(&block, ERROR_INVALID_PARAMETER);
}

static void r8_offsets_outside_the_block_or_inside_the_structure_are_refused(void **state)
{
    static const uint32_t wrong[] = {1,
                                     64,
                                     sizeof(EVENT_TRACE_PROPERTIES) - 1,
                                     sizeof(struct block),
                                     sizeof(struct block) + 1,
                                     0x7FFFFFFF,
                                     0x80000000,
                                     0xFFFFFFFF};
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        prepare_block(&block, folder_path("f.etl"));
        block.properties.LoggerNameOffset = wrong[index];
        expect_refused(&block, ERROR_INVALID_PARAMETER);
        prepare_block(&block, folder_path("f.etl"));
        block.properties.LogFileNameOffset = wrong[index];
        expect_refused(&block, ERROR_INVALID_PARAMETER);
    }
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LoggerNameOffset = 0;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    /* A file's name that is not terminated inside the block. */
    prepare_block(&block, folder_path("f.etl"));
    block.properties.Wnode.BufferSize =
        (uint32_t)(offsetof(struct block, file_name) + strlen(folder_path("f.etl")));
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.properties.Wnode.BufferSize++;
    expect_starts(&block);
}

static void r16_and_r17_mode_0_writes_a_sequential_file_and_needs_its_name(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_NONE, EVENT_TRACE_FILE_MODE_SEQUENTIAL};
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        etwas_trace_handle session;

        prepare_block(&block, NULL);
        block.properties.LogFileMode = modes[index];
        expect_refused(&block, ERROR_BAD_PATHNAME);
        prepare_block(&block, "");
        block.properties.LogFileMode = modes[index];
        expect_refused(&block, ERROR_BAD_PATHNAME);
        prepare_block(&block, folder_path("f.etl"));
        block.properties.LogFileMode = modes[index];
        session = start_block("file", &block);
        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path("f.etl")), 1);
    }
}

static void r20_version_2_members_count_only_with_their_flag(void **state)
{
    EVENT_FILTER_DESCRIPTOR filter = {0};
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.second.VersionNumber = 9;
    block.second.FilterDescCount = 99;
    block.second.FilterDesc = &filter;
    expect_starts(&block);
    /* Without the flag the structure has 120 bytes, and names may stand right behind them. */
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
    expect_starts(&block);
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
    block.properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
    block.second.VersionNumber = 2;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
}

/* R21–R23 and the block's size with the flag set. */
static void r21_to_r23_version_2_members_are_checked(void **state)
{
    EVENT_FILTER_DESCRIPTOR filter = {0};
    struct block block;

    (void)state;
    for (uint32_t version = 0; version < 256; version++) {
        prepare_block(&block, folder_path("f.etl"));
        block.properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
        block.second.V2Control = version;
        if (version != 2) {
            expect_refused(&block, ERROR_INVALID_PARAMETER);
        }
    }
    block.second.V2Control = 2;
    expect_starts(&block);
    block.second.FilterDescCount = 1;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.second.FilterDescCount = 51;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.second.FilterDescCount = 0;
    block.second.FilterDesc = &filter;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.second.FilterDesc = NULL;
    block.second.V2Options = 0xF; /* R28: not used */
    expect_starts(&block);
    block.properties.Wnode.BufferSize = sizeof block.second - 1;
    expect_refused(&block, ERROR_BAD_LENGTH);
}

static void r40_a_session_without_a_guid_gets_one_and_one_with_a_guid_keeps_it(void **state)
{
    static const etwas_guid zero;
    struct block first;
    struct block second;
    etwas_trace_handle sessions[2];

    (void)state;
    prepare_block(&first, folder_path("1.etl"));
    prepare_block(&second, folder_path("2.etl"));
    sessions[0] = start_block("one", &first);
    sessions[1] = start_block("two", &second);
    assert_memory_not_equal(&first.properties.Wnode.Guid, &zero, sizeof zero);
    assert_memory_not_equal(&second.properties.Wnode.Guid, &zero, sizeof zero);
    assert_memory_not_equal(&first.properties.Wnode.Guid, &second.properties.Wnode.Guid,
                            sizeof zero);
    stop_session(sessions[0], NULL);
    first.properties.Wnode.Guid = control_guid;
    sessions[0] = start_block("one", &first);
    assert_memory_equal(&first.properties.Wnode.Guid, &control_guid, sizeof zero);
    /* R41: not twice at the same time; the refused one leaves no file. */
    stop_session(sessions[1], NULL);
    prepare_block(&second, folder_path("3.etl"));
    second.properties.Wnode.Guid = control_guid;
    expect_refused(&second, ERROR_ALREADY_EXISTS);
    stop_session(sessions[0], NULL);
    expect_starts(&second);
}

/*
 * R42, R43 and R45: no other session may have their flags. A flag that is not built shows which
 * session is a system logger: it gets another code.
 */
static void r45_enable_flags_are_for_system_loggers(void **state)
{
    struct block block;
    etwas_trace_handle session = 77;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    prepare_block(&block, folder_path("f.etl"));
    block.properties.Wnode.Guid = SystemTraceControlGuid;
    expect_refused(&block, ERROR_INVALID_PARAMETER);
    block.properties.Wnode.Guid = GlobalLoggerGuid;
    block.properties.EnableFlags = EVENT_TRACE_FLAG_DEBUG_EVENTS;
    expect_refused(&block, ERROR_NOT_SUPPORTED);
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    block.properties.EnableFlags = EVENT_TRACE_FLAG_DEBUG_EVENTS;
    expect_refused(&block, ERROR_NOT_SUPPORTED);
    prepare_block(&block, folder_path("f.etl"));
    block.properties.EnableFlags = EVENT_TRACE_FLAG_DEBUG_EVENTS;
    assert_int_equal(StartTraceA(&session, "nt kernel LOGGER", &block.properties),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(session, 0);
}

/* R138: what a program that has only the block reads its handle from. */
static void r138_the_handle_stands_in_the_block(void **state)
{
    struct block block;
    etwas_trace_handle session;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    session = start_block("handle", &block);
    assert_true(block.properties.Wnode.HistoricalContext == session);
    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(0, "handle", &block.properties), ERROR_SUCCESS);
    assert_true(block.properties.Wnode.HistoricalContext == session);
    assert_int_equal(log_number(block.properties.Wnode.HistoricalContext, 5), ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(null_arguments_are_refused),
        FOLDER_TEST(r1_a_block_that_is_too_small_is_a_bad_length),
        FOLDER_TEST(r1_a_block_of_exactly_the_stated_size_is_enough),
        FOLDER_TEST(r2_the_flag_traced_guid_is_needed),
        FOLDER_TEST(r4_names_stand_at_their_offsets_also_unaligned_ones),
        FOLDER_TEST(r8_the_two_offsets_must_differ),
        FOLDER_TEST(r5_the_name_areas_may_stand_in_either_order),
        FOLDER_TEST(r8_offsets_outside_the_block_or_inside_the_structure_are_refused),
        FOLDER_TEST(r16_and_r17_mode_0_writes_a_sequential_file_and_needs_its_name),
        FOLDER_TEST(r20_version_2_members_count_only_with_their_flag),
        FOLDER_TEST(r21_to_r23_version_2_members_are_checked),
        FOLDER_TEST(r40_a_session_without_a_guid_gets_one_and_one_with_a_guid_keeps_it),
        FOLDER_TEST(r45_enable_flags_are_for_system_loggers),
        FOLDER_TEST(r138_the_handle_stands_in_the_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
