/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The wall clock of this machine is really set, ten seconds forward and back again, while sessions
 * with each clock record. Only where ETWAS_TEST_SET_CLOCK is 1, since everything on the machine
 * sees it; needs the right to set the clock. What the same does through the platform layer is
 * tested always (file/clock_snapshots_steps_test.c, reader/timeline_test.c).
 */
#include <etwas/evntcons.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock_reading.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    CLOCKS = 3,
    STRETCHES = 3, /* before the step, between the two, after them */
    EVENTS_A_STRETCH = 40,
    EVENTS = STRETCHES * EVENTS_A_STRETCH,
    STEP_SECONDS = 10,
    INTERVAL_MS = 50,
    MS = 1000000,
};
#define NS_A_SECOND INT64_C(1000000000)

struct recorded {
    int64_t filetime[EVENTS]; /* as ProcessTrace delivers */
    int64_t system[EVENTS];   /* the wall clock as it was */
    int64_t qpc_ns[EVENTS];
    uint32_t count;
    etwas_trace_handle trace;
};

static int64_t qpc_at[EVENTS]; /* right before each event was logged */

static bool step_clock(int seconds)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return false;
    }
    now.tv_sec += seconds;
    return clock_settime(CLOCK_REALTIME, &now) == 0;
}

static bool is_of_header(const EVENT_RECORD *event)
{
    return memcmp(&event->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0;
}

static int64_t convert(const struct recorded *recorded, const EVENT_RECORD *event, uint32_t clock)
{
    etwas_clock_time time;

    assert_int_equal(etwas_trace_convert_time(recorded->trace,
                                              event->EventHeader.TimeStamp.QuadPart, clock, &time),
                     ERROR_SUCCESS);
    return time.value;
}

static void collect_raw(EVENT_RECORD *event)
{
    struct recorded *recorded = event->UserContext;

    if (!is_of_header(event)) {
        assert_true(recorded->count < EVENTS);
        recorded->system[recorded->count] = convert(recorded, event, ETWAS_CLOCK_SYSTEM_TIME);
        recorded->qpc_ns[recorded->count] = convert(recorded, event, ETWAS_CLOCK_QPC);
        recorded->count++;
    }
}

static void collect_times(EVENT_RECORD *event)
{
    struct recorded *recorded = event->UserContext;

    if (!is_of_header(event)) {
        assert_true(recorded->count < EVENTS);
        recorded->filetime[recorded->count++] = event->EventHeader.TimeStamp.QuadPart;
    }
}

static void process(const char *path, uint32_t mode, PEVENT_RECORD_CALLBACK callback,
                    struct recorded *recorded, etwas_trace_clock *clock)
{
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | mode,
        .EventRecordCallback = callback,
        .Context = recorded,
    };

    recorded->trace = OpenTraceA(&file);
    recorded->count = 0;
    assert_true(recorded->trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&recorded->trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query_clock(recorded->trace, clock), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(recorded->trace), ERROR_SUCCESS);
    assert_int_equal(recorded->count, EVENTS);
}

static void log_a_stretch(struct writer **writers, uint32_t stretch)
{
    const struct timespec pause = {.tv_nsec = 10 * MS};

    for (uint32_t event = 0; event < EVENTS_A_STRETCH; event++) {
        qpc_at[stretch * EVENTS_A_STRETCH + event] = etwas_clock_read(ETWAS_CLOCK_QPC);
        for (uint32_t clock = 0; clock < CLOCKS; clock++) {
            assert_int_equal(writer_log_bytes(writers[clock], 16), ERROR_SUCCESS);
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* The times of two events apart, against the time that really passed: no step is in them. */
static void expect_undisturbed(const struct recorded *recorded)
{
    for (uint32_t event = 1; event < EVENTS; event++) {
        int64_t passed_ns = qpc_at[event] - qpc_at[0];
        int64_t told_ns = (recorded->filetime[event] - recorded->filetime[0]) * 100;

        assert_true(llabs(told_ns - passed_ns) < NS_A_SECOND);
    }
}

static void expect_steps(const etwas_trace_clock *clock)
{
    assert_int_equal(clock->steps, 2);
    assert_true(llabs(clock->step[0].step_ns - STEP_SECONDS * NS_A_SECOND) < NS_A_SECOND);
    assert_true(llabs(clock->step[1].step_ns + STEP_SECONDS * NS_A_SECOND) < NS_A_SECOND);
}

/* The wall clock as it was: the middle stretch is ten seconds later than what passed. */
static void expect_wall_clock(const struct recorded *recorded)
{
    int64_t passed_ns = recorded->qpc_ns[EVENTS / 2] - recorded->qpc_ns[0];
    int64_t moved_ns = (recorded->system[EVENTS / 2] - recorded->system[0]) * 100;

    assert_true(llabs(moved_ns - passed_ns - STEP_SECONDS * NS_A_SECOND) < NS_A_SECOND);
    moved_ns = (recorded->system[EVENTS - 1] - recorded->system[0]) * 100;
    passed_ns = recorded->qpc_ns[EVENTS - 1] - recorded->qpc_ns[0];
    assert_true(llabs(moved_ns - passed_ns) < NS_A_SECOND);
}

/* R150–R153, R158. */
static void a_clock_that_is_really_set_disturbs_no_qpc_and_no_tsc_trace(void **state)
{
    static struct recorded recorded;
    struct writer *writers[CLOCKS];
    etwas_trace_handle sessions[CLOCKS];
    char paths[CLOCKS][512];
    etwas_trace_clock clock;

    (void)state;
    etwas_clock_snapshot_interval_ns = INTERVAL_MS * MS;
    for (uint32_t index = 0; index < CLOCKS; index++) {
        char name[16];

        (void)snprintf(name, sizeof name, "%u.etl", index);
        (void)snprintf(paths[index], sizeof paths[index], "%s", folder_path(name));
        sessions[index] = start_session(paths[index], &(etwas_session_options){.clock = index + 1});
        writers[index] = writer_new(&(struct writer_options){.session = sessions[index]});
    }
    log_a_stretch(writers, 0);
    assert_true(step_clock(STEP_SECONDS));
    log_a_stretch(writers, 1);
    assert_true(step_clock(-STEP_SECONDS));
    log_a_stretch(writers, 2);
    for (uint32_t index = 0; index < CLOCKS; index++) {
        etwas_session_counts counts;

        stop_session(sessions[index], &counts);
        assert_int_equal(counts.recorded, EVENTS);
        expect_nothing_lost(counts);
        process(paths[index], PROCESS_TRACE_MODE_RAW_TIMESTAMP, collect_raw, &recorded, &clock);
        expect_steps(&clock);
        if (clock.clock != ETWAS_CLOCK_SYSTEM_TIME) {
            expect_wall_clock(&recorded);
            process(paths[index], 0, collect_times, &recorded, &clock);
            expect_undisturbed(&recorded);
        }
    }
}

static int teardown(void **state)
{
    etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;
    return folder_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_clock_that_is_really_set_disturbs_no_qpc_and_no_tsc_trace,
                                        folder_setup, teardown),
    };
    const char *asked = getenv("ETWAS_TEST_SET_CLOCK");

    if (asked == NULL || strcmp(asked, "1") != 0) {
        (void)printf("a_clock_that_is_really_set_disturbs_no_qpc_and_no_tsc_trace: skipped, "
                     "ETWAS_TEST_SET_CLOCK is not 1\n");
        return 77;
    }
    return RUN_WITH_EACH_PROTOCOL(tests);
}
