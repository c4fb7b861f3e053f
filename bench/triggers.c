/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_triggers: the time from the cause to the window, for each kind of trigger of a flight
 * recorder.
 *
 *     triggers/KIND/pinned     from the cause until the recorder's events before it are pinned
 *     triggers/KIND/call       the part of it that holds the thread up: the call that is the cause
 *     triggers/KIND/miss       the same call when it is not a trigger
 *
 *     call       etwas_trigger
 *     signal     raise, whose handler calls it; miss: a handler that does nothing
 *     id, level, keyword   EventWrite of an event that a filter makes a trigger; miss: of another
 *                event
 *     slow       etwas_trigger_if_slow of an instance that took too long; miss: of one that did not
 *     payload    TraceEvent into a session with a log file, whose payload filter matches, and
 *                etwas_flush: without a flush the buffer would have to get full first; call, miss:
 *                TraceEvent alone
 *
 *     triggers/flusher/plain, other, meant    ns per event to drain the session of a log file:
 *                without a payload filter, with one for other events, and with one for these
 *                events that fails at their last field
 *
 * The recorder has 1 MB. Its flusher sleeps on the first processor, and the caller runs on the
 * last. Each trigger has a window and a file of its own.
 */
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/tdh.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "latency.h"
#include "rows_json.h"
#include "session.h"

enum {
    BUFFER_KB = 16,
    BUFFERS = 64,
    LOG_BUFFERS = 256, /* room for the events between two flushes */
    REPEATS = 1000,
    QUICK_REPEATS = 10,
    MISSES = 100000,
    QUICK_MISSES = 1000,
    ASLEEP_US = 200, /* after which the flusher sleeps again */
    TIMEOUT_NS = 1000000000,
    TRIGGER_ID = 5,
    OTHER_ID = 6,
    TRIGGER_LEVEL = 2,
    OTHER_LEVEL = 4,
    TRIGGER_KEYWORD = 0x10,
    OTHER_KEYWORD = 0x20,
    DRAINED_EVENTS = 10000,
    DRAINS = 20,
    QUICK_DRAINS = 2,
};

/* The state that the causes need. One row runs at a time. */
static struct {
    etwas_trace_handle recorder;
    etwas_trace_handle log;
    REGHANDLE provider;
    etwas_handle class_handle;
    uint32_t clock;
    int64_t long_ago;
} with;

static const etwas_guid modern_guid = {
    0x7d0c51f2, 0x3a4e, 0x4f0b, {0x8e, 0x2a, 0x55, 0x61, 0x1c, 0x9b, 0x02, 0xd7}};

/* ---- causes ---------------------------------------------------------------------------------- */

/* Makes the call; `hits` says whether it is a trigger. */
typedef void (*cause)(bool hits);

static void call(bool hits)
{
    (void)hits;
    (void)etwas_trigger(with.recorder);
}

static void handle(int signal)
{
    if (signal == SIGUSR1) {
        (void)etwas_trigger(with.recorder);
    }
}

static void send_signal(bool hits)
{
    (void)raise(hits ? SIGUSR1 : SIGUSR2);
}

static void write_event(uint16_t id, uint8_t level, uint64_t keyword)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR data;
    uint64_t payload[2] = {0};

    EventDataDescCreate(&data, payload, sizeof payload);
    (void)EventWrite(with.provider, &descriptor, 1, &data);
}

static void write_id(bool hits)
{
    write_event(hits ? TRIGGER_ID : OTHER_ID, OTHER_LEVEL, OTHER_KEYWORD);
}

static void write_level(bool hits)
{
    write_event(OTHER_ID, hits ? TRIGGER_LEVEL : OTHER_LEVEL, OTHER_KEYWORD);
}

static void write_keyword(bool hits)
{
    write_event(OTHER_ID, OTHER_LEVEL, hits ? TRIGGER_KEYWORD : OTHER_KEYWORD);
}

static void end_instance(bool hits)
{
    (void)etwas_trigger_if_slow(with.class_handle,
                                hits ? with.long_ago : etwas_clock_read(with.clock));
}

struct measured_event {
    EVENT_TRACE_HEADER header;
    uint64_t order;
    uint64_t took_us;
};

static const etwas_field_description measured_fields[] = {
    {.name = "order", .in_type = TDH_INTYPE_UINT64},
    {.name = "took_us", .in_type = TDH_INTYPE_UINT64},
};

