/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of private sessions: which sessions may have them, what they may be, and that a process
 * they do not name records nothing (R20–R27).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    PRIVATE = EVENT_TRACE_PRIVATE_LOGGER_MODE,
    IN_PROCESS = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC,
    FILTERS = 64,
    DATA_BYTES = 1024
};

/* A version 2 block for a session of this mode, with filters. */
static void prepare_filters(struct block *block, uint32_t mode, EVENT_FILTER_DESCRIPTOR *filters,
                            uint32_t count)
{
    prepare_block(block, folder_path("f.etl"));
    block->properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
    block->properties.LogFileMode = mode;
    block->second.VersionNumber = 2;
    block->second.FilterDesc = filters;
    block->second.FilterDescCount = count;
}

static EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)data, (uint32_t)bytes, type};
}

static EVENT_FILTER_DESCRIPTOR filter_of_names(const char *names, etwas_wchar *buffer, size_t units)
{
    (void)wide_of(names, buffer, units);
    return filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, buffer,
                     (strlen(names) + 1) * sizeof *buffer);
}

static const char *file_of_private(void)
{
    static char name[64];

    (void)snprintf(name, sizeof name, "f.etl_%d", (int)getpid());
    return folder_path(name);
}

/* The file of this program, without its folder. */
static const char *own_name(void)
{
    static char path[4096];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *slash;

    assert_true(bytes > 0);
    path[bytes] = 0;
    slash = strrchr(path, '/');
    assert_non_null(slash);
    return slash + 1;
}

static void expect_refused(uint32_t mode, EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;
    struct block block;

    prepare_filters(&block, mode, filters, count);
    assert_int_equal(StartTraceA(&session, "refused", &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    session = 77;
    assert_int_equal(StartTraceW(&session, ETWAS_TEXT("refused"), &block.properties),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

/* Whether a session with these filters records in this process. */
static bool records(EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    etwas_trace_handle session;
    struct block block;
    uint32_t code;

    prepare_filters(&block, PRIVATE, filters, count);
    session = start_block("filtered", &block);
    code = log_number(session, 1);
    assert_true(code == ERROR_SUCCESS || code == ERROR_INVALID_HANDLE);
    stop_session(session, NULL);
    if (code == ERROR_SUCCESS) {
        assert_int_equal(count_events(file_of_private()), 1);
        assert_int_equal(unlink(file_of_private()), 0);
    } else {
        assert_int_not_equal(access(file_of_private(), F_OK), 0);
    }
    return code == ERROR_SUCCESS;
}

static void r23_only_a_system_wide_private_session_may_have_filters(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_BUFFERING_MODE,
                                     EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, IN_PROCESS};
    uint32_t own = (uint32_t)getpid();
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_PID, &own, sizeof own);

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        expect_refused(modes[index], &filter, 1);
        expect_refused(modes[index], NULL, 1);
        expect_refused(modes[index], &filter, 0);
    }
    assert_true(records(&filter, 1));
    assert_true(records(NULL, 0));
}

static void r20_without_the_flag_filters_are_not_looked_at(void **state)
{
    uint32_t other = (uint32_t)getpid() + 1;
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_PID, &other, sizeof other);
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_filters(&block, PRIVATE, &filter, 1);
    block.properties.Wnode.Flags &= ~WNODE_FLAG_VERSIONED_PROPERTIES;
    session = start_block("unfiltered", &block);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(file_of_private()), 1);
}

/* R22; R25: one of a type, so no more than two can be right at all. */
static void r22_and_r25_at_most_50_filters_and_one_of_each_type(void **state)
{
    uint32_t own = (uint32_t)getpid();
    EVENT_FILTER_DESCRIPTOR filters[FILTERS];
    etwas_wchar names[256];

    (void)state;
    for (int index = 0; index < FILTERS; index++) {
        filters[index] = filter_of(EVENT_FILTER_TYPE_PID, &own, sizeof own);
    }
    expect_refused(PRIVATE, filters, 2);
    expect_refused(PRIVATE, filters, 50);
    expect_refused(PRIVATE, filters, 51);
    expect_refused(PRIVATE, NULL, 1);
    expect_refused(PRIVATE, filters, UINT32_MAX);
    filters[1] = filter_of_names(own_name(), names, 256);
    assert_true(records(filters, 2));
    expect_refused(PRIVATE, filters, 3);
    filters[2] = filters[1];
    expect_refused(PRIVATE, filters + 1, 2);
}

