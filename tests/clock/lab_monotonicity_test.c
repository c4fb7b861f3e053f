/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Steps backwards and stalls, as the clock laboratory sees them in one thread and in several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <string.h>

#include "clock/lab/lab.h"
#include "clock/lab/monotonicity.h"

enum {
    REPLACED = ETWAS_CLOCK_SOURCE_TAI, /* stands for any */
};

static const double tick_ns = 2.5;

static void a_step_backwards_is_counted_with_its_size_and_watched_from_there(void **state)
{
    static const int64_t stamps[] = {100, 101, 90, 95, 99, 100, 60, 61};
    struct etwas_lab_monotonicity_watch watch = {0};
    int64_t reference = 0;

    (void)state;
    for (size_t index = 0; index < sizeof stamps / sizeof stamps[0]; index++) {
        etwas_lab_monotonicity_watch_add_reading(&watch, reference, stamps[index], reference + 1,
                                                 1000);
        reference += 10;
    }
    assert_int_equal(watch.readings, 8);
    assert_int_equal(watch.backward, 2);
    assert_int_equal(watch.largest_backward, 40);
    assert_int_equal(watch.stalls, 0);
}

static void equal_stamps_are_a_stall_when_the_other_clock_goes_on_beyond_the_limit(void **state)
{
    static const struct {
        int64_t before, stamp, after;
        uint64_t stalls, longest;
    } rows[] = {
        {0, 5, 10, 0, 0},
        {20, 5, 30, 0, 0},     /* stood for 10 at least */
        {110, 5, 120, 0, 0},   /* for 100: not more than the limit */
        {111, 5, 130, 1, 101}, /* for 101 */
        {200, 5, 220, 1, 190}, /* the same stall */
        {230, 6, 240, 1, 190}, /* on it goes */
        {330, 6, 900, 1, 190}, /* the last reading may have been taken soon after 330 */
        {345, 6, 901, 2, 190}, /* a second stall, a shorter one */
        {1000, 2, 1010, 2, 190},
        {900, 2, 905, 2, 190}, /* the other clock ran backwards: nothing is known */
        {1300, 2, 1310, 3, 290},
    };
    struct etwas_lab_monotonicity_watch watch = {0};

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        etwas_lab_monotonicity_watch_add_reading(&watch, rows[row].before, rows[row].stamp,
                                                 rows[row].after, 100);
        assert_int_equal(watch.stalls, rows[row].stalls);
        assert_int_equal(watch.longest_stall, rows[row].longest);
    }
    assert_int_equal(watch.backward, 1);
    assert_int_equal(watch.largest_backward, 4);
}

static uint64_t frozen_stamp;

static int64_t read_frozen(void)
{
    return (int64_t)ck_pr_load_64(&frozen_stamp);
}

/* Runs the threads, twice at 100 and twice at 60, and reports what they saw. */
static void watch_frozen(const struct etwas_lab_source *frozen, double resolution_ns,
                         double unit_ns, etwas_clock_report *report, uint32_t *others)
{
    struct etwas_lab_cpus cpus;
    struct etwas_lab_monotonicity *monotonicity;

    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    *others = cpus.count < 4 ? cpus.count : 4;
    memset(report, 0, sizeof *report);
    report->sources[REPLACED].resolution_ns = resolution_ns;
    report->sources[REPLACED].unit_ns = unit_ns;
    etwas_lab_source_replace(REPLACED, frozen);
    monotonicity = etwas_lab_monotonicity_begin(1u << REPLACED, &cpus);
    assert_non_null(monotonicity);
    for (int run = 0; run < 4; run++) {
        ck_pr_store_64(&frozen_stamp, run < 2 ? 100 : 60);
        assert_int_equal(etwas_lab_monotonicity_run(monotonicity, 1000000, report), ERROR_SUCCESS);
    }
    etwas_lab_monotonicity_end(monotonicity, report);
    etwas_lab_source_replace(REPLACED, NULL);
    etwas_lab_cpus_free(&cpus);
}

static void a_clock_set_back_between_two_runs_is_seen_by_one_thread(void **state)
{
    static const struct etwas_lab_source frozen = {
        .name = "frozen", .read = read_frozen, .tick_ns = 2.5, .available = true};
    static etwas_clock_report report;
    const etwas_clock_source_report *source = &report.sources[REPLACED];
    uint32_t others;

    (void)state;
    watch_frozen(&frozen, 1, 1, &report, &others);
    assert_true(source->readings > 0);
    assert_int_equal(source->backward_steps, 1);
    assert_true(source->largest_backward_ns == 40 * tick_ns);
    /* The first thread goes on where it was; each of the others begins anew in every run. */
    assert_int_equal(source->stalls, 2 + 4 * others);
    assert_true(source->longest_stall_ns > 10);
    for (uint32_t other = 0; other < ETWAS_CLOCK_SOURCES; other++) {
        assert_true(other == REPLACED || report.sources[other].readings == 0);
    }
}

static void a_threads_own_clock_is_not_compared_with_that_of_another(void **state)
{
    static const struct etwas_lab_source frozen = {.name = "frozen",
                                                   .read = read_frozen,
                                                   .tick_ns = 2.5,
                                                   .available = true,
                                                   .follows_thread = true};
    static etwas_clock_report report;
    uint32_t others;

    (void)state;
    watch_frozen(&frozen, 1, 1, &report, &others);
    assert_int_equal(report.sources[REPLACED].backward_steps, 0);
    assert_int_equal(report.sources[REPLACED].stalls, 4 * (others + 1));
}

static void no_stall_is_seen_of_a_clock_whose_steps_are_unknown(void **state)
{
    static const struct etwas_lab_source frozen = {
        .name = "frozen", .read = read_frozen, .tick_ns = 2.5, .available = true};
    static etwas_clock_report report;
    uint32_t others;

    (void)state;
    watch_frozen(&frozen, 0, 0, &report, &others);
    assert_int_equal(report.sources[REPLACED].backward_steps, 1);
    assert_int_equal(report.sources[REPLACED].stalls, 0);
}

/*
 * Ten of its steps are a quarter of an hour, of which a tick that it adds between them says
 * nothing.
 */
static void a_stall_is_reported_by_what_a_clock_really_moves_by(void **state)
{
    static const struct etwas_lab_source frozen = {
        .name = "frozen", .read = read_frozen, .tick_ns = 2.5, .available = true};
    static etwas_clock_report report;
    uint32_t others;

    (void)state;
    watch_frozen(&frozen, 1, 1e11, &report, &others);
    assert_int_equal(report.sources[REPLACED].stalls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_backwards_is_counted_with_its_size_and_watched_from_there),
        cmocka_unit_test(equal_stamps_are_a_stall_when_the_other_clock_goes_on_beyond_the_limit),
        cmocka_unit_test(a_clock_set_back_between_two_runs_is_seen_by_one_thread),
        cmocka_unit_test(a_threads_own_clock_is_not_compared_with_that_of_another),
        cmocka_unit_test(no_stall_is_seen_of_a_clock_whose_steps_are_unknown),
        cmocka_unit_test(a_stall_is_reported_by_what_a_clock_really_moves_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
