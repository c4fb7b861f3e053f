/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Clock snapshots that the system refuses, or takes and drops later: they are fewer then, and no
 * event is lost or accounted otherwise.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <unistd.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "failures/failing.h"
#include "file/log_file_internal.h"
#include "flush/flusher.h"
#include "support/clock_snapshots.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    ROUNDS = 120,
    BUFFER_BYTES = 4096,
};

static struct clock_snapshots clock_snapshots;

static int setup(void **state)
{
    etwas_clock_snapshot_interval_ns = UINT64_MAX;
    return folder_setup(state);
}

static int teardown(void **state)
{
    etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;
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

    etwas_clock_snapshot_interval_ns = 0;
    (void)pthread_mutex_lock(&inside->drain.role);
    etwas_session_clock_read_if_due(inside);
    (void)pthread_mutex_unlock(&inside->drain.role);
    etwas_clock_snapshot_interval_ns = UINT64_MAX; /* not by flushes */
}

/*
 * Events, written; then the clocks are read while the calls of the plan fail. Returns how many did.
 */
static uint32_t log_with_failing_clock_snapshots(etwas_trace_handle session,
                                                 const struct failing *plan)
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
    bool all; /* each clock snapshot buffer is refused */
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
static void refused_clock_snapshots_cost_no_event(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_by_hand(path, rows[row].mode, rows[row].size_kb);
        uint32_t failed = log_with_failing_clock_snapshots(session, &rows[row].plan);
        etwas_session_counts counts;
        struct readback result;

        assert_true(failed > 0);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
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
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.buffers == 0, rows[row].all);
        assert_int_equal(
            clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED), 1);
        assert_true(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING) >= 15);
    }
}

/* ---- dropped --------------------------------------------------------------------------------- */

static void write_data(struct etwas_log_file *file)
{
    const struct etwas_etl_full_header record = {
        .size = sizeof record,
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .time_stamp = INT64_MAX,
    };
    const struct etwas_drained buffer = {
        .data = &record,
        .data_bytes = sizeof record,
        .records = 1,
        .time_stamp = INT64_MAX,
        .newest = INT64_MAX,
    };

    assert_int_equal(etwas_log_file_write(file, &buffer, 1).written, 1);
}

/* Place 0 is buffer 0, 1 has an event, 2 clock snapshots and, unless it is the last, 3 an event. */
static struct etwas_log_file *make_file(const char *path, bool clock_snapshots_are_last)
{
    static const etwas_wchar name[] = {'k', 0};
    const struct etwas_log_file_options options = {
        .path = path,
        .session_name = name,
        .file_name = name,
        .buffer_bytes = BUFFER_BYTES,
        .processors = 1,
        .clock = ETWAS_CLOCK_KIND_QPC,
        .started = etwas_clock_read_together(),
    };
    struct etwas_clock_reading reading = options.started;
    struct etwas_log_file *file = NULL;

    assert_int_equal(etwas_log_file_create(&options, &file), ERROR_SUCCESS);
    write_data(file);
    do {
        reading.qpc_ns++;
    } while (etwas_log_clock_snapshots_add(file, &reading, false, 0).written == 0);
    if (!clock_snapshots_are_last) {
        write_data(file);
    }
    return file;
}

static void a_clock_snapshot_buffer_that_the_system_dropped_is_no_event_lost(void **state)
{
    static const uint8_t nothing[BUFFER_BYTES];

    (void)state;
    for (int last = 0; last < 2; last++) {
        const char *path = folder_path("dropped.etl");
        struct etwas_log_file *file = make_file(path, last);
        struct etwas_etl_buffer_header header;
        struct etwas_log_lost lost;

        assert_int_equal(pwrite(file->descriptor, nothing, sizeof nothing, 2 * BUFFER_BYTES),
                         sizeof nothing);
        fail_calls(&(struct failing){.calls = FAILING(SYNC), .error = EIO});
        assert_int_not_equal(etwas_log_file_store(file, &lost), ERROR_SUCCESS);
        fail_no_more();
        assert_int_equal(lost.buffers, 0);
        assert_int_equal(lost.records, 0);
        assert_int_equal(lost.cut, last);
        assert_int_equal(etwas_log_file_buffers(file), last ? 2 : 4);
        if (!last) {
            assert_int_equal(pread(file->descriptor, &header, sizeof header, 2 * BUFFER_BYTES),
                             sizeof header);
            assert_int_equal(header.offset, sizeof header);
            assert_int_equal(header.sequence_number, 2);
        }
        assert_true(etwas_log_file_finish(file, &(struct etwas_log_file_totals){0}));
        assert_true(etwas_log_file_close(file));
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.buffers, 0);
        assert_int_equal(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING),
                         2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_clock_snapshot_buffer_that_the_system_dropped_is_no_event_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_clock_snapshots_cost_no_event, setup, teardown),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
