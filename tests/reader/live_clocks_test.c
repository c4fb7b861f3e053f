/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a running session, asked for by its consumer: each event carries the performance
 * counter and the wall clock as they were before it was logged, and what the trace says must lie
 * between those of two events, while the session runs and when it has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>
#include <time.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/trust.h"

#define INTERVAL_NS UINT64_C(4000000)
#define SECOND_100NS INT64_C(10000000)

enum {
    EVENTS_LIMIT = 20000,
};

struct readings {
    int64_t qpc_ns;
    int64_t filetime;
};

struct event {
    EVENT_TRACE_HEADER header;
    struct readings before;
};

struct times {
    etwas_clock_time qpc;
    etwas_clock_time system;
};

/* A consumer, and what it has seen. */
struct consumer {
    etwas_trace_handle trace;
    pthread_t thread;
    uint32_t code; /* ProcessTrace's */
    uint64_t refused;
    uint64_t events; /* atomic */
    struct {
        int64_t stamp;
        struct readings before;
        struct times told; /* as it was delivered */
    } event[EVENTS_LIMIT];
};

static char name[] = "live clocks";

/* ---- writing --------------------------------------------------------------------------------- */

static void pause_ns(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    (void)nanosleep(&pause, NULL);
}

static void log_event(etwas_trace_handle session)
{
    struct event event = {
        .header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Guid.Data1 = 1},
        .before = {etwas_clock_qpc(), etwas_clock_system()},
    };

    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
}

/* Until the consumer has seen so many more. */
static void log_events(etwas_trace_handle session, const struct consumer *consumer, uint64_t more)
{
    uint64_t wanted = ck_pr_load_64(&consumer->events) + more;

    while (ck_pr_load_64(&consumer->events) < wanted) {
        log_event(session);
        pause_ns(50000);
    }
}

static etwas_trace_handle start(uint32_t clock)
{
    const etwas_session_options options = {
        .clock = clock,
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 5,
    };
    etwas_trace_handle session;

    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, INTERVAL_NS);
    assert_int_equal(etwas_start(name, NULL, &options, &session), ERROR_SUCCESS);
    return session;
}

/* ---- consuming ------------------------------------------------------------------------------- */

static bool convert_both(etwas_trace_handle trace, int64_t stamp, struct times *times)
{
    return etwas_trace_convert_time(trace, stamp, ETWAS_CLOCK_QPC, &times->qpc) == ERROR_SUCCESS &&
           etwas_trace_convert_time(trace, stamp, ETWAS_CLOCK_SYSTEM_TIME, &times->system) ==
               ERROR_SUCCESS;
}

static void on_event(EVENT_RECORD *record)
{
    struct consumer *consumer = record->UserContext;
    uint64_t index = consumer->events;

    if (record->EventHeader.ProviderId.Data1 != 1 || index == EVENTS_LIMIT) {
        return;
    }
    consumer->event[index].stamp = record->EventHeader.TimeStamp.QuadPart;
    memcpy(&consumer->event[index].before, record->UserData, sizeof(struct readings));
    consumer->refused +=
        !convert_both(consumer->trace, consumer->event[index].stamp, &consumer->event[index].told);
    ck_pr_store_64(&consumer->events, index + 1);
}

static struct consumer *open_consumer(void)
{
    struct consumer *consumer = calloc(1, sizeof *consumer);
    EVENT_TRACE_LOGFILEA logfile = {
        .LoggerName = name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD |
                            PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
        .Context = consumer,
    };

    assert_non_null(consumer);
    consumer->trace = OpenTraceA(&logfile);
    assert_true(consumer->trace != INVALID_PROCESSTRACE_HANDLE);
    return consumer;
}

static void *consume(void *argument)
{
    struct consumer *consumer = argument;

    consumer->code = ProcessTrace(&consumer->trace, 1, NULL, NULL);
    return NULL;
}

static void run(struct consumer *consumer)
{
    ck_pr_store_64(&consumer->events, 0);
    assert_int_equal(pthread_create(&consumer->thread, NULL, consume, consumer), 0);
}

static void join(struct consumer *consumer)
{
    assert_int_equal(pthread_join(consumer->thread, NULL), 0);
    assert_int_equal(consumer->code, ERROR_SUCCESS);
    assert_int_equal(consumer->refused, 0);
}

static void close_consumer(struct consumer *consumer)
{
    assert_int_equal(CloseTrace(consumer->trace), ERROR_SUCCESS);
    free(consumer);
}

/* An unknown error is none that is wrong. */
static bool is_before(int64_t earlier, uint64_t error_ns, int64_t later, int64_t unit_ns)
{
    return error_ns == UINT64_MAX ||
           earlier - (int64_t)(error_ns / (uint64_t)unit_ns) - (unit_ns > 1) <= later;
}

/* The event was logged after its own readings and before those of the next. */
static void expect_between(const struct readings *before, const struct times *times,
                           const struct readings *after, bool steps)
{
    const int64_t filetime_ns = 100;

    assert_true(is_before(before->qpc_ns, times->qpc.error_ns, times->qpc.value, 1));
    assert_true(is_before(times->qpc.value, times->qpc.error_ns, after->qpc_ns, 1));
    if (!steps) {
        assert_true(
            is_before(before->filetime, times->system.error_ns, times->system.value, filetime_ns));
        assert_true(
            is_before(times->system.value, times->system.error_ns, after->filetime, filetime_ns));
    }
}

