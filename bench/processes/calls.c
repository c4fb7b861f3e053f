/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a call costs into a private session, into a shared session of this process, and into a
 * session of another process.
 *
 * There are three processes: the measuring one, the host of the session in which it is a guest, and
 * a guest of its own session, for the rows of two writers.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <pthread.h>
#include <time.h>

#include "role.h"
#include "session.h"

enum {
    BATCH = 4096,
    TURNS = 1000,
    QUICK_TURNS = 4,
    WARMING = 32, /* batches, after which every buffer of a recorder was used */
    BUFFERS = 16,
    TRIPS = 20,
    TRIP_NS = 20000000,
    START_NS = 3000000, /* lead time, so that two writers begin together */
    TIMEOUT_MS = 5000,
};

enum where {
    PRIVATE,
    HOST,
    GUEST,
    PLACES,
};

static const char *const names[PLACES] = {"private", "host", "guest"};

enum call {
    INSTANCE,
    WRITE,
    CALLS,
};

static const char *const call_names[CALLS] = {"instance", "write"};

/* Modern providers, each enabled by one session: {6c0f2f7e-4a5d-4f0e-8f53-0d6f4b0d1a10} to 12. */
static const etwas_guid modern_guids[PLACES] = {
    {0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x10}},
    {0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x11}},
    {0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x12}},
};
/* Classic providers; their callback receives the session of which they are guests. */
static const etwas_guid of_host_guid = {
    0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x20}};
static const etwas_guid of_measuring_guid = {
    0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x21}};

static const struct bench_session_request shared_request = {.name = "etwas_bench_shared",
                                                            .buffering = true,
                                                            .is_shared = true,
                                                            .protocol = ETWAS_PROTOCOL_RSEQ,
                                                            .clock = ETWAS_CLOCK_TSC,
                                                            .buffers = BUFFERS};

/* ---- a guest --------------------------------------------------------------------------------- */

static uint64_t guest_session;

static uint32_t remember(WMIDPREQUESTCODE code, void *context, uint32_t *bytes, void *buffer)
{
    (void)context;
    (void)bytes;
    if (code == WMI_ENABLE_EVENTS) {
        ck_pr_store_64(&guest_session, GetTraceLoggerHandle(buffer));
    }
    return ERROR_SUCCESS;
}

/* Returns the session; 0 if the provider was not enabled. */
static etwas_trace_handle become_guest(const etwas_guid *provider)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    etwas_trace_handle registration;

    if (RegisterTraceGuidsA(remember, NULL, provider, 0, NULL, NULL, NULL, &registration) !=
        ERROR_SUCCESS) {
        return 0;
    }
    for (int waited_ms = 0; ck_pr_load_64(&guest_session) == 0 && waited_ms < TIMEOUT_MS;
         waited_ms++) {
        (void)nanosleep(&pause, NULL);
    }
    return ck_pr_load_64(&guest_session);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[2];
};

struct target {
    etwas_trace_handle session;
    REGHANDLE provider;
    uint64_t attempted;
};

static uint32_t log_instances(struct target *target)
{
    static EVENT_INSTANCE_INFO instance;
    struct event event;
    uint32_t codes = instance.RegHandle == 0 && !bench_make_instance(&instance);

    bench_prepare_instance_header(&event.header, sizeof event.payload);
    event.payload[1] = 2;
    for (uint32_t count = 0; count < BATCH; count++) {
        event.payload[0] = count;
        codes |= TraceEventInstance(target->session, &event.header, &instance, NULL);
    }
    target->attempted += BATCH;
    return codes;
}

static uint32_t write_events(struct target *target)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_INFORMATION};
    uint64_t payload[2] = {0, 2};
    EVENT_DATA_DESCRIPTOR data;
    uint32_t codes = ERROR_SUCCESS;

    EventDataDescCreate(&data, payload, sizeof payload);
    for (uint32_t count = 0; count < BATCH; count++) {
        payload[0] = count;
        codes |= EventWrite(target->provider, &descriptor, 1, &data);
    }
    target->attempted += BATCH;
    return codes;
}

/* ---- two writers ----------------------------------------------------------------------------- */

struct writer {
    etwas_trace_handle session;
    uint32_t processor;
    uint64_t start_ns;
    uint64_t events;
    uint64_t cpu_ns;
    uint32_t codes;
};

static uint64_t thread_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Writes for the duration of a trip, from a start in the future. */
static void *write_for_a_trip(void *argument)
{
    struct writer *writer = argument;
    struct target target = {.session = writer->session};
    uint64_t begin_ns;

    (void)bench_pin(writer->processor);
    writer->codes = log_instances(&target);
    while (bench_monotonic_ns() < writer->start_ns) {
    }
    begin_ns = thread_ns();
    while (bench_monotonic_ns() < writer->start_ns + TRIP_NS) {
        writer->codes |= log_instances(&target);
    }
    writer->cpu_ns = thread_ns() - begin_ns;
    writer->events = target.attempted;
    return NULL;
}

