/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Durability (R81): when the file is made durable, what its header says then, and where a refusal
 * is seen.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <time.h>
#include <unistd.h>

#include "file/session_file.h"
#include "file_modes.h"
#include "platform/file.h"
#include "support/flushing.h"
#include "support/inside.h"
#include "support/readback.h"

static uint32_t syncs;
static uint32_t refuses; /* syncs fail */

static long watch_syncs(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_SYNC) {
        (void)ck_pr_faa_32(&syncs, 1);
        return ck_pr_load_32(&refuses) != 0 ? -EIO : 0;
    }
    return (long)bytes;
}

static void watch(bool refuse)
{
    ck_pr_store_32(&syncs, 0);
    ck_pr_store_32(&refuses, refuse);
    etwas_file_set_failure_hook(watch_syncs);
}

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

/* Waits until at least so many syncs were asked for. */
static void wait_for_syncs(uint32_t count)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (ck_pr_load_32(&syncs) < count) {
        (void)nanosleep(&pause, NULL);
    }
}

/* R80, R81: by the timer, in milliseconds; and no sync when nothing came since the last. */
static void the_timer_of_milliseconds_writes_what_is_there(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .flush_timer = 5};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 1000, .largest_payload = 99});
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    watch(false);
    for (uint32_t turn = 1; turn <= 10; turn++) {
        log_events(writer, 10);
        wait_for_syncs(turn);
    }
    /* Ten times something came; a flush may have come between two events of one turn. */
    counts = counts_of(session);
    read_back(session, path, &result);
    assert_int_equal(result.wrong + result.unexpected + result.damages, 0);
    stop_session(session, &counts);
    etwas_file_set_failure_hook(NULL);
    assert_true(ck_pr_load_32(&syncs) <= 100 + 1);
    assert_int_equal(counts.sync_errors, 0);
    expect_file_is_exact(session, path, &counts);
}

/* R130: the timer may be changed while the session runs; the new period begins at once. */
static void a_new_period_is_in_force_at_once(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .flush_timer = 3600000};
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_session *inside = inside_of(session);
    struct writer *writer = writer_new(&(struct writer_options){.session = session, .events = 99});

    (void)state;
    watch(false);
    log_events(writer, 1);
    ck_pr_store_32(&inside->configuration.flush_timer, 1);
    etwas_pool_wake_flusher(inside->buffers.pool);
    wait_for_syncs(1);
    stop_session(session, NULL);
}

/* The header is true at each sync: buffers, and what was lost; EndTime stays 0. */
static void what_was_lost_is_in_the_header_at_each_sync(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 20000, .largest_payload = 300});
    etwas_session_counts counts;

    (void)state;
    for (int turn = 0; turn < 5; turn++) {
        for (int event = 0; event < 1000; event++) {
            (void)writer_log(writer);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_true(counts.lost_no_buffer > 0);
        assert_int_equal(log_header_of(path).start.events_lost, counts.lost);
        assert_int_equal(log_header_of(path).start.buffers_written, counts.buffers_written);
        assert_int_equal(log_header_of(path).start.end_filetime, 0);
        assert_int_equal(totals_of(path).lost_events, counts.lost);
        assert_int_equal(totals_of(path).overwritten_events, 0);
    }
    stop_session(session, &counts);
    assert_true(log_header_of(path).start.end_filetime > 0);
    expect_file_is_exact(session, path, &counts);
}

/* FLUSH returns it, and the counts show it, also when the timer or the stop met it. */
static void a_refused_sync_is_counted_wherever_it_happens(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 1000, .largest_payload = 99});
    etwas_session_counts counts;

    (void)state;
    watch(true);
    for (uint64_t turn = 1; turn <= 3; turn++) {
        log_events(writer, 10);
        assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
        assert_int_equal(counts_of(session).sync_errors, turn);
    }
    /* Nothing new, but what is there is not durable yet: tried again. */
    assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
    watch(false);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&syncs), 1);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&syncs), 1);
    assert_int_equal(counts_of(session).sync_errors, 4);
    watch(true);
    stop_session(session, &counts);
    etwas_file_set_failure_hook(NULL);
    /* The end is written, and refused, twice. */
    assert_int_equal(counts.sync_errors, 6);
    assert_int_equal(counts_of(session).sync_errors, 6);
    expect_file_is_exact(session, path, &counts);
}

/* A timed flush that is refused has nobody to tell but the counts. */
static void a_refused_timed_flush_is_counted(void **state)
{
    const char *path = folder_path("trace.etl");
    const struct timespec pause = {.tv_nsec = 1000000};
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .flush_timer = 1};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){.session = session, .events = 99});
    etwas_session_counts counts;

    (void)state;
    watch(true);
    log_events(writer, 5);
    while (counts_of(session).sync_errors < 3) {
        (void)nanosleep(&pause, NULL);
    }
    etwas_file_set_failure_hook(NULL);
    stop_session(session, &counts);
    assert_true(counts.sync_errors >= 3);
    expect_file_is_exact(session, path, &counts);
}

/* R106: the unit of processor times is in the header: 1 ms with them, else the usual tick. */
static void the_header_says_the_unit_of_processor_times(void **state)
{
    const char *path = folder_path("trace.etl");

    (void)state;
    for (int with_times = 0; with_times < 2; with_times++) {
        etwas_session_options options = {.process_times = with_times != 0};
        etwas_trace_handle session = start_session(path, &options);

        stop_session(session, NULL);
        assert_int_equal(log_header_of(path).start.timer_resolution_100ns,
                         with_times ? 10000 : 156250);
    }
}

#define SYNC_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SYNC_TEST(the_timer_of_milliseconds_writes_what_is_there),
        SYNC_TEST(a_new_period_is_in_force_at_once),
        SYNC_TEST(what_was_lost_is_in_the_header_at_each_sync),
        SYNC_TEST(a_refused_sync_is_counted_wherever_it_happens),
        SYNC_TEST(a_refused_timed_flush_is_counted),
        SYNC_TEST(the_header_says_the_unit_of_processor_times),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
