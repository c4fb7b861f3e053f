/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How soon other processes act on EnableTraceEx2. The provider writes its first event in its
 * callback, as soon as it is enabled.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <time.h>

#include "role.h"
#include "session.h"

enum {
    TRIES = 300,
    QUICK_TRIES = 3,
    CROWD = 200,
    QUICK_CROWD = 24,
    TIMEOUT_MS = 5000,
};

/* {6c0f2f7e-4a5d-4f0e-8f53-0d6f4b0d1a02} */
static const etwas_guid provider_guid = {
    0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x02}};
/* A provider that no process registers: {6c0f2f7e-4a5d-4f0e-8f53-0d6f4b0d1a03} */
static const etwas_guid nobody_guid = {
    0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x03}};

/* ---- the provider ---------------------------------------------------------------------------- */

static REGHANDLE provider;
static uint64_t first_ns; /* when the first event since the last enabling was recorded */

static void hear(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                 uint64_t all, PEVENT_FILTER_DESCRIPTOR filter, void *context)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_INFORMATION};
    uint64_t number = 1;
    EVENT_DATA_DESCRIPTOR data;

    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    EventDataDescCreate(&data, &number, sizeof number);
    if (is_enabled == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
        EventWrite(provider, &descriptor, 1, &data) == ERROR_SUCCESS) {
        ck_pr_store_64(&first_ns, bench_monotonic_ns());
    }
}

enum {
    REGISTER,
    ASK_FIRST, /* returns first_ns and clears it */
};

static struct bench_answer play_provider(const struct bench_request *request)
{
    if (request->what == REGISTER) {
        return (struct bench_answer){
            EventRegister(&provider_guid, hear, NULL, &provider) == ERROR_SUCCESS, {0}};
    }
    return (struct bench_answer){true, {ck_pr_fas_64(&first_ns, 0)}};
}

static struct bench_answer play_bystander(const struct bench_request *request)
{
    (void)request;
    return (struct bench_answer){etwas_share() == ERROR_SUCCESS, {0}};
}

/* ---- the controller -------------------------------------------------------------------------- */

enum {
    START,
    STOP,
    ENABLE,
    DISABLE,
    TELL, /* enables a provider that no process has; numbers[0]: timeout */
};

static bool control(etwas_trace_handle session, const etwas_guid *guid, uint32_t code,
                    uint32_t timeout_ms)
{
    return EnableTraceEx2(session, guid, code, TRACE_LEVEL_INFORMATION, 0, 0, timeout_ms, NULL) ==
           ERROR_SUCCESS;
}

static struct bench_answer play_controller(const struct bench_request *request)
{
    const struct bench_session_request options = {.name = "etwas_bench_enabling",
                                                  .buffering = true,
                                                  .is_shared = true,
                                                  .clock = ETWAS_CLOCK_TSC,
                                                  .buffers = 64};
    static struct bench_session session;
    uint64_t begin_ns = bench_monotonic_ns();
    bool is_done = false;

    switch (request->what) {
    case START:
        is_done = bench_session_start(&session, &options) == NULL;
        break;
    case STOP:
        is_done = etwas_stop(session.handle, NULL) == ERROR_SUCCESS;
        break;
    case ENABLE:
        is_done = control(session.handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0);
        break;
    case DISABLE:
        is_done = control(session.handle, &provider_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER,
                          TIMEOUT_MS);
        break;
    default:
        is_done = control(session.handle, &nobody_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                          (uint32_t)request->numbers[0]);
        break;
    }
    return (struct bench_answer){is_done, {begin_ns, bench_monotonic_ns()}};
}

static struct bench_answer ask(const struct bench_role *role, uint32_t what)
{
    return bench_role_ask(role, &(struct bench_request){.what = what});
}

/* ---- enabled, and the first event ------------------------------------------------------------ */

struct times {
    double us[TRIES];
    unsigned count;
};

static bool enable_once(const struct bench_role *controller, const struct bench_role *provider_role,
                        struct times *times)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct bench_answer enabled = ask(controller, ENABLE);
    uint64_t first = 0;

    for (int waited_ms = 0; enabled.is_done && first == 0 && waited_ms < TIMEOUT_MS; waited_ms++) {
        (void)nanosleep(&pause, NULL);
        first = ask(provider_role, ASK_FIRST).numbers[0];
    }
    if (first == 0) {
        return false;
    }
    times->us[times->count++] = (double)(first - enabled.numbers[0]) / 1e3;
    return true;
}

/*
 * Starts a session and enables the provider twice: before it is attached to the session, and after.
 */