static double cpu_of(const struct writer *one, const struct writer *other)
{
    return (double)(one->cpu_ns + other->cpu_ns) / (double)(one->events + other->events);
}

/* ---- the other processes --------------------------------------------------------------------- */

enum {
    START,
    STOP, /* numbers[0]: attempted events */
};

static struct bench_answer play_host(const struct bench_request *request)
{
    static struct bench_session session;
    const char *reason;

    if (request->what == START) {
        return (struct bench_answer){
            bench_session_start(&session, &shared_request) == NULL &&
                EnableTraceEx2(session.handle, &of_host_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                               TRACE_LEVEL_INFORMATION, 0, 0, 0, NULL) == ERROR_SUCCESS &&
                EnableTraceEx2(session.handle, &modern_guids[GUEST],
                               EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_INFORMATION, 0, 0, 0,
                               NULL) == ERROR_SUCCESS,
            {0}};
    }
    reason = bench_session_stop(&session, request->numbers[0], NULL);
    if (reason != NULL) {
        (void)bench_row_refused("processes/instance/guest", reason);
    }
    return (struct bench_answer){reason == NULL, {0}};
}

enum {
    JOIN,
    WRITE_FOR_A_TRIP, /* numbers: start, processor */
};

static struct bench_answer play_guest(const struct bench_request *request)
{
    static etwas_trace_handle session;
    struct writer writer = {.start_ns = request->numbers[0],
                            .processor = (uint32_t)request->numbers[1]};

    if (request->what == JOIN) {
        session = become_guest(&of_measuring_guid);
        return (struct bench_answer){session != 0, {0}};
    }
    writer.session = session;
    (void)write_for_a_trip(&writer);
    return (struct bench_answer){writer.codes == ERROR_SUCCESS, {writer.events, writer.cpu_ns}};
}

/* ---- the measuring process ------------------------------------------------------------------- */

static struct bench_role host_role;
static struct bench_role guest_role;
static struct target targets[PLACES];
static double samples[PLACES][TURNS];
static double ratios[TURNS];

