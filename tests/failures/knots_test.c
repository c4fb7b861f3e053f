/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Knots that the system refuses: they are fewer then, and no event is lost or accounted otherwise.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>

#include "clock/timeline.h"
#include "failures/failing.h"
#include "flush/session_clock.h"
#include "support/folder.h"
#include "support/knots.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    ROUNDS = 120,
};

static struct knots knots;

static int setup(void **state)
{
    etwas_clock_knot_interval_ns = UINT64_MAX;
    return folder_setup(state);
}

static int teardown(void **state)
{
    etwas_clock_knot_interval_ns = ETWAS_CLOCK_KNOT_INTERVAL_NS;
    return failing_teardown(state);
}

static etwas_trace_handle start_by_hand(const char *path, uint32_t mode, uint32_t size_kb)
{
    const struct etwas_session_options options = {
        .log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .buffer_size_kb = 4,
        .minimum_buffers = 8,
        .maximum_buffers = 64,
        .maximum_file_size = size_kb,
        .flusher = {.no_thread = true},
    };

    return start_session(path, &options);
}

/* Only what the clocks have to say is written: no event is on its way. */
static void read_clocks(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    etwas_clock_knot_interval_ns = 0;
    (void)pthread_mutex_lock(&inside->role);
    etwas_session_clock_look(inside);
    (void)pthread_mutex_unlock(&inside->role);
    etwas_clock_knot_interval_ns = UINT64_MAX; /* not by flushes */
}

/* Events, written; then the clocks are read while the calls of the plan fail. Returns how many did. */
static uint32_t log_with_failing_knots(etwas_trace_handle session, const struct failing *plan)
{
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session, .largest_payload = 100});
    uint32_t failed = 0;

    stay_on_one_processor();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct failing now = *plan;

        for (int event = 0; event < 5; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        now.seed = plan->seed + round;
        fail_calls(&now);
        read_clocks(session);
        failed += calls_failed();
        fail_no_more();
    }
    leave_one_processor();
    return failed;
}

struct row {
    uint32_t mode;
    uint32_t size_kb;
    bool all; /* each knot buffer is refused */
    struct failing plan;
};

#define WRITES FAILING(WRITE)

static const struct row rows[] = {
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, true, {.calls = WRITES, .error = EIO}},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, true, {.calls = WRITES, .tears = true, .error = ENOSPC}},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
     0,
     false,
     {.calls = WRITES, .shortens = true, .one_in = 2, .seed = 1, .error = EIO}},
    {EVENT_TRACE_FILE_MODE_CIRCULAR, 300, true, {.calls = WRITES, .error = EIO}},
    {EVENT_TRACE_FILE_MODE_CIRCULAR, 300, true, {.calls = WRITES, .tears = true, .error = EIO}},
};

/*
 * A write that is torn in a circular file destroys what it was to replace: those events are counted
 * replaced, as they would have been.
 */
static void refused_knots_cost_no_event(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_by_hand(path, rows[row].mode, rows[row].size_kb);
        uint32_t failed = log_with_failing_knots(session, &rows[row].plan);
        etwas_session_counts counts;
        struct readback result;

        assert_true(failed > 0);
        stop_session(session, &counts);
        assert_int_equal(counts.lost, 0);
        assert_true(counts.sync_errors > 0);
        assert_int_equal(counts.buffers_lost, 0);
        assert_int_equal(counts.recorded + counts.overwritten, ROUNDS * 5);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.wrong + result.unexpected, 0);
        assert_int_equal(result.overwritten_events, counts.overwritten);
        read_back(session, path, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.damages, 0);
        knots_read(path, &knots);
        assert_int_equal(knots.buffers == 0, rows[row].all);
        assert_int_equal(knots_with(&knots, ETWAS_ETL_KNOT_FILE_ENDED), 1);
        assert_true(knots_with(&knots, ETWAS_ETL_KNOT_RUNNING) >= 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refused_knots_cost_no_event, setup, teardown),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