static bool enable_twice(const struct bench_role *controller,
                         const struct bench_role *provider_role, struct times *unattached,
                         struct times *attached)
{
    return ask(controller, START).is_done && enable_once(controller, provider_role, unattached) &&
           ask(controller, DISABLE).is_done && enable_once(controller, provider_role, attached) &&
           ask(controller, STOP).is_done;
}

static void print_times(const char *how, const struct times *times)
{
    double longest = 0;
    char row[96];

    for (unsigned index = 0; index < times->count; index++) {
        longest = times->us[index] > longest ? times->us[index] : longest;
    }
    (void)snprintf(row, sizeof row, "processes/enable/%s", how);
    bench_row(row, "us", times->us, times->count, NULL);
    (void)snprintf(row, sizeof row, "processes/enable/%s/longest", how);
    bench_row_value(row, "us", longest);
}

static const char *measure_enabling(const struct bench_role *controller,
                                    const struct bench_role *provider_role, unsigned tries)
{
    static struct times unattached;
    static struct times attached;

    unattached.count = 0;
    attached.count = 0;
    if (!ask(provider_role, REGISTER).is_done) {
        return "cannot register the provider";
    }
    for (unsigned try = 0; try < tries; try++) {
        if (!enable_twice(controller, provider_role, &unattached, &attached)) {
            return try == 0 ? BENCH_SKIPPED "sessions cannot be shared here"
                            : "a provider was not enabled";
        }
    }
    print_times("unattached", &unattached);
    print_times("attached", &attached);
    return NULL;
}

/* ---- the rows told and looked ---------------------------------------------------------------- */

static bool tell(const struct bench_role *controller, const char *what, unsigned processes,
                 uint32_t timeout_ms)
{
    const struct bench_request request = {.what = TELL, .numbers = {timeout_ms}};
    struct bench_answer answer = bench_role_ask(controller, &request);
    char row[96];

    (void)snprintf(row, sizeof row, "processes/%s/%u", what, processes);
    if (answer.is_done) {
        bench_row_value(row, "us", (double)(answer.numbers[1] - answer.numbers[0]) / 1e3);
    }
    return answer.is_done;
}

/* Each notification begins when all processes have looked after the one before. */
static const char *measure_telling(const struct bench_role *controller, unsigned processes,
                                   unsigned tries)
{
    for (unsigned try = 0; try < tries; try++) {
        if (!tell(controller, "looked", processes, TIMEOUT_MS) ||
            !tell(controller, "told", processes, 0) ||
            !bench_role_ask(controller,
                            &(struct bench_request){.what = TELL, .numbers = {TIMEOUT_MS}})
                 .is_done) {
            return "a process did not look";
        }
    }
    return NULL;
}

/* The provider is the first of the processes that are notified. */
static const char *measure_crowd(const struct bench_role *controller,
                                 const struct bench_part_options *options)
{
    static struct bench_role crowd[CROWD];
    const unsigned counts[] = {1, 24, options->quick ? QUICK_CROWD : CROWD};
    unsigned started = 1;
    const char *reason = NULL;

    if (!ask(controller, START).is_done) {
        return BENCH_SKIPPED "sessions cannot be shared here";
    }
    for (unsigned step = 0; reason == NULL && step < sizeof counts / sizeof counts[0]; step++) {
        for (; reason == NULL && started < counts[step]; started++) {
            if (!bench_role_start(&crowd[started], play_bystander) ||
                !bench_role_ask(&crowd[started], &(struct bench_request){0}).is_done) {
                reason = "a process could not take part";
            }
        }
        if (reason == NULL) {
            reason = measure_telling(controller, counts[step], options->quick ? 1 : 30);
        }
    }
    while (started > 1) {
        bench_role_end(&crowd[--started]);
    }
    return ask(controller, STOP).is_done ? reason : "cannot stop the session";
}

bool bench_processes_enabling(const struct bench_part_options *options)
{
    struct bench_role controller;
    struct bench_role provider_role;
    const char *reason;

    if (!bench_row_selected(options, "processes/enable") &&
        !bench_row_selected(options, "processes/told")) {
        return false;
    }
    if (!bench_role_start(&controller, play_controller) ||
        !bench_role_start(&provider_role, play_provider)) {
        return bench_row_refused("processes/enable", "there are no more processes");
    }
    reason = measure_enabling(&controller, &provider_role, options->quick ? QUICK_TRIES : TRIES);
    if (reason == NULL) {
        reason = measure_crowd(&controller, options);
    }
    bench_role_end(&provider_role);
    bench_role_end(&controller);
    return reason != NULL && bench_row_refused("processes/enable", reason);
}
