/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session of each file mode, many times over: each time another call about its files fails, once
 * or from there on, with one error or another. What is lost is counted, errors are reported, and
 * every file that exists is read up to its last whole buffer.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "failures/seam.h"
#include "support/folder.h"
#include "support/metadata.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    ROUNDS = 6,
    EVENTS_A_ROUND = 25,
    PATHS = 12,
    FEW_BUFFERS = 48,
    KEPT_BYTES = 1 << 20,
};

struct scenario {
    uint32_t mode;
    uint32_t maximum_kb;
};

/* One session under one plan. */
struct run {
    const struct scenario *scenario;
    const struct failing *plan;
    const char *name; /* as the session is given it */
    const char *paths[PATHS];
    struct writer *earlier;
    uint8_t *kept; /* the file to be appended to */
    size_t kept_bytes;
    uint32_t code; /* the first that was not ERROR_SUCCESS */
};

static void name_files(struct run *run)
{
    if ((run->scenario->mode & EVENT_TRACE_FILE_MODE_NEWFILE) == 0) {
        run->name = folder_path("trace.etl");
        run->paths[0] = run->name;
        return;
    }
    run->name = folder_path("trace-%d.etl");
    for (uint32_t index = 0; index < PATHS; index++) {
        char name[32];

        (void)snprintf(name, sizeof name, "trace-%u.etl", index + 1);
        run->paths[index] = folder_path(name);
    }
}

static uint32_t path_count(const struct run *run)
{
    return run->paths[1] != NULL ? PATHS : 1;
}

static void remove_files(const struct run *run)
{
    for (uint32_t index = 0; index < path_count(run); index++) {
        (void)unlink(run->paths[index]);
    }
}

static size_t read_whole(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "re");
    size_t length;

    assert_non_null(file);
    length = fread(bytes, 1, KEPT_BYTES, file);
    assert_int_equal(fclose(file), 0);
    return length;
}

static void note(struct run *run, uint32_t code)
{
    if (run->code == ERROR_SUCCESS) {
        run->code = code;
    }
}

static etwas_session_options options_of(const struct scenario *scenario)
{
    return (etwas_session_options){
        .log_file_mode = scenario->mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .clock = ETWAS_CLOCK_SYSTEM_TIME,
        .maximum_file_size = scenario->maximum_kb,
        .buffer_size_kb = 4,
        .minimum_buffers = FEW_BUFFERS, /* but so many that nothing is overwritten in them */
        .maximum_buffers = FEW_BUFFERS,
        .protocol = session_protocol,
        .flusher = {.no_thread = true},
    };
}

static void log_some(struct writer *writer, uint32_t events)
{
    for (uint32_t index = 0; index < events; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

static struct writer *writer_of(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = ROUNDS * EVENTS_A_ROUND,
                                               .largest_payload = 400});
}

/* What is there to be appended to. */
static void write_earlier(struct run *run)
{
    etwas_session_options options = options_of(run->scenario);
    etwas_trace_handle session = start_session(run->name, &options);

    run->earlier = writer_of(session);
    log_some(run->earlier, EVENTS_A_ROUND);
    stop_session(session, NULL);
    run->kept = malloc(KEPT_BYTES);
    assert_non_null(run->kept);
    run->kept_bytes = read_whole(run->name, run->kept);
}

static bool fails_once(const struct run *run)
{
    return run->plan->most == 1;
}

/* A start that failed leaves nothing of itself: no file, or the file that was there before. */
static void expect_nothing_began(const struct run *run)
{
    if (run->earlier == NULL) {
        for (uint32_t index = 0; fails_once(run) && index < path_count(run); index++) {
            assert_int_equal(access(run->paths[index], F_OK), -1);
        }
        return;
    }
    if (fails_once(run)) {
        static uint8_t now[KEPT_BYTES];

        assert_int_equal(read_whole(run->name, now), run->kept_bytes);
        assert_memory_equal(now, run->kept, run->kept_bytes);
    }
}

static bool runs_on(uint32_t code)
{
    return code == ERROR_SUCCESS || code == ERROR_WRITE_FAULT || code == ERROR_DISK_FULL ||
           code == ERROR_BAD_PATHNAME || code == ERROR_ACCESS_DENIED ||
           code == ERROR_PATH_NOT_FOUND || code == ERROR_NO_SYSTEM_RESOURCES ||
           code == ERROR_INVALID_HANDLE || code == ERROR_FILE_CORRUPT;
}

/* What is described while a session runs. */
static void describe_anew(void)
{
    static const etwas_guid guid = {.Data1 = 1};
    static unsigned times;

    if (described_classes() != 0) {
        assert_int_equal(etwas_describe_message(&guid, 1, ++times % 2 != 0 ? "%d" : "%u"),
                         ERROR_SUCCESS);
    }
}

