/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads that are born, log and die; what a call leaves as it was; and threads of the library's
 * own.
 */
#include <dirent.h>
#include <errno.h>
#include <etwas/TraceLoggingProvider.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "session/fixture.h"

TRACELOGGING_DEFINE_PROVIDER(provider, "Etwas.Test.Threads",
                             (0x5c8e21f7, 0x9a30, 0x4b6d, 0x84, 0x1e, 0x72, 0x0d, 0xb5, 0xc9, 0x36,
                              0xa8));

static etwas_trace_handle session;

static void enable_provider(void)
{
    GUID id = TraceLoggingProviderId(provider);

    assert_int_equal(TraceLoggingRegister(provider), 0);
    assert_int_equal(
        EnableTraceEx2(session, &id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL),
        ERROR_SUCCESS);
}

/* ---- ten thousand threads -------------------------------------------------------------------- */

static void *log_and_die(void *argument)
{
    uint32_t code = log_number(session, 1);

    TraceLoggingWrite(provider, "Born", TraceLoggingLevel(4), TraceLoggingUInt32(code));
    return code == ERROR_SUCCESS ? NULL : argument;
}

static void live_and_die(int threads)
{
    enum {
        AT_ONCE = 10
    };
    pthread_t list[AT_ONCE];

    for (int born = 0; born < threads; born += AT_ONCE) {
        for (int index = 0; index < AT_ONCE; index++) {
            assert_int_equal(pthread_create(&list[index], NULL, log_and_die, list), 0);
        }
        for (int index = 0; index < AT_ONCE; index++) {
            void *failed = NULL;

            assert_int_equal(pthread_join(list[index], &failed), 0);
            assert_null(failed);
        }
    }
}

static void ten_thousand_threads_that_logged_leave_nothing(void **state)
{
    enum {
        FIRST = 200, /* what the C library and the allocator keep of threads, they have then */
        THREADS = FIXTURE_SANITIZER ? 500 : 10000,
        NOISE_BYTES = 32 << 10, /* 3 bytes a thread */
    };
    const char *path = folder_path("f.etl");
    struct belongings before;
    etwas_session_counts counts;
    size_t used;

    (void)state;
    session = start_session(path, NULL);
    enable_provider();
    live_and_die(FIRST);
    before = count_belongings();
    used = mallinfo2().uordblks;
    live_and_die(THREADS);
    assert_true(FIXTURE_SANITIZER || mallinfo2().uordblks < used + NOISE_BYTES);
    assert_nothing_gained(&before);
    TraceLoggingUnregister(provider);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2 * (FIRST + THREADS));
    expect_nothing_lost(counts);
}

/* ---- errno ----------------------------------------------------------------------------------- */

enum {
    MARK = 12345,
    EVENTS = 3000,
};

/*
 * Every way to log; the handler of a signal may do so between a failing call and a look at errno.
 */
static void log_every_way(uint64_t number, etwas_handle class_handle)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        uint64_t data;
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};
    EVENT_INSTANCE_INFO instance;

    (void)log_number(session, number);
    (void)log_number(session + 0x100, number); /* no session's handle */
    (void)CreateTraceInstanceId(class_handle, &instance);
    (void)TraceEventInstance(session, &event.header, &instance, NULL);
    (void)TraceMessage(session, TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_TIMESTAMP, &first_class, 1,
                       &number, sizeof number, NULL);
    TraceLoggingWrite(provider, "Number", TraceLoggingLevel(4), TraceLoggingUInt64(number));
    (void)EventProviderEnabled(1, 4, 0);
    (void)etwas_clock_read(ETWAS_CLOCK_TSC);
}

