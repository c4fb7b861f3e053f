/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files of sessions that run, followed buffer by buffer while they are written: opened again
 * and again, each time from where the last buffer ended. Each event comes once, no number is left
 * out, and its time is what it is in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

#include "clock/clock_reading.h"
#include "support/folder.h"
#include "support/metadata.h"
#include "support/start.h"

#define INTERVAL_NS UINT64_C(4000000)

enum {
    EVENTS_LIMIT = 400000,
    LOOK_EVENTS = 500, /* that are written until the next look, however long that takes */
    LOOKS = 120,       /* at least */
    WRITERS = 2,
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    MS = EVENT_TRACE_USE_MS_FLUSH_TIMER,
};

struct event {
    EVENT_TRACE_HEADER header;
    uint64_t number;
};

/* What came of one session. */
struct followed {
    etwas_trace_handle trace;
    uint64_t from;         /* in the file */
    uint64_t next_number;  /* of a buffer, in the file */
    uint64_t events;       /* of buffers of events, in all files */
    uint64_t descriptions; /* buffers */
    uint64_t readings;     /* likewise */
    uint64_t known;        /* events whose times were, when they came */
    uint64_t times;        /* that were compared */
    uint32_t steps;        /* in which something came */
    uint8_t *came;         /* how often each event did */
    int64_t *unix_100ns;   /* its system time; 0: it was not known yet */
};

static etwas_trace_handle session;
static uint64_t next_event;
static uint64_t event_limit; /* below which numbers are written */
static uint32_t writing;
static struct followed followed;

static void pause_us(long us)
{
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    (void)nanosleep(&pause, NULL);
}

static void *write_events(void *unused)
{
    (void)unused;
    while (ck_pr_load_32(&writing) != 0) {
        struct event event = {
            .header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Guid.Data1 = 1},
        };

        if (ck_pr_load_64(&next_event) >= ck_pr_load_64(&event_limit)) {
            pause_us(300);
            continue;
        }
        event.number = ck_pr_faa_64(&next_event, 1);
        if (event.number < EVENTS_LIMIT) {
            (void)TraceEvent(session, &event.header);
        }
    }
    return NULL;
}

/* ---- following ------------------------------------------------------------------------------- */

static void on_record(EVENT_RECORD *record)
{
    struct followed *to = record->UserContext;
    int64_t raw = record->EventHeader.TimeStamp.QuadPart;
    etwas_clock_time time;
    int64_t known;
    uint64_t number;

    if (record->EventHeader.ProviderId.Data1 != 1) {
        return;
    }
    memcpy(&number, record->UserData, sizeof number);
    assert_true(number < EVENTS_LIMIT);
    to->came[number]++;
    assert_int_equal(etwas_trace_known_until(to->trace, &known), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_convert_time(to->trace, raw, ETWAS_CLOCK_SYSTEM_TIME, &time),
                     ERROR_SUCCESS);
    if (raw <= known) {
        to->unix_100ns[number] = time.value;
        to->known++;
    }
}

static uint32_t on_begin(const etwas_trace_buffer *buffer, void *context)
{
    struct followed *to = context;

    assert_int_equal(buffer->number, to->next_number);
    assert_true(buffer->file_offset >= to->from);
    return ETWAS_BUFFER_READ;
}

static uint32_t on_end(const etwas_trace_buffer *buffer, void *context)
{
    struct followed *to = context;

    to->next_number = buffer->number + 1;
    to->from = buffer->file_offset + buffer->file_bytes;
    to->events += buffer->kind == ETWAS_BUFFER_EVENTS ? buffer->records : 0;
    to->descriptions += buffer->kind == ETWAS_BUFFER_DESCRIPTIONS;
    to->readings += buffer->kind == ETWAS_BUFFER_READINGS;
    assert_int_equal(buffer->damages, 0);
    return ETWAS_BUFFER_READ;
}

