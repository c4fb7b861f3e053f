/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processor times in records (R106): KernelTime and UserTime of the thread that logs, ProcessorTime
 * in a private session, nothing unless asked for. They are what the system said a moment before the
 * call, not after it, and never go back.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BURNT_US = 40000,
    TICK_US = 1000,
    CHUNK_BYTES = 65536,
    ALL_KINDS = 5, /* what log_number logs, the last by a handler */
    STEADY = 400,  /* events in a row */
    OUR_TYPE = 177,
    KEPT_NS = 100000, /* as etwas.h says */
};

static const etwas_guid event_guid = {0x77e5a1b2, 0x3c4d, 0x4e5f, {0x90, 1, 2, 3, 4, 5, 6, 7}};

struct times {
    uint64_t kernel_us;
    uint64_t user_us;
};

/* What the system said before and after each event. */
struct bracket {
    struct times before;
    uint64_t begin_ns; /* between that and the event */
    struct times after;
};

struct thread {
    etwas_trace_handle session;
    bool burns_kernel_time;
    struct bracket brackets[STEADY];
};

struct seen {
    uint32_t thread_id;
    uint32_t kernel;
    uint32_t user;
    uint64_t processor;
    uint16_t number; /* Class.Version */
};

static struct seen seen[STEADY];
static uint32_t seen_count;
static uint32_t timer_resolution;

static struct times ask(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0) {
        return (struct times){0};
    }
    return (struct times){
        (uint64_t)usage.ru_stime.tv_sec * 1000000 + (uint64_t)usage.ru_stime.tv_usec,
        (uint64_t)usage.ru_utime.tv_sec * 1000000 + (uint64_t)usage.ru_utime.tv_usec,
    };
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- threads that use time ------------------------------------------------------------------- */

static void burn_user_time(void)
{
    uint64_t end_us = ask().user_us + BURNT_US;
    volatile uint64_t work = 1;

    while (ask().user_us < end_us) {
        for (int round = 0; round < 200000; round++) {
            work = work * 6364136223846793005u + 1442695040888963407u;
        }
    }
}

static void burn_kernel_time(void)
{
    uint64_t end_us = ask().kernel_us + BURNT_US;
    static _Thread_local uint8_t chunk[CHUNK_BYTES];

    while (ask().kernel_us < end_us) {
        (void)!getrandom(chunk, sizeof chunk, 0);
    }
}

/* ---- logging --------------------------------------------------------------------------------- */

static uint32_t log_event(etwas_trace_handle session, uint16_t number)
{
    EVENT_TRACE_HEADER event = {.Size = sizeof event};

    event.Flags = WNODE_FLAG_TRACED_GUID;
    event.Guid = event_guid;
    event.Class.Type = OUR_TYPE;
    event.Class.Version = number;
    return TraceEvent(session, &event);
}

static uint32_t log_instance(etwas_trace_handle session, uint16_t number, bool with_parent)
{
    EVENT_INSTANCE_INFO instance = {writer_class(), 7};
    EVENT_INSTANCE_INFO parent = {writer_class(), 8};
    struct {
        EVENT_INSTANCE_HEADER header;
        uint64_t payload[2];
    } event;

    memset(&event, 0, sizeof event);
    event.header.Size = sizeof event;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Class.Type = OUR_TYPE;
    event.header.Class.Version = number;
    return TraceEventInstance(session, &event.header, &instance, with_parent ? &parent : NULL);
}

static etwas_trace_handle handlers_session;

static void log_in_handler(int number)
{
    (void)number;
    (void)log_event(handlers_session, ALL_KINDS - 1);
}

static uint32_t log_number(etwas_trace_handle session, uint16_t number)
{
    switch (number) {
    case 0:
        return log_event(session, number);
    case 1:
        return log_instance(session, number, false);
    case 2:
        return log_instance(session, number, true);
    case 3:
        return log_instance(session, number, false);
    default:
        return raise(SIGUSR1) == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    }
}

