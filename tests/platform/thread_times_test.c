/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processor times that a thread keeps for a moment (R106), with a clock and a system of the
 * test's own: how old they are, and that they never go back, whatever interrupts a reading.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "platform/thread.h"
#include "platform/wait.h"

enum {
    KEPT_NS = ETWAS_THREAD_TIMES_KEPT_NS,
    US = 1000,
};

static _Thread_local struct {
    uint64_t clock_ns;
    uint64_t kernel_us;
    uint64_t user_us;
    uint32_t calls;
    void (*before)(void); /* called once, before the system answers */
    void (*after)(void);  /* called once, when it has answered */
} now;

uint64_t __wrap_etwas_monotonic_ns(void);
uint64_t __wrap_etwas_monotonic_ns(void)
{
    return now.clock_ns;
}

static void call_once(void (**function)(void))
{
    void (*called)(void) = *function;

    *function = NULL;
    if (called != NULL) {
        called();
    }
}

static struct timeval timeval_of(uint64_t us)
{
    return (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
}

int __wrap_getrusage(int of, struct rusage *usage);
int __wrap_getrusage(int of, struct rusage *usage)
{
    assert_int_equal(of, RUSAGE_THREAD);
    now.calls++;
    call_once(&now.before);
    usage->ru_stime = timeval_of(now.kernel_us);
    usage->ru_utime = timeval_of(now.user_us);
    call_once(&now.after);
    return 0;
}

/* Lets the thread run for so long in user mode, and for half of it in kernel mode. */
static void run_us(uint64_t us)
{
    now.clock_ns += us * US + us * US / 2;
    now.user_us += us;
    now.kernel_us += us / 2;
}

static void expect_times(uint64_t kernel_us, uint64_t user_us)
{
    struct etwas_thread_times times = etwas_thread_times();

    assert_int_equal(times.kernel_us, kernel_us);
    assert_int_equal(times.user_us, user_us);
}

/* As a new thread has it, some seconds after the machine's start. */
static void begin(void)
{
    etwas_thread_times_forget();
    now.clock_ns += 5000000000;
    now.kernel_us = 3000000;
    now.user_us = 7000001;
    now.calls = 0;
}

static void a_reading_is_kept_for_a_moment_and_no_longer_R106(void **state)
{
    (void)state;
    begin();
    expect_times(3000000, 7000001);
    now.clock_ns += KEPT_NS - 1;
    now.user_us += KEPT_NS / US;
    expect_times(3000000, 7000001);
    assert_int_equal(now.calls, 1);
    now.clock_ns += 1;
    expect_times(3000000, 7000001 + KEPT_NS / US);
    assert_int_equal(now.calls, 2);
}

static void times_are_at_most_so_old_and_never_go_back_R106(void **state)
{
    struct etwas_thread_times last = {0};

    (void)state;
    begin();
    for (uint32_t round = 0; round < 5000; round++) {
        struct etwas_thread_times times = etwas_thread_times();

        assert_in_range(times.user_us, now.user_us - KEPT_NS / US, now.user_us);
        assert_in_range(times.kernel_us, now.kernel_us - KEPT_NS / US, now.kernel_us);
        assert_true(times.user_us >= last.user_us && times.kernel_us >= last.kernel_us);
        last = times;
        run_us(round * 7919 % 211);
    }
    assert_in_range(now.calls, 100, 4900);
}

static void a_clock_that_goes_back_makes_no_reading_young(void **state)
{
    (void)state;
    begin();
    expect_times(3000000, 7000001);
    for (uint32_t times = 0; times < 3; times++) {
        now.clock_ns -= 1000000;
        now.user_us++;
        expect_times(3000000, 7000002 + times);
    }
    assert_int_equal(now.calls, 4);
}

static void times_of_years_are_kept_whole(void **state)
{
    (void)state;
    begin();
    now.user_us = UINT64_C(8) * 365 * 24 * 3600 * 1000000;
    expect_times(3000000, now.user_us);
    expect_times(3000000, now.user_us);
    assert_int_equal(now.calls, 1);
}

/* ---- interrupted readings -------------------------------------------------------------------- */

/* As a signal handler does that takes its time and logs. */
static void be_a_handler(void)
{
    run_us(4000);
    expect_times(now.kernel_us, now.user_us);
    expect_times(now.kernel_us, now.user_us);
}

static void a_handler_within_a_reading_is_not_undone_R106(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        begin();
        if (first == 0) {
            expect_times(3000000, 7000001);
            run_us(1000);
        }
        now.after = be_a_handler;
        /* The reading that was interrupted is older than the handler's. */
        expect_times(now.kernel_us, now.user_us);
        expect_times(now.kernel_us, now.user_us);
        assert_int_equal(now.calls, 3 - first);

        run_us(1000);
        now.before = be_a_handler;
        expect_times(now.kernel_us + 2000, now.user_us + 4000);
        expect_times(now.kernel_us, now.user_us);
        assert_int_equal(now.calls, 5 - first);
    }
}

/* As a fork in a handler does, whose child then comes back from it. */
static void be_the_child(void)
{
    etwas_thread_times_forget();
    now.kernel_us = 0;
    now.user_us = 3;
}

static void a_child_does_not_keep_its_parents_times_R106(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        begin();
        if (first == 0) {
            expect_times(3000000, 7000001);
            run_us(1000);
        }
        now.after = be_the_child;
        (void)etwas_thread_times();
        for (uint32_t round = 0; round < 50; round++) {
            struct etwas_thread_times times = etwas_thread_times();

            assert_in_range(times.user_us, 0, now.user_us);
            assert_in_range(times.kernel_us, 0, now.kernel_us);
            run_us(10);
        }
        now.clock_ns += KEPT_NS;
        expect_times(now.kernel_us, now.user_us);
    }
}

static void *read_own_times(void *result)
{
    now.clock_ns = 5000000000;
    now.user_us = 12;
    *(struct etwas_thread_times *)result = etwas_thread_times();
    return NULL;
}

static void each_thread_keeps_its_own(void **state)
{
    struct etwas_thread_times times;
    pthread_t thread;

    (void)state;
    begin();
    expect_times(3000000, 7000001);
    assert_int_equal(pthread_create(&thread, NULL, read_own_times, &times), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(times.kernel_us, 0);
    assert_int_equal(times.user_us, 12);
    expect_times(3000000, 7000001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reading_is_kept_for_a_moment_and_no_longer_R106),
        cmocka_unit_test(times_are_at_most_so_old_and_never_go_back_R106),
        cmocka_unit_test(a_clock_that_goes_back_makes_no_reading_young),
        cmocka_unit_test(times_of_years_are_kept_whole),
        cmocka_unit_test(a_handler_within_a_reading_is_not_undone_R106),
        cmocka_unit_test(a_child_does_not_keep_its_parents_times_R106),
        cmocka_unit_test(each_thread_keeps_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
