/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The processors of this machine against each other, and against processors that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/clocks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"
#include "platform/processor.h"

enum {
    BUDGET_NS = 5000000,
    ATTEMPTS = 10,
    NO_PROCESSOR = 1000000
};

/* A pair whose threads did not get to run in time is left out, so on a busy machine: again. */
static void compare(uint32_t source, const struct etwas_lab_cpus *cpus, uint64_t wanted,
                    etwas_clock_source_report *report)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        assert_int_equal(etwas_lab_pairs(source, cpus, BUDGET_NS, report), ERROR_SUCCESS);
        if (report->offset_count == wanted) {
            return;
        }
        free(report->offsets);
    }
    fail_msg("%s: of %llu pairs only %u were compared", etwas_lab_source(source)->name,
             (unsigned long long)wanted, report->offset_count);
}

/* However fine a clock's ticks are, it moves no oftener than the counter beneath it. */
static void check(const etwas_clock_offset *offset)
{
    assert_true(offset->rounds > 0);
    assert_true(offset->handovers > 0);
    assert_true(offset->smaller <= offset->handovers);
    assert_true((offset->smaller > 0) == (offset->worst_ns > 0));
    assert_true(offset->bound_ns > 0 && isfinite(offset->bound_ns));
    assert_true(offset->bound_ns >= 0.999 * etwas_lab_counter_step_ns());
    assert_true(isfinite(offset->offset_ns));
}

static void every_pair_of_processors_is_compared_by_every_clock(void **state)
{
    struct etwas_lab_cpus before;
    struct etwas_lab_cpus cpus;
    struct etwas_lab_cpus after;
    uint64_t pairs;

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&before), ERROR_SUCCESS);
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    cpus.count = cpus.count < 4 ? cpus.count : 4; /* a limit, as the caller's */
    pairs = etwas_lab_pair_count(cpus.count);
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        const struct etwas_lab_source *clock = etwas_lab_source(source);
        etwas_clock_source_report report = {0};

        if (!clock->available || clock->follows_thread) {
            continue;
        }
        compare(source, &cpus, pairs, &report);
        for (uint64_t index = 0; index < pairs; index++) {
            const etwas_clock_offset *offset = &report.offsets[index];

            check(offset);
            print_message("[ measured ] %-22s %u-%u: %.1f ± %.1f ns, %llu of %llu handovers "
                          "smaller, by %.1f ns%s\n",
                          clock->name, offset->processor, offset->other, offset->offset_ns,
                          offset->bound_ns, (unsigned long long)offset->smaller,
                          (unsigned long long)offset->handovers, offset->worst_ns,
                          fabs(offset->offset_ns) <= offset->bound_ns ? "" : ", APART");
            assert_true(offset->processor < offset->other);
        }
        free(report.offsets);
    }
    etwas_lab_cpus_free(&cpus);
    /* The caller may run where it could before. */
    assert_int_equal(etwas_lab_cpus_read(&after), ERROR_SUCCESS);
    assert_int_equal(after.count, before.count);
    assert_memory_equal(after.numbers, before.numbers, before.count * sizeof *before.numbers);
    etwas_lab_cpus_free(&before);
    etwas_lab_cpus_free(&after);
}

/* ---- processors that are made up ------------------------------------------------------------- */

static const int64_t ahead_ns = INT64_C(1000000000000);
static uint32_t processor_ahead;

static int64_t read_ahead(void)
{
    return etwas_clock_qpc() + (etwas_processor_query() == processor_ahead ? ahead_ns : 0);
}

static const struct etwas_lab_source clock_ahead = {
    .name = "ahead", .read = read_ahead, .tick_ns = 1, .available = true};

