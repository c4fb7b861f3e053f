/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Starts that are refused leave nothing: no file, no thread, no descriptor, no name in the table,
 * and a file that was there before keeps its contents.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/processor.h"
#include "session/fixture.h"

static const char name[] = "refused";

/* Nobody has the name, so it can be had. */
static void expect_name_is_free(void)
{
    struct block block;

    prepare_block(&block, NULL);
    assert_int_equal(QueryTraceA(0, name, &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    stop_session(start_block(name, &block), NULL);
}

static void expect_refused(const char *path, const etwas_session_options *options, uint32_t code)
{
    struct belongings before;
    etwas_trace_handle session = 77;

    expect_name_is_free();
    before = count_belongings();
    assert_int_equal(etwas_start(name, path, options, &session), code);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
    expect_name_is_free();
    assert_nothing_gained(&before);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path, const char *text)
{
    char bytes[64] = {0};
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes - 1, file), strlen(text));
    assert_string_equal(bytes, text);
    (void)fclose(file);
}

static void files_that_cannot_be_logged_to_are_refused(void **state)
{
    (void)state;
    write_text(folder_path("target"), "keep me");
    assert_int_equal(symlink(folder_path("target"), folder_path("link")), 0);
    assert_int_equal(symlink(folder_path("nowhere"), folder_path("dangling")), 0);
    assert_int_equal(mkdir(folder_path("folder"), 0777), 0);
    assert_int_equal(mkfifo(folder_path("fifo"), 0666), 0);

    expect_refused(folder_path("folder"), NULL, ERROR_BAD_PATHNAME);
    expect_refused(folder_path("link"), NULL, ERROR_BAD_PATHNAME);
    expect_refused(folder_path("dangling"), NULL, ERROR_BAD_PATHNAME);
    expect_refused(folder_path("fifo"), NULL, ERROR_BAD_PATHNAME);
    expect_refused("/dev/null", NULL, ERROR_BAD_PATHNAME);
    expect_refused(folder_path("no/f.etl"), NULL, ERROR_PATH_NOT_FOUND);
    expect_refused(folder_path("target/f.etl"), NULL, ERROR_PATH_NOT_FOUND);
    expect_refused("", NULL, ERROR_BAD_PATHNAME);
    expect_text(folder_path("target"), "keep me");
}

static void unknown_clocks_and_modes_are_refused(void **state)
{
    /* R155 */
    static const uint32_t clocks[] = {4, 5, 255, 0x80000000, UINT32_MAX};
    etwas_session_options options = {0};

    (void)state;
    for (size_t index = 0; index < sizeof clocks / sizeof clocks[0]; index++) {
        options.clock = clocks[index];
        expect_refused(folder_path("f.etl"), &options, ERROR_INVALID_PARAMETER);
    }
    options = (etwas_session_options){.log_file_mode = 0x00200000};
    expect_refused(folder_path("f.etl"), &options, ERROR_INVALID_PARAMETER);
    options.log_file_mode = EVENT_TRACE_RELOG_MODE;
    expect_refused(folder_path("f.etl"), &options, ERROR_NOT_SUPPORTED);
}

static void flusher_options_out_of_range_are_refused(void **state)
{
    const uint32_t cpu = etwas_processor_count();
    const etwas_flusher_options wrong[] = {
        {.nice_value = -21},
        {.nice_value = 20},
        {.realtime_priority = -1},
        {.realtime_priority = 100},
        {.cpus = &cpu, .cpu_count = 1},
    };

    (void)state;
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        const etwas_session_options options = {.flusher = wrong[index]};

        expect_refused(folder_path("f.etl"), &options, ERROR_INVALID_PARAMETER);
    }
}

/* An account without rights, in a child that has nothing else to lose. */
static void become_nobody(void)
{
    const struct rlimit none = {0, 0};

    CHECK_IN_CHILD(chmod(folder_path("."), 0777) == 0);
    if (getuid() == 0) {
        CHECK_IN_CHILD(setgid(65534) == 0 && setuid(65534) == 0);
    }
    CHECK_IN_CHILD(setrlimit(RLIMIT_RTPRIO, &none) == 0 && setrlimit(RLIMIT_NICE, &none) == 0);
}

