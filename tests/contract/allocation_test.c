/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * After a session has started nothing is allocated for it: neither by a thread that logs nor by its
 * flusher. The program's malloc ends the process, whichever thread calls it, while sessions of
 * every mode are logged to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EVENTS = 30000, /* of each kind: many buffers */
    PAYLOAD = 64,
    FORBIDDEN = 99,
};

/* What the C library's functions are called beneath those that a program may replace. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

static uint32_t forbidden; /* atomic */

static void look(void)
{
    if (ck_pr_load_32(&forbidden) != 0) {
        static const char words[] = "memory was allocated, or freed, where it must not be\n";

        (void)!write(STDERR_FILENO, words, sizeof words - 1);
        _exit(FORBIDDEN);
    }
}

/* Visible to the libraries, as a host's malloc is. */
#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
    look();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    look();
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    look();
    return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    look();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    look();
    *block = __libc_memalign(alignment, bytes);
    return *block != NULL ? 0 : -1;
}

void free(void *block)
{
    if (block != NULL) {
        look();
    }
    __libc_free(block);
}

#pragma GCC visibility pop

/* ---- a process that logs --------------------------------------------------------------------- */

#define CHECK(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static _Noreturn void failed(const char *condition, int line)
{
    (void)dprintf(STDERR_FILENO, "%s:%d: %s\n", __FILE__, line, condition);
    _exit(1);
}

TRACELOGGING_DEFINE_PROVIDER(provider, "Etwas.Test.Allocation",
                             (0x7be2f0c4, 0x1d5a, 0x4f08, 0x9c, 0x22, 0x3e, 0x61, 0x07, 0xd4, 0x8b,
                              0x95));

static const GUID event_class = {0x41a6c0d7, 0x02be, 0x4c39, {1, 2, 3, 4, 5, 6, 7, 8}};

struct event {
    EVENT_TRACE_HEADER header;
    uint8_t payload[PAYLOAD];
};

static void log_one(etwas_trace_handle session, uint32_t number)
{
    struct event event = {.header = {.Size = sizeof event, .Guid = event_class}};
    uint32_t code;

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    code = TraceEvent(session, &event.header);
    CHECK(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    code = TraceMessage(session, TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP, &event_class, 1,
                        &number, sizeof number, NULL);
    CHECK(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    TraceLoggingWrite(provider, "Number", TraceLoggingLevel(4), TraceLoggingUInt32(number),
                      TraceLoggingString("text"));
}

static etwas_trace_handle session;
static uint32_t ready; /* atomic */
static uint32_t go;    /* atomic */

static void *log_all(void *argument)
{
    ck_pr_inc_32(&ready);
    while (ck_pr_load_32(&go) == 0) {
        (void)usleep(1000);
    }
    for (uint32_t number = 0; number < EVENTS; number++) {
        log_one(session, number);
        if (number % 1000 == 0) {
            (void)usleep(1000); /* the flusher shall have something to do */
        }
    }
    ck_pr_dec_32(&ready);
    return argument;
}

/* All of a thread's life but its making and its end. */
static void log_without_memory(const etwas_session_options *options, const char *path)
{
    etwas_session_counts counts;
    GUID id = TraceLoggingProviderId(provider);
    pthread_t thread;

    CHECK(TraceLoggingRegister(provider) == 0);
    CHECK(etwas_start("allocation", path, options, &session) == ERROR_SUCCESS);
    CHECK(EnableTraceEx2(session, &id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL) ==
          ERROR_SUCCESS);
    CHECK(pthread_create(&thread, NULL, log_all, NULL) == 0);
    while (ck_pr_load_32(&ready) == 0) {
        (void)usleep(1000);
    }
    ck_pr_store_32(&forbidden, 1);
    ck_pr_store_32(&go, 1);
    log_one(session, 0);
    while (ck_pr_load_32(&ready) != 0) {
        (void)usleep(1000);
    }
    if (path != NULL) {
        CHECK(etwas_flush(session) == ERROR_SUCCESS);
    }
    CHECK(etwas_counts(session, &counts) == ERROR_SUCCESS);
    CHECK(counts.recorded + counts.overwritten + counts.lost == 3 * (EVENTS + 1));
    ck_pr_store_32(&forbidden, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(etwas_stop(session, NULL) == ERROR_SUCCESS);
    _exit(0);
}

static void expect_no_allocation(const etwas_session_options *options)
{
    char path[] = "/tmp/etwas-allocation-XXXXXX";
    bool recorder = (options->log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
    int file = mkstemp(path);
    int status;
    pid_t child;

    assert_true(file >= 0);
    (void)close(file);
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        log_without_memory(options, recorder ? NULL : path);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, 0);
}

static void a_session_with_a_file_allocates_nothing_once_it_runs(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 16};

    (void)state;
    expect_no_allocation(&options);
}

static void a_circular_file_needs_no_memory_either(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                            EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                           .maximum_file_size = 1,
                                           .flush_timer = 5,
                                           .buffer_size_kb = 16};

    (void)state;
    expect_no_allocation(&options);
}

static void a_compressed_file_needs_no_memory_either(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_COMPRESSED_MODE |
                                                            EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                           .flush_timer = 5,
                                           .buffer_size_kb = 16};

    (void)state;
    expect_no_allocation(&options);
}

static void a_flight_recorder_needs_no_memory_either(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};

    (void)state;
    expect_no_allocation(&options);
}

/* What crash-safe sessions have in a file is no memory of the program's either. */
static void prefaulted_and_locked_memory_is_all_there_is(void **state)
{
    etwas_session_options options = {.buffer_size_kb = 16,
                                     .maximum_buffers = 256,
                                     .memory = ETWAS_MEMORY_PREFAULT | ETWAS_MEMORY_LOCK};

    (void)state;
    expect_no_allocation(&options);
    options.crash_safe = ETWAS_CRASH_SAFE_MEMFD;
    expect_no_allocation(&options);
}

static void the_shared_protocol_needs_no_memory_either(void **state)
{
    const etwas_session_options options = {
        .protocol = ETWAS_PROTOCOL_SHARED, .buffer_size_kb = 16, .clock = ETWAS_CLOCK_SYSTEM_TIME};

    (void)state;
    expect_no_allocation(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_with_a_file_allocates_nothing_once_it_runs),
        cmocka_unit_test(a_circular_file_needs_no_memory_either),
        cmocka_unit_test(a_compressed_file_needs_no_memory_either),
        cmocka_unit_test(a_flight_recorder_needs_no_memory_either),
        cmocka_unit_test(prefaulted_and_locked_memory_is_all_there_is),
        cmocka_unit_test(the_shared_protocol_needs_no_memory_either),
    };

    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