static void r24_other_types_of_filters_are_refused(void **state)
{
    static const uint32_t types[] = {EVENT_FILTER_TYPE_NONE,
                                     EVENT_FILTER_TYPE_SCHEMATIZED,
                                     EVENT_FILTER_TYPE_SYSTEM_FLAGS,
                                     EVENT_FILTER_TYPE_TRACEHANDLE,
                                     EVENT_FILTER_TYPE_PACKAGE_ID,
                                     EVENT_FILTER_TYPE_PACKAGE_APP_ID,
                                     EVENT_FILTER_TYPE_PAYLOAD,
                                     EVENT_FILTER_TYPE_EVENT_ID,
                                     EVENT_FILTER_TYPE_EVENT_NAME,
                                     EVENT_FILTER_TYPE_STACKWALK,
                                     EVENT_FILTER_TYPE_STACKWALK_NAME,
                                     EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW,
                                     EVENT_FILTER_TYPE_CONTAINER,
                                     4,
                                     0xFFFFFFFF};
    uint32_t own = (uint32_t)getpid();

    (void)state;
    for (size_t index = 0; index < sizeof types / sizeof types[0]; index++) {
        EVENT_FILTER_DESCRIPTOR filters[] = {
            filter_of(EVENT_FILTER_TYPE_PID, &own, sizeof own),
            filter_of(types[index], &own, sizeof own),
        };

        expect_refused(PRIVATE, filters, 2);
        expect_refused(PRIVATE, filters + 1, 1);
    }
}

/* R26: at most 8 process ids, whole ones. */
static void r26_a_process_id_filter_names_one_to_eight_processes(void **state)
{
    static const uint32_t wrong_sizes[] = {0, 1, 3, 5, 33, 35, 36, 1024, UINT32_MAX};
    uint32_t ids[9];
    char unaligned[sizeof ids + 1];
    EVENT_FILTER_DESCRIPTOR filter;

    (void)state;
    for (uint32_t index = 0; index < 9; index++) {
        ids[index] = (uint32_t)getpid() + 1 + index;
    }
    for (size_t index = 0; index < sizeof wrong_sizes / sizeof wrong_sizes[0]; index++) {
        filter = filter_of(EVENT_FILTER_TYPE_PID, ids, wrong_sizes[index]);
        expect_refused(PRIVATE, &filter, 1);
    }
    filter = filter_of(EVENT_FILTER_TYPE_PID, NULL, sizeof ids[0]);
    expect_refused(PRIVATE, &filter, 1);
    for (uint32_t count = 1; count <= 8; count++) {
        filter = filter_of(EVENT_FILTER_TYPE_PID, ids, count * sizeof ids[0]);
        assert_false(records(&filter, 1));
    }
    for (uint32_t index = 0; index < 8; index++) {
        uint32_t before = ids[index];

        ids[index] = (uint32_t)getpid();
        memcpy(unaligned + 1, ids, sizeof ids);
        filter = filter_of(EVENT_FILTER_TYPE_PID, unaligned + 1, 8 * sizeof ids[0]);
        assert_true(records(&filter, 1));
        ids[index] = before;
    }
}

static void r26_a_name_filter_lets_through_the_programs_it_names(void **state)
{
    static const char *const patterns[] = {"*", "*;x", "x;*", "a;*;b", ";*", "*;", ";;*;;", "^"};
    static const char *const others[] = {"",    ";",  ";;",  "x",  "x*", "*x",
                                         "x;y", "/*", "./*", "* ", " *"};
    EVENT_FILTER_DESCRIPTOR filter;
    etwas_wchar names[512];
    char text[512];

    (void)state;
    for (size_t index = 0;
         index < sizeof patterns / sizeof patterns[0] + sizeof others / sizeof others[0]; index++) {
        bool named = index < sizeof patterns / sizeof patterns[0];
        const char *pattern =
            named ? patterns[index] : others[index - sizeof patterns / sizeof patterns[0]];
        size_t used = 0;

        /* `*` is the program's name, `^` the same in capitals. */
        for (; *pattern != 0; pattern++) {
            for (const char *own = own_name(); (*pattern == '*' || *pattern == '^') && *own != 0;
                 own++) {
                bool small = *own >= 'a' && *own <= 'z';

                text[used++] = (char)(*pattern == '^' && small ? *own - 'a' + 'A' : *own);
            }
            if (*pattern != '*' && *pattern != '^') {
                text[used++] = *pattern;
            }
        }
        text[used] = 0;
        filter = filter_of_names(text, names, 512);
        assert_true(records(&filter, 1) == named);
    }
}