/* What it was told when each event came, and what it is told now. */
static void expect_true_times(const struct consumer *consumer, bool steps)
{
    for (uint64_t index = 0; index + 1 < consumer->events; index++) {
        const struct readings *before = &consumer->event[index].before;
        const struct readings *after = &consumer->event[index + 1].before;
        struct times now;

        assert_true(convert_both(consumer->trace, consumer->event[index].stamp, &now));
        expect_between(before, &consumer->event[index].told, after, steps);
        expect_between(before, &now, after, steps);
    }
}

static etwas_trace_clock clocks_of(const struct consumer *consumer)
{
    etwas_trace_clock clock;

    assert_int_equal(etwas_trace_query_clock(consumer->trace, &clock), ERROR_SUCCESS);
    return clock;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_running_session_s_events_are_reported_within_the_error(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        etwas_trace_handle session = start(clock);
        struct consumer *consumer = open_consumer();
        etwas_trace_clock at_first = clocks_of(consumer);
        etwas_trace_clock at_last;

        assert_true(at_first.clock_snapshots >= 1);
        run(consumer);
        do {
            log_events(session, consumer, 100);
            at_last = clocks_of(consumer);
        } while (at_last.clock_snapshots < at_first.clock_snapshots + 10);
        assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
        join(consumer);
        expect_true_times(consumer, false);
        at_last = clocks_of(consumer);
        assert_true(at_last.qpc_error_ns != UINT64_MAX);
        assert_true(at_last.system_error_ns != UINT64_MAX);
        assert_int_equal(at_last.clock_snapshots_unusable, 0);
        assert_true(at_last.noted);
        assert_int_equal(at_last.requested_clock, clock);
        assert_int_equal(at_last.clock, etwas_clock_effective(clock));
        assert_true(at_last.system_against_qpc.known);
        assert_int_equal(at_last.steps, 0);
        /* The last reading is that of the session's end: no event is behind it. */
        assert_true(at_last.seconds >=
                    (double)(consumer->event[consumer->events - 1].before.qpc_ns -
                             consumer->event[0].before.qpc_ns) /
                        1e9);
        close_consumer(consumer);
    }
}

static void the_wall_clock_s_steps_are_seen_while_the_session_runs(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock += 2) {
        etwas_trace_handle session = start(clock);
        struct consumer *consumer = open_consumer();
        etwas_trace_clock clocks;

        run(consumer);
        log_events(session, consumer, 100);
        ck_pr_store_64(&etwas_clock_system_step, (uint64_t)(3600 * SECOND_100NS));
        do {
            log_events(session, consumer, 100);
            clocks = clocks_of(consumer);
        } while (clocks.steps == 0);
        assert_int_equal(clocks.steps, 1);
        assert_in_range(clocks.largest_step.step_ns, INT64_C(3599900000000),
                        INT64_C(3600100000000));
        assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
        join(consumer);
        ck_pr_store_64(&etwas_clock_system_step, 0);
        expect_true_times(consumer, true);
        close_consumer(consumer);
    }
}

static void a_trace_that_goes_on_with_another_session_has_that_one_s_clocks(void **state)
{
    etwas_trace_handle session = start(ETWAS_CLOCK_QPC);
    struct consumer *consumer = open_consumer();

    (void)state;
    run(consumer);
    log_events(session, consumer, 100);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    join(consumer);
    assert_int_equal(clocks_of(consumer).clock, ETWAS_CLOCK_QPC);
    session = start(ETWAS_CLOCK_SYSTEM_TIME);
    run(consumer);
    log_events(session, consumer, 100);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    join(consumer);
    assert_int_equal(clocks_of(consumer).clock, ETWAS_CLOCK_SYSTEM_TIME);
    expect_true_times(consumer, false);
    close_consumer(consumer);
}

static uint64_t asking;

static void *ask(void *argument)
{
    const struct consumer *consumer = argument;
    uintptr_t refused = 0;

    while (ck_pr_load_64(&asking) != 0) {
        etwas_trace_clock clock;
        struct times times;

        refused += !convert_both(consumer->trace, 1, &times);
        refused += etwas_trace_query_clock(consumer->trace, &clock) != ERROR_SUCCESS;
    }
    return (void *)refused;
}

static void others_may_ask_while_sessions_begin_and_end(void **state)
{
    etwas_trace_handle session = start(ETWAS_CLOCK_TSC);
    struct consumer *consumer = open_consumer();
    pthread_t thread;
    void *refused;

    (void)state;
    ck_pr_store_64(&asking, 1);
    assert_int_equal(pthread_create(&thread, NULL, ask, consumer), 0);
    for (int round = 0; round < 5; round++) {
        run(consumer);
        log_events(session, consumer, 100);
        assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
        join(consumer);
        session = start(ETWAS_CLOCK_TSC);
    }
    ck_pr_store_64(&asking, 0);
    assert_int_equal(pthread_join(thread, &refused), 0);
    assert_null(refused);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    close_consumer(consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_session_s_events_are_reported_within_the_error),
        cmocka_unit_test(the_wall_clock_s_steps_are_seen_while_the_session_runs),
        cmocka_unit_test(a_trace_that_goes_on_with_another_session_has_that_one_s_clocks),
        cmocka_unit_test(others_may_ask_while_sessions_begin_and_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
