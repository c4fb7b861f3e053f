/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Retention classes: rare events outlast the noisy ones, the accounts of each class are exact, and
 * a file has all in one order, on the processors that logged it.
 */
#include <etwas/evntcons.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "class_case.h"
#include "support/folder.h"
#include "support/start.h"

enum {
    THREADS = 3,
    EACH = 15000,
};

/* ---- what they are for ----------------------------------------------------------------------- */

static void rare_errors_outlast_a_storm(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    etwas_retention_class_state errors;
    etwas_retention_class_state others;
    etwas_retention retention;

    (void)state;
    log_errors_in_a_storm(session);
    /* What goes back farther is asked last: it is longer, however long that takes. */
    assert_int_equal(etwas_retention_query(session, &retention, NULL, 0), ERROR_SUCCESS);
    others = state_of(session, 0);
    errors = state_of(session, 1);
    assert_int_equal(errors.recorded, ERRORS);
    assert_int_equal(errors.overwritten, 0);
    assert_int_equal(others.attempted, STORM);
    assert_true(others.overwritten > STORM / 2);
    assert_int_equal(others.lost, 0);
    expect_sums(session, 1);
    /* The gauge knows both. */
    assert_true(errors.covered_ns > others.covered_ns);
    assert_true(retention.covered_ns <= errors.covered_ns);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    read_file(folder_path("s.etl"));
    assert_int_equal(found.count[ERROR], ERRORS);
    assert_int_equal(found.count[VERBOSE], others.recorded);
    stop_session(session, NULL);
    assert_int_equal(state_of(session, 1).recorded, ERRORS);
    expect_sums(session, 1);
}

static void without_a_class_they_are_overwritten(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;

    (void)state;
    options.class_count = 0;
    session = start_session(NULL, &options);
    log_errors_in_a_storm(session);
    assert_int_equal(state_of(session, 0).attempted, STORM + ERRORS);
    expect_sums(session, 0);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    read_file(folder_path("s.etl"));
    assert_int_equal(found.count[ERROR], 0);
    stop_session(session, NULL);
}

/* What nobody uses anybody may have, until its owner comes. */
static void a_class_lends_what_it_does_not_use_and_gets_it_back(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint32_t share;

    (void)state;
    options.minimum_buffers = 200;
    session = start_session(NULL, &options);
    share = state_of(session, 1).share;
    assert_int_equal(share + state_of(session, 0).share, counts_of(session).buffers_allocated);
    for (uint32_t number = 0; number < STORM; number++) {
        assert_int_equal(log_one(session, VERBOSE, number), ERROR_SUCCESS);
    }
    assert_true(state_of(session, 0).buffers > state_of(session, 0).share);
    assert_int_equal(state_of(session, 1).buffers, 0);
    for (uint32_t number = 0; number < STORM; number++) {
        assert_int_equal(log_one(session, ERROR, number), ERROR_SUCCESS);
    }
    assert_int_equal(state_of(session, 1).buffers, share);
    assert_int_equal(state_of(session, 0).buffers, state_of(session, 0).share);
    assert_int_equal(counts_of(session).lost, 0);
    expect_sums(session, 1);
    stop_session(session, NULL);
}

/* ---- under load ------------------------------------------------------------------------------ */

struct work {
    etwas_trace_handle session;
    uint32_t thread;
    uint64_t lost[2];
};

/* Errors and others by turns, as many errors as fit in no share. */
static void *write_both(void *argument)
{
    struct work *work = argument;

    for (uint32_t index = 0; index < EACH; index++) {
        uint8_t level = index % 3 == 0 ? ERROR : VERBOSE;
        uint32_t code = log_as(work->session, &class_case_guid, level, 1, level,
                               (uint64_t)work->thread * EACH + index);

        work->lost[level == ERROR] += code != ERROR_SUCCESS;
    }
    return NULL;
}

static void write_by_threads(etwas_trace_handle session, uint64_t lost[2])
{
    pthread_t threads[THREADS];
    struct work work[THREADS];

    for (uint32_t index = 0; index < THREADS; index++) {
        work[index] = (struct work){session, index, {0}};
        assert_int_equal(pthread_create(&threads[index], NULL, write_both, &work[index]), 0);
    }
    /* Exact at every moment, also while all of them write, and buffers go from class to class. */
    for (uint32_t look = 0; look < 200; look++) {
        (void)state_of(session, look % 2);
        (void)sched_yield();
    }
    lost[0] = lost[1] = 0;
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
        lost[0] += work[index].lost[0];
        lost[1] += work[index].lost[1];
    }
}

