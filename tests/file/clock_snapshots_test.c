/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Clock clock snapshots through a whole session: every file has them, in every mode, with every
 * clock, and nothing else about the session changes.
 */
#include <stdio.h>
#include <unistd.h>

#include "clock/clock.h"
#include "clock/trust.h"
#include "file_modes.h"
#include "flush/flusher.h"
#include "support/clock_snapshots.h"
#include "support/fixed_clock_snapshots.h"
#include "support/flushing.h"
#include "support/inside.h"
#include "support/readback.h"

enum {
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    FLUSHES = 100,
    EVENTS_A_FLUSH = 5,
};

static struct clock_snapshots clock_snapshots;

/* What each clock snapshot of a session with this clock says. */
static void expect_clock_snapshots_of(uint32_t clock, int64_t raw_before, int64_t raw_after)
{
    assert_true(clock_snapshots.has_clock);
    assert_int_equal(clock_snapshots.clock.clock_type, clock);
    for (uint32_t index = 0; index < clock_snapshots.count; index++) {
        const struct etwas_etl_clock_snapshot *clock_snapshot = &clock_snapshots.list[index];

        assert_true(raw_before <= clock_snapshot->raw_stamp &&
                    clock_snapshot->raw_stamp <= raw_after);
        assert_int_equal(clock_snapshot->suspended_ns, clock_snapshots.list[0].suspended_ns);
        if (clock == ETWAS_CLOCK_KIND_QPC) {
            assert_int_equal(clock_snapshot->raw_stamp, clock_snapshot->qpc_ns);
            assert_int_equal(clock_snapshot->qpc_error_ns, 0);
        } else {
            assert_true(clock_snapshot->qpc_error_ns >
                        (clock == ETWAS_CLOCK_KIND_SYSTEM ? 100 : 0));
        }
        if (clock == ETWAS_CLOCK_KIND_SYSTEM) {
            assert_int_equal(clock_snapshot->raw_stamp, clock_snapshot->filetime);
            assert_int_equal(clock_snapshot->filetime_error_ns, 0);
        } else {
            assert_true(clock_snapshot->filetime_error_ns > 0);
        }
    }
}

/* ---- in every mode --------------------------------------------------------------------------- */

struct mode {
    uint32_t mode;
    uint32_t size; /* KB with that bit, else MB */
    bool has_buffers;
    bool has_all; /* none was dropped, nor overwritten */
};

static const struct mode modes[] = {
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, true, true},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL | KB, 4096, true, false},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0, true, true},
    {EVENT_TRACE_FILE_MODE_PREALLOCATE, 4, true, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 512, true, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 64, false, false},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | KB | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 512, true,
     false},
};

/* R74: not an event is accounted otherwise, and QUERY counts what is in the file. */
static void many_clock_snapshots_move_into_buffers_in_every_mode_and_cost_no_event(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session =
            start_by_hand(path, modes[row].mode, modes[row].size, ETWAS_CLOCK_QPC);
        struct writer *writer = plain_writer(session);
        etwas_session_counts counts;

        stay_on_one_processor();
        for (int flush = 0; flush < FLUSHES; flush++) {
            log_events(writer, EVENTS_A_FLUSH);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            assert_int_equal(query_session(session).BuffersWritten,
                             log_header_of(path).start.buffers_written +
                                 totals_of(path).overwritten_buffers);
        }
        leave_one_processor();
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_is_exact(session, path, &counts);
        clock_snapshots_read(path, &clock_snapshots);
        expect_clock_snapshots_of(ETWAS_CLOCK_KIND_QPC, 0, INT64_MAX);
        assert_int_equal(clock_snapshots.buffers != 0, modes[row].has_buffers);
        assert_true(clock_snapshots.count >= 20 && clock_snapshots.count <= FLUSHES + 2);
        if (modes[row].has_all) {
            assert_int_equal(clock_snapshots.count, FLUSHES + 2);
        }
        assert_int_equal(unlink(path), 0);
    }
}

/* What the counter is worth is in each file; measured, once a session asked for it. */
static void a_session_of_each_clock_says_which_it_asked_for_and_got(void **state)
{
    static bool is_measured;

    (void)state;
    for (uint32_t asked = 0; asked <= ETWAS_CLOCK_TSC; asked++) {
        const char *path = folder_path("clock.etl");
        int64_t before[] = {0, etwas_clock_read(1), etwas_clock_read(2), etwas_clock_read(3)};
        etwas_trace_handle session = start_by_hand(path, 0, 0, asked);
        struct writer *writer = plain_writer(session);
        etwas_session_counts counts;
        uint32_t clock;

        for (int flush = 0; flush < 5; flush++) {
            log_events(writer, 1);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        clock_snapshots_read(path, &clock_snapshots);
        is_measured = is_measured || asked == ETWAS_CLOCK_TSC;
        assert_int_equal(clock_snapshots.clock.frequency_hz != 0,
                         is_measured && etwas_clock_tsc_frequency_hz() != 0);
        assert_true(clock_snapshots.clock.reasons != 0);
        assert_true(clock_snapshots.clock.clocksource[0] != '\0');
        clock = asked == 0 ? ETWAS_CLOCK_QPC : clock_snapshots.clock.clock_type;
        assert_true(clock == asked || asked == 0 || asked == ETWAS_CLOCK_TSC);
        expect_clock_snapshots_of(clock, before[clock], etwas_clock_read(clock));
        assert_int_equal(clock_snapshots.count, 7);
        assert_int_equal(clock_snapshots.clock.requested_clock, asked != 0 ? asked : 1);
    }
    /* R153: a session that asks for a counter that is worth nothing gets system time. */
    {
        const char *path = folder_path("fallback.etl");
        etwas_trace_handle session;

        etwas_clock_allow_tsc(false);
        session = start_by_hand(path, 0, 0, ETWAS_CLOCK_TSC);
        stop_session(session, NULL);
        etwas_clock_allow_tsc(true);
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.clock.requested_clock, ETWAS_CLOCK_TSC);
        assert_int_equal(clock_snapshots.clock.clock_type, ETWAS_CLOCK_SYSTEM_TIME);
        assert_int_equal(clock_snapshots.clock.verdict, ETWAS_CLOCK_VERDICT_UNUSABLE);
    }
}

