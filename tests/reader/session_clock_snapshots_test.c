/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock snapshots of real sessions, read back: each event carries the performance counter and
 * the wall clock as they were before and after it was logged, and what the file says must lie
 * between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/trust.h"
#include "etl/own_record.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/start.h"

#define INTERVAL_NS UINT64_C(4000000)
#define SECOND_100NS INT64_C(10000000)

enum {
    PARTS_LIMIT = 60,
    EVENTS_A_READING = 64,
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
};

/* Readings around an event. */
struct around {
    int64_t qpc_ns[2];
    int64_t filetime[2];
};

struct event {
    EVENT_TRACE_HEADER header;
    struct around before; /* what comes after is in the next event */
};

static etwas_trace_handle session;

/* ---- writing --------------------------------------------------------------------------------- */

static void pause_ns(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    (void)nanosleep(&pause, NULL);
}

static void log_event(void)
{
    struct event event = {
        .header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Guid.Data1 = 1},
        .before = {{etwas_clock_qpc()}, {etwas_clock_system()}},
    };

    (void)TraceEvent(session, &event.header);
}

static uint64_t last_reading(struct etwas_session *inside)
{
    uint64_t at_ns;

    (void)pthread_mutex_lock(&inside->drain.role);
    at_ns = inside->drain.clock_read_ns;
    (void)pthread_mutex_unlock(&inside->drain.role);
    return at_ns;
}

/* Logs until the flusher has read the clocks so many times, each between two events. */
static void log_until_read(uint32_t readings)
{
    struct etwas_session *inside = inside_of(session);

    for (; readings != 0; readings--) {
        uint64_t before_ns = last_reading(inside);
        uint32_t logged = 0;

        do {
            if (logged++ < EVENTS_A_READING) {
                log_event();
            }
            pause_ns(50000);
        } while (last_reading(inside) == before_ns);
    }
}

static void begin(const char *path, etwas_session_options *options)
{
    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, INTERVAL_NS);
    assert_int_equal(etwas_start("clock snapshots", path, options, &session), ERROR_SUCCESS);
}

static void end(void)
{
    log_event();
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct {
    etwas_trace_handle trace;
    etwas_trace_clock clock;
    etwas_trace_information information;
    uint64_t events;
    uint64_t of_window; /* what a snapshot says of the time that it covers */
    uint64_t largest_qpc_error_ns;
    bool steps; /* the wall clock was set */
} seen;

static etwas_clock_time time_of(int64_t stamp, uint32_t clock)
{
    etwas_clock_time time;

    assert_int_equal(etwas_trace_convert_time(seen.trace, stamp, clock, &time), ERROR_SUCCESS);
    return time;
}

/* This event came after its own readings, and the one before it did before them. One thread wrote
 * them: the system cannot have moved a stamp by more than what the reading of a clock takes. */
static void on_event(EVENT_RECORD *record)
{
    static etwas_clock_time qpc_before;
    static etwas_clock_time system_before;
    etwas_clock_time qpc;
    etwas_clock_time system;
    int64_t qpc_error;
    int64_t system_error;
    struct around readings;

    seen.of_window += memcmp(&record->EventHeader.ProviderId, &etwas_etl_own_class,
                             sizeof etwas_etl_own_class) == 0;
    if (record->EventHeader.ProviderId.Data1 != 1 || record->UserDataLength != sizeof readings) {
        return;
    }
    memcpy(&readings, record->UserData, sizeof readings);
    qpc = time_of(record->EventHeader.TimeStamp.QuadPart, ETWAS_CLOCK_QPC);
    system = time_of(record->EventHeader.TimeStamp.QuadPart, ETWAS_CLOCK_SYSTEM_TIME);
    qpc_error = (int64_t)qpc.error_ns;
    system_error = (int64_t)(system.error_ns / 100) + 1;
    assert_true(qpc.value + qpc_error >= readings.qpc_ns[0]);
    assert_true(system.value + system_error >= readings.filetime[0]);
    if (seen.events > 0) {
        assert_true(qpc_before.value - (int64_t)qpc_before.error_ns <= readings.qpc_ns[0]);
        /* A wall clock that is set back in between tells nothing. */
        if (!seen.steps) {
            assert_true(system_before.value - (int64_t)(system_before.error_ns / 100) - 1 <=
                        readings.filetime[0]);
        }
    }
    qpc_before = qpc;
    system_before = system;
    if (qpc.error_ns > seen.largest_qpc_error_ns) {
        seen.largest_qpc_error_ns = qpc.error_ns;
    }
    seen.events++;
}

static void read_file(const char *path, bool steps)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
    };
    uint32_t code;

    memset(&seen, 0, sizeof seen);
    seen.steps = steps;
    seen.trace = OpenTraceA(&logfile);
    assert_true(seen.trace != INVALID_PROCESSTRACE_HANDLE);
    code = ProcessTrace(&seen.trace, 1, NULL, NULL);
    assert_true(code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT);
    assert_int_equal(etwas_trace_query_clock(seen.trace, &seen.clock), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(seen.trace, &seen.information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(seen.trace), ERROR_SUCCESS);
}

