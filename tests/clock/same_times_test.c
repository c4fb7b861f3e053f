/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session with QPC and one with the cycle counter, running at once, tell the same times within
 * the errors that they state. Threads that are moved between processors log one event to the one
 * session, one to the other, and another to the first: the reader must place the second between
 * the first and the third, by QPC and by the wall clock.
 *
 * ETWAS_SAME_TIMES_SECONDS says how long the events are logged for.
 */
#include <ck_pr.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "clock/trust.h"
#include "support/folder.h"
#include "support/start.h"

enum {
    THREADS = 3,
    DEFAULT_SECONDS = 1,
    BRACKETS_LIMIT = 1500000, /* of a thread */
    BURST = 250,              /* without a pause */
    MOVE_NS = 7000000,
};

/* What was read back of the three events. */
struct bracket {
    int64_t qpc_ns[3];
    int64_t filetime[3];
    uint64_t filetime_error_ns[3];
    uint64_t qpc_error_ns; /* of the event between */
    uint8_t seen;
    bool logged; /* all three were recorded */
};

struct event {
    EVENT_TRACE_HEADER header;
    uint32_t number;
    uint32_t place; /* in the bracket */
};

static etwas_trace_handle qpc_session;
static etwas_trace_handle tsc_session;
static struct bracket *brackets[THREADS];
static uint32_t counts[THREADS];
static uint32_t ended;
static pid_t thread_ids[THREADS];
static uint64_t burst_pause_ns;

static uint32_t seconds_asked(void)
{
    const char *text = getenv("ETWAS_SAME_TIMES_SECONDS");
    long seconds = text != NULL ? strtol(text, NULL, 10) : DEFAULT_SECONDS;

    return seconds < 1 || seconds > 36000 ? DEFAULT_SECONDS : (uint32_t)seconds;
}

static void wait_ns(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    (void)nanosleep(&pause, NULL);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool log_event(etwas_trace_handle session, uint32_t thread, uint32_t number, uint32_t place)
{
    struct event event = {
        .header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Guid.Data1 = 1 + thread},
        .number = number,
        .place = place,
    };

    return TraceEvent(session, &event.header) == ERROR_SUCCESS;
}

static void *log_brackets(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint32_t number = 0;

    ck_pr_store_int(&thread_ids[thread], gettid());
    while (ck_pr_load_32(&ended) == 0 && number < BRACKETS_LIMIT) {
        struct bracket *bracket = &brackets[thread][number];
        bool first = log_event(qpc_session, thread, number, 0);
        bool second = log_event(tsc_session, thread, number, 1);
        bool third = log_event(qpc_session, thread, number, 2);

        bracket->logged = first && second && third;
        if (++number % BURST == 0) {
            wait_ns(burst_pause_ns);
        }
    }
    counts[thread] = number;
    return NULL;
}

/* Moves the threads from processor to processor, of those that this process may use. */
static void move_threads(uint32_t seconds)
{
    uint64_t moves = seconds * UINT64_C(1000000000) / MOVE_NS;
    cpu_set_t allowed;
    uint32_t next = 0;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (uint64_t move = 0; move < moves; move++) {
        uint32_t thread = (uint32_t)(move % THREADS);
        cpu_set_t one;

        wait_ns(MOVE_NS);
        do {
            next = (next + 1) % CPU_SETSIZE;
        } while (!CPU_ISSET(next, &allowed));
        CPU_ZERO(&one);
        CPU_SET(next, &one);
        if (move % 16 < THREADS) {
            one = allowed; /* now and then as the kernel likes */
        }
        if (ck_pr_load_int(&thread_ids[thread]) != 0) {
            (void)sched_setaffinity(ck_pr_load_int(&thread_ids[thread]), sizeof one, &one);
        }
    }
}

static void write_both(const char *qpc_path, const char *tsc_path, uint32_t seconds)
{
    etwas_session_options options = {
        .clock = ETWAS_CLOCK_QPC, .buffer_size_kb = 256, .maximum_buffers = 256};
    pthread_t threads[THREADS];

    /* Long runs fill the same memory, more slowly. */
    burst_pause_ns = seconds * UINT64_C(1000000000) / (BRACKETS_LIMIT / BURST);
    if (burst_pause_ns < 1000000) {
        burst_pause_ns = 1000000;
    }
    ended = 0;
    qpc_session = start_session(qpc_path, &options);
    options.clock = ETWAS_CLOCK_TSC;
    tsc_session = start_session(tsc_path, &options);
    for (uint32_t i = 0; i < THREADS; i++) {
        brackets[i] = calloc(BRACKETS_LIMIT, sizeof *brackets[i]);
        assert_non_null(brackets[i]);
        thread_ids[i] = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, log_brackets, (void *)(uintptr_t)i), 0);
    }
    move_threads(seconds);
    ck_pr_store_32(&ended, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    stop_session(qpc_session, NULL);
    stop_session(tsc_session, NULL);
}

/* ---- reading --------------------------------------------------------------------------------- */

static etwas_trace_handle reading;