/* R26: at most 1,024 bytes, whole units, and a 0 among them. */
static void r26_names_that_are_not_terminated_or_too_long_are_refused(void **state)
{
    char data[DATA_BYTES + 3];
    etwas_wchar unit = u'x';
    etwas_wchar end = 0;
    EVENT_FILTER_DESCRIPTOR filter;

    (void)state;
    for (size_t at = 1; at + 1 < sizeof data; at += sizeof unit) {
        memcpy(data + at, &unit, sizeof unit);
    }
    filter = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, data + 1, DATA_BYTES);
    expect_refused(PRIVATE, &filter, 1);
    filter.Size = 2;
    expect_refused(PRIVATE, &filter, 1);
    filter.Size = 0;
    expect_refused(PRIVATE, &filter, 1);
    /* One name of 511 units at an odd address. */
    memcpy(data + 1 + DATA_BYTES - sizeof end, &end, sizeof end);
    filter.Size = DATA_BYTES;
    assert_false(records(&filter, 1));
    filter.Size = DATA_BYTES - 1;
    expect_refused(PRIVATE, &filter, 1);
    filter.Size = DATA_BYTES + sizeof end;
    expect_refused(PRIVATE, &filter, 1);
    filter.Size = UINT32_MAX - 1;
    expect_refused(PRIVATE, &filter, 1);
    filter = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, NULL, DATA_BYTES);
    expect_refused(PRIVATE, &filter, 1);
}

/* All that are given must let the process through; a descriptor need not be aligned either. */
static void every_filter_must_match(void **state)
{
    uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid() + 1};
    etwas_wchar own[256];
    etwas_wchar other[256];
    const EVENT_FILTER_DESCRIPTOR by_id[] = {
        filter_of(EVENT_FILTER_TYPE_PID, &ids[0], sizeof ids[0]),
        filter_of(EVENT_FILTER_TYPE_PID, &ids[1], sizeof ids[1]),
    };
    const EVENT_FILTER_DESCRIPTOR by_name[] = {
        filter_of_names(own_name(), own, 256),
        filter_of_names("somebody else", other, 256),
    };

    (void)state;
    for (int index = 0; index < 8; index++) {
        EVENT_FILTER_DESCRIPTOR pair[2] = {by_id[index & 1], by_name[index >> 1 & 1]};
        char unaligned[sizeof pair + 1];
        void *start = unaligned + 1;

        if ((index & 4) != 0) {
            EVENT_FILTER_DESCRIPTOR first = pair[0];

            pair[0] = pair[1];
            pair[1] = first;
        }
        memcpy(start, pair, sizeof pair);
        assert_true(records(start, 2) == ((index & 3) == 0));
    }
}

static uint32_t callbacks;

static uint32_t count_callback(WMIDPREQUESTCODE code, void *context, uint32_t *size, void *buffer)
{
    (void)code;
    (void)context;
    (void)size;
    (void)buffer;
    callbacks++;
    return ERROR_SUCCESS;
}

/*
 * R24, R48: it starts, answers and stops as any other, but nothing is recorded and nothing written.
 */