static void read_sound_file(const char *path, bool steps)
{
    read_file(path, steps);
    assert_int_equal(seen.information.damages, 0);
    assert_int_equal(seen.information.events, seen.events + seen.of_window);
    assert_int_equal(seen.clock.clock_snapshots_unusable, 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void every_clock_s_events_are_reported_within_the_error(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        etwas_session_options options = {.clock = clock};

        begin(folder_path("clock_snapshots.etl"), &options);
        log_until_read(25);
        end();
        read_sound_file(folder_path("clock_snapshots.etl"), false);
        assert_true(seen.clock.noted);
        assert_int_equal(seen.clock.requested_clock, clock);
        assert_int_equal(seen.clock.clock, etwas_clock_effective(clock));
        assert_true(seen.clock.clock_snapshots >= 3);
        assert_int_equal(seen.clock.steps, 0);
        assert_int_equal(seen.clock.suspends, 0);
        assert_true(seen.largest_qpc_error_ns <= seen.clock.qpc_error_ns || clock == 2);
        assert_true(seen.clock.qpc_error_ns != UINT64_MAX);
        assert_true(seen.clock.system_error_ns != UINT64_MAX);
    }
}

static int64_t newest;
static uint64_t counted;

static void on_timed_event(EVENT_RECORD *record)
{
    assert_true(record->EventHeader.TimeStamp.QuadPart >= newest);
    newest = record->EventHeader.TimeStamp.QuadPart;
    counted += record->EventHeader.ProviderId.Data1 == 1;
}

/* From the session's start to the last event, by ProcessTrace; no time goes back. */
static int64_t elapsed_100ns(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_timed_event,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);

    newest = 0;
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return newest - logfile.LogfileHeader.StartTime.QuadPart;
}

/* An hour forth, half an hour back, and a sleep of a minute. */
static void the_wall_clock_s_steps_and_a_sleep_are_seen_in_qpc_and_tsc_traces(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock += 2) {
        etwas_session_options options = {.clock = clock};

        begin(folder_path("steps.etl"), &options);
        log_until_read(15);
        ck_pr_store_64(&etwas_clock_system_step, (uint64_t)(3600 * SECOND_100NS));
        log_until_read(15);
        ck_pr_store_64(&etwas_clock_system_step, (uint64_t)(1800 * SECOND_100NS));
        log_until_read(15);
        ck_pr_store_64(&etwas_clock_suspended_step_ns, UINT64_C(60000000000));
        ck_pr_store_64(&etwas_clock_system_step, (uint64_t)(1860 * SECOND_100NS));
        log_until_read(15);
        end();
        ck_pr_store_64(&etwas_clock_system_step, 0);
        ck_pr_store_64(&etwas_clock_suspended_step_ns, 0);
        read_sound_file(folder_path("steps.etl"), true);
        if (etwas_clock_effective(clock) != clock) {
            continue;
        }
        assert_int_equal(seen.clock.suspends, 1);
        assert_true(seen.clock.suspended_ns == UINT64_C(60000000000));
        assert_int_equal(seen.clock.steps, 2);
        assert_in_range(seen.clock.step[0].step_ns, INT64_C(3599900000000), INT64_C(3600100000000));
        assert_in_range(-seen.clock.step[1].step_ns, INT64_C(1799900000000),
                        INT64_C(1800100000000));
        /* The wall clock went on by 31 minutes. */
        assert_true(elapsed_100ns(folder_path("steps.etl")) < 1000 * SECOND_100NS);
    }
}

/* Buffers so small that clock snapshots get buffers of their own. */
static void clock_snapshots_that_leave_buffer_0_are_all_read(void **state)
{
    etwas_session_options options = {.clock = 3, .buffer_size_kb = 4};

    (void)state;
    begin(folder_path("many.etl"), &options);
    log_until_read(70);
    end();
    read_sound_file(folder_path("many.etl"), false);
    assert_true(seen.clock.clock_snapshots > 60); /* 4 KB have room for 35 */
}

/* Buffer 0 was longer when the file was opened than it is when it is read. */
static void clock_snapshots_that_leave_buffer_0_meanwhile_are_no_damage(void **state)
{
    etwas_session_options options = {.clock = 3, .buffer_size_kb = 4};

    (void)state;
    begin(folder_path("meanwhile.etl"), &options);
    for (int times = 0; times < 8; times++) {
        EVENT_TRACE_LOGFILEA logfile = {
            .LogFileName = (char *)(uintptr_t)folder_path("meanwhile.etl"),
            .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
            .EventRecordCallback = on_timed_event,
        };
        etwas_trace_handle trace = OpenTraceA(&logfile);

        assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
        log_until_read(15); /* 15 clock snapshots of the 35 for which there is room */
        newest = 0;
        assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    }
    end();
}

static void a_small_circular_file_has_clock_snapshots_for_what_is_left_R94(void **state)
{
    etwas_session_options options = {.clock = 3,
                                     .buffer_size_kb = 4,
                                     .log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | KB,
                                     .maximum_file_size = 64};

    (void)state;
    begin(folder_path("circular.etl"), &options);
    log_until_read(100);
    end();
    read_sound_file(folder_path("circular.etl"), false);
    assert_true(seen.clock.clock_snapshots >= 4);
    assert_true(seen.clock.qpc_error_ns != UINT64_MAX);
}