static void on_event(EVENT_RECORD *record)
{
    uint32_t thread = record->EventHeader.ProviderId.Data1 - 1;
    int64_t stamp = record->EventHeader.TimeStamp.QuadPart;
    struct bracket *bracket;
    struct event event;
    etwas_clock_time qpc;
    etwas_clock_time system;

    if (thread >= THREADS || record->UserDataLength != sizeof event - sizeof event.header) {
        return;
    }
    memcpy(&event.number, record->UserData, record->UserDataLength);
    assert_true(event.number < BRACKETS_LIMIT && event.place < 3);
    assert_int_equal(etwas_trace_convert_time(reading, stamp, ETWAS_CLOCK_QPC, &qpc),
                     ERROR_SUCCESS);
    assert_int_equal(etwas_trace_convert_time(reading, stamp, ETWAS_CLOCK_SYSTEM_TIME, &system),
                     ERROR_SUCCESS);
    bracket = &brackets[thread][event.number];
    bracket->qpc_ns[event.place] = qpc.value;
    bracket->filetime[event.place] = system.value;
    bracket->filetime_error_ns[event.place] = system.error_ns;
    if (event.place == 1) {
        bracket->qpc_error_ns = qpc.error_ns;
    } else {
        assert_true(qpc.value == stamp && qpc.error_ns == 0);
    }
    bracket->seen |= (uint8_t)(1u << event.place);
}

static etwas_trace_clock read_one(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
    };
    etwas_trace_clock clock;

    reading = OpenTraceA(&logfile);
    assert_true(reading != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&reading, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query_clock(reading, &clock), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(reading), ERROR_SUCCESS);
    return clock;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The errors of the times between, and how many are where they cannot be. */
struct verdict {
    uint64_t complete;
    uint64_t lost;
    uint64_t outside_qpc;
    uint64_t outside_system;
    uint64_t *qpc_errors;
    uint64_t *system_errors;
    uint64_t *widths;
};

static bool is_outside_qpc(const struct bracket *bracket)
{
    int64_t error = (int64_t)bracket->qpc_error_ns;

    return bracket->qpc_ns[1] + error < bracket->qpc_ns[0] ||
           bracket->qpc_ns[1] - error > bracket->qpc_ns[2];
}

/* Both files' errors count: neither knows the wall clock exactly. */
static bool is_outside_system(const struct bracket *bracket)
{
    const int64_t *filetime = bracket->filetime;
    const uint64_t *error_ns = bracket->filetime_error_ns;

    return (filetime[1] - filetime[0]) * 100 + (int64_t)(error_ns[0] + error_ns[1]) < 0 ||
           (filetime[2] - filetime[1]) * 100 + (int64_t)(error_ns[1] + error_ns[2]) < 0;
}

static void judge(struct verdict *verdict)
{
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        for (uint32_t number = 0; number < counts[thread]; number++) {
            const struct bracket *bracket = &brackets[thread][number];
            uint64_t at = verdict->complete;

            if (!bracket->logged) {
                verdict->lost++;
                continue;
            }
            assert_int_equal(bracket->seen, 7);
            assert_true(bracket->qpc_ns[0] <= bracket->qpc_ns[2]);
            verdict->qpc_errors[at] = bracket->qpc_error_ns;
            verdict->system_errors[at] = bracket->filetime_error_ns[1];
            verdict->widths[at] = (uint64_t)(bracket->qpc_ns[2] - bracket->qpc_ns[0]);
            verdict->outside_qpc += is_outside_qpc(bracket);
            verdict->outside_system += is_outside_system(bracket);
            verdict->complete++;
        }
    }
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static void report(const char *what, uint64_t *values, uint64_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    print_message("%s: median %" PRIu64 " ns, 99.9 %% %" PRIu64 " ns, largest %" PRIu64 " ns\n",
                  what, values[count / 2], values[count - 1 - count / 1000], values[count - 1]);
}

static void *new_array(uint64_t count)
{
    void *array = malloc(count * sizeof(uint64_t));

    assert_non_null(array);
    return array;
}

static void expect_same_times(void)
{
    uint64_t count = (uint64_t)counts[0] + counts[1] + counts[2];
    struct verdict verdict = {
        .qpc_errors = new_array(count),
        .system_errors = new_array(count),
        .widths = new_array(count),
    };

    judge(&verdict);
    assert_true(verdict.complete > count / 2);
    print_message("%" PRIu64 " brackets, %" PRIu64 " not whole; outside by QPC %" PRIu64
                  ", by system time %" PRIu64 "\n",
                  verdict.complete, verdict.lost, verdict.outside_qpc, verdict.outside_system);
    report("brackets are wide", verdict.widths, verdict.complete);
    report("errors by QPC", verdict.qpc_errors, verdict.complete);
    report("errors by system time", verdict.system_errors, verdict.complete);
    /* One in a million; of fewer none. */
    assert_true(verdict.outside_qpc <= verdict.complete / 1000000);
    assert_true(verdict.outside_system <= verdict.complete / 1000000);
    free(verdict.qpc_errors);
    free(verdict.system_errors);
    free(verdict.widths);
}

static void two_sessions_with_different_clocks_tell_the_same_times(void **state)
{
    char qpc_path[512];
    char tsc_path[512];
    uint32_t seconds = seconds_asked();
    etwas_trace_clock clock;

    (void)state;
    if (!etwas_clock_tsc_trusted()) {
        print_message("skipped: the cycle counter is not trusted\n");
        skip();
    }
    (void)snprintf(qpc_path, sizeof qpc_path, "%s", folder_path("qpc.etl"));
    (void)snprintf(tsc_path, sizeof tsc_path, "%s", folder_path("tsc.etl"));
    write_both(qpc_path, tsc_path, seconds);
    (void)read_one(qpc_path);
    clock = read_one(tsc_path);
    print_message("%" PRIu64
                  " clock snapshots in %.3f s; the counter is %+.4f ppm off its calibration\n",
                  clock.clock_snapshots, clock.seconds, clock.tsc_against_calibrated.ppm);
    assert_true(clock.clock_snapshots >= 2);
    expect_same_times();
    for (uint32_t i = 0; i < THREADS; i++) {
        free(brackets[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(two_sessions_with_different_clocks_tell_the_same_times),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
