/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a file mode needs before anything is started: a size, a name, a clock (R14, R17, R90, R91,
 * R95, R96). What the files then are is tested where they are written.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/fixture.h"

/* Starts with A and with W; both must be refused with this code and leave nothing. */
static void expect_refused(struct block *block, uint32_t code)
{
    struct belongings before = count_belongings();
    etwas_wchar wide[NAME_AREA_BYTES / sizeof(etwas_wchar)];
    struct block copy = *block;
    etwas_trace_handle session = 77;

    assert_int_equal(StartTraceA(&session, "refused", &copy.properties), code);
    assert_int_equal(session, 0);
    copy = *block;
    if (copy.properties.LogFileNameOffset != 0) {
        (void)wide_of(block->file_name, wide, sizeof wide / sizeof wide[0]);
        memcpy(copy.file_name, wide, (strlen(block->file_name) + 1) * sizeof wide[0]);
    }
    session = 77;
    assert_int_equal(StartTraceW(&session, ETWAS_TEXT("refused"), &copy.properties), code);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

static void expect_starts(struct block *block)
{
    stop_session(start_block("accepted", block), NULL);
}

static void prepare_mode(struct block *block, uint32_t mode, uint32_t size)
{
    prepare_block(block, folder_path("f%d.etl"));
    block->properties.LogFileMode = mode;
    block->properties.BufferSize = 64;
    block->properties.MaximumFileSize = size;
}

/*
 * R96: a name that is too long for a later serial number is refused at the start, not at part 10.
 */
static void r96_a_name_leaves_room_for_every_serial_number(void **state)
{
    char name[1200];
    struct block block;

    (void)state;
    for (int digits = 1; digits <= 10; digits += 9) {
        size_t folder = (size_t)snprintf(name, sizeof name, "%s/", folder_path("."));

        /* Folders that lead back, then the field: 1,024 characters with so many digits. */
        while (folder + 2 <= 1024 - (size_t)digits) {
            memcpy(name + folder, "./", 2);
            folder += 2;
        }
        memset(name + folder, 'f', 1024 - (size_t)digits - folder);
        (void)strcpy(name + 1024 - digits, "%d");
        prepare_block(&block, name);
        block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_NEWFILE;
        block.properties.BufferSize = 64;
        block.properties.MaximumFileSize = 1;
        if (digits == 1) {
            expect_refused(&block, ERROR_BAD_PATHNAME);
        } else {
            expect_starts(&block);
        }
    }
}

static void r91_some_modes_need_a_maximum_file_size(void **state)
{
    static const uint32_t needing[] = {EVENT_TRACE_FILE_MODE_CIRCULAR,
                                       EVENT_TRACE_FILE_MODE_NEWFILE,
                                       EVENT_TRACE_FILE_MODE_PREALLOCATE};
    static const uint32_t with[] = {0, EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                    EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};
    struct block block;

    (void)state;
    for (size_t index = 0; index < 3; index++) {
        for (size_t more = 0; more < 3; more++) {
            uint32_t mode = needing[index] | with[more];

            prepare_mode(&block, mode, 0);
            expect_refused(&block, ERROR_INVALID_PARAMETER);
            prepare_mode(&block, mode, 1024);
            expect_starts(&block);
        }
    }
    prepare_mode(&block, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
    expect_starts(&block);
}

/* R90: in KB, the header and one buffer must fit; in a circular file two buffers. */
static void r90_a_file_holds_its_header_and_what_its_mode_needs(void **state)
{
    static const struct {
        uint32_t mode;
        uint32_t least_kb;
    } cases[] = {
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 128},
        {EVENT_TRACE_FILE_MODE_NEWFILE, 128},
        {EVENT_TRACE_FILE_MODE_PREALLOCATE, 128},
        {EVENT_TRACE_FILE_MODE_CIRCULAR, 192},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE, 192},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        uint32_t mode = cases[index].mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
        struct block block;

        prepare_mode(&block, mode, cases[index].least_kb - 1);
        expect_refused(&block, ERROR_INVALID_PARAMETER);
        prepare_mode(&block, mode, 1);
        expect_refused(&block, ERROR_INVALID_PARAMETER);
        prepare_mode(&block, mode, cases[index].least_kb);
        expect_starts(&block);
        /* In MB the smallest number is enough. */
        prepare_mode(&block, cases[index].mode, 1);
        expect_starts(&block);
        assert_int_equal(block.properties.MaximumFileSize, 1);
        block.properties.BufferSize = 1024;
        expect_refused(&block, ERROR_INVALID_PARAMETER);
    }
}

