/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Triggers of a flight recorder: which events their files have, what the files say of it, and what
 * becomes of each trigger.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/evntcons.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BUFFERS_A_PROCESSOR = 16,
    LONG_MS = 3600000, /* no test waits for it: the session ends before */
    FEW = 60,
    MANY = 20000,
    MOST_GAPS = 4096,
};

static etwas_trace_handle start_recorder(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .clock = ETWAS_CLOCK_QPC,
        .buffer_size_kb = 4,
        .minimum_buffers = BUFFERS_A_PROCESSOR * ((uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1),
    };

    return start_session(NULL, &options);
}

static void arm(etwas_trace_handle session, uint32_t before_ms, uint32_t after_ms)
{
    const etwas_trigger_options options = {
        .log_file = folder_path("window%d.etl"), .before_ms = before_ms, .after_ms = after_ms};

    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_SUCCESS);
}

static etwas_trigger_counts ask(etwas_trace_handle session)
{
    etwas_trigger_counts counts;

    assert_int_equal(etwas_trigger_query(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.asked, counts.windows + counts.joined + counts.limited + counts.capped +
                                       counts.waiting);
    assert_in_range(counts.windows - counts.files - counts.failed, 0, 1);
    return counts;
}

/* Until the flusher has seen all triggers. */
static void wait_until_seen(etwas_trace_handle session)
{
    while (ask(session).waiting != 0) {
        (void)usleep(500);
    }
}

static void wait_for_files(etwas_trace_handle session, uint64_t files)
{
    while (ask(session).files < files) {
        assert_int_equal(ask(session).failed, 0);
        (void)usleep(500);
    }
}

/* ---- what a file says of its window ---------------------------------------------------------- */

struct said {
    uint32_t windows;
    uint32_t gaps;
    int64_t stamp; /* of the event Window */
    struct etwas_etl_window window;
    struct etwas_etl_missing missing[MOST_GAPS];
};

static struct said said;

static void take(EVENT_RECORD *event)
{
    if (said.windows > 0) {
        assert_true(event->EventHeader.TimeStamp.QuadPart >= said.stamp);
    }
    if (memcmp(&event->EventHeader.ProviderId, &etwas_etl_own_class, sizeof(etwas_guid)) != 0) {
        return;
    }
    if (event->EventHeader.EventDescriptor.Opcode == ETWAS_ETL_WINDOW_TYPE) {
        said.stamp = event->EventHeader.TimeStamp.QuadPart;
        assert_int_equal(event->UserDataLength, sizeof said.window);
        memcpy(&said.window, event->UserData, sizeof said.window);
        said.windows++;
    } else if (event->EventHeader.EventDescriptor.Opcode == ETWAS_ETL_MISSING_TYPE) {
        assert_true(said.gaps < MOST_GAPS);
        memcpy(&said.missing[said.gaps++], event->UserData, sizeof said.missing[0]);
    }
}

static void read_window(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = take,
    };
    TRACEHANDLE trace = OpenTraceA(&logfile);

    memset(&said, 0, sizeof said);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(said.windows, 1);
    assert_int_equal(said.gaps, said.window.missing);
    assert_true(said.stamp <= said.window.from_raw);
    assert_true(said.window.from_raw <= said.window.covered_from_raw);
    assert_true(said.window.covered_from_raw <= said.window.trigger_raw);
    assert_true(said.window.trigger_raw <= said.window.covered_to_raw);
    assert_true(said.window.covered_to_raw <= said.window.until_raw);
}

/* ---- events and when they were logged -------------------------------------------------------- */

static int64_t before[MANY];
static int64_t after[MANY];

static struct writer *new_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = MANY,
                                               .largest_payload = 100});
}

static void log_until(struct writer *writer, uint64_t end)
{
    while (writer->attempted < end) {
        uint64_t number = writer->attempted;

        before[number] = etwas_clock_read(ETWAS_CLOCK_QPC);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        after[number] = etwas_clock_read(ETWAS_CLOCK_QPC);
    }
}

/*
 * Whether an event that was logged within these moments may have been recorded in one of the gaps.
 */
static bool may_be_missing(uint64_t number)
{
    for (uint32_t gap = 0; gap < said.gaps; gap++) {
        if (after[number] > said.missing[gap].from_raw &&
            before[number] <= said.missing[gap].to_raw) {
            return true;
        }
    }
    return false;
}

