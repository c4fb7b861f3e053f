/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Clock clock snapshots when the wall clock is set and when the machine is suspended. */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "support/clock_snapshots.h"
#include "support/fixed_clock_snapshots.h"
#include "support/flushing.h"
#include "support/readback.h"

#define HOUR INT64_C(36000000000) /* 100 ns */
#define NS_A_SECOND INT64_C(1000000000)

static struct clock_snapshots clock_snapshots;

/*
 * How far the system time of a clock snapshot is from where QPC says it should be, counted from the
 * start.
 */
static int64_t off_by(uint32_t index)
{
    const struct etwas_etl_clock_snapshot *start = &clock_snapshots.list[0];
    const struct etwas_etl_clock_snapshot *clock_snapshot = &clock_snapshots.list[index];

    return (clock_snapshot->filetime - start->filetime) -
           (clock_snapshot->qpc_ns - start->qpc_ns) / 100;
}

struct times {
    LONGLONG least;
    LONGLONG most;
    LONGLONG last;
    uint32_t events;
    bool backwards;
};

static VOID WINAPI note_time(PEVENT_RECORD record)
{
    struct times *times = record->UserContext;
    LONGLONG time = record->EventHeader.TimeStamp.QuadPart;

    if (record->EventHeader.ProviderId.Data1 == 0x68FDD900) {
        return; /* the header's */
    }
    times->backwards = times->backwards || (times->events != 0 && time < times->last);
    times->least = times->events == 0 || time < times->least ? time : times->least;
    times->most = times->events == 0 || time > times->most ? time : times->most;
    times->last = time;
    times->events++;
}

static struct times times_of(const char *path)
{
    struct times times = {0};
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = note_time,
        .Context = &times,
    };
    TRACEHANDLE trace = OpenTraceA(&file);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    (void)CloseTrace(trace);
    return times;
}

static void the_wall_clock_is_set_and_the_other_clocks_do_not_notice(void **state)
{
    static const int64_t steps[] = {0, HOUR, HOUR, -2 * HOUR, -2 * HOUR + 12345678, 0};

    (void)state;
    for (uint32_t clock = ETWAS_CLOCK_QPC; clock <= ETWAS_CLOCK_TSC; clock += 2) {
        const char *path = folder_path("steps.etl");
        etwas_trace_handle session = start_by_hand(path, 0, 0, clock);
        struct writer *writer = plain_writer(session);
        int64_t before = etwas_clock_system();
        etwas_session_counts counts;
        struct times times;
        int64_t after;

        if (etwas_clock_effective(clock) != clock) {
            stop_session(session, NULL);
            continue;
        }
        stay_on_one_processor();
        for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
            ck_pr_store_64(&etwas_clock_system_step, (uint64_t)steps[step]);
            log_events(writer, 10);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        leave_one_processor();
        after = etwas_clock_system();
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.count, 8);
        for (uint32_t index = 1; index < 7; index++) {
            /* A second for what real clocks do meanwhile. */
            assert_true(llabs(off_by(index) - steps[index - 1]) < NS_A_SECOND / 100);
        }
        times = times_of(path);
        assert_int_equal(times.events, 60);
        assert_false(times.backwards);
        assert_true(times.least > before - NS_A_SECOND / 100);
        assert_true(times.most < after + NS_A_SECOND / 100);
    }
}

/* How long the machine had run when the session started, by the header; 100 ns. */
static int64_t uptime_in(const char *path)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path};
    TRACEHANDLE trace = OpenTraceA(&file);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    (void)CloseTrace(trace);
    return file.LogfileHeader.StartTime.QuadPart - file.LogfileHeader.BootTime.QuadPart;
}

/*
 * A machine without a clock of its own starts in 1970: a session may begin long before it is told
 * the time, and files of the session be written after that.
 */
static void the_boot_is_where_the_wall_clock_had_it_at_the_start(void **state)
{
    const char *path = folder_path("snapshot.etl");
    int64_t before = etwas_clock_ns(CLOCK_BOOTTIME) / 100;
    etwas_trace_handle session;
    int64_t after;

    (void)state;
    ck_pr_store_64(&etwas_clock_system_step, (uint64_t)(-2 * before));
    session = start_by_hand(NULL, EVENT_TRACE_BUFFERING_MODE, 0, ETWAS_CLOCK_QPC);
    after = etwas_clock_ns(CLOCK_BOOTTIME) / 100;
    ck_pr_store_64(&etwas_clock_system_step, 0);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    stop_session(session, NULL);
    /* A millisecond for what the clocks are slewed by meanwhile. */
    assert_true(uptime_in(path) > before - NS_A_SECOND / 100000);
    assert_true(uptime_in(path) < after + NS_A_SECOND / 100000);
}

static void a_suspend_is_seen_as_a_jump_of_the_time_suspended(void **state)
{
    static const uint64_t suspends_ns[] = {0, 0, 3600000000000, 3600000000000, 3600000000001};
    const char *path = folder_path("suspend.etl");
    etwas_trace_handle session = start_by_hand(path, 0, 0, ETWAS_CLOCK_QPC);
    struct writer *writer = plain_writer(session);

    (void)state;
    for (size_t index = 0; index < sizeof suspends_ns / sizeof suspends_ns[0]; index++) {
        ck_pr_store_64(&etwas_clock_suspended_step_ns, suspends_ns[index]);
        log_events(writer, 1);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    clock_snapshots_read(path, &clock_snapshots);
    assert_int_equal(clock_snapshots.count, 7);
    for (uint32_t index = 1; index < 6; index++) {
        assert_int_equal(clock_snapshots.list[index].suspended_ns -
                             clock_snapshots.list[0].suspended_ns,
                         suspends_ns[index - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLOCK_SNAPSHOTS_TEST(the_wall_clock_is_set_and_the_other_clocks_do_not_notice),
        CLOCK_SNAPSHOTS_TEST(the_boot_is_where_the_wall_clock_had_it_at_the_start),
        CLOCK_SNAPSHOTS_TEST(a_suspend_is_seen_as_a_jump_of_the_time_suspended),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