/* The other one runs far ahead, so each of its stamps is larger and each answer to it smaller. */
static void a_processor_that_is_ahead_is_found_so(void **state)
{
    struct etwas_lab_cpus cpus;
    etwas_clock_source_report report = {0};
    const etwas_clock_offset *offset;

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    if (cpus.count < 2) {
        etwas_lab_cpus_free(&cpus);
        print_message("skipped: there are no two processors\n");
        skip();
    }
    cpus.count = 2;
    for (uint32_t index = 0; index < 2; index++) {
        double wanted_ns = index == 0 ? (double)-ahead_ns : (double)ahead_ns;

        processor_ahead = cpus.numbers[index];
        etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, &clock_ahead);
        compare(ETWAS_CLOCK_SOURCE_QPC, &cpus, 1, &report);
        etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, NULL);
        offset = &report.offsets[0];
        assert_int_equal(offset->processor, cpus.numbers[0]);
        assert_int_equal(offset->other, cpus.numbers[1]);
        assert_true(fabs(offset->offset_ns - wanted_ns) <= offset->bound_ns);
        assert_int_equal(offset->smaller * 2, offset->handovers);
        assert_true(offset->worst_ns > 0 && offset->worst_ns <= (double)ahead_ns);
        free(report.offsets);
    }
    etwas_lab_cpus_free(&cpus);
}

/* Moves by 260 ns at once, on one processor 100 ns before the others. */
static int64_t read_coarsely(void)
{
    int64_t phase = etwas_processor_query() == processor_ahead ? 100 : 0;

    return (etwas_clock_qpc() + phase) / 260 * 260;
}

static const struct etwas_lab_source clock_of_steps = {
    .name = "of steps", .read = read_coarsely, .tick_ns = 1, .available = true};

static void processors_whose_clocks_step_at_different_moments_are_bounded_too(void **state)
{
    struct etwas_lab_cpus cpus;
    etwas_clock_source_report report = {0};

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    if (cpus.count < 2) {
        etwas_lab_cpus_free(&cpus);
        print_message("skipped: there are no two processors\n");
        skip();
    }
    cpus.count = 2;
    processor_ahead = cpus.numbers[1];
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, &clock_of_steps);
    compare(ETWAS_CLOCK_SOURCE_QPC, &cpus, 1, &report);
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, NULL);
    assert_true(fabs(report.offsets[0].offset_ns - 100) <= report.offsets[0].bound_ns);
    free(report.offsets);
    etwas_lab_cpus_free(&cpus);
}

/* ---- threads that are taken away ------------------------------------------------------------- */

static uint32_t processor_before;
static uint32_t processor_after;

/* As when a processor is switched off: its threads find themselves on another. */
static int64_t read_and_move(void)
{
    if (etwas_processor_query() == processor_before) {
        (void)etwas_lab_pin(processor_after);
    }
    return etwas_clock_qpc();
}

/* Longer than anybody waits for it. */
static int64_t read_and_sleep(void)
{
    const struct timespec pause = {.tv_nsec = 400000000};

    if (etwas_processor_query() == processor_before) {
        (void)nanosleep(&pause, NULL);
    }
    return etwas_clock_qpc();
}

static uint32_t compared_with(const struct etwas_lab_cpus *cpus, int64_t (*read)(void))
{
    const struct etwas_lab_source clock = {
        .name = "made up", .read = read, .tick_ns = 1, .available = true};
    etwas_clock_source_report report = {0};
    uint32_t count = UINT32_MAX;

    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, &clock);
    /*
     * A sleeper may be waited for after all, where the waiting thread does not get to run either.
     */
    for (int attempt = 0; attempt < ATTEMPTS && count != 0; attempt++) {
        assert_int_equal(etwas_lab_pairs(ETWAS_CLOCK_SOURCE_QPC, cpus, BUDGET_NS, &report),
                         ERROR_SUCCESS);
        count = report.offset_count;
        assert_int_equal(count + report.offsets_left_out, etwas_lab_pair_count(cpus->count));
        free(report.offsets);
    }
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_QPC, NULL);
    return count;
}

static void a_pair_whose_thread_was_moved_or_did_not_answer_is_left_out(void **state)
{
    struct etwas_lab_cpus cpus;

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    if (cpus.count < 2) {
        etwas_lab_cpus_free(&cpus);
        print_message("skipped: there are no two processors\n");
        skip();
    }
    cpus.count = 2;
    for (uint32_t index = 0; index < 2; index++) {
        processor_before = cpus.numbers[index];
        processor_after = cpus.numbers[1 - index];
        assert_int_equal(compared_with(&cpus, read_and_move), 0);
    }
    assert_int_equal(compared_with(&cpus, read_and_sleep), 0);
    etwas_lab_cpus_free(&cpus);
}