static struct measured_event measured_event(uint64_t took_us)
{
    struct measured_event event = {.header = {.Size = sizeof event}, .took_us = took_us};

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid = bench_class_guid;
    event.header.Class.Type = EVENT_TRACE_TYPE_INFO;
    return event;
}

static void log_event(bool hits)
{
    struct measured_event event = measured_event(hits ? 501 : 500);

    (void)TraceEvent(with.log, &event.header);
}

static void flush_log(void)
{
    (void)etwas_flush(with.log);
}

/* ---- making them triggers -------------------------------------------------------------------- */

static bool enable(void *data, uint32_t bytes, uint32_t type)
{
    EVENT_FILTER_DESCRIPTOR filter = {(uint64_t)(uintptr_t)data, bytes, type};
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableFilterDesc = &filter,
        .FilterDescCount = 1,
    };

    return EnableTraceEx2(with.recorder, &modern_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                          UINT32_MAX, &parameters) == ERROR_SUCCESS;
}

static bool enable_id(void)
{
    EVENT_FILTER_EVENT_ID ids = {.FilterIn = 1, .Count = 1, .Events = {TRIGGER_ID}};

    return enable(&ids, sizeof ids, ETWAS_FILTER_TYPE_TRIGGER);
}

static bool enable_level(void)
{
    EVENT_FILTER_LEVEL_KW levels = {.Level = TRIGGER_LEVEL, .FilterIn = 1};

    return enable(&levels, sizeof levels, ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW);
}

static bool enable_keyword(void)
{
    EVENT_FILTER_LEVEL_KW levels = {
        .MatchAnyKeyword = TRIGGER_KEYWORD, .Level = UINT8_MAX, .FilterIn = 1};

    return enable(&levels, sizeof levels, ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW);
}

static bool mark_class(void)
{
    EVENT_INSTANCE_INFO instance;

    if (!bench_make_instance(&instance)) {
        return false;
    }
    with.class_handle = instance.RegHandle;
    with.clock = etwas_clock_effective(ETWAS_CLOCK_TSC);
    with.long_ago = etwas_clock_read(with.clock) - 10 * (int64_t)etwas_clock_frequency(with.clock);
    return etwas_trigger_mark(with.recorder, with.class_handle, 1000000) == ERROR_SUCCESS;
}

static bool watch(const etwas_guid *guid)
{
    const etwas_payload_predicate predicate = {"took_us", "500", PAYLOADFIELD_GT, 0};
    const etwas_payload_filter filter = {
        .guid = guid,
        .fields = measured_fields,
        .field_count = 2,
        .predicates = &predicate,
        .predicate_count = 1,
        .event = EVENT_TRACE_TYPE_INFO,
    };

    return etwas_trigger_on_payload(with.log, with.recorder, &filter, NULL) == ERROR_SUCCESS;
}

static bool watch_events(void)
{
    return watch(&bench_class_guid);
}

static const struct kind {
    const char *name;
    cause cause;
    void (*then)(void); /* part of the cause, not of the call */
    bool (*make)(void); /* makes the call a trigger; NULL: not needed */
} kinds[] = {
    {"call", call, NULL, NULL},
    {"signal", send_signal, NULL, NULL},
    {"id", write_id, NULL, enable_id},
    {"level", write_level, NULL, enable_level},
    {"keyword", write_keyword, NULL, enable_keyword},
    {"slow", end_instance, NULL, mark_class},
    {"payload", log_event, flush_log, watch_events},
};

/* ---- measuring ------------------------------------------------------------------------------- */

static struct bench_latency pinned;
static struct bench_latency held_up;
static struct bench_latency missed;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static etwas_trigger_counts counts_now(void)
{
    etwas_trigger_counts counts = {0};

    (void)etwas_trigger_query(with.recorder, &counts);
    return counts;
}

/* Leaves the lock to the flusher, which counts under it. */
static void pause_a_little(void)
{
    uint64_t end_ns = now_ns() + 1000;

    while (now_ns() < end_ns) {
    }
}

static bool wait_for(uint64_t windows, bool files)
{
    uint64_t end_ns = now_ns() + TIMEOUT_NS;

    while (now_ns() < end_ns) {
        etwas_trigger_counts counts = counts_now();

        if ((files ? counts.files : counts.windows) >= windows) {
            return true;
        }
        pause_a_little();
    }
    return false;
}