/*
 * Reads a file back: what it has is true, what it says is there is there, and what is not it says.
 */
static void expect_window(etwas_trace_handle session, const char *path, const struct writer *writer)
{
    struct readback result;

    walk_back(session, path, true, &result);
    assert_int_equal(result.wrong + result.unexpected, 0);
    read_window(path);
    for (uint64_t number = 0; number < writer->attempted; number++) {
        bool is_covered = before[number] > said.window.covered_from_raw &&
                          after[number] <= said.window.covered_to_raw;
        bool is_wanted =
            before[number] > said.window.from_raw && after[number] <= said.window.until_raw;

        if (is_covered || (is_wanted && !may_be_missing(number))) {
            assert_int_equal(writer->events[number].seen, 1);
        }
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_file_has_what_was_before_the_trigger_and_after_it(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct writer *writer = new_writer(session);
    const char *path = folder_path("window1.etl");
    int64_t asked;
    int64_t answered;

    (void)state;
    stay_on_one_processor();
    arm(session, 0, LONG_MS);
    log_until(writer, FEW);
    asked = etwas_clock_read(ETWAS_CLOCK_QPC);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    answered = etwas_clock_read(ETWAS_CLOCK_QPC);
    log_until(writer, 2 * FEW);
    leave_one_processor();
    assert_int_equal(ask(session).files, 0);
    stop_session(session, NULL);
    assert_int_equal(ask(session).files, 1);
    assert_true(ask(session).bytes >= 4096);
    expect_window(session, path, writer);
    assert_int_equal(said.window.missing, 0);
    assert_int_equal(said.window.number, 1);
    assert_int_equal(said.window.triggers, 1);
    assert_in_range(said.window.trigger_raw, asked, answered);
    assert_true(said.window.covered_from_raw < before[0]);
    assert_true(said.window.covered_to_raw >= after[2 * FEW - 1]);
}

static void a_file_is_written_when_the_time_after_the_trigger_is_over(void **state)
{
    const int64_t after_ms = 20;
    etwas_trace_handle session = start_recorder();
    struct writer *writer = new_writer(session);

    (void)state;
    stay_on_one_processor();
    arm(session, 0, (uint32_t)after_ms);
    log_until(writer, FEW);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    log_until(writer, 2 * FEW);
    leave_one_processor();
    wait_for_files(session, 1);
    expect_window(session, folder_path("window1.etl"), writer);
    assert_true(said.window.until_raw - said.window.trigger_raw >= after_ms * 1000000);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_for_files(session, 2);
    expect_window(session, folder_path("window2.etl"), writer);
    assert_int_equal(said.window.number, 2);
    stop_session(session, NULL);
}

/* Also for a snapshot that somebody takes meanwhile. */
static void what_writers_would_overwrite_is_kept_until_the_file_is_written(void **state)
{
    const char *snapshot = folder_path("snapshot.etl");
    etwas_trace_handle session = start_recorder();
    struct writer *writer = new_writer(session);
    etwas_session_counts counts;
    struct readback result;
    uint64_t seen = 0;

    (void)state;
    stay_on_one_processor();
    arm(session, 0, LONG_MS);
    log_until(writer, FEW);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_until_seen(session);
    log_until(writer, MANY);
    assert_int_equal(etwas_snapshot(session, snapshot), ERROR_SUCCESS);
    walk_back(session, snapshot, true, &result);
    assert_int_equal(writer->events[0].seen, 1);
    leave_one_processor();
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_true(counts.overwritten > MANY / 2);
    expect_window(session, folder_path("window1.etl"), writer);
    /* The buffer with the trigger itself may be gone before the flusher has come to it. */
    while (writer->events[seen].seen == 1) {
        seen++;
    }
    assert_true(seen > FEW / 2);
    assert_true(said.gaps > 0);
    assert_int_equal(said.window.lost, 0);
    assert_int_equal(writer->events[MANY - 1].seen, 1);
}

/* Whatever it comes to, the file says it. */
static void a_window_larger_than_what_fits_says_what_it_lacks(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct writer *writer = new_writer(session);
    etwas_session_counts counts;

    (void)state;
    arm(session, LONG_MS, LONG_MS);
    log_until(writer, MANY / 2);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    log_until(writer, MANY);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    expect_window(session, folder_path("window1.etl"), writer);
    assert_true(said.gaps > 0);
}

static void old_buffers_are_left_out(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct writer *writer = new_writer(session);

    (void)state;
    stay_on_one_processor();
    arm(session, 1, 0);
    log_until(writer, 2 * FEW);
    (void)usleep(5000);
    log_until(writer, 3 * FEW);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_for_files(session, 1);
    leave_one_processor();
    expect_window(session, folder_path("window1.etl"), writer);
    assert_int_equal(said.gaps, 0);
    assert_int_equal(writer->events[0].seen, 0);
    assert_true(said.stamp > after[0]); /* it is not stamped with the session's start */
    stop_session(session, NULL);
}

static void each_trigger_is_counted_by_what_became_of_it(void **state)
{
    const etwas_trigger_options limited = {.log_file = folder_path("limited%d.etl"),
                                           .least_gap_ms = LONG_MS};
    const etwas_trigger_options one_file = {.log_file = folder_path("one%d.etl"),
                                            .maximum_files = 1};
    const etwas_trigger_options small = {.log_file = folder_path("small%d.etl"), .maximum_kb = 8};
    const etwas_trigger_options nowhere = {.log_file = folder_path("no_folder/%d.etl")};
    etwas_trace_handle session = start_recorder();

    (void)state;
    arm(session, 0, LONG_MS);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_until_seen(session);
    for (int times = 0; times < 3; times++) {
        assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    assert_int_equal(ask(session).windows, 1);
    assert_int_equal(ask(session).joined, 3);
    assert_int_equal(ask(session).waiting, 0);
    read_window(folder_path("window1.etl"));
    assert_int_equal(said.window.triggers, 4);

    session = start_recorder();
    assert_int_equal(etwas_trigger_arm(session, &limited), ERROR_SUCCESS);
    for (int times = 0; times < 3; times++) {
        assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
        wait_until_seen(session);
    }
    assert_int_equal(ask(session).windows, 1);
    assert_int_equal(ask(session).limited, 2);
    stop_session(session, NULL);

    session = start_recorder();
    assert_int_equal(etwas_trigger_arm(session, &one_file), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_for_files(session, 1);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_until_seen(session);
    assert_int_equal(ask(session).capped, 1);
    stop_session(session, NULL);
    assert_int_equal(access(folder_path("one2.etl"), F_OK), -1);

    session = start_recorder();
    assert_int_equal(etwas_trigger_arm(session, &small), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_until_seen(session);
    assert_int_equal(ask(session).capped, 1);
    stop_session(session, NULL);

    session = start_recorder();
    assert_int_equal(etwas_trigger_arm(session, &nowhere), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(ask(session).failed, 1);
    assert_int_equal(ask(session).last_error, ERROR_PATH_NOT_FOUND);
}

static etwas_trace_handle handled;
static uint32_t handler_code;

static void pull_in_handler(int signal)
{
    (void)signal;
    errno = 77;
    handler_code = etwas_trigger(handled);
    handler_code = errno == 77 ? handler_code : UINT32_MAX;
}

static void the_handler_of_a_signal_may_ask(void **state)
{
    const struct sigaction action = {.sa_handler = pull_in_handler};
    struct sigaction former;

    (void)state;
    handled = start_recorder();
    arm(handled, 0, 0);
    assert_int_equal(sigaction(SIGUSR1, &action, &former), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(sigaction(SIGUSR1, &former, NULL), 0);
    assert_int_equal(handler_code, ERROR_SUCCESS);
    wait_for_files(handled, 1);
    stop_session(handled, NULL);
}

static void *ask_often(void *argument)
{
    for (int times = 0; times < 2000; times++) {
        assert_int_equal(etwas_trigger(*(etwas_trace_handle *)argument), ERROR_SUCCESS);
    }
    return NULL;
}

static void no_trigger_is_lost_in_a_storm_of_them(void **state)
{
    enum {
        ASKERS = 3,
        WRITERS = 2
    };
    const etwas_trigger_options options = {
        .log_file = folder_path("storm%d.etl"), .before_ms = 1, .after_ms = 1, .maximum_files = 20};
    etwas_trace_handle session = start_recorder();
    pthread_t askers[ASKERS];
    etwas_session_counts counts;
    struct readback result;
    struct writers writers;
    uint64_t files;

    (void)state;
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_SUCCESS);
    writers_start(&writers, WRITERS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = MANY,
                                           .largest_payload = 100});
    for (int index = 0; index < ASKERS; index++) {
        assert_int_equal(pthread_create(&askers[index], NULL, ask_often, &session), 0);
    }
    for (int index = 0; index < ASKERS; index++) {
        assert_int_equal(pthread_join(askers[index], NULL), 0);
    }
    writers_join(&writers);
    wait_until_seen(session);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(ask(session).asked, 2000 * ASKERS);
    assert_int_equal(ask(session).waiting, 0);
    files = ask(session).files;
    assert_in_range(files, 1, 20);
    assert_int_equal(ask(session).windows, files);
    for (uint64_t number = 1; number <= files; number++) {
        char name[32];

        (void)snprintf(name, sizeof name, "storm%d.etl", (int)number);
        walk_back(session, folder_path(name), true, &result);
        assert_int_equal(result.wrong + result.unexpected, 0);
    }
}

static void an_instance_of_a_marked_class_asks_if_it_took_too_long(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_handle class_handle = writer_class();
    int64_t now = etwas_clock_read(ETWAS_CLOCK_QPC);
    const int64_t second = (int64_t)etwas_clock_frequency(ETWAS_CLOCK_QPC);

    (void)state;
    assert_false(etwas_trigger_if_slow(class_handle, now - second));
    assert_int_equal(etwas_trigger_mark(session, class_handle, 3600 * 1000000ULL), ERROR_SUCCESS);
    assert_false(etwas_trigger_if_slow(class_handle, now - 7200 * second)); /* not armed */
    arm(session, 0, LONG_MS);
    assert_false(etwas_trigger_if_slow(class_handle, now));
    assert_true(etwas_trigger_if_slow(class_handle, now - 3600 * second));
    assert_false(etwas_trigger_if_slow(NULL, now - 7200 * second));
    assert_int_equal(ask(session).asked, 1);
    /* No instance takes longer than the longest time. */
    assert_int_equal(etwas_trigger_mark(session, class_handle, UINT64_MAX), ERROR_SUCCESS);
    assert_false(etwas_trigger_if_slow(class_handle, now - 7200 * second));
    assert_int_equal(etwas_trigger_mark(session, class_handle, 0), ERROR_SUCCESS);
    assert_false(etwas_trigger_if_slow(class_handle, now - 7200 * second));
    assert_int_equal(etwas_trigger_mark(session, NULL, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trigger_mark(0, class_handle, 1), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_mark(session, class_handle, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_false(etwas_trigger_if_slow(class_handle, now - second));
    assert_int_equal(etwas_trigger_mark(session, class_handle, 1), ERROR_INVALID_HANDLE);
}

static void only_an_armed_recorder_takes_triggers(void **state)
{
    const etwas_session_options to_file = {.buffer_size_kb = 4};
    const etwas_session_options alone = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                         .flusher.no_thread = true};
    const char *path = folder_path("window%d.etl");
    etwas_trigger_options options = {.log_file = path};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_session(folder_path("f.etl"), &to_file);
    etwas_trace_handle threadless = start_session(NULL, &alone);
    etwas_trigger_counts counts;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(etwas_trigger(session), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_query(session, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trigger_query(0, &counts), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_arm(0, &options), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trigger_arm(other, &options), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trigger_arm(threadless, &options), ERROR_NOT_SUPPORTED);
    options.log_file = NULL;
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_BAD_PATHNAME);
    options.log_file = "no number.etl";
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_INVALID_NAME);
    options.log_file = path;
    options.spare_buffers = 1000000;
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_INVALID_PARAMETER);
    assert_true(etwas_trigger_refusal(NULL, 0) > 0);
    options.spare_buffers = 0;
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger_refusal(NULL, 0), 0);
    assert_int_equal(etwas_trigger_arm(session, &options), ERROR_ALREADY_EXISTS);
    child = fork();
    if (child == 0) {
        _exit(etwas_trigger(session) == ERROR_INVALID_HANDLE ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    stop_session(threadless, NULL);
    stop_session(other, NULL);
    stop_session(session, NULL);
    assert_int_equal(etwas_trigger(session), ERROR_INVALID_HANDLE);
    assert_int_equal(ask(session).asked, 0);
}

/* ---- recorders with few buffers -------------------------------------------------------------- */

/* Arms it with buffers that it was not started with, while it overwrites, and takes a window. */
static void expect_arming_adds_buffers(const etwas_session_options *options)
{
    const etwas_trigger_options window = {.log_file = folder_path("window%d.etl")};
    etwas_trace_handle session = start_session(NULL, options);
    struct writer *writer = new_writer(session);
    etwas_session_counts before_arming;
    etwas_session_counts counts;

    stay_on_one_processor();
    log_until(writer, MANY / 2);
    assert_int_equal(etwas_counts(session, &before_arming), ERROR_SUCCESS);
    assert_true(before_arming.overwritten > 0);
    assert_int_equal(etwas_trigger_arm(session, &window), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger_refusal(NULL, 0), 0);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_true(counts.buffers_allocated > before_arming.buffers_allocated);
    /* Armed and not used yet: no event was overwritten for it. */
    assert_int_equal(counts.overwritten, before_arming.overwritten);
    log_until(writer, MANY / 2 + FEW);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    wait_for_files(session, 1);
    log_until(writer, MANY);
    leave_one_processor();
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    expect_window(session, folder_path("window1.etl"), writer);
    assert_int_equal(writer->events[MANY / 2 + FEW - 1].seen, 1);
    assert_int_equal(writer->events[MANY / 2 - 1].seen, 1);
}

static void a_recorder_with_default_options_can_be_armed(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4};

    (void)state;
    expect_arming_adds_buffers(&options);
}

static void a_crash_safe_recorder_with_default_options_can_be_armed(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4,
                                           .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE};

    (void)state;
    expect_arming_adds_buffers(&options);
}

static void a_refusal_names_the_buffers_with_which_it_would_work(void **state)
{
    const uint32_t streams = (uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1;
    const etwas_trigger_options window = {.log_file = folder_path("window%d.etl"),
                                          .spare_buffers = 64 * streams};
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = 4};
    etwas_trace_handle session = start_session(NULL, &options);
    etwas_session_counts counts;
    char text[256];
    unsigned needed;
    unsigned buffers;

    (void)state;
    assert_int_equal(etwas_trigger_arm(session, &window), ERROR_INVALID_PARAMETER);
    assert_in_range(etwas_trigger_refusal(text, sizeof text), 1, sizeof text - 1);
    assert_int_equal(
        sscanf(text, "windows of this recorder need %u buffers, and it has %u ", &needed, &buffers),
        2);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.buffers_allocated, buffers);
    stop_session(session, NULL);

    assert_in_range(needed, window.spare_buffers + 2, window.spare_buffers + streams + 1);
    options.minimum_buffers = needed;
    session = start_session(NULL, &options);
    assert_int_equal(etwas_trigger_arm(session, &window), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger_refusal(NULL, 0), 0);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.buffers_allocated, needed);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_file_has_what_was_before_the_trigger_and_after_it),
        FOLDER_TEST(a_file_is_written_when_the_time_after_the_trigger_is_over),
        FOLDER_TEST(what_writers_would_overwrite_is_kept_until_the_file_is_written),
        FOLDER_TEST(a_window_larger_than_what_fits_says_what_it_lacks),
        FOLDER_TEST(old_buffers_are_left_out),
        FOLDER_TEST(each_trigger_is_counted_by_what_became_of_it),
        FOLDER_TEST(the_handler_of_a_signal_may_ask),
        FOLDER_TEST(no_trigger_is_lost_in_a_storm_of_them),
        FOLDER_TEST(an_instance_of_a_marked_class_asks_if_it_took_too_long),
        FOLDER_TEST(only_an_armed_recorder_takes_triggers),
        FOLDER_TEST(a_recorder_with_default_options_can_be_armed),
        FOLDER_TEST(a_crash_safe_recorder_with_default_options_can_be_armed),
        FOLDER_TEST(a_refusal_names_the_buffers_with_which_it_would_work),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