static void two_threads_on_one_processor_do_not_wait_for_ever(void **state)
{
    struct etwas_lab_cpus cpus;
    uint32_t numbers[2];
    struct etwas_lab_cpus twice = {.count = 2, .numbers = numbers};
    etwas_clock_source_report report = {0};

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    numbers[0] = numbers[1] = cpus.numbers[cpus.count - 1];
    compare(ETWAS_CLOCK_SOURCE_QPC, &twice, 1, &report);
    check(&report.offsets[0]);
    assert_true(fabs(report.offsets[0].offset_ns) <= report.offsets[0].bound_ns);
    free(report.offsets);
    etwas_lab_cpus_free(&cpus);
}

static void a_processor_that_cannot_be_pinned_to_is_left_out(void **state)
{
    struct etwas_lab_cpus cpus;
    etwas_clock_source_report report = {0};
    uint32_t numbers[4];
    struct etwas_lab_cpus some = {.count = 4, .numbers = numbers};

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    numbers[0] = NO_PROCESSOR;
    numbers[1] = cpus.numbers[0];
    numbers[2] = NO_PROCESSOR + 1;
    numbers[3] = cpus.numbers[cpus.count - 1];
    compare(ETWAS_CLOCK_SOURCE_MONOTONIC, &some, 1, &report);
    assert_int_equal(report.offsets[0].processor, numbers[1]);
    assert_int_equal(report.offsets[0].other, numbers[3]);
    free(report.offsets);
    etwas_lab_cpus_free(&cpus);
}

static void with_one_processor_there_are_no_pairs_and_no_failure(void **state)
{
    struct etwas_lab_cpus all;
    struct etwas_lab_cpus one;
    struct etwas_lab_cpus still;
    etwas_clock_source_report report;

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&all), ERROR_SUCCESS);
    assert_true(etwas_lab_pin(all.numbers[all.count - 1]));
    assert_int_equal(etwas_lab_cpus_read(&one), ERROR_SUCCESS);
    assert_int_equal(one.count, 1);
    assert_int_equal(one.numbers[0], all.numbers[all.count - 1]);

    memset(&report, 0x55, sizeof report);
    assert_int_equal(etwas_lab_pairs(ETWAS_CLOCK_SOURCE_QPC, &one, BUDGET_NS, &report),
                     ERROR_SUCCESS);
    assert_int_equal(report.offset_count, 0);
    assert_null(report.offsets);

    assert_int_equal(etwas_lab_cpus_read(&still), ERROR_SUCCESS);
    assert_int_equal(still.count, 1);
    assert_true(etwas_lab_unpin(&all));
    etwas_lab_cpus_free(&still);
    etwas_lab_cpus_free(&one);
    etwas_lab_cpus_free(&all);
}

static void a_clock_of_one_thread_is_compared_with_nothing(void **state)
{
    struct etwas_lab_cpus cpus;
    etwas_clock_source_report report = {0};

    (void)state;
    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    assert_int_equal(etwas_lab_pairs(ETWAS_CLOCK_SOURCE_THREAD_CPUTIME, &cpus, BUDGET_NS, &report),
                     ERROR_SUCCESS);
    assert_int_equal(report.offset_count, 0);
    assert_null(report.offsets);
    etwas_lab_cpus_free(&cpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_processors_is_compared_by_every_clock),
        cmocka_unit_test(a_processor_that_is_ahead_is_found_so),
        cmocka_unit_test(processors_whose_clocks_step_at_different_moments_are_bounded_too),
        cmocka_unit_test(a_pair_whose_thread_was_moved_or_did_not_answer_is_left_out),
        cmocka_unit_test(two_threads_on_one_processor_do_not_wait_for_ever),
        cmocka_unit_test(a_processor_that_cannot_be_pinned_to_is_left_out),
        cmocka_unit_test(with_one_processor_there_are_no_pairs_and_no_failure),
        cmocka_unit_test(a_clock_of_one_thread_is_compared_with_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