static void use_session(struct run *run, etwas_trace_handle session)
{
    struct writer *writer = writer_of(session);
    uint32_t code;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (round == 1) {
            describe_anew();
        }
        for (uint32_t index = 0; index < EVENTS_A_ROUND; index++) {
            code = writer_log(writer);
            assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY ||
                        code == ERROR_INVALID_HANDLE);
        }
        code = etwas_flush(session);
        assert_true(runs_on(code));
        note(run, code);
        if (round == ROUNDS / 2 && (run->scenario->mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0) {
            code = increment_file(session);
            assert_true(runs_on(code));
            note(run, code);
        }
    }
}

/* Nobody needs to know of a reservation, or a reading ahead, that is only there for speed. */
static bool must_be_reported(void)
{
    return calls_failed() > 0 && first_failed() != ETWAS_FILE_RESERVE &&
           first_failed() != ETWAS_FILE_READ_AHEAD && first_failed() != ETWAS_FILE_REMOVE;
}

static void expect_reported(const struct run *run, const etwas_session_counts *counts)
{
    bool reported = run->code != ERROR_SUCCESS || counts->lost_write_error > 0 ||
                    counts->buffers_lost > 0 || counts->sync_errors > 0;

    if (must_be_reported() && run->plan->error != EINTR && !reported) {
        fail_msg("nobody says that call %u, of kind %d, failed with %d", run->plan->after,
                 (int)first_failed(), run->plan->error);
    }
}

static void account_for(struct run *run, etwas_trace_handle session,
                        const etwas_session_counts *counts)
{
    bool clean = calls_failed() == 0;
    const struct account account = {
        .session = session,
        .paths = run->paths,
        .path_count = path_count(run),
        .earlier = run->earlier,
        .flags = clean              ? ACCOUNT_LOSSES
                 : run->plan->tears ? ACCOUNT_TORN
                                    : ACCOUNT_DAMAGED,
    };

    (void)expect_accounted_files(&account, counts);
    expect_reported(run, counts);
}

/* A session whose file is full has stopped. */
static void stop(etwas_trace_handle session, etwas_session_counts *counts)
{
    uint32_t code = etwas_stop(session, counts);

    if (code != ERROR_SUCCESS) {
        assert_int_equal(code, ERROR_INVALID_HANDLE);
        *counts = counts_of(session);
    }
}

/* What a failed test was at. */
static struct scenario at_scenario;
static struct failing at_plan;
static bool at_work;

/* Returns how many calls there were. */
static uint32_t run_once(const struct scenario *scenario, const struct failing *plan)
{
    struct run run = {.scenario = scenario, .plan = plan};
    etwas_session_options options = options_of(scenario);
    uint32_t descriptors = open_descriptors();
    etwas_trace_handle session = 0;
    etwas_session_counts counts;
    uint32_t code;

    at_work = true;
    at_scenario = *scenario;
    at_plan = *plan;
    name_files(&run);
    if ((scenario->mode & EVENT_TRACE_FILE_MODE_APPEND) != 0) {
        write_earlier(&run);
    }
    fail_calls(plan);
    code = etwas_start("every call", run.name, &options, &session);
    note(&run, code);
    if (code == ERROR_SUCCESS) {
        use_session(&run, session);
        stop(session, &counts);
        fail_no_more();
        account_for(&run, session, &counts);
    } else {
        fail_no_more();
        assert_true(runs_on(code));
        expect_nothing_began(&run);
    }
    assert_int_equal(open_descriptors(), descriptors);
    remove_files(&run);
    writers_forget();
    free(run.kept);
    at_work = false;
    return calls_asked();
}

/* Each call once, with one error or another; and all from it on, every second time torn. */
static void run_with_each_call_failing(const struct scenario *scenario)
{
    static const int errors[] = {EIO, ENOSPC, EINTR};
    struct failing plan = {.calls = FAILING_ANY};
    uint32_t calls = run_once(scenario, &plan);
    uint32_t all = FAILING_ANY & ~FAILING(REMOVE); /* a file that cannot be removed is there */

    assert_true(calls > ROUNDS);
    for (uint32_t call = 0; call < calls; call++) {
        plan = (struct failing){
            .calls = FAILING_ANY, .after = call, .most = 1, .error = errors[call % 3]};
        (void)run_once(scenario, &plan);
        plan = (struct failing){
            .calls = all, .after = call, .tears = call % 2 == 0, .error = errors[call % 2]};
        (void)run_once(scenario, &plan);
    }
}

static void each_call_of_a_sequential_session_may_fail(void **state)
{
    (void)state;
    run_with_each_call_failing(&(struct scenario){.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL});
}

/* Its file is full before the writers are done. */
static void each_call_of_a_session_whose_file_is_full_may_fail(void **state)
{
    (void)state;
    run_with_each_call_failing(
        &(struct scenario){.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL, .maximum_kb = 24});
}

static void each_call_of_a_circular_session_may_fail(void **state)
{
    (void)state;
    run_with_each_call_failing(
        &(struct scenario){.mode = EVENT_TRACE_FILE_MODE_CIRCULAR, .maximum_kb = 24});
}

static void each_call_of_a_session_that_appends_may_fail(void **state)
{
    (void)state;
    run_with_each_call_failing(&(struct scenario){.mode = EVENT_TRACE_FILE_MODE_APPEND});
}