static void logging_leaves_errno_as_it_is(void **state)
{
    const etwas_session_options cases[] = {
        {.buffer_size_kb = 4, .maximum_buffers = 8}, /* wakes the flusher, and finds no buffer */
        {.buffer_size_kb = 4, .maximum_buffers = 8, .protocol = ETWAS_PROTOCOL_SHARED},
        {.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .process_times = true},
    };
    TRACE_GUID_REGISTRATION classes[] = {{.Guid = &first_class}};
    etwas_trace_handle registration;

    (void)state;
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 1, classes, NULL,
                                         NULL, &registration),
                     ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        bool recorder = (cases[index].log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
        uint64_t changed = 0;
        ENABLE_TRACE_PARAMETERS parameters = {
            .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
            .EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_SID,
        };
        GUID id = TraceLoggingProviderId(provider);

        session = start_session(recorder ? NULL : folder_path("f.etl"), &cases[index]);
        assert_int_equal(TraceLoggingRegister(provider), 0);
        assert_int_equal(EnableTraceEx2(session, &id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
                                        0, &parameters),
                         ERROR_SUCCESS);
        for (uint64_t number = 0; number < EVENTS; number++) {
            errno = MARK;
            log_every_way(number, classes[0].RegHandle);
            changed += errno != MARK;
        }
        assert_int_equal(changed, 0);
        TraceLoggingUnregister(provider);
        stop_session(session, NULL);
    }
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* ---- our own threads ------------------------------------------------------------------------- */

static uint64_t blocked_in(const char *thread)
{
    char path[64];
    char line[256];
    unsigned long blocked = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "SigBlk: %lx", &blocked) != 1) {
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return blocked;
}

/* How many threads there are beside this one, and how many of these some signal may reach. */
static int count_others(int *reachable)
{
    const uint64_t standard =
        UINT64_C(0x7fffffff) & ~(UINT64_C(1) << (SIGKILL - 1)) & ~(UINT64_C(1) << (SIGSTOP - 1));
    DIR *folder = opendir("/proc/self/task");
    int others = 0;

    assert_non_null(folder);
    *reachable = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != (int)gettid()) {
            others++;
            *reachable += (blocked_in(entry->d_name) & standard) != standard;
        }
    }
    (void)closedir(folder);
    return others;
}

/*
 * The same once there are as many as there should be: a thread that has ended may stay in the list
 * for a moment, and blocks nothing there.
 */
static int count_living(int expected, int *reachable, int reachable_expected)
{
    enum {
        LOOKS = 60000 /* a minute */
    };
    const struct timespec pause = {.tv_nsec = 1000000};
    int others = count_others(reachable);

    for (int look = 0; look < LOOKS && (others != expected || *reachable != reachable_expected);
         look++) {
        (void)nanosleep(&pause, NULL);
        others = count_others(reachable);
    }
    return others;
}

/* Returns how many threads receive the notifications of other processes. */
static int count_control_threads(void)
{
    return etwas_sharing_state() == ERROR_SUCCESS ? 1 : 0;
}

static uint32_t look_around(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    int *seen = context;

    (void)bytes;
    (void)buffer;
    if (request == WMI_ENABLE_EVENTS) { /* the thread that stops the session calls for its end */
        seen[1] = count_living(2 + count_control_threads(), &seen[2], 1);
        seen[0] = (int)gettid();
    }
    return ERROR_SUCCESS;
}

/*
 * The threads are flushers, and the one that calls a control callback for a caller with a finite
 * timeout.
 */
static void no_signal_reaches_a_thread_of_the_library(void **state)
{
    etwas_trace_handle registration;
    int seen[3] = {0};
    int reachable;

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer has threads of its own\n");
        skip();
    }
    assert_int_equal(
        RegisterTraceGuidsA(look_around, seen, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    session = start_session(folder_path("f.etl"), NULL);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5,
                                    0, 0, 150000, NULL),
                     ERROR_SUCCESS);
    assert_int_not_equal(seen[0], 0);
    assert_int_not_equal(seen[0], (int)gettid());
    assert_int_equal(seen[1], 2 + count_control_threads()); /* the flusher, and this one */
    assert_int_equal(seen[2], 1);                           /* this one */
    assert_int_equal(count_living(1 + count_control_threads(), &reachable, 0),
                     1 + count_control_threads());
    assert_int_equal(reachable, 0);
    stop_session(session, NULL);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(ten_thousand_threads_that_logged_leave_nothing),
        FOLDER_TEST(logging_leaves_errno_as_it_is),
        FOLDER_TEST(no_signal_reaches_a_thread_of_the_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
