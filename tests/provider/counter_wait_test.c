/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The time that a thread has waited for processors: its file is read once a switch of the thread,
 * and what is recorded is what the file says all the same.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "provider/counted.h"

enum {
    ROUNDS = 300,
    WAIT_NS = 1000, /* a made-up thread waits so long in each switch */
};

static etwas_trace_handle session;
static uint32_t file_reads;

/* A thread whose switches are made up; 0: the real one. */
static uint64_t switches;
static void (*interrupt)(void); /* called once, at this step of a reading */
enum {
    BEFORE_COUNT,
    AFTER_COUNT,
    BEFORE_FILE,
    AFTER_FILE,
    STEPS
};
static int interrupted_at;

static void reach(int step)
{
    void (*function)(void) = interrupt;

    if (function != NULL && interrupted_at == step) {
        interrupt = NULL;
        function();
    }
}

int __real_getrusage(int of, struct rusage *usage);
int __wrap_getrusage(int of, struct rusage *usage);
int __wrap_getrusage(int of, struct rusage *usage)
{
    int failed;

    reach(BEFORE_COUNT);
    failed = __real_getrusage(of, usage);
    if (switches != 0) {
        usage->ru_nvcsw = (long)(switches / 2);
        usage->ru_nivcsw = (long)(switches - switches / 2);
    }
    reach(AFTER_COUNT);
    return failed;
}

/* No call has more arguments than these; a call with fewer ignores the rest. */
long __real_syscall(long number, long, long, long, long, long, long);
long __wrap_syscall(long number, long first, long second, long third, long fourth, long fifth,
                    long sixth);
long __wrap_syscall(long number, long first, long second, long third, long fourth, long fifth,
                    long sixth)
{
    long result;

    if (number != SYS_pread64) {
        return __real_syscall(number, first, second, third, fourth, fifth, sixth);
    }
    file_reads++;
    reach(BEFORE_FILE);
    result = __real_syscall(number, first, second, third, fourth, fifth, sixth);
    if (switches != 0 && result > 0) {
        result = snprintf((char *)second, (size_t)third, "5 %llu 5\n",
                          (unsigned long long)switches * WAIT_NS);
    }
    reach(AFTER_FILE);
    return result;
}

static void begin(void)
{
    const etwas_session_options options = {.flusher = {.no_thread = true}};

    session = start_session(folder_path("f.etl"), &options);
    ask(session, &control_guid, COUNTED);
}

static void end(struct readings *readings)
{
    etwas_session_counts counts;

    stop_session(session, &counts);
    expect_nothing_lost(counts);
    read_counted(folder_path("f.etl"), &counts, readings);
}

static void log_start(void)
{
    EVENT_INSTANCE_INFO instance = new_instance(0);

    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_START, &instance, NULL), ERROR_SUCCESS);
}

/* ---- real threads ---------------------------------------------------------------------------- */

static uint64_t own_wait_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    unsigned long long wait_ns = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &wait_ns), 1);
    (void)fclose(file);
    return wait_ns;
}

static uint64_t own_switches(void)
{
    struct rusage usage;

    assert_int_equal(__real_getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void sleep_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 100000};

    assert_int_equal(nanosleep(&moment, NULL), 0);
}

