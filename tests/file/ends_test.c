/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a file is the end of: the last one that a session writes says that it ended with it, however
 * it ended, and no other file does.
 */
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_modes.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 500, /* some buffers */
};

static void log_events(etwas_trace_handle session)
{
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = EVENTS, .largest_payload = 99});

    for (int event = 0; event < EVENTS; event++) {
        (void)writer_log(writer);
    }
}

/* Expects it in the file, and also in what a reader is told. */
static void expect_ends(const char *path, uint32_t ends)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    etwas_trace_information information;

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(totals_of(path).ends, ends);
    assert_int_equal(information.ends, ends);
}

static void a_file_says_it_when_its_session_has_ended(void **state)
{
    static const uint32_t modes[] = {
        EVENT_TRACE_FILE_MODE_NONE, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_COMPRESSED_MODE,
        EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.log_file_mode = modes[index],
                                         .buffer_size_kb = 4,
                                         /* MB, of those that need one. */
                                         .maximum_file_size = index % 2};
        etwas_trace_handle session = start_session(path, &options);

        log_events(session);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        expect_ends(path, 0);
        stop_session(session, NULL);
        expect_ends(path, ETWAS_TRACE_ENDS_SESSION);
    }
}

/* The session stops by itself. */
static void a_full_file_says_it(void **state)
{
    const char *path = folder_path("full.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 16};
    etwas_trace_handle session = start_session(path, &options);

    (void)state;
    log_events(session);
    (void)etwas_flush(session);
    (void)etwas_stop(session, NULL);
    while (log_header_of(path).start.end_filetime == 0) {
        (void)usleep(1000);
    }
    expect_ends(path, ETWAS_TRACE_ENDS_SESSION);
}

static void the_last_part_of_a_set_says_it_alone(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 16};
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);
    uint32_t parts = 0;

    (void)state;
    log_events(session);
    stop_session(session, NULL);
    for (;;) {
        char name[32];

        (void)snprintf(name, sizeof name, "part%u.etl", parts + 1);
        if (access(folder_path(name), F_OK) != 0) {
            break;
        }
        parts++;
    }
    assert_in_range(parts, 3, EVENTS);
    for (uint32_t part = 1; part <= parts; part++) {
        char name[32];

        (void)snprintf(name, sizeof name, "part%u.etl", part);
        expect_ends(folder_path(name), part == parts ? ETWAS_TRACE_ENDS_SESSION : 0);
    }
}

/* R95: of the session that was appended last, and not while it runs. */
static void a_file_that_is_appended_to_says_it_anew(void **state)
{
    static const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND,
                                                  .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                                  .buffer_size_kb = 4};
    const char *path = folder_path("append.etl");

    (void)state;
    for (int round = 0; round < 3; round++) {
        etwas_trace_handle session = start_session(path, &options);

        expect_ends(path, 0);
        log_events(session);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        expect_ends(path, 0);
        stop_session(session, NULL);
        expect_ends(path, ETWAS_TRACE_ENDS_SESSION);
    }
}

static void a_snapshot_does_not_say_it(void **state)
{
    static const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                                  .buffer_size_kb = 4};
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session = start_session(NULL, &options);

    (void)state;
    log_events(session);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    stop_session(session, NULL);
    expect_ends(path, 0);
}

/*
 * A process that exits ends its sessions; one that does not come to that leaves a file without an
 * end.
 */
static void a_process_that_ends_says_it_if_it_exits(void **state)
{
    (void)state;
    for (int exits = 0; exits < 2; exits++) {
        const char *path = folder_path("exit.etl");
        int status;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            static const etwas_session_options options = {.buffer_size_kb = 4};
            etwas_trace_handle session;

            if (etwas_start("of a child", path, &options, &session) != ERROR_SUCCESS ||
                etwas_flush(session) != ERROR_SUCCESS) {
                _exit(1);
            }
            if (exits == 0) {
                _exit(0);
            }
            exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        expect_ends(path, exits != 0 ? ETWAS_TRACE_ENDS_SESSION : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_file_says_it_when_its_session_has_ended),
        FOLDER_TEST(a_full_file_says_it),
        FOLDER_TEST(the_last_part_of_a_set_says_it_alone),
        FOLDER_TEST(a_file_that_is_appended_to_says_it_anew),
        FOLDER_TEST(a_snapshot_does_not_say_it),
        FOLDER_TEST(a_process_that_ends_says_it_if_it_exits),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