/* INVALID_PROCESSTRACE_HANDLE: its beginning is not there yet. */
static etwas_trace_handle open_file(const char *path, bool *ended)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_record,
        .Context = &followed,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE || etwas_GetLastError() == ERROR_FILE_CORRUPT);
    *ended = trace != INVALID_PROCESSTRACE_HANDLE && logfile.LogfileHeader.EndTime.QuadPart != 0;
    return trace;
}

/* What is there since the last time. Returns whether that was all. */
static bool step(const char *path)
{
    uint64_t before = followed.from;
    bool ended;

    followed.trace = open_file(path, &ended);
    if (followed.trace == INVALID_PROCESSTRACE_HANDLE) {
        return false;
    }
    assert_int_equal(etwas_trace_process_buffers(followed.trace, followed.from, UINT64_MAX,
                                                 on_begin, on_end, &followed),
                     ERROR_SUCCESS);
    assert_int_equal(CloseTrace(followed.trace), ERROR_SUCCESS);
    followed.steps += followed.from != before;
    return ended;
}

static void begin_file(void)
{
    followed.from = 0;
    followed.next_number = 1;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/*
 * The file with all its readings says of each event what was said before, or at most what both may
 * be wrong by.
 */
static void on_again(EVENT_RECORD *record)
{
    struct followed *to = record->UserContext;
    etwas_clock_time time;
    uint64_t number;

    if (record->EventHeader.ProviderId.Data1 != 1) {
        return;
    }
    memcpy(&number, record->UserData, sizeof number);
    assert_int_equal(etwas_trace_convert_time(to->trace, record->EventHeader.TimeStamp.QuadPart,
                                              ETWAS_CLOCK_SYSTEM_TIME, &time),
                     ERROR_SUCCESS);
    if (to->unix_100ns[number] != 0) {
        uint64_t apart = (uint64_t)llabs(time.value - to->unix_100ns[number]);

        assert_true(apart <= 2 * (time.error_ns / 100 + 1));
        to->times++;
    }
}

static void compare_times(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_again,
        .Context = &followed,
    };

    followed.trace = OpenTraceA(&logfile);
    assert_int_equal(ProcessTrace(&followed.trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(followed.trace), ERROR_SUCCESS);
}

static void expect_each_once(uint64_t recorded)
{
    uint64_t came = 0;

    for (uint64_t i = 0; i < EVENTS_LIMIT; i++) {
        assert_true(followed.came[i] <= 1);
        came += followed.came[i];
    }
    assert_int_equal(came, recorded);
    assert_int_equal(followed.events, recorded);
}

static int begin(void **state)
{
    followed = (struct followed){.came = calloc(EVENTS_LIMIT, 1),
                                 .unix_100ns = calloc(EVENTS_LIMIT, sizeof(int64_t))};
    next_event = 0;
    event_limit = 0;
    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, INTERVAL_NS);
    begin_file();
    return followed.came != NULL && followed.unix_100ns != NULL ? folder_setup(state) : -1;
}

static int end(void **state)
{
    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS);
    free(followed.came);
    free(followed.unix_100ns);
    return folder_teardown(state);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * Runs one and calls `look` meanwhile, until that has seen enough: how fast files are written and
 * read is the machine's matter. Returns how many events it recorded.
 */
static uint64_t run_session(const char *path, const etwas_session_options *options,
                            void (*look)(void), bool (*has_seen_enough)(void))
{
    pthread_t threads[WRITERS];
    etwas_session_counts counts;

    session = start_session(path, options);
    ck_pr_store_32(&writing, 1);
    for (uint32_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, NULL), 0);
    }
    for (uint32_t i = 0; i < LOOKS || !has_seen_enough(); i++) {
        ck_pr_store_64(&event_limit, ck_pr_load_64(&next_event) + LOOK_EVENTS);
        pause_us(5000);
        look();
    }
    ck_pr_store_32(&writing, 0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    stop_session(session, &counts);
    return counts.recorded;
}

static void look_at_file(void)
{
    (void)step(folder_path("followed.etl"));
}

static bool has_seen_enough(void)
{
    return followed.steps > 5 && followed.known > 0;
}