static void expect_accounts(etwas_trace_handle session, const uint64_t lost[2])
{
    assert_int_equal(state_of(session, 1).attempted, THREADS * EACH / 3);
    assert_int_equal(state_of(session, 0).attempted, THREADS * EACH - THREADS * EACH / 3);
    assert_int_equal(state_of(session, 0).lost, lost[0]);
    assert_int_equal(state_of(session, 1).lost, lost[1]);
    expect_sums(session, 1);
}

static void recorder_under_load(uint32_t mode)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint64_t lost[2];

    options.log_file_mode |= mode;
    session = start_session(NULL, &options);
    /* So that there is something to take back from the others. */
    for (uint32_t number = 0; number < STORM / 4; number++) {
        assert_int_equal(log_as(session, &class_case_guid, VERBOSE, 1, 1, number), ERROR_SUCCESS);
    }
    write_by_threads(session, lost);
    assert_int_equal(state_of(session, 1).attempted, THREADS * EACH / 3);
    assert_int_equal(etwas_snapshot(session, folder_path("load.etl")), ERROR_SUCCESS);
    read_file(folder_path("load.etl"));
    assert_int_equal(found.count[ERROR], state_of(session, 1).recorded);
    assert_int_equal(found.count[VERBOSE] + found.count[1], state_of(session, 0).recorded);
    expect_sums(session, 1);
    stop_session(session, NULL);
    expect_sums(session, 1);
}

static void a_recorders_accounts_are_exact_under_load(void **state)
{
    (void)state;
    recorder_under_load(0);
}