static void expect_refused_in_child(const char *path, const etwas_session_options *options,
                                    uint32_t expected)
{
    etwas_trace_handle session = 77;
    uint32_t code = etwas_start(name, path, options, &session);

    if (code != expected) {
        (void)dprintf(STDERR_FILENO, "%s: code %u, not %u\n", path, code, expected);
    }
    CHECK_IN_CHILD(code == expected);
    CHECK_IN_CHILD(session == 0);
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
/* R68: what UPDATE may raise MaximumBuffers to is set aside only where there is room for it. */
static void a_start_does_not_fail_for_space_to_grow_into(void **state)
{
    const char *path = folder_path("f.etl");
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        limit_address_space(150 << 20); /* the buffers have 64 MB */
        for (int round = 0; round < 2; round++) {
            etwas_trace_handle session;

            CHECK_IN_CHILD(etwas_start(name, path, NULL, &session) == ERROR_SUCCESS);
            CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
        }
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
}
#else
static void a_start_does_not_fail_for_space_to_grow_into(void **state)
{
    (void)state;
    print_message("skipped: a sanitizer needs address space of its own\n");
    skip();
}
#endif

static void files_without_permission_are_refused(void **state)
{
    pid_t child;

    (void)state;
    assert_int_equal(mkdir(folder_path("closed"), 0555), 0);
    write_text(folder_path("readable"), "keep me");
    assert_int_equal(chmod(folder_path("readable"), 0444), 0);
    child = fork();
    if (child == 0) {
        become_nobody();
        expect_refused_in_child(folder_path("closed/f.etl"), NULL, ERROR_ACCESS_DENIED);
        expect_refused_in_child(folder_path("readable"), NULL, ERROR_ACCESS_DENIED);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    expect_text(folder_path("readable"), "keep me");
    assert_int_not_equal(access(folder_path("closed/f.etl"), F_OK), 0);
}

/* The system says no only when the thread is made: the file must not have been touched by then. */
static void a_refused_flusher_thread_leaves_no_file_and_empties_none(void **state)
{
    static const etwas_session_options each_option[] = {
        {.flusher.realtime_priority = 10},
        {.flusher.nice_value = -20},
    };
    pid_t child;

    (void)state;
    write_text(folder_path("old"), "keep me");
    assert_int_equal(chmod(folder_path("old"), 0666), 0);
    child = fork();
    if (child == 0) {
        become_nobody();
        for (size_t index = 0; index < sizeof each_option / sizeof each_option[0]; index++) {
            expect_refused_in_child(folder_path("new"), &each_option[index], ERROR_ACCESS_DENIED);
            expect_refused_in_child(folder_path("old"), &each_option[index], ERROR_ACCESS_DENIED);
        }
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_int_not_equal(access(folder_path("new"), F_OK), 0);
    expect_text(folder_path("old"), "keep me");
}

static void without_descriptors_left_nothing_starts(void **state)
{
    pid_t child;

    (void)state;
    child = fork();
    if (child == 0) {
        const struct rlimit few = {4, 4};
        int descriptor;

        CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &few) == 0);
        do {
            descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
        } while (descriptor >= 0);
        expect_refused_in_child(folder_path("f.etl"), NULL, ERROR_NO_SYSTEM_RESOURCES);
        CHECK_IN_CHILD(access(folder_path("f.etl"), F_OK) != 0);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
}

/* Hundreds of starts and stops cost no more than one. */
static void sessions_that_ran_leave_nothing_either(void **state)
{
    enum {
        ROUNDS = 300
    };
    struct belongings before;

    (void)state;
    stop_session(start_session(folder_path("f.etl"), NULL), NULL);
    stop_session(start_recorder(), NULL);
    before = count_belongings();
    for (int round = 0; round < ROUNDS; round++) {
        etwas_trace_handle session = start_session(folder_path("f.etl"), &small_session);

        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        stop_session(session, NULL);
        stop_session(start_session(NULL, &small_recorder), NULL);
    }
    assert_nothing_gained(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(files_that_cannot_be_logged_to_are_refused),
        FOLDER_TEST(unknown_clocks_and_modes_are_refused),
        FOLDER_TEST(flusher_options_out_of_range_are_refused),
        FOLDER_TEST(a_start_does_not_fail_for_space_to_grow_into),
        FOLDER_TEST(files_without_permission_are_refused),
        FOLDER_TEST(a_refused_flusher_thread_leaves_no_file_and_empties_none),
        FOLDER_TEST(without_descriptors_left_nothing_starts),
        FOLDER_TEST(sessions_that_ran_leave_nothing_either),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
