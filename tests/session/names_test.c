/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Session names and file names: length, form, case, and which files may be logged to (R9–R13, R18).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    LONGEST = 1024
};

/* A path of exactly this many characters inside the folder, its folders made. */
static void long_path(char *path, size_t length)
{
    enum {
        STEP = 200
    };
    size_t used;

    strcpy(path, folder_path("d"));
    while ((used = strlen(path)) + STEP + 2 < length) {
        assert_true(mkdir(path, 0777) == 0 || access(path, W_OK) == 0);
        path[used] = '/';
        memset(path + used + 1, 'x', STEP);
        path[used + 1 + STEP] = 0;
    }
    assert_true(mkdir(path, 0777) == 0 || access(path, W_OK) == 0);
    path[used] = '/';
    memset(path + used + 1, 'y', length - used - 1);
    path[length] = 0;
}

static void r9_a_session_name_has_at_most_1024_characters(void **state)
{
    char name[LONGEST + 2];
    etwas_wchar wide[LONGEST + 2];
    struct block block;
    etwas_trace_handle session;

    (void)state;
    memset(name, 'n', sizeof name);
    name[LONGEST] = 0;
    prepare_block(&block, folder_path("f.etl"));
    session = start_block(name, &block);
    assert_string_equal(block.session_name, name);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 0);

    name[LONGEST] = 'n';
    name[LONGEST + 1] = 0;
    session = 77;
    assert_int_equal(StartTraceA(&session, name, &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(0, name, &block.properties), ERROR_INVALID_PARAMETER);

    /* A character is a unit of UTF-16, whatever it takes in UTF-8. */
    for (size_t index = 0; index < LONGEST; index++) {
        wide[index] = 0x20AC; /* EURO SIGN: 3 bytes */
    }
    wide[LONGEST] = 0;
    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    assert_int_equal(StartTraceW(&session, wide, &block.properties), ERROR_SUCCESS);
    assert_memory_equal(block.session_name, wide, sizeof wide - sizeof wide[0]);
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(strlen(block.session_name), 3 * LONGEST);
    assert_int_equal(QueryTraceA(0, block.session_name, &block.properties), ERROR_SUCCESS);
    stop_session(session, NULL);
    wide[LONGEST] = 0x20AC;
    wide[LONGEST + 1] = 0;
    assert_int_equal(StartTraceW(&session, wide, &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
}

static void r9_a_file_name_has_at_most_1024_characters(void **state)
{
    static char path[LONGEST + 2];
    struct block block;
    etwas_trace_handle session = 77;
    struct stat status;

    (void)state;
    long_path(path, LONGEST);
    prepare_block(&block, path);
    stop_session(start_block("long", &block), NULL);
    assert_int_equal(count_events(path), 0);

    long_path(path, LONGEST + 1);
    prepare_block(&block, path);
    assert_int_equal(StartTraceA(&session, "long", &block.properties), ERROR_BAD_PATHNAME);
    assert_int_equal(session, 0);
    assert_int_equal(etwas_start("long", path, NULL, &session), ERROR_BAD_PATHNAME);
    assert_int_not_equal(stat(path, &status), 0);

    /* Short enough for us, but with a part that is too long for the system. */
    memset(path, 0, sizeof path);
    strcpy(path, folder_path(""));
    memset(path + strlen(path), 'z', 300);
    prepare_block(&block, path);
    assert_int_equal(StartTraceA(&session, "long", &block.properties), ERROR_FILENAME_EXCED_RANGE);
}

/*
 * The block of R1 with both names as long as they may be, in W at odd addresses, to its last byte.
 */
static void r9_names_of_1024_characters_fill_a_block_to_its_end(void **state)
{
    enum {
        NAME_BYTES = (LONGEST + 1) * sizeof(etwas_wchar),
        BLOCK_BYTES = sizeof(EVENT_TRACE_PROPERTIES) + 1 + 2 * NAME_BYTES
    };
    static char path[LONGEST + 2];
    etwas_wchar wide_path[LONGEST + 1];
    etwas_wchar name[LONGEST + 1];
    EVENT_TRACE_PROPERTIES *properties = calloc(1, BLOCK_BYTES);
    char *bytes = (char *)properties;
    etwas_trace_handle session = 77;

    (void)state;
    assert_non_null(properties);
    long_path(path, LONGEST);
    (void)wide_of(path, wide_path, LONGEST + 1);
    for (size_t index = 0; index < LONGEST; index++) {
        name[index] = (etwas_wchar)(u'A' + index % 26);
    }
    name[LONGEST] = 0;
    properties->Wnode.BufferSize = BLOCK_BYTES;
    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->LoggerNameOffset = sizeof *properties + 1;
    properties->LogFileNameOffset = sizeof *properties + 1 + NAME_BYTES;
    memcpy(bytes + properties->LogFileNameOffset, wide_path, NAME_BYTES);
    /* Without the last byte the path has no end inside the block. */
    properties->Wnode.BufferSize--;
    assert_int_equal(StartTraceW(&session, name, properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    properties->Wnode.BufferSize++;
    assert_int_equal(StartTraceW(&session, name, properties), ERROR_SUCCESS);
    assert_memory_equal(bytes + properties->LoggerNameOffset, name, sizeof name);
    memset(bytes + sizeof *properties, 0, BLOCK_BYTES - sizeof *properties);
    assert_int_equal(QueryTraceW(session, NULL, properties), ERROR_SUCCESS);
    assert_memory_equal(bytes + properties->LoggerNameOffset, name, sizeof name);
    assert_memory_equal(bytes + properties->LogFileNameOffset, wide_path, NAME_BYTES);
    properties->Wnode.BufferSize--;
    assert_int_equal(FlushTraceW(session, NULL, properties), ERROR_MORE_DATA);
    /* The session's name needs its whole area for a start. */
    properties->Wnode.BufferSize++;
    properties->LoggerNameOffset++;
    assert_int_equal(QueryTraceW(session, NULL, properties), ERROR_MORE_DATA);
    assert_int_equal(StopTraceW(0, name, properties), ERROR_MORE_DATA);
    assert_int_equal(StartTraceW(&session, name, properties), ERROR_BAD_LENGTH);
    assert_int_equal(session, 0);
    free(properties);
    assert_int_equal(count_events(path), 0);
}

static void ill_formed_names_are_refused(void **state)
{
    static const char *const bad_utf8[] = {
        "\xFF",
        "a\x80",
        "\xC0\xAF",
        "\xED\xA0\x80", /* a surrogate */
        "\xF4\x90\x80\x80",
        "\xE2\x82",
        "\xF8\x88\x80\x80\x80",
    };
    static const etwas_wchar bad_utf16[][4] = {
        {0xD800, 0}, {0xDC00, 0}, {'a', 0xD800, 'b', 0}, {0xDC00, 0xD800, 0}};
    etwas_trace_handle session = 77;
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof bad_utf8 / sizeof bad_utf8[0]; index++) {
        prepare_block(&block, folder_path("f.etl"));
        assert_int_equal(StartTraceA(&session, bad_utf8[index], &block.properties),
                         ERROR_INVALID_PARAMETER);
        assert_int_equal(session, 0);
        prepare_block(&block, bad_utf8[index]);
        assert_int_equal(StartTraceA(&session, "s", &block.properties), ERROR_BAD_PATHNAME);
        assert_int_equal(QueryTraceA(0, bad_utf8[index], &block.properties),
                         ERROR_INVALID_PARAMETER);
    }
    for (size_t index = 0; index < sizeof bad_utf16 / sizeof bad_utf16[0]; index++) {
        prepare_block(&block, folder_path("f.etl"));
        assert_int_equal(StartTraceW(&session, bad_utf16[index], &block.properties),
                         ERROR_INVALID_PARAMETER);
        memcpy(block.file_name, bad_utf16[index], sizeof bad_utf16[index]);
        assert_int_equal(StartTraceW(&session, ETWAS_TEXT("s"), &block.properties),
                         ERROR_BAD_PATHNAME);
        assert_int_equal(session, 0);
    }
}

static void r10_names_are_unique_without_regard_to_case(void **state)
{
    static const struct {
        const char *first;
        const char *second;
    } same[] = {
        {"Session", "sESSION"},
        {"\xC3\x84rger", "\xC3\xA4RGER"},         /* A with diaeresis */
        {"\xCE\xA3\xCE\xA9", "\xCF\x83\xCF\x89"}, /* Greek */
        {"\xD0\x96\xD0\xAF", "\xD0\xB6\xD1\x8F"}, /* Cyrillic */
    };
    struct block block;
    etwas_trace_handle session;
    etwas_trace_handle other = 77;

    (void)state;
    for (size_t index = 0; index < sizeof same / sizeof same[0]; index++) {
        prepare_block(&block, folder_path("1.etl"));
        session = start_block(same[index].first, &block);
        prepare_block(&block, folder_path("2.etl"));
        assert_int_equal(StartTraceA(&other, same[index].second, &block.properties),
                         ERROR_ALREADY_EXISTS);
        assert_int_equal(other, 0);
        assert_int_not_equal(access(folder_path("2.etl"), F_OK), 0);
        assert_int_equal(QueryTraceA(0, same[index].second, &block.properties), ERROR_SUCCESS);
        assert_true(block.properties.Wnode.HistoricalContext == session);
        /* As it was given at the start, not as it was asked for. */
        assert_string_equal(block.session_name, same[index].first);
        assert_int_equal(StopTraceA(0, same[index].second, &block.properties), ERROR_SUCCESS);
        other = start_session(folder_path("2.etl"), NULL);
        stop_session(other, NULL);
        assert_int_equal(unlink(folder_path("2.etl")), 0);
    }
    prepare_block(&block, folder_path("1.etl"));
    session = start_block("prefix", &block);
    prepare_block(&block, folder_path("2.etl"));
    assert_int_equal(QueryTraceA(0, "prefi", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(QueryTraceA(0, "prefix2", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    stop_session(session, NULL);
}

static void r11_a_missing_folder_is_not_made_and_variables_are_not_expanded(void **state)
{
    etwas_trace_handle session = 77;

    (void)state;
    assert_int_equal(etwas_start("s", folder_path("no/such/f.etl"), NULL, &session),
                     ERROR_PATH_NOT_FOUND);
    assert_int_equal(session, 0);
    assert_int_not_equal(access(folder_path("no"), F_OK), 0);
    assert_int_equal(etwas_start("s", "$HOME/f.etl", NULL, &session), ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_start("s", "%HOME%/f.etl", NULL, &session), ERROR_PATH_NOT_FOUND);
    /* A file where a folder should be. */
    stop_session(start_session(folder_path("file"), NULL), NULL);
    assert_int_equal(etwas_start("s", folder_path("file/f.etl"), NULL, &session),
                     ERROR_PATH_NOT_FOUND);
}

static void r11_a_relative_path_and_r13_any_extension_are_good(void **state)
{
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_true(before >= 0);
    assert_int_equal(chdir(folder_path(".")), 0);
    stop_session(start_session("no extension", NULL), NULL);
    stop_session(start_session("./w\xC3\xA4re.txt", NULL), NULL);
    assert_int_equal(fchdir(before), 0);
    (void)close(before);
    assert_int_equal(count_events(folder_path("no extension")), 0);
    assert_int_equal(count_events(folder_path("w\xC3\xA4re.txt")), 0);
}

static void r12_a_log_file_has_the_rights_that_the_umask_leaves(void **state)
{
    struct stat status;
    mode_t before = umask(027);

    (void)state;
    stop_session(start_session(folder_path("f.etl"), NULL), NULL);
    (void)umask(before);
    assert_int_equal(stat(folder_path("f.etl"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

/* R18; an existing file that nobody uses is replaced. */
static void r18_a_file_in_use_by_a_session_is_refused_and_keeps_its_events(void **state)
{
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_session(path, NULL);
    etwas_trace_handle other = 77;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(etwas_start("other", path, NULL, &other), ERROR_BAD_PATHNAME);
    assert_int_equal(other, 0);
    assert_int_equal(log_number(session, 2), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(path), 2);
    stop_session(start_session(path, NULL), NULL);
    assert_int_equal(count_events(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r9_a_session_name_has_at_most_1024_characters),
        FOLDER_TEST(r9_a_file_name_has_at_most_1024_characters),
        FOLDER_TEST(r9_names_of_1024_characters_fill_a_block_to_its_end),
        FOLDER_TEST(ill_formed_names_are_refused),
        FOLDER_TEST(r10_names_are_unique_without_regard_to_case),
        FOLDER_TEST(r11_a_missing_folder_is_not_made_and_variables_are_not_expanded),
        FOLDER_TEST(r11_a_relative_path_and_r13_any_extension_are_good),
        FOLDER_TEST(r12_a_log_file_has_the_rights_that_the_umask_leaves),
        FOLDER_TEST(r18_a_file_in_use_by_a_session_is_refused_and_keeps_its_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