static void each_part_of_a_set_has_clock_snapshots_from_before_it_to_its_end(void **state)
{
    etwas_trace_handle session = start_by_hand(
        folder_path("part-%d.etl"), EVENT_TRACE_FILE_MODE_NEWFILE | KB, 40, ETWAS_CLOCK_QPC);
    struct writer *writer = plain_writer(session);
    etwas_session_counts counts;
    struct parts parts;
    int64_t ended = 0;

    (void)state;
    for (int flush = 0; flush < 60; flush++) {
        log_events(writer, EVENTS_A_FLUSH);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part-", &counts, &parts);
    assert_true(parts.count > 5);
    assert_int_equal(parts.buffers, counts.buffers_written);
    for (uint32_t part = 1; part <= parts.count; part++) {
        char name[32];
        int64_t opened;

        (void)snprintf(name, sizeof name, "part-%u.etl", part);
        clock_snapshots_read(folder_path(name), &clock_snapshots);
        assert_int_equal(
            clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED), 1);
        assert_int_equal(
            clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED), part > 1);
        assert_int_equal(
            clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED), 1);
        for (uint32_t index = 0; part > 1 && index < clock_snapshots.count; index++) {
            if (clock_snapshots.list[index].reason == ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED) {
                opened = clock_snapshots.list[index].qpc_ns;
                assert_true(index > 1); /* some are from before */
                /* The old one ends when the new one is there. */
                assert_true(opened < ended);
            }
        }
        ended = clock_snapshots.list[clock_snapshots.count - 1].qpc_ns;
    }
}

/* Each session has its own; where there is no room it is appended all the same. */
static void appended_sessions_add_theirs_while_there_is_room(void **state)
{
    const char *path = folder_path("trace.etl");
    uint32_t sessions = 0;
    uint32_t before = 0;

    (void)state;
    clock_snapshots.count = 0;
    do {
        etwas_trace_handle session =
            start_by_hand(path, EVENT_TRACE_FILE_MODE_APPEND, 0, ETWAS_CLOCK_SYSTEM_TIME);
        struct writer *writer = plain_writer(session);
        struct readback result;

        sessions++;
        before = clock_snapshots.count;
        for (int flush = 0; flush < 4; flush++) {
            log_events(writer, 1);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        stop_session(session, NULL);
        walk_back(session, path, true, &result);
        clock_snapshots_read(path, &clock_snapshots);
        assert_true(clock_snapshots_with(&clock_snapshots,
                                         ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED) <= sessions);
    } while (clock_snapshots.count > before);
    assert_true(sessions > 4);
    /* The last session had none at all, and each that had one had both ends. */
    assert_int_equal(
        clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED),
        sessions - 1);
    assert_int_equal(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED),
                     sessions - 1);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void a_snapshot_has_the_clock_snapshots_of_its_session(void **state)
{
    enum {
        READINGS = 200
    };
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session =
        start_by_hand(path, EVENT_TRACE_BUFFERING_MODE, 0, ETWAS_CLOCK_TSC);
    struct etwas_session *inside = inside_of(session);
    struct writer *writer = plain_writer(session);
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    for (int reading = 1; reading < READINGS; reading++) {
        log_events(writer, 3);
        (void)pthread_mutex_lock(&inside->drain.role);
        etwas_session_clock_read_if_due(inside);
        (void)pthread_mutex_unlock(&inside->drain.role);
    }
    for (int times = 0; times < 2; times++) {
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS); /* one reading more */
        counts = counts_of(session);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.wrong, 0);
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.count, READINGS + 2 + times);
        /* They lie behind the events, which were written newest first; the window is last. */
        assert_true(clock_snapshots.buffers > 3);
        assert_int_equal(clock_snapshots.first_place + clock_snapshots.buffers + 1, result.buffers);
        read_back(session, path, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.damages, 0);
    }
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLOCK_SNAPSHOTS_TEST(
            many_clock_snapshots_move_into_buffers_in_every_mode_and_cost_no_event),
        CLOCK_SNAPSHOTS_TEST(a_session_of_each_clock_says_which_it_asked_for_and_got),
        CLOCK_SNAPSHOTS_TEST(each_part_of_a_set_has_clock_snapshots_from_before_it_to_its_end),
        CLOCK_SNAPSHOTS_TEST(appended_sessions_add_theirs_while_there_is_room),
        CLOCK_SNAPSHOTS_TEST(a_snapshot_has_the_clock_snapshots_of_its_session),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
