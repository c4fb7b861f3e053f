/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Whole examinations: what a report promises, what options choose, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/etwas.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/lab/lab.h"
#include "platform/memory.h"

static uint64_t sum_of(const etwas_clock_histogram *histogram)
{
    uint64_t sum = 0;

    assert_true(histogram->bins <= ETWAS_CLOCK_BINS);
    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        assert_true(histogram->bin[bin].from < histogram->bin[bin].to);
        assert_true(bin == 0 || histogram->bin[bin - 1].to <= histogram->bin[bin].from);
        sum += histogram->bin[bin].count;
    }
    return sum;
}

static void assert_ascending(const etwas_clock_distribution *of)
{
    const double values[] = {0, of->minimum, of->median, of->p90, of->p99, of->p999, of->maximum};

    for (size_t index = 1; index < sizeof values / sizeof values[0]; index++) {
        assert_true(values[index - 1] <= values[index]);
    }
    assert_true(of->minimum <= of->mean && of->mean <= of->maximum);
}

static void assert_examined(const etwas_clock_source_report *source)
{
    assert_true(source->tick_ns > 0);
    assert_true(source->warm_ns.count > 0);
    assert_true(source->cold_ns.count >= ETWAS_LAB_COLD_READINGS);
    assert_ascending(&source->warm_ns);
    assert_ascending(&source->cold_ns);
    assert_int_equal(sum_of(&source->warm), source->warm_ns.count);
    assert_true(source->loop_ns > 0 && source->timer_step_ns > 0);
    assert_true(source->back_to_back_ns > 0);
    assert_true(source->pairs > 0 && source->equal_pairs <= source->pairs);
    assert_int_equal(sum_of(&source->steps), source->pairs);
    assert_true(source->resolution_ns >= source->tick_ns && source->unit_ns >= source->tick_ns);
    assert_true(source->unordered_readings > source->pairs);
    assert_true(source->unordered_backward_steps < source->unordered_readings);
    assert_int_equal(source->unordered_backward_steps != 0,
                     source->largest_unordered_backward_ns > 0);
    assert_true(source->readings > 0);
    assert_true(source->backward_steps < source->readings);
    assert_int_equal(source->backward_steps != 0, source->largest_backward_ns > 0);
    assert_true(source->stalls < source->readings);
    assert_int_equal(source->stalls != 0, source->longest_stall_ns > 0);
}

/* A source that was left out, or that the machine does not have: its name alone. */
static void assert_left_out(const etwas_clock_source_report *source)
{
    etwas_clock_source_report nothing;

    memset(&nothing, 0, sizeof nothing);
    nothing.source = source->source;
    nothing.name = source->name;
    nothing.available = source->available;
    assert_memory_equal(source, &nothing, sizeof nothing);
}

static void assert_report(const etwas_clock_report *report, uint32_t asked)
{
    assert_non_null(report);
    assert_true(report->seconds >= 1);
    assert_true(report->processors >= 1);
    assert_true(report->processors <= report->processors_allowed);
    assert_true(report->processors_allowed <= report->processors_online);
    assert_true(report->processors_online <= report->processors_configured);
    assert_int_equal(report->all_pairs, report->processors == report->processors_allowed);
    for (uint32_t index = 1; index < report->processors; index++) {
        assert_true(report->processor_numbers[index - 1] < report->processor_numbers[index]);
    }
    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        const etwas_clock_source_report *source = &report->sources[number];

        assert_int_equal(source->source, number);
        assert_string_equal(source->name, etwas_lab_source(number)->name);
        assert_int_equal(source->available, etwas_lab_source(number)->available);
        if (source->available && (asked >> number & 1) != 0) {
            assert_examined(source);
            assert_int_equal(source->offset_count + source->offsets_left_out,
                             source->follows_thread ? 0 : etwas_lab_pair_count(report->processors));
        } else {
            assert_left_out(source);
        }
    }
}