static bool log_in_bracket(struct thread *thread, uint16_t number,
                           uint32_t (*log)(etwas_trace_handle, uint16_t))
{
    struct bracket *bracket = &thread->brackets[number];
    uint32_t code;

    bracket->before = ask();
    bracket->begin_ns = now_ns();
    code = log(thread->session, number);
    bracket->after = ask();
    return code == ERROR_SUCCESS;
}

static void *burn_and_log(void *argument)
{
    struct thread *thread = argument;

    if (thread->burns_kernel_time) {
        burn_kernel_time();
    } else {
        burn_user_time();
    }
    for (uint16_t number = 0; number < ALL_KINDS; number++) {
        if (!log_in_bracket(thread, number, log_number)) {
            return NULL;
        }
    }
    return thread;
}

static uint32_t log_either(etwas_trace_handle session, uint16_t number)
{
    return number % 2 == 0 ? log_event(session, number) : log_instance(session, number, false);
}

/* Logs events in a row, with more and more work between them, in either mode. */
static void *log_steadily(void *argument)
{
    static uint8_t chunk[CHUNK_BYTES];
    struct thread *thread = argument;
    volatile uint64_t work = 1;

    for (uint16_t number = 0; number < STEADY; number++) {
        for (int round = 0; round < 100 * number; round++) {
            work = work * 3 + 1;
        }
        (void)!getrandom(chunk, 50u * number, 0);
        if (!log_in_bracket(thread, number, log_either)) {
            return NULL;
        }
    }
    return thread;
}

static void run_thread(struct thread *thread, void *(*body)(void *))
{
    pthread_t id;
    void *result;

    assert_int_equal(pthread_create(&id, NULL, body, thread), 0);
    assert_int_equal(pthread_join(id, &result), 0);
    assert_ptr_equal(result, thread);
}

/* ---- reading back ---------------------------------------------------------------------------- */

static void keep(EVENT_TRACE *event)
{
    if (event->Header.Class.Type != OUR_TYPE) {
        return;
    }
    assert_true(seen_count < STEADY);
    seen[seen_count++] = (struct seen){
        .thread_id = event->Header.ThreadId,
        .kernel = event->Header.KernelTime,
        .user = event->Header.UserTime,
        .processor = event->Header.ProcessorTime,
        .number = event->Header.Class.Version,
    };
}