/* 4 KB have room for 35 readings in buffer 0. */
static bool has_seen_readings(void)
{
    return has_seen_enough() && followed.readings > 0;
}

static void follow(uint32_t mode, uint32_t clock, uint32_t maximum, bool (*enough)(void))
{
    const etwas_session_options options = {.clock = clock,
                                           .buffer_size_kb = 4,
                                           .flush_timer = 10,
                                           .maximum_buffers = 4096,
                                           .maximum_file_size = maximum,
                                           .log_file_mode = mode | MS};
    uint64_t recorded = run_session(folder_path("followed.etl"), &options, look_at_file, enough);

    look_at_file();
    expect_each_once(recorded);
    compare_times(folder_path("followed.etl"));
    assert_true(followed.times > 0);
}

static void a_file_is_followed_while_its_session_writes(void **state)
{
    (void)state;
    follow(0, ETWAS_CLOCK_TSC, 0, has_seen_readings);
}

static void a_compressed_file_is_followed(void **state)
{
    (void)state;
    follow(EVENT_TRACE_COMPRESSED_MODE, ETWAS_CLOCK_QPC, 0, has_seen_enough);
}

static void a_file_whose_space_was_set_aside_is_followed(void **state)
{
    (void)state;
    follow(EVENT_TRACE_FILE_MODE_PREALLOCATE, ETWAS_CLOCK_QPC, 64, has_seen_enough);
}

static void a_file_by_system_time_is_followed(void **state)
{
    (void)state;
    follow(0, ETWAS_CLOCK_SYSTEM_TIME, 0, has_seen_enough);
}

static void what_programs_describe_is_in_no_count(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        (void)describe_one(3);
    }
    follow(0, ETWAS_CLOCK_QPC, 0, has_seen_enough);
    assert_true(followed.descriptions > 0);
}

/* The part that is read. */
static uint32_t part;

static const char *path_of(uint32_t number)
{
    static char name[32];

    (void)snprintf(name, sizeof name, "part%u.etl", number);
    return folder_path(name);
}

static void look_at_parts(void)
{
    while (access(path_of(part), F_OK) == 0 && step(path_of(part))) {
        part++;
        begin_file();
    }
}

static bool is_in_part_3(void)
{
    return part > 2;
}

/* Each part numbers its buffers from 1. */
static void the_parts_of_a_set_are_followed_one_after_the_other(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4,
                                           .flush_timer = 10,
                                           .maximum_buffers = 4096,
                                           .maximum_file_size = 256,
                                           .log_file_mode =
                                               EVENT_TRACE_FILE_MODE_NEWFILE | KB | MS};
    uint64_t recorded;

    (void)state;
    part = 1;
    recorded = run_session(folder_path("part%d.etl"), &options, look_at_parts, is_in_part_3);
    look_at_parts();
    expect_each_once(recorded);
}

static void a_running_session_s_name_is_no_file(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE};
    EVENT_TRACE_LOGFILEW logfile = {.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME |
                                                        PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = on_record};
    etwas_trace_handle trace;
    int64_t raw;

    (void)state;
    session = start_session(NULL, &options);
    logfile.LoggerName = session_name(session);
    trace = OpenTraceW(&logfile);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_process_buffers(trace, 0, UINT64_MAX, NULL, NULL, NULL),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_trace_known_until(trace, &raw), ERROR_NOT_SUPPORTED);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    stop_session(session, NULL);
}

#define FOLLOW_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLLOW_TEST(a_file_is_followed_while_its_session_writes),
        FOLLOW_TEST(a_compressed_file_is_followed),
        FOLLOW_TEST(a_file_whose_space_was_set_aside_is_followed),
        FOLLOW_TEST(a_file_by_system_time_is_followed),
        FOLLOW_TEST(the_parts_of_a_set_are_followed_one_after_the_other),
        FOLLOW_TEST(a_running_session_s_name_is_no_file),
        FOLLOW_TEST(what_programs_describe_is_in_no_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