static void each_call_of_a_session_of_several_files_may_fail(void **state)
{
    (void)state;
    run_with_each_call_failing(
        &(struct scenario){.mode = EVENT_TRACE_FILE_MODE_NEWFILE, .maximum_kb = 24});
}

static void each_call_of_a_session_with_space_set_aside_may_fail(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_FILE_MODE_APPEND,
                                     EVENT_TRACE_FILE_MODE_NEWFILE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        run_with_each_call_failing(&(struct scenario){
            .mode = modes[index] | EVENT_TRACE_FILE_MODE_PREALLOCATE, .maximum_kb = 32});
    }
}

static void each_call_of_a_compressed_session_may_fail(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_APPEND |
                                         EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     EVENT_TRACE_FILE_MODE_NEWFILE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        run_with_each_call_failing(&(struct scenario){
            .mode = modes[index] | EVENT_TRACE_COMPRESSED_MODE, .maximum_kb = 24});
    }
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void expect_snapshot(etwas_trace_handle session, const char *path, uint32_t code)
{
    struct readback result;

    if (access(path, F_OK) != 0) {
        assert_int_not_equal(code, ERROR_SUCCESS);
        return;
    }
    read_back(session, path, &result);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.unexpected, 0);
    if (code == ERROR_SUCCESS) {
        assert_int_equal(result.missing, 0);
        assert_false(result.unfinished);
    }
}

/* It says so or it is whole, and the session goes on: nothing of it is in the file alone. */
static uint32_t fail_snapshot(etwas_trace_handle session, const struct failing *plan)
{
    const char *path = folder_path("snapshot.etl");
    uint32_t descriptors = open_descriptors();
    uint32_t code;

    at_work = true;
    at_plan = *plan;
    fail_calls(plan);
    code = etwas_snapshot(session, path);
    fail_no_more();
    assert_true(runs_on(code));
    if (code == ERROR_SUCCESS && must_be_reported() && plan->error != EINTR) {
        fail_msg("nobody says that call %u of a snapshot failed", plan->after);
    }
    expect_snapshot(session, path, code);
    assert_int_equal(open_descriptors(), descriptors);
    expect_nothing_lost(counts_of(session));
    (void)unlink(path);
    at_work = false;
    return calls_asked();
}

static void fail_each_call_of_a_snapshot(uint32_t mode)
{
    static const int errors[] = {EIO, ENOSPC, EINTR};
    const struct scenario scenario = {.mode = mode};
    etwas_session_options options = options_of(&scenario);
    etwas_trace_handle session = start_session(NULL, &options);
    struct failing plan = {.calls = FAILING_ANY};
    uint32_t calls;

    at_scenario = scenario;
    log_some(writer_of(session), ROUNDS * EVENTS_A_ROUND);
    calls = fail_snapshot(session, &plan);
    assert_true(calls > 5);
    for (uint32_t call = 0; call < calls; call++) {
        for (uint32_t error = 0; error < 3; error++) {
            plan = (struct failing){
                .calls = FAILING_ANY, .after = call, .most = 1, .error = errors[error]};
            (void)fail_snapshot(session, &plan);
        }
        plan =
            (struct failing){.calls = FAILING_ANY & ~FAILING(REMOVE), .after = call, .error = EIO};
        (void)fail_snapshot(session, &plan);
    }
    stop_session(session, NULL);
}

static void each_call_of_a_snapshot_may_fail(void **state)
{
    (void)state;
    fail_each_call_of_a_snapshot(EVENT_TRACE_BUFFERING_MODE);
    fail_each_call_of_a_snapshot(EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_COMPRESSED_MODE);
}

static int teardown(void **state)
{
    if (at_work) {
        print_message("mode %x, from call %u (kind %d) on, %u calls, errno %d%s\n",
                      at_scenario.mode, at_plan.after, (int)first_failed(), at_plan.most,
                      at_plan.error, at_plan.tears ? ", torn" : "");
        at_work = false;
    }
    return failing_teardown(state);
}

static int describe(void **state)
{
    (void)state;
    (void)describe_one(1);
    return 0;
}

#define CALL_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_TEST(each_call_of_a_sequential_session_may_fail),
        CALL_TEST(each_call_of_a_session_whose_file_is_full_may_fail),
        CALL_TEST(each_call_of_a_circular_session_may_fail),
        CALL_TEST(each_call_of_a_session_that_appends_may_fail),
        CALL_TEST(each_call_of_a_session_of_several_files_may_fail),
        CALL_TEST(each_call_of_a_session_with_space_set_aside_may_fail),
        CALL_TEST(each_call_of_a_compressed_session_may_fail),
        CALL_TEST(each_call_of_a_snapshot_may_fail),
    };

    const etwas_guid nobody = {.Data1 = 1};
    char name[64];

    /*
     * A process that searches for others takes part from then on, with descriptors that stay: they
     * are there before any is counted.
     */
    (void)etwas_provider_name(&nobody, name, sizeof name);
    return cmocka_run_group_tests_name("nothing described", tests, NULL, NULL) +
           cmocka_run_group_tests_name("events described", tests, describe, NULL);
}