static void an_examination_of_a_second_fills_a_report_that_agrees_with_itself(void **state)
{
    const etwas_clock_options options = {.seconds = 1};
    etwas_clock_report *report = NULL;

    (void)state;
    assert_int_equal(etwas_clock_examine(&options, &report), ERROR_SUCCESS);
    assert_report(report, UINT32_MAX);
    assert_int_equal(report->processors_configured, sysconf(_SC_NPROCESSORS_CONF));
    assert_int_equal(report->processors_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(report->sources[ETWAS_CLOCK_SOURCE_THREAD_CPUTIME].follows_thread);
    assert_true(report->sources[ETWAS_CLOCK_SOURCE_SYSTEM_TIME].tick_ns == 100);
    etwas_clock_report_free(report);
}

static void only_the_sources_asked_for_are_examined(void **state)
{
    const uint32_t asked = 1u << ETWAS_CLOCK_SOURCE_QPC | 1u << ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE;
    const etwas_clock_options options = {.seconds = 1, .sources = asked};
    etwas_clock_report *report = NULL;

    (void)state;
    assert_int_equal(etwas_clock_examine(&options, &report), ERROR_SUCCESS);
    assert_report(report, asked);
    etwas_clock_report_free(report);
}

/* Its affinity, and its signals, are as before; and they are what the examination keeps to. */
static void the_examination_keeps_to_the_callers_processors_and_changes_nothing_of_it(void **state)
{
    const uint32_t asked = 1u << ETWAS_CLOCK_SOURCE_TSC;
    const etwas_clock_options options = {.seconds = 1, .sources = asked};
    etwas_clock_report *report = NULL;
    struct etwas_lab_cpus all;
    struct etwas_lab_cpus now;
    sigset_t before;
    sigset_t after;

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&all), ERROR_SUCCESS);
    assert_true(etwas_lab_pin(all.numbers[all.count - 1]));
    assert_int_equal(sigemptyset(&before), 0);
    assert_int_equal(sigaddset(&before, SIGUSR2), 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(etwas_clock_examine(&options, &report), ERROR_SUCCESS);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    assert_int_equal(etwas_lab_cpus_read(&now), ERROR_SUCCESS);
    assert_int_equal(now.count, 1);
    assert_int_equal(now.numbers[0], all.numbers[all.count - 1]);
    assert_true(etwas_lab_unpin(&all));
    for (int number = 1; number < SIGRTMAX; number++) {
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
    }
    assert_report(report, asked);
    assert_int_equal(report->processors, 1);
    assert_int_equal(report->processor_numbers[0], now.numbers[0]);
    assert_true(report->all_pairs);
    assert_int_equal(report->sources[ETWAS_CLOCK_SOURCE_TSC].offset_count, 0);
    etwas_clock_report_free(report);
    etwas_lab_cpus_free(&all);
    etwas_lab_cpus_free(&now);
}

static void no_more_processors_are_compared_than_the_limit_says(void **state)
{
    const uint32_t asked = 1u << ETWAS_CLOCK_SOURCE_QPC;
    const etwas_clock_options options = {.seconds = 1, .sources = asked, .maximum_processors = 1};
    etwas_clock_report *report = NULL;

    (void)state;
    assert_int_equal(etwas_clock_examine(&options, &report), ERROR_SUCCESS);
    assert_report(report, asked);
    assert_int_equal(report->processors, 1);
    assert_int_equal(report->sources[ETWAS_CLOCK_SOURCE_QPC].offset_count, 0);
    etwas_clock_report_free(report);
}

/* Each thread's own: ticks of 4 ns by 3s, and back by 50 once in a hundred readings. */
static int64_t read_stumbling(void)
{
    static _Thread_local int64_t stamp;
    static _Thread_local uint32_t reading;

    stamp += ++reading % 100 == 0 ? -50 : 3;
    return stamp;
}

static void a_clock_that_stumbles_is_found_out(void **state)
{
    static const struct etwas_lab_source stumbling = {.name = "stumbling",
                                                      .read = read_stumbling,
                                                      .tick_ns = 4,
                                                      .available = true,
                                                      .follows_thread = true};
    const uint32_t asked = 1u << ETWAS_CLOCK_SOURCE_TAI;
    const etwas_clock_options options = {.seconds = 1, .sources = asked};
    etwas_clock_report *report = NULL;
    const etwas_clock_source_report *source;

    (void)state;
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_TAI, &stumbling);
    assert_int_equal(etwas_clock_examine(&options, &report), ERROR_SUCCESS);
    assert_report(report, asked);
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_TAI, NULL);
    source = &report->sources[ETWAS_CLOCK_SOURCE_TAI];
    assert_true(source->resolution_ns == 12 && source->unit_ns == 12);
    assert_int_equal(source->equal_pairs, 0);
    assert_int_equal(source->steps.bins, 1);
    assert_true(source->largest_backward_ns == 200);
    /* One in a hundred, but for those between two rows. */
    assert_true(source->backward_steps * 100 > source->readings - source->readings / 50 &&
                source->backward_steps * 100 < source->readings + source->readings / 50);
    assert_int_equal(source->stalls, 0);
    etwas_clock_report_free(report);
}