static void also_with_one_slot_for_all(void **state)
{
    (void)state;
    if (session_protocol == ETWAS_PROTOCOL_RSEQ) {
        return;
    }
    recorder_under_load(EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
}

static void a_file_has_all_of_them_in_one_order(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint64_t lost[2];

    (void)state;
    options.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    options.maximum_buffers = 96;
    options.minimum_buffers = 0;
    session = start_session(folder_path("all.etl"), &options);
    write_by_threads(session, lost);
    expect_accounts(session, lost);
    stop_session(session, NULL);
    expect_accounts(session, lost);
    read_file(folder_path("all.etl"));
    assert_int_equal(found.count[ERROR], THREADS * EACH / 3 - lost[1]);
    assert_int_equal(found.count[VERBOSE], THREADS * EACH - THREADS * EACH / 3 - lost[0]);
}

/* Nothing drains: the storm loses events, and its share is all that it takes. */
static void in_a_file_a_class_has_no_more_than_its_share(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint64_t errors = 0;
    uint64_t lost = 0;

    (void)state;
    options.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    options.maximum_buffers = 128;
    options.flusher.no_thread = true;
    session = start_session(folder_path("share.etl"), &options);
    for (uint32_t number = 0; number < STORM; number++) {
        lost += log_one(session, VERBOSE, number) == ERROR_NOT_ENOUGH_MEMORY;
    }
    assert_true(lost > 0);
    assert_int_equal(state_of(session, 0).lost, lost);
    assert_int_equal(state_of(session, 0).buffers, state_of(session, 0).share);
    assert_int_equal(counts_of(session).buffers_allocated, state_of(session, 0).share);
    for (uint32_t number = 0; number < ERRORS; number++) {
        errors += log_one(session, ERROR, number) == ERROR_SUCCESS;
    }
    assert_int_equal(errors, ERRORS);
    /* Once it was drained there is room again. */
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(log_one(session, VERBOSE, STORM), ERROR_SUCCESS);
    stop_session(session, NULL);
    expect_sums(session, 1);
    read_file(folder_path("share.etl"));
    assert_int_equal(found.count[ERROR], ERRORS);
    assert_int_equal(found.count[VERBOSE], STORM + 1 - lost);
}

/* ---- windows and death ----------------------------------------------------------------------- */

static void a_window_has_the_errors_before_the_storm(void **state)
{
    etwas_session_options options = recorder;
    const etwas_trigger_options window = {.log_file = folder_path("w%d.etl")};
    etwas_trigger_counts counts;
    etwas_trace_handle session;

    (void)state;
    options.minimum_buffers = 200;
    session = start_session(NULL, &options);
    assert_int_equal(etwas_trigger_arm(session, &window), ERROR_SUCCESS);
    log_errors_in_a_storm(session);
    assert_int_equal(etwas_trigger(session), ERROR_SUCCESS);
    for (uint32_t number = STORM; number < 2 * STORM; number++) {
        assert_int_equal(log_one(session, VERBOSE, number), ERROR_SUCCESS);
    }
    do {
        (void)usleep(1000);
        assert_int_equal(etwas_trigger_query(session, &counts), ERROR_SUCCESS);
    } while (counts.files + counts.failed == 0);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(counts_of(session).lost, 0);
    expect_sums(session, 1);
    stop_session(session, NULL);
    read_file(folder_path("w1.etl"));
    assert_int_equal(found.count[ERROR], ERRORS);
}

static void a_killed_recorders_errors_are_recovered(void **state)
{
    etwas_session_options options = recorder;
    etwas_recovered recovered;
    char path[4096];
    int pipe_ends[2];
    int status;
    pid_t child;

    (void)state;
    options.crash_safe = ETWAS_CRASH_SAFE_POOL_FILE;
    options.crash_safe_folder = folder_path("run");
    options.protocol = session_protocol;
    assert_int_equal(pipe(pipe_ends), 0);
    child = fork();
    if (child == 0) {
        etwas_trace_handle session;

        if (etwas_start("killed", NULL, &options, &session) != ERROR_SUCCESS) {
            _exit(1);
        }
        log_errors_in_a_storm(session);
        memset(path, 0, sizeof path);
        (void)etwas_crash_safe_path(session, path, sizeof path);
        (void)!write(pipe_ends[1], path, sizeof path);
        (void)pause();
        _exit(1);
    }
    assert_int_equal((int)read(pipe_ends[0], path, sizeof path), sizeof path);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(etwas_recover(path, 0, folder_path("after.etl"), &recovered), ERROR_SUCCESS);
    read_file(folder_path("after.etl"));
    assert_int_equal(found.count[ERROR], ERRORS);
    assert_int_equal(found.count[ERROR] + found.count[VERBOSE], recovered.events);
    assert_int_equal(recovered.events + recovered.overwritten, STORM + ERRORS);
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(etwas_session_options options, uint32_t code)
{
    etwas_trace_handle session;

    assert_int_equal(etwas_start("refused", folder_path("r.etl"), &options, &session), code);
    assert_int_equal(session, 0);
}

static void what_cannot_be_is_refused(void **state)
{
    static const etwas_retention_class many[ETWAS_RETENTION_CLASSES + 1];
    etwas_retention_class two[] = {recorder.classes[0], recorder.classes[0]};
    etwas_session_options options = {.classes = two, .class_count = 2};
    etwas_retention_class_state class_state;
    etwas_trace_handle session;

    (void)state;
    two[0].share_percent = 81;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    two[0].share_percent = 101;
    options.class_count = 1;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    two[0] = recorder.classes[0];
    two[0].reserved = 1;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    two[0] = recorder.classes[0];
    two[0].reserved_byte = 1;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    two[0] = recorder.classes[0];
    options.classes = NULL;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    options.classes = many;
    options.class_count = ETWAS_RETENTION_CLASSES + 1;
    expect_refused(options, ERROR_INVALID_PARAMETER);
    options.classes = two;
    options.class_count = 2;
    options.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND;
    options.clock = ETWAS_CLOCK_SYSTEM_TIME;
    options.buffer_size_kb = 64;
    expect_refused(options, ERROR_NOT_SUPPORTED);

    options.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    session = start_session(folder_path("f.etl"), &options);
    assert_int_equal(etwas_retention_class_query(session, 2, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_retention_class_query(session, 3, &class_state),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_retention_class_query(0, 0, &class_state), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_retention_class_query(session, 2, &class_state), ERROR_SUCCESS);
    assert_int_equal(class_state.covered_ns, 0);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(rare_errors_outlast_a_storm),
        FOLDER_TEST(without_a_class_they_are_overwritten),
        FOLDER_TEST(a_class_lends_what_it_does_not_use_and_gets_it_back),
        FOLDER_TEST(a_recorders_accounts_are_exact_under_load),
        FOLDER_TEST(also_with_one_slot_for_all),
        FOLDER_TEST(a_file_has_all_of_them_in_one_order),
        FOLDER_TEST(in_a_file_a_class_has_no_more_than_its_share),
        FOLDER_TEST(a_window_has_the_errors_before_the_storm),
        FOLDER_TEST(a_killed_recorders_errors_are_recovered),
        FOLDER_TEST(what_cannot_be_is_refused),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