static void a_filtered_out_process_records_nothing(void **state)
{
    static const uint32_t modes[] = {PRIVATE, PRIVATE | EVENT_TRACE_BUFFERING_MODE,
                                     PRIVATE | EVENT_TRACE_FILE_MODE_NEWFILE};
    static const uint32_t controls[] = {EVENT_TRACE_CONTROL_QUERY, EVENT_TRACE_CONTROL_FLUSH,
                                        EVENT_TRACE_CONTROL_UPDATE, EVENT_TRACE_CONTROL_STOP};
    uint32_t other = (uint32_t)getpid() + 1;
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_PID, &other, sizeof other);
    etwas_trace_handle registration;
    uint32_t files = count_belongings().files;

    (void)state;
    callbacks = 0;
    assert_int_equal(RegisterTraceGuidsA(count_callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                         &registration),
                     ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        etwas_session_counts counts;
        etwas_trace_handle session;
        struct block block;

        prepare_filters(&block, modes[index], &filter, 1);
        memcpy(block.file_name, folder_path("%d"), strlen(folder_path("%d")) + 1);
        block.properties.MaximumFileSize = 1;
        session = start_block("Elsewhere", &block);
        assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
        assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
        assert_int_equal(log_number(session, 1), ERROR_INVALID_HANDLE);
        if ((modes[index] & EVENT_TRACE_FILE_MODE_NEWFILE) != 0) {
            prepare_block(&block, NULL);
            assert_int_equal(
                ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_INCREMENT_FILE),
                ERROR_SUCCESS);
        }
        assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
        assert_int_equal(counts.recorded + counts.lost + counts.overwritten, 0);
        for (size_t code = 0; code < sizeof controls / sizeof controls[0]; code++) {
            prepare_block(&block, folder_path("other%d"));
            block.properties.FlushTimer = 5;
            assert_int_equal(ControlTraceA(0, "elsewhere", &block.properties, controls[code]),
                             ERROR_SUCCESS);
            assert_int_equal(block.properties.EventsLost, 0);
            assert_int_equal(block.properties.BuffersWritten, 0);
            assert_true(block.properties.Wnode.HistoricalContext == session);
        }
        assert_int_equal(log_number(session, 1), ERROR_INVALID_HANDLE);
    }
    assert_int_equal(callbacks, 0);
    assert_int_equal(count_belongings().files, files);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* R27: every control call may bring the filters; wrong ones are wrong there too. */
static void r27_control_calls_take_the_filters_again(void **state)
{
    uint32_t own = (uint32_t)getpid();
    EVENT_FILTER_DESCRIPTOR filters[] = {
        filter_of(EVENT_FILTER_TYPE_PID, &own, sizeof own),
        filter_of(EVENT_FILTER_TYPE_PID, &own, sizeof own),
    };
    etwas_trace_handle session;
    etwas_trace_handle ordinary = start_session(folder_path("ordinary.etl"), NULL);
    struct block block;

    (void)state;
    prepare_filters(&block, PRIVATE, filters, 1);
    session = start_block("private", &block);
    for (uint32_t code = EVENT_TRACE_CONTROL_QUERY; code <= EVENT_TRACE_CONTROL_INCREMENT_FILE;
         code++) {
        prepare_filters(&block, PRIVATE, filters, 2);
        assert_int_equal(ControlTraceA(session, NULL, &block.properties, code),
                         ERROR_INVALID_PARAMETER);
        prepare_filters(&block, PRIVATE, filters, 1);
        assert_int_equal(ControlTraceA(ordinary, NULL, &block.properties, code),
                         ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(log_number(ordinary, 1), ERROR_SUCCESS);
    prepare_filters(&block, PRIVATE, filters, 1);
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    prepare_filters(&block, PRIVATE, filters, 1);
    assert_int_equal(FlushTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
    prepare_filters(&block, PRIVATE, filters, 1);
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    stop_session(ordinary, NULL);
    assert_int_equal(count_events(file_of_private()), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r23_only_a_system_wide_private_session_may_have_filters),
        FOLDER_TEST(r20_without_the_flag_filters_are_not_looked_at),
        FOLDER_TEST(r22_and_r25_at_most_50_filters_and_one_of_each_type),
        FOLDER_TEST(r24_other_types_of_filters_are_refused),
        FOLDER_TEST(r26_a_process_id_filter_names_one_to_eight_processes),
        FOLDER_TEST(r26_a_name_filter_lets_through_the_programs_it_names),
        FOLDER_TEST(r26_names_that_are_not_terminated_or_too_long_are_refused),
        FOLDER_TEST(every_filter_must_match),
        FOLDER_TEST(a_filtered_out_process_records_nothing),
        FOLDER_TEST(r27_control_calls_take_the_filters_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