/* R17: only a flight recorder needs no file. */
static void r17_every_file_mode_needs_a_name(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_CIRCULAR,
                                     EVENT_TRACE_FILE_MODE_NEWFILE,
                                     EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     EVENT_TRACE_PRIVATE_LOGGER_MODE,
                                     EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
                                     EVENT_TRACE_INDEPENDENT_SESSION_MODE,
                                     EVENT_TRACE_USE_PAGED_MEMORY};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        struct block block;

        prepare_mode(&block, modes[index], 1024);
        block.properties.LogFileNameOffset = 0;
        expect_refused(&block, ERROR_BAD_PATHNAME);
        prepare_mode(&block, modes[index], 1024);
        block.file_name[0] = 0;
        expect_refused(&block, ERROR_BAD_PATHNAME);
    }
}

static void r95_append_needs_a_buffer_size_and_the_system_clock(void **state)
{
    const uint32_t mode = EVENT_TRACE_FILE_MODE_APPEND;
    struct block block;

    (void)state;
    for (uint32_t clock = 0; clock <= 4; clock++) {
        prepare_mode(&block, mode, 0);
        block.properties.Wnode.ClientContext = clock;
        if (clock == ETWAS_CLOCK_SYSTEM_TIME) {
            expect_starts(&block);
            block.properties.BufferSize = 0;
        }
        expect_refused(&block, ERROR_INVALID_PARAMETER);
    }
}

/* R14, R96: the first file has number 1, and QUERY says so. */
static void r96_the_name_of_a_set_has_one_field(void **state)
{
    static const struct {
        const char *given;
        const char *made; /* NULL: refused */
    } cases[] = {{"a%d.etl", "a1.etl"}, {"b%03d.etl", "b001.etl"}, {"c.etl", NULL},
                 {"d%d%d.etl", NULL},   {"e%s.etl", NULL},         {"f%", NULL}};

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        char given[512];
        struct block query;
        struct block block;
        etwas_trace_handle session;

        (void)snprintf(given, sizeof given, "%s", folder_path(cases[index].given));
        prepare_block(&block, given);
        block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_NEWFILE;
        block.properties.MaximumFileSize = 1;
        if (cases[index].made == NULL) {
            expect_refused(&block, ERROR_INVALID_NAME);
            continue;
        }
        session = start_block("set", &block);
        assert_string_equal(block.file_name, given);
        prepare_block(&query, "");
        assert_int_equal(QueryTraceA(session, NULL, &query.properties), ERROR_SUCCESS);
        assert_string_equal(query.file_name, folder_path(cases[index].made));
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path(cases[index].made)), 0);
        assert_int_not_equal(access(given, F_OK), 0);
    }
    /* Without the mode a `%` is a letter like any other. */
    {
        struct block block;

        prepare_block(&block, folder_path("g%d%s.etl"));
        expect_starts(&block);
        assert_int_equal(count_events(folder_path("g%d%s.etl")), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r96_a_name_leaves_room_for_every_serial_number),
        FOLDER_TEST(r91_some_modes_need_a_maximum_file_size),
        FOLDER_TEST(r90_a_file_holds_its_header_and_what_its_mode_needs),
        FOLDER_TEST(r17_every_file_mode_needs_a_name),
        FOLDER_TEST(r95_append_needs_a_buffer_size_and_the_system_clock),
        FOLDER_TEST(r96_the_name_of_a_set_has_one_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