/* Measures one trigger. Returns NULL, or why it failed. */
static const char *measure_one(const struct kind *kind, const char *base, uint64_t number)
{
    char name[300];
    uint64_t begin;
    bool seen;

    (void)usleep(ASLEEP_US);
    begin = bench_tick_begin();
    kind->cause(true);
    bench_latency_add(&held_up, bench_tick_end() - begin);
    if (kind->then != NULL) {
        kind->then();
    }
    seen = wait_for(number, false);
    bench_latency_add(&pinned, bench_tick_end() - begin);
    if (!seen || !wait_for(number, true)) {
        return "a trigger has no window or no file";
    }
    (void)snprintf(name, sizeof name, "%s.%llu", base, (unsigned long long)number);
    (void)unlink(name);
    return NULL;
}

static const char *measure(const struct kind *kind, bool quick)
{
    uint32_t repeats = quick ? QUICK_REPEATS : REPEATS;
    const char *reason = NULL;
    char base[256];
    char name[300];
    etwas_trigger_options options = {.log_file = name};

    bench_choose_log_file(base, sizeof base);
    (void)snprintf(name, sizeof name, "%s.%%d", base);
    if (etwas_trigger_arm(with.recorder, &options) != ERROR_SUCCESS) {
        return "cannot be armed";
    }
    bench_latency_clear(&pinned);
    bench_latency_clear(&held_up);
    bench_latency_clear(&missed);
    for (uint32_t number = 1; number <= repeats && reason == NULL; number++) {
        reason = measure_one(kind, base, number);
    }
    BENCH_LATENCY_LOOP(&missed,
                       kind->cause == call ? 0
                       : quick             ? QUICK_MISSES
                                           : MISSES,
                       (kind->cause(false), 0));
    if (reason == NULL && kind->then != NULL) {
        kind->then();
    }
    if (reason == NULL && counts_now().asked != repeats) {
        return "what is no trigger asked, or one was joined";
    }
    return reason;
}

static void print(const char *row, const char *what, const struct bench_latency *latency,
                  const struct bench_timer *timer)
{
    char name[96];

    if (latency->samples != 0) {
        (void)snprintf(name, sizeof name, "%s/%s", row, what);
        bench_latency_print(latency, timer, name);
    }
}

/* Fills the recorder, so that all windows have the same size. */
static void fill(void)
{
    struct measured_event event = measured_event(0);

    for (uint32_t count = 0; count < BUFFERS * BUFFER_KB * 1024 / BENCH_EVENT_HEADER_BYTES;
         count++) {
        (void)TraceEvent(with.recorder, &event.header);
    }
}

static const char *start_sessions(struct bench_session *recorder, struct bench_session *log)
{
    const uint32_t first = bench_first_processor();
    const struct bench_session_request buffering = {.buffering = true,
                                                    .protocol = ETWAS_PROTOCOL_BEST,
                                                    .clock = ETWAS_CLOCK_TSC,
                                                    .buffer_kb = BUFFER_KB,
                                                    .buffers = BUFFERS,
                                                    .flusher_cpu = &first};
    const struct bench_session_request to_file = {.name = "etwas_bench_log",
                                                  .protocol = ETWAS_PROTOCOL_BEST,
                                                  .clock = ETWAS_CLOCK_TSC,
                                                  .buffers = LOG_BUFFERS,
                                                  .flusher_cpu = &first};
    const char *reason = bench_session_start(recorder, &buffering);

    if (reason != NULL) {
        return reason;
    }
    with.recorder = recorder->handle;
    reason = bench_session_start(log, &to_file);
    if (reason != NULL) {
        (void)etwas_stop(recorder->handle, NULL);
        return reason;
    }
    with.log = log->handle;
    return NULL;
}

/* Returns NULL, or why the row failed. */
static const char *run_row(const char *row, const struct kind *kind,
                           const struct bench_timer *timer, bool quick)
{
    struct bench_session recorder;
    struct bench_session log;
    etwas_session_counts counts;
    const char *reason = start_sessions(&recorder, &log);

    if (reason != NULL) {
        return reason;
    }
    fill();
    reason = kind->make == NULL || kind->make() ? measure(kind, quick) : "it cannot be made one";
    if ((etwas_stop(log.handle, &counts) != ERROR_SUCCESS || counts.lost != 0) && reason == NULL) {
        reason = "events were lost";
    }
    if ((etwas_stop(recorder.handle, &counts) != ERROR_SUCCESS || counts.lost != 0) &&
        reason == NULL) {
        reason = "events were lost";
    }
    if (reason == NULL) {
        print(row, "pinned", &pinned, timer);
        print(row, "call", &held_up, timer);
        print(row, "miss", &missed, timer);
    }
    return reason;
}