static void a_snapshot_has_the_readings_of_its_session(void **state)
{
    etwas_session_options options = {.clock = 3, .log_file_mode = EVENT_TRACE_BUFFERING_MODE};

    (void)state;
    begin(NULL, &options);
    log_until_read(35);
    assert_int_equal(etwas_snapshot(session, folder_path("snapshot.etl")), ERROR_SUCCESS);
    end();
    read_sound_file(folder_path("snapshot.etl"), false);
    assert_true(seen.clock.clock_snapshots >= 5);
    assert_true(seen.events > 0);
}

/* Parts of one set, alone and together. */
static void the_parts_of_a_set_have_their_clock_snapshots_and_one_order_R96(void **state)
{
    etwas_session_options options = {.clock = 3,
                                     .buffer_size_kb = 4,
                                     .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | KB,
                                     .maximum_file_size = 24};
    static char paths[PARTS_LIMIT][512];
    etwas_trace_handle traces[PARTS_LIMIT];
    uint64_t events = 0;
    uint32_t count = 0;

    (void)state;
    begin(folder_path("%d.etl"), &options);
    for (uint32_t event = 0; event < 1000; event++) {
        log_event(); /* two parts at least */
    }
    log_until_read(30);
    end();
    for (; count < PARTS_LIMIT; count++) {
        char name[32];

        (void)snprintf(name, sizeof name, "%u.etl", count + 1);
        (void)snprintf(paths[count], sizeof paths[count], "%s", folder_path(name));
        if (access(paths[count], F_OK) != 0) {
            break;
        }
        read_sound_file(paths[count], false);
        assert_true(seen.clock.clock_snapshots >= 2);
        events += seen.events;
    }
    assert_in_range(count, 2, PARTS_LIMIT - 1);
    for (uint32_t i = 0; i < count; i++) {
        EVENT_TRACE_LOGFILEA logfile = {
            .LogFileName = paths[i],
            .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
            .EventRecordCallback = on_timed_event,
        };

        traces[count - 1 - i] = OpenTraceA(&logfile);
    }
    newest = 0;
    counted = 0;
    assert_int_equal(ProcessTrace(traces, count, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(counted, events);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(CloseTrace(traces[i]), ERROR_SUCCESS);
    }
}

/*
 * The process did not end its file: times behind the last clock snapshot go on with the clock
 * snapshots' rate.
 */
static void a_killed_process_leaves_clock_snapshots_that_convert_to_its_end(void **state)
{
    etwas_session_options options = {.clock = 3,
                                     .buffer_size_kb = 4,
                                     .flush_timer = 20,
                                     .log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                      EVENT_TRACE_USE_MS_FLUSH_TIMER};
    uint32_t *ready =
        mmap(NULL, sizeof *ready, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    (void)state;
    assert_true(ready != MAP_FAILED);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        ck_pr_store_64(&etwas_clock_snapshot_interval_ns, INTERVAL_NS);
        if (etwas_start("killed", folder_path("killed.etl"), &options, &session) != ERROR_SUCCESS) {
            _exit(1);
        }
        log_until_read(30);
        ck_pr_store_32(ready, 1);
        log_until_read(UINT32_MAX);
        _exit(2);
    }
    for (int tries = 0; tries < 20000 && ck_pr_load_32(ready) == 0; tries++) {
        pause_ns(1000000);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    (void)munmap(ready, sizeof *ready);
    read_file(folder_path("killed.etl"), false);
    assert_true(seen.information.unfinished);
    assert_true(seen.information.damages <= 1);
    assert_true(seen.events > 0);
    assert_true(seen.clock.clock_snapshots >= 2);
    assert_true(seen.largest_qpc_error_ns != UINT64_MAX);
}

static int reset(void **state)
{
    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS);
    ck_pr_store_64(&etwas_clock_system_step, 0);
    ck_pr_store_64(&etwas_clock_suspended_step_ns, 0);
    return folder_teardown(state);
}

#define CLOCK_SNAPSHOTS_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLOCK_SNAPSHOTS_TEST(every_clock_s_events_are_reported_within_the_error),
        CLOCK_SNAPSHOTS_TEST(the_wall_clock_s_steps_and_a_sleep_are_seen_in_qpc_and_tsc_traces),
        CLOCK_SNAPSHOTS_TEST(clock_snapshots_that_leave_buffer_0_are_all_read),
        CLOCK_SNAPSHOTS_TEST(clock_snapshots_that_leave_buffer_0_meanwhile_are_no_damage),
        CLOCK_SNAPSHOTS_TEST(a_small_circular_file_has_clock_snapshots_for_what_is_left_R94),
        CLOCK_SNAPSHOTS_TEST(a_snapshot_has_the_readings_of_its_session),
        CLOCK_SNAPSHOTS_TEST(the_parts_of_a_set_have_their_clock_snapshots_and_one_order_R96),
        CLOCK_SNAPSHOTS_TEST(a_killed_process_leaves_clock_snapshots_that_convert_to_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
