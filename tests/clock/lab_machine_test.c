/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the clock laboratory finds of this machine: its clocks, its processors, its caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "clock/lab/lab.h"
#include "platform/memory.h"

/* However short the time: a single one says nothing. */
static void some_cold_readings_are_taken_at_least_and_the_kernels_data_is_known(void **state)
{
    struct etwas_lab_cache_walk walk;
    static etwas_clock_source_report report;

    (void)state;
    assert_true(etwas_lab_cache_walk_begin(&walk));
    etwas_lab_cost_cold(ETWAS_CLOCK_SOURCE_QPC, &walk, 0, &report);
    assert_int_equal(report.cold_ns.count, ETWAS_LAB_COLD_READINGS);
    assert_true(report.cold_ns.median > 0);
    assert_true(walk.data_pages <= ETWAS_LAB_CACHE_WALK_PAGES);
    for (uint32_t page = 0; page < walk.data_pages; page++) {
        assert_int_equal(walk.data[page] % etwas_memory_page_bytes(), 0);
    }
    if (getauxval(AT_SYSINFO_EHDR) != 0) {
        assert_true(walk.data_pages > 0);
    }
    etwas_lab_cache_walk_end(&walk);
}

static int64_t raw_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Computes rather than sleeps, for the clock that counts a thread's own time. */
static void wait_ns(int64_t ns)
{
    int64_t end = raw_ns() + ns;

    while (raw_ns() < end) {
    }
}

/*
 * The time between two readings lies within what the raw clock says around and between them. A
 * clock may be coarse, slewed, and set meanwhile; a thread may wait for its processor.
 */
static bool tick_is_right(const struct etwas_lab_source *source)
{
    int64_t begin = raw_ns();
    int64_t first = source->read();
    int64_t inside = raw_ns();
    int64_t between;
    int64_t last;
    double elapsed;

    wait_ns(60000000);
    between = raw_ns() - inside;
    last = source->read();
    elapsed = (double)(last - first) * source->tick_ns;
    return elapsed < (double)(raw_ns() - begin) * 1.002 + 22e6 && elapsed > 0 &&
           (source->follows_thread || elapsed > (double)between * 0.998 - 22e6);
}

static void every_source_is_named_and_what_is_available_counts_in_its_ticks(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        const struct etwas_lab_source *source = etwas_lab_source(number);
        bool right = !source->available;

        assert_true(strlen(source->name) > 0);
        assert_int_equal(source->available, source->read != NULL);
        assert_int_equal(source->available, source->tick_ns > 0);
        for (int attempt = 0; attempt < 5 && !right; attempt++) {
            right = tick_is_right(source);
        }
        assert_true(right);
    }
    assert_true(etwas_lab_source(ETWAS_CLOCK_SOURCE_QPC)->available);
    assert_true(etwas_lab_source(ETWAS_CLOCK_SOURCE_TSC)->tick_ns == etwas_lab_counter_tick_ns());
}

static void a_thread_runs_where_it_is_pinned_and_then_where_it_may(void **state)
{
    struct etwas_lab_cpus cpus;
    cpu_set_t before;
    cpu_set_t after;

    (void)state;
    CPU_ZERO(&before);
    CPU_ZERO(&after);
    if (sched_getaffinity(0, sizeof before, &before) != 0) {
        print_message("skipped: there are more processors than a plain mask holds\n");
        skip();
    }
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    assert_int_equal(cpus.count, CPU_COUNT(&before));
    for (uint32_t index = 0; index < cpus.count; index++) {
        struct etwas_lab_cpus one;

        assert_true(CPU_ISSET(cpus.numbers[index], &before));
        assert_true(index == 0 || cpus.numbers[index - 1] < cpus.numbers[index]);
        assert_true(etwas_lab_pin(cpus.numbers[index]));
        assert_int_equal(sched_getcpu(), cpus.numbers[index]);
        /* What a thread may use is what it is pinned to. */
        assert_int_equal(etwas_lab_cpus_read(&one), ERROR_SUCCESS);
        assert_int_equal(one.count, 1);
        assert_int_equal(one.numbers[0], cpus.numbers[index]);
        etwas_lab_cpus_free(&one);
    }
    assert_true(etwas_lab_unpin(&cpus));
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    etwas_lab_cpus_free(&cpus);
    assert_null(cpus.numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_cold_readings_are_taken_at_least_and_the_kernels_data_is_known),
        cmocka_unit_test(every_source_is_named_and_what_is_available_counts_in_its_ticks),
        cmocka_unit_test(a_thread_runs_where_it_is_pinned_and_then_where_it_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