/* ---- what payload filters cost the drain ----------------------------------------------------- */

static bool watch_others(void)
{
    return watch(&modern_guid);
}

static const struct {
    const char *name;
    bool (*make)(void);
} drained[] = {{"triggers/flusher/plain", NULL},
               {"triggers/flusher/other", watch_others},
               {"triggers/flusher/meant", watch_events}};

/* Returns ns per event; below 0 if it failed. */
static double drain_once(bool (*make)(void))
{
    const struct bench_session_request to_file = {.name = "etwas_bench_log",
                                                  .protocol = ETWAS_PROTOCOL_BEST,
                                                  .clock = ETWAS_CLOCK_TSC,
                                                  .buffers = LOG_BUFFERS,
                                                  .no_flusher = true};
    struct measured_event event = measured_event(500);
    struct bench_session log;
    uint64_t begin_ns;
    uint64_t end_ns;

    if (bench_session_start(&log, &to_file) != NULL) {
        return -1;
    }
    with.log = log.handle;
    if (make != NULL && !make()) {
        (void)etwas_stop(log.handle, NULL);
        return -1;
    }
    for (uint32_t count = 0; count < DRAINED_EVENTS; count++) {
        (void)TraceEvent(log.handle, &event.header);
    }
    begin_ns = now_ns();
    flush_log();
    end_ns = now_ns();
    if (bench_session_stop(&log, DRAINED_EVENTS, NULL) != NULL) {
        return -1;
    }
    return (double)(end_ns - begin_ns) / DRAINED_EVENTS;
}

/* Measures all of them in turn, so that other activity of the machine affects them alike. */
static const char *measure_drains(bool quick)
{
    const struct bench_session_request buffering = {
        .buffering = true, .clock = ETWAS_CLOCK_TSC, .buffers = BUFFERS};
    static double values[3][DRAINS];
    uint32_t times = quick ? QUICK_DRAINS : DRAINS;
    struct bench_session recorder;
    const char *reason = bench_session_start(&recorder, &buffering);

    if (reason != NULL) {
        return reason;
    }
    with.recorder = recorder.handle;
    for (uint32_t time = 0; time < times; time++) {
        for (uint32_t index = 0; index < 3; index++) {
            values[index][time] = drain_once(drained[index].make);
            reason = values[index][time] < 0 ? "a session does not go" : reason;
        }
    }
    (void)etwas_stop(recorder.handle, NULL);
    for (uint32_t index = 0; index < 3 && reason == NULL; index++) {
        bench_row(drained[index].name, "ns", values[index], times, NULL);
    }
    return reason;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    struct bench_timer timer;
    uint32_t processors[2];
    bool failed = false;

    if (bench_processors(processors, 2) < 2) {
        bench_row_skipped("triggers", "there is only one processor");
        return 0;
    }
    bench_pin_last();
    (void)signal(SIGUSR1, handle);
    (void)signal(SIGUSR2, handle);
    if (EventRegister(&modern_guid, NULL, NULL, &with.provider) != ERROR_SUCCESS) {
        bench_row_failed("triggers", "cannot register the provider");
        return 1;
    }
    timer = bench_timer_calibrate();
    for (unsigned round = 0; round < options.rounds; round++) {
        for (size_t index = 0; index < sizeof kinds / sizeof kinds[0]; index++) {
            const char *reason;
            char row[64];

            (void)snprintf(row, sizeof row, "triggers/%s", kinds[index].name);
            if (!bench_row_selected(&options, row)) {
                continue;
            }
            reason = run_row(row, &kinds[index], &timer, options.quick);
            failed |= reason != NULL && bench_row_refused(row, reason);
        }
        if (bench_row_selected(&options, "triggers/flusher")) {
            const char *reason = measure_drains(options.quick);

            failed |= reason != NULL && bench_row_refused("triggers/flusher", reason);
        }
    }
    return failed ? 1 : 0;
}
