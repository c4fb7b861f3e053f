/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * AutoLoggers in a program with threads, and with a child by fork: each process begins once, before
 * its first provider is there. tests/tools/autologger_test.py has the rest, with programs of their
 * own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    THREADS = 8,
    EVENTS = 10,
    STAGGER_US = 100, /* so that some register while another one begins */
};

static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};

static GUID guid_of(uint32_t number)
{
    return (GUID){
        0xA1000000u + number, 0x91e5, 0x4f6a, {0x8b, 0x27, 0x5d, 0x90, 0x6e, 0x13, 0xc4, 0x5f}};
}

/* A private session for providers 0 to THREADS + 1, which the environment names. */
static void describe(void)
{
    const char *path = folder_path("own.autologger");
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    (void)fprintf(file, "FileName = %s\n", folder_path("own.etl"));
    (void)fprintf(file, "LogFileMode = 0x800\nBufferSize = 4\n");
    for (uint32_t number = 0; number < THREADS + 2; number++) {
        (void)fprintf(file, "[{%08x-91e5-4f6a-8b27-5d906e13c45f}]\n", guid_of(number).Data1);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(setenv("ETWAS_AUTOLOGGER", path, 1), 0);
}

static size_t events_of(pid_t process)
{
    struct events events;
    char name[32];
    size_t count;

    (void)snprintf(name, sizeof name, "own.etl_%ld", (long)process);
    read_events(folder_path(name), 0, &events);
    count = events.count;
    free_events(&events);
    return count;
}

static void stop_own(void)
{
    struct block block;

    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
    (void)StopTraceA(0, "own", &block.properties);
}

static void log_some(REGHANDLE provider)
{
    for (int i = 0; i < EVENTS; i++) {
        (void)EventWrite(provider, &descriptor, 0, NULL);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *register_and_log(void *argument)
{
    const GUID guid = guid_of((uint32_t)(uintptr_t)argument);
    REGHANDLE provider;

    (void)pthread_barrier_wait(&barrier);
    (void)usleep(STAGGER_US * (uint32_t)(uintptr_t)argument);
    if (EventRegister(&guid, NULL, NULL, &provider) == ERROR_SUCCESS) {
        log_some(provider);
    }
    return NULL;
}

/* ---- a child --------------------------------------------------------------------------------- */

static uint32_t called; /* in this process: the callback of the provider that is registered first */
static REGHANDLE by_callback;

static void NTAPI on_enabled(LPCGUID source, ULONG is_enabled, UCHAR level, ULONGLONG any,
                             ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    const GUID guid = guid_of(THREADS + 1);

    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    if (is_enabled != 0 && ++called == 2) {
        (void)EventRegister(&guid, NULL, NULL, &by_callback);
    }
}

/*
 * The parent's provider is still registered here, and is enabled in the session that this
 * registration starts.
 */
static int live_as_child(REGHANDLE parents)
{
    const GUID guid = guid_of(0);
    REGHANDLE own;

    log_some(parents);
    CHECK_IN_CHILD(called == 1);
    CHECK_IN_CHILD(EventRegister(&guid, NULL, NULL, &own) == ERROR_SUCCESS);
    CHECK_IN_CHILD(called == 2 && by_callback != 0);
    log_some(own);
    log_some(parents);
    log_some(by_callback);
    stop_own();
    return 0;
}

static void each_process_has_its_own_and_no_thread_is_too_early(void **state)
{
    const GUID guid = guid_of(THREADS);
    pthread_t threads[THREADS];
    REGHANDLE provider;
    int child = 0;

    (void)state;
    describe();
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, register_and_log, (void *)i), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(EventRegister(&guid, on_enabled, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(called, 1);
    /* A sanitizer does not let a child start threads. */
    if (!FIXTURE_SANITIZER && (child = fork_child()) == 0) {
        _exit(live_as_child(provider));
    }
    stop_own();
    assert_int_equal(events_of(getpid()), THREADS * EVENTS);
    if (!FIXTURE_SANITIZER) {
        assert_int_equal(exit_code_of(child), 0);
        assert_int_equal(events_of(child), 3 * EVENTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_process_has_its_own_and_no_thread_is_too_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