static void read_back(const char *path)
{
    EVENT_TRACE_LOGFILEA file = {.EventCallback = keep, .LogFileName = (char *)(uintptr_t)path};
    etwas_trace_handle trace = OpenTraceA(&file);

    seen_count = 0;
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    timer_resolution = file.LogfileHeader.TimerResolution;
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void expect_between(uint64_t ticks, uint64_t before_us, uint64_t after_us)
{
    if (ticks < before_us / TICK_US || ticks > after_us / TICK_US) {
        fail_msg("%llu ticks of 1 ms, between %llu and %llu us", (unsigned long long)ticks,
                 (unsigned long long)before_us, (unsigned long long)after_us);
    }
}

/*
 * What the system had said when the reading that the event has began, at the earliest. A thread
 * keeps no reading before its first event.
 */
static const struct times *oldest(const struct thread *thread, uint32_t number)
{
    uint32_t from = number;

    while (from > 0 &&
           thread->brackets[from].begin_ns + KEPT_NS > thread->brackets[number].begin_ns) {
        from--;
    }
    return &thread->brackets[from].before;
}

static void expect_times(const struct seen *event, const struct thread *thread, bool private)
{
    const struct times *before = oldest(thread, event->number);
    const struct times *after = &thread->brackets[event->number].after;

    if (private) {
        expect_between(event->processor, before->user_us, after->user_us);
    } else {
        expect_between(event->kernel, before->kernel_us, after->kernel_us);
        expect_between(event->user, before->user_us, after->user_us);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static etwas_trace_handle start(char *path, size_t size, uint32_t mode, bool times)
{
    bool one_slot = (mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0;
    const etwas_session_options options = {
        .log_file_mode = mode,
        .process_times = times,
        .protocol = one_slot ? ETWAS_PROTOCOL_SHARED : ETWAS_PROTOCOL_BEST,
    };
    const char *given = folder_path("trace.etl");
    etwas_trace_handle session = start_session(given, &options);

    /* A private session's file has the process in its name. */
    if ((mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0) {
        (void)snprintf(path, size, "%s_%d", given, (int)getpid());
    } else {
        (void)snprintf(path, size, "%s", given);
    }
    return session;
}

static void play(uint32_t mode)
{
    bool private = (mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
    struct thread threads[2] = {{.burns_kernel_time = false}, {.burns_kernel_time = true}};
    char path[512];

    handlers_session = start(path, sizeof path, mode, true);
    for (int index = 0; index < 2; index++) {
        threads[index].session = handlers_session;
        run_thread(&threads[index], burn_and_log);
    }
    stop_session(handlers_session, NULL);
    read_back(path);
    assert_int_equal(timer_resolution, TICK_US * 10);
    assert_int_equal(seen_count, 2 * ALL_KINDS);
    for (uint32_t index = 0; index < seen_count; index++) {
        assert_int_equal(seen[index].number, index % ALL_KINDS);
        assert_int_equal(seen[index].thread_id, seen[index / ALL_KINDS * ALL_KINDS].thread_id);
        expect_times(&seen[index], &threads[index / ALL_KINDS], private);
    }
    /*
     * This is no coincidence: each thread had used the time of its kind, and it is in the right
     * place.
     */
    assert_true((private ? seen[0].processor : seen[0].user) >= BURNT_US / TICK_US);
    if (!private) {
        assert_true(seen[ALL_KINDS].kernel >= BURNT_US / TICK_US);
    }
}

static void kernel_and_user_time_are_those_of_the_thread_that_logs(void **state)
{
    (void)state;
    play(0);
}

static void they_are_true_in_a_session_with_one_slot(void **state)
{
    (void)state;
    play(EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
}

static void a_private_session_has_processor_time_in_their_place(void **state)
{
    (void)state;
    play(EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC);
}

static void times_of_events_in_a_row_are_no_older_than_said_R106(void **state)
{
    static struct thread thread;
    char path[512];

    (void)state;
    thread.session = start(path, sizeof path, 0, true);
    run_thread(&thread, log_steadily);
    stop_session(thread.session, NULL);
    read_back(path);
    assert_int_equal(seen_count, STEADY);
    for (uint32_t index = 0; index < STEADY; index++) {
        assert_int_equal(seen[index].number, index);
        expect_times(&seen[index], &thread, false);
        assert_true(index == 0 || (seen[index].kernel >= seen[index - 1].kernel &&
                                   seen[index].user >= seen[index - 1].user));
    }
}

static void nobody_has_times_who_does_not_ask_for_them(void **state)
{
    const uint32_t modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
                              EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        struct thread thread = {.burns_kernel_time = false};
        char path[512];

        handlers_session = start(path, sizeof path, modes[index], false);
        thread.session = handlers_session;
        run_thread(&thread, burn_and_log);
        stop_session(handlers_session, NULL);
        read_back(path);
        assert_int_equal(timer_resolution, 156250);
        assert_int_equal(seen_count, ALL_KINDS);
        for (uint32_t event = 0; event < seen_count; event++) {
            assert_int_equal(seen[event].processor, 0);
        }
    }
}

static int handle_signal(void **state)
{
    struct sigaction action;

    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = log_in_handler;
    return sigaction(SIGUSR1, &action, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(kernel_and_user_time_are_those_of_the_thread_that_logs),
        FOLDER_TEST(they_are_true_in_a_session_with_one_slot),
        FOLDER_TEST(a_private_session_has_processor_time_in_their_place),
        FOLDER_TEST(times_of_events_in_a_row_are_no_older_than_said_R106),
        FOLDER_TEST(nobody_has_times_who_does_not_ask_for_them),
    };

    return handle_signal(NULL) + RUN_WITH_EACH_PROTOCOL(tests);
}