static void the_file_is_read_once_a_switch(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    uint64_t before;
    uint32_t reads;

    (void)state;
    begin();
    log_start();
    before = own_switches();
    reads = file_reads;
    for (int round = 0; round < ROUNDS; round++) {
        log_start();
    }
    /* The first of these may have another count than the one before the loop. */
    assert_in_range(file_reads - reads, 0, 1 + own_switches() - before);
    sleep_a_moment();
    reads = file_reads;
    log_start();
    assert_int_equal(file_reads - reads, 1);
    end(&readings);
    assert_int_equal(readings.count, ROUNDS + 2);
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static uint32_t rest;

static void *spin_on_the_same_processor(void *unused)
{
    (void)unused;
    while (__atomic_load_n(&rest, __ATOMIC_RELAXED) == 0) {
    }
    return NULL;
}

static void recorded_is_what_the_file_says_at_that_moment(void **state)
{
    static uint64_t before[ROUNDS];
    static uint64_t after[ROUNDS];
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    cpu_set_t all;
    cpu_set_t one;
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    rest = 0;
    assert_int_equal(pthread_create(&thread, NULL, spin_on_the_same_processor, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        before[round] = own_wait_ns();
        log_start();
        after[round] = own_wait_ns();
        if (round % 3 == 0) {
            (void)sched_yield();
        } else if (round % 30 == 1) {
            sleep_a_moment();
        }
    }
    __atomic_store_n(&rest, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    end(&readings);
    assert_int_equal(readings.count, ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        assert_in_range(readings.list[round].counters.wait_ns, before[round], after[round]);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* ---- made-up threads ------------------------------------------------------------------------- */

static uint64_t switches_at_last;

/* As a handler does during which the thread is switched: before it logs, and perhaps afterwards. */
static void be_switched_and_log(void)
{
    switches += 2;
    log_start();
    log_start();
    switches += switches_at_last;
}

static void a_reading_within_another_is_not_undone(void **state)
{
    etwas_trace_handle registration = register_counted();
    uint64_t least[2 * STEPS];
    struct readings readings;

    (void)state;
    begin();
    switches = 10;
    for (int round = 0; round < 2 * STEPS; round++) {
        switches += 5;
        switches_at_last = (uint64_t)round % 2;
        interrupted_at = round / 2;
        interrupt = be_switched_and_log;
        least[round] = switches * WAIT_NS;
        log_start();
        assert_null(interrupt);
        log_start();
    }
    switches = 0;
    end(&readings);
    /* In each round: the handler's two, the interrupted one, and the next. */
    assert_int_equal(readings.count, 4 * 2 * STEPS);
    for (int round = 0; round < 2 * STEPS; round++) {
        const struct reading *list = &readings.list[4 * round];
        const uint64_t last = least[round] + (2 + (uint64_t)round % 2) * WAIT_NS;

        assert_int_equal(list[0].counters.wait_ns, least[round] + 2 * WAIT_NS);
        assert_int_equal(list[1].counters.wait_ns, least[round] + 2 * WAIT_NS);
        assert_in_range(list[2].counters.wait_ns, least[round], last);
        assert_int_equal(list[3].counters.wait_ns, last);
    }
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* As a child that has been switched as often as its parent. */
static void expect_reading_in_child(void)
{
    uint32_t reads = file_reads;

    session = start_session(folder_path("c.etl"),
                            &(etwas_session_options){.flusher = {.no_thread = true}});
    ask(session, &control_guid, COUNTED);
    log_start();
    CHECK_IN_CHILD(file_reads == reads + 1);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    _exit(0);
}

static void a_child_reads_its_own_file(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;
    int child;

    (void)state;
    begin();
    switches = 7;
    log_start();
    child = fork_child();
    if (child == 0) {
        expect_reading_in_child();
    }
    assert_int_equal(exit_code_of(child), 0);
    switches = 0;
    end(&readings);
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static int child_of_handler;

static void fork_in_handler(void)
{
    child_of_handler = fork_child();
}

/* The child comes back from the handler into its parent's reading, which it must not keep. */
static void *be_interrupted(void *has_logged)
{
    if (*(const bool *)has_logged) {
        log_start();
    }
    switches++;
    interrupt = fork_in_handler;
    log_start();
    if (child_of_handler == 0) {
        expect_reading_in_child();
    }
    return NULL;
}

static void a_child_that_is_made_within_a_reading_keeps_none_of_it(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct readings readings;

    (void)state;
    for (int round = 0; round < 2 * STEPS; round++) {
        bool has_logged = round % 2 == 0;
        pthread_t thread;

        begin();
        switches = 7;
        interrupted_at = round / 2;
        assert_int_equal(pthread_create(&thread, NULL, be_interrupted, &has_logged), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(exit_code_of(child_of_handler), 0);
        switches = 0;
        end(&readings);
        free_counted(&readings);
    }
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_file_is_read_once_a_switch),
        FOLDER_TEST(recorded_is_what_the_file_says_at_that_moment),
        FOLDER_TEST(a_reading_within_another_is_not_undone),
        FOLDER_TEST(a_child_reads_its_own_file),
        FOLDER_TEST(a_child_that_is_made_within_a_reading_keeps_none_of_it),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