static void options_out_of_range_are_refused_and_the_report_is_left_alone(void **state)
{
    static const etwas_clock_options refused[] = {
        {.seconds = 0.999},       {.seconds = -1},
        {.seconds = 3600.5},      {.seconds = (double)INFINITY},
        {.seconds = (double)NAN}, {.seconds = 1, .sources = 1u << ETWAS_CLOCK_SOURCES},
        {.sources = UINT32_MAX},
    };
    const struct {
        etwas_clock_options options;
        uint64_t later;
    } later = {.options = {.seconds = 1}, .later = 1};
    static etwas_clock_report untouched;
    etwas_clock_report *report = &untouched;

    (void)state;
    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        assert_int_equal(etwas_clock_examine(&refused[index], &report), ERROR_INVALID_PARAMETER);
        assert_ptr_equal(report, &untouched);
    }
    /* What a later version may ask for. */
    assert_int_equal(etwas_clock_examine_sized(&later.options, sizeof later, &report),
                     ERROR_NOT_SUPPORTED);
    assert_ptr_equal(report, &untouched);
    assert_int_equal(etwas_clock_examine(NULL, NULL), ERROR_INVALID_PARAMETER);
}

static void no_report_is_no_report_to_free(void **state)
{
    (void)state;
    etwas_clock_report_free(NULL);
}

/* The address space the process has now, and `more`. */
static void limit_address_space(size_t more)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages;
    struct rlimit limit;

    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        _exit(2);
    }
    (void)fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * etwas_memory_page_bytes() + more;
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        _exit(2);
    }
}

/* What `call` returns, modulo 256, in a child process that may have so much more memory. */
static int returned_with(size_t more, int (*call)(void))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        limit_address_space(more);
        _exit(call() % 256);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int examine(void)
{
    static etwas_clock_report untouched;
    etwas_clock_report *report = &untouched;
    uint32_t error = etwas_clock_examine(NULL, &report);

    return report == &untouched ? (int)error : 1;
}

static int begin_walk(void)
{
    struct etwas_lab_cache_walk walk;

    return etwas_lab_cache_walk_begin(&walk) ? 1 : 0;
}

static void without_room_for_a_thread_there_is_an_error_and_no_report(void **state)
{
    pthread_attr_t defaults;
    size_t stack = 0;

    (void)state;
#if defined(ETWAS_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
    print_message("skipped: a sanitizer needs larger stacks\n");
    skip();
#endif
    assert_int_equal(pthread_getattr_default_np(&defaults), 0);
    assert_int_equal(pthread_attr_getstacksize(&defaults, &stack), 0);
    assert_int_equal(pthread_attr_destroy(&defaults), 0);
    /* Enough for a report, not for the stack of a thread. */
    assert_int_equal(returned_with(stack / 2, examine), ERROR_NO_SYSTEM_RESOURCES % 256);
    /* 8 MiB are walked through at least. */
    assert_int_equal(returned_with(4u << 20, begin_walk), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First, while there is no stack of another thread that its threads could take. */
        cmocka_unit_test(without_room_for_a_thread_there_is_an_error_and_no_report),
        cmocka_unit_test(an_examination_of_a_second_fills_a_report_that_agrees_with_itself),
        cmocka_unit_test(only_the_sources_asked_for_are_examined),
        cmocka_unit_test(the_examination_keeps_to_the_callers_processors_and_changes_nothing_of_it),
        cmocka_unit_test(no_more_processors_are_compared_than_the_limit_says),
        cmocka_unit_test(a_clock_that_stumbles_is_found_out),
        cmocka_unit_test(options_out_of_range_are_refused_and_the_report_is_left_alone),
        cmocka_unit_test(no_report_is_no_report_to_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