static int compare(const void *left, const void *right)
{
    double one = *(const double *)left;
    double other = *(const double *)right;

    return (one > other) - (one < other);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* Measures the places in turn; each is first equally often. */
static uint32_t measure_turns(enum call call, unsigned turns)
{
    uint32_t codes = ERROR_SUCCESS;

    for (unsigned turn = 0; turn < turns; turn++) {
        for (unsigned step = 0; step < PLACES; step++) {
            unsigned where = (turn + step) % PLACES;
            uint64_t begin_ns = bench_monotonic_ns();

            codes |=
                call == INSTANCE ? log_instances(&targets[where]) : write_events(&targets[where]);
            samples[where][turn] = (double)(bench_monotonic_ns() - begin_ns) / BATCH;
        }
    }
    return codes;
}

static void print_turns(enum call call, unsigned turns)
{
    char row[96];

    for (unsigned where = HOST; where < PLACES; where++) {
        for (unsigned turn = 0; turn < turns; turn++) {
            ratios[turn] = samples[where][turn] / samples[PRIVATE][turn];
        }
        (void)snprintf(row, sizeof row, "processes/%s/%s/ratio", call_names[call], names[where]);
        bench_row_value(row, "ratio", median(ratios, turns));
    }
    for (unsigned where = 0; where < PLACES; where++) {
        (void)snprintf(row, sizeof row, "processes/%s/%s", call_names[call], names[where]);
        bench_row_value(row, "ns", median(samples[where], turns));
    }
}

static bool two_threads(struct writer writers[2])
{
    pthread_t thread;

    writers[0].start_ns = writers[1].start_ns = bench_monotonic_ns() + START_NS;
    if (pthread_create(&thread, NULL, write_for_a_trip, &writers[1]) != 0) {
        return false;
    }
    (void)write_for_a_trip(&writers[0]);
    (void)pthread_join(thread, NULL);
    return (writers[0].codes | writers[1].codes) == ERROR_SUCCESS;
}

static bool two_processes(struct writer writers[2])
{
    struct bench_answer answer;
    struct bench_request request = {.what = WRITE_FOR_A_TRIP};

    writers[0].start_ns = bench_monotonic_ns() + START_NS;
    request.numbers[0] = writers[0].start_ns;
    request.numbers[1] = writers[1].processor;
    if (!bench_role_tell(&guest_role, &request)) {
        return false;
    }
    (void)write_for_a_trip(&writers[0]);
    answer = bench_role_hear(&guest_role);
    writers[1].events = answer.numbers[0];
    writers[1].cpu_ns = answer.numbers[1];
    return answer.is_done && writers[0].codes == ERROR_SUCCESS;
}

static const char *measure_two(unsigned trips)
{
    uint32_t processors[2];
    struct writer writers[2] = {{.session = targets[HOST].session},
                                {.session = targets[HOST].session}};
    double threads[TRIPS];
    double processes[TRIPS];

    if (bench_processors(processors, 2) < 2) {
        bench_row_skipped("processes/two", "there is one processor");
        return NULL;
    }
    writers[0].processor = processors[0];
    writers[1].processor = processors[1];
    for (unsigned trip = 0; trip < trips; trip++) {
        if (!two_threads(writers)) {
            return "two threads could not write";
        }
        targets[HOST].attempted += writers[0].events + writers[1].events;
        threads[trip] = cpu_of(&writers[0], &writers[1]);
        if (!two_processes(writers)) {
            return "two processes could not write";
        }
        targets[HOST].attempted += writers[0].events + writers[1].events;
        processes[trip] = cpu_of(&writers[0], &writers[1]);
        ratios[trip] = processes[trip] / threads[trip];
    }
    bench_row_value("processes/two/ratio", "ratio", median(ratios, trips));
    bench_row_value("processes/two/threads", "ns", median(threads, trips));
    bench_row_value("processes/two/processes", "ns", median(processes, trips));
    return NULL;
}

static const char *prepare(struct bench_session sessions[2])
{
    struct bench_session_request request = shared_request;
    const char *reason;

    request.name = "etwas_bench_measured";
    reason = bench_session_start(&sessions[HOST], &request);
    if (reason == NULL) {
        request.name = "etwas_bench_private";
        request.is_shared = false;
        reason = bench_session_start(&sessions[PRIVATE], &request);
    }
    if (reason != NULL) {
        return reason;
    }
    for (unsigned where = 0; where < PLACES; where++) {
        if (EventRegister(&modern_guids[where], NULL, NULL, &targets[where].provider) !=
            ERROR_SUCCESS) {
            return "cannot register a provider";
        }
        if (where != GUEST) {
            targets[where].session = sessions[where].handle;
            (void)EnableTraceEx2(sessions[where].handle, &modern_guids[where],
                                 EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_INFORMATION, 0, 0,
                                 0, NULL);
        }
    }
    targets[GUEST].session = become_guest(&of_host_guid);
    (void)EnableTraceEx2(sessions[HOST].handle, &of_measuring_guid,
                         EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_INFORMATION, 0, 0, 0,
                         NULL);
    return targets[GUEST].session != 0 &&
                   bench_role_ask(&guest_role, &(struct bench_request){.what = JOIN}).is_done
               ? NULL
               : "a guest was not enabled";
}

static const char *measure(unsigned turns, unsigned trips)
{
    uint32_t codes = ERROR_SUCCESS;
    const char *reason;

    bench_pin_last();
    codes |= measure_turns(INSTANCE, WARMING < turns ? WARMING : turns);
    for (unsigned call = 0; call < CALLS; call++) {
        codes |= measure_turns(call, turns);
        print_turns(call, turns);
    }
    reason = measure_two(trips);
    return codes == ERROR_SUCCESS ? reason : "an event was refused";
}

static struct bench_answer play_measuring(const struct bench_request *request)
{
    struct bench_session sessions[2];
    struct bench_request stop = {.what = STOP};
    const char *reason = prepare(sessions);

    if (reason == NULL) {
        reason = measure((unsigned)request->numbers[0], (unsigned)request->numbers[1]);
    }
    for (unsigned where = 0; reason == NULL && where < GUEST; where++) {
        reason = bench_session_stop(&sessions[where], targets[where].attempted, NULL);
    }
    stop.numbers[0] = targets[GUEST].attempted;
    return (struct bench_answer){reason == NULL ? bench_role_ask(&host_role, &stop).is_done
                                                : !bench_row_refused("processes/instance", reason),
                                 {0}};
}

bool bench_processes_calls(const struct bench_part_options *options)
{
    const struct bench_request request = {
        .numbers = {options->quick ? QUICK_TURNS : TURNS, options->quick ? 1 : TRIPS}};
    struct bench_role measuring;
    bool failed = false;

    if (!bench_row_selected(options, "processes/instance") &&
        !bench_row_selected(options, "processes/write") &&
        !bench_row_selected(options, "processes/two")) {
        return false;
    }
    if (!bench_role_start(&host_role, play_host) || !bench_role_start(&guest_role, play_guest) ||
        !bench_role_start(&measuring, play_measuring)) {
        return bench_row_refused("processes/instance", "there are no more processes");
    }
    if (bench_role_ask(&host_role, &(struct bench_request){.what = START}).is_done) {
        failed = !bench_role_ask(&measuring, &request).is_done;
    } else {
        (void)bench_row_refused("processes/instance",
                                BENCH_SKIPPED "sessions cannot be shared here");
    }
    bench_role_end(&measuring);
    bench_role_end(&guest_role);
    bench_role_end(&host_role);
    return failed;
}
