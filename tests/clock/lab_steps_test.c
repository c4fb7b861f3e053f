/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The steps that the clock laboratory counts of sources that read from a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock/lab/lab.h"
#include "clock/lab/steps.h"
#include "lab_histogram.h"

enum {
    REPLACED = ETWAS_CLOCK_SOURCE_TAI, /* stands for any */
    LENGTH = 64,                       /* of the table: rows are a multiple of it */
};

static const double tick_ns = 2.5;

static void steps_are_counted_by_kind_and_the_smallest_and_their_unit_are_found(void **state)
{
    static const int64_t stamps[] = {100, 100, 112, 130, 130, 124, 139, 139, 139, 109, 1009};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_add_row(&steps, stamps, sizeof stamps / sizeof stamps[0], tick_ns);
    /* A second row: nothing is compared with the end of the first. */
    etwas_lab_steps_add_row(&steps, (const int64_t[]){0, 6}, 2, tick_ns);
    etwas_lab_steps_report(&steps, tick_ns, &report);
    assert_int_equal(report.unordered_readings, 13);
    assert_int_equal(report.pairs, 9);
    assert_int_equal(report.equal_pairs, 4);
    assert_int_equal(report.unordered_backward_steps, 2);
    assert_true(report.largest_unordered_backward_ns == 30 * tick_ns);
    assert_true(report.resolution_ns == 6 * tick_ns);
    assert_true(report.unit_ns == 6 * tick_ns); /* nothing else is known */
    assert_in_order(&report.steps);
    assert_true(sum_of(&report.steps) == 9);
    assert_int_equal(count_at(&report.steps, 0), 4);
    assert_int_equal(count_at(&report.steps, 12 * tick_ns), 1);
    assert_int_equal(count_at(&report.steps, 900 * tick_ns), 1);
}

static void steps_over_the_whole_range_of_stamps_are_counted(void **state)
{
    static const int64_t stamps[] = {INT64_MIN, INT64_MAX, INT64_MIN};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_add_row(&steps, stamps, 3, 1);
    etwas_lab_steps_add_ordered_row(&steps, stamps, 3);
    etwas_lab_steps_report(&steps, 1, &report);
    assert_int_equal(report.pairs, 1);
    assert_int_equal(report.backward_steps, 1);
    assert_int_equal(report.unordered_backward_steps, 1);
    assert_true(report.largest_backward_ns == 18446744073709551615.0);
    assert_true(report.largest_unordered_backward_ns == 18446744073709551615.0);
    assert_true(sum_of(&report.steps) == 1);
}

/* The counter moves by 26 ticks, and a second reading before it has moved again says one more. */
static void a_counter_that_adds_a_tick_between_its_steps_is_known_by_what_it_moves_by(void **state)
{
    static const int64_t between[] = {1, 25, 26, 26, 52, 1, 25, 26};
    static const int64_t in_order[] = {26, 52, 26, 52, 52, 78, 26, 1040};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;
    int64_t stamps[256] = {0};
    int64_t ordered[256] = {0};

    (void)state;
    for (uint32_t index = 1; index < 256; index++) {
        stamps[index] = stamps[index - 1] + between[index % 8];
        ordered[index] = ordered[index - 1] + in_order[index % 8];
    }
    etwas_lab_steps_add_row(&steps, stamps, 256, tick_ns);
    etwas_lab_steps_add_ordered_row(&steps, ordered, 256);
    etwas_lab_steps_report(&steps, tick_ns, &report);
    assert_true(report.resolution_ns == tick_ns);
    assert_true(report.unit_ns == 26 * tick_ns);
    assert_true(etwas_lab_step_ns(&report) == 26 * tick_ns);
    assert_int_equal(report.readings, 256);
}

/*
 * What was read without a fence may have changed places; that is told, and not blamed on the clock.
 */
static void readings_that_changed_places_are_no_steps_backwards(void **state)
{
    static const int64_t stamps[] = {10, 30, 20, 40};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_add_row(&steps, stamps, 4, tick_ns);
    etwas_lab_steps_add_ordered_row(&steps, (const int64_t[]){10, 20, 30}, 3);
    etwas_lab_steps_report(&steps, tick_ns, &report);
    assert_int_equal(report.backward_steps, 0);
    assert_true(report.largest_backward_ns == 0);
    assert_int_equal(report.unordered_backward_steps, 1);
    assert_true(report.largest_unordered_backward_ns == 10 * tick_ns);
    etwas_lab_steps_add_ordered_row(&steps, stamps, 4);
    etwas_lab_steps_report(&steps, tick_ns, &report);
    assert_int_equal(report.backward_steps, 1);
    assert_true(report.largest_backward_ns == 10 * tick_ns);
}

static void a_source_that_never_moves_has_no_resolution(void **state)
{
    static const int64_t stamps[] = {7, 7, 7};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_add_row(&steps, stamps, 3, 1);
    etwas_lab_steps_report(&steps, 1, &report);
    assert_true(report.resolution_ns == 0 && report.unit_ns == 0);
    assert_int_equal(report.equal_pairs, 2);
}

/*
 * 64 readings: 40 pairs are equal, 19 make a step of 8, 3 of 20, 1 goes 32 back; the 64th pair,
 * into the next turn, makes a step of 100.
 */
static _Thread_local uint32_t position;
static _Thread_local int64_t table_stamp;

static int64_t read_table(void)
{
    int64_t stamp = table_stamp;
    uint32_t pair = position++ % LENGTH;

    if (pair == LENGTH - 1) {
        table_stamp += 100;
    } else if (pair == 30) {
        table_stamp -= 32;
    } else if (pair % 20 == 5) {
        table_stamp += 20;
    } else if (pair % 3 == 0) {
        table_stamp += 8;
    }
    return stamp;
}

static void a_source_read_from_a_table_has_the_steps_of_the_table(void **state)
{
    static const struct etwas_lab_source table = {
        .name = "table", .read = read_table, .tick_ns = 2.5, .available = true};
    static etwas_clock_source_report report;
    uint64_t turns;
    uint64_t rows;

    (void)state;
    position = 0;
    etwas_lab_source_replace(REPLACED, &table);
    assert_int_equal(etwas_lab_steps(REPLACED, 1000000, &report), ERROR_SUCCESS);
    etwas_lab_source_replace(REPLACED, NULL);
    /* As many readings in order as without. */
    assert_int_equal(report.readings + report.unordered_readings, position);
    assert_int_equal(report.readings, report.unordered_readings);
    assert_int_equal(report.readings % LENGTH, 0);
    turns = report.readings / LENGTH;
    assert_int_equal(report.backward_steps, turns);
    assert_int_equal(report.unordered_backward_steps, turns);
    assert_true(report.largest_backward_ns == 32 * tick_ns);
    assert_true(report.largest_unordered_backward_ns == 32 * tick_ns);
    /* The last pair of a row of readings lies between two rows, and is none. */
    rows = report.readings - report.pairs - report.backward_steps;
    assert_true(rows > 0 && report.readings % rows == 0);
    assert_int_equal(report.equal_pairs, turns * 40);
    assert_true(report.resolution_ns == 8 * tick_ns);
    assert_true(report.unit_ns == 4 * tick_ns);
    assert_int_equal(count_at(&report.steps, 0), turns * 40);
    assert_int_equal(count_at(&report.steps, 8 * tick_ns), turns * 19);
    assert_int_equal(count_at(&report.steps, 20 * tick_ns), turns * 3);
    assert_int_equal(count_at(&report.steps, 100 * tick_ns), turns - rows);
    assert_true(sum_of(&report.steps) == (double)report.pairs);
}

/* 1,024 readings are a row. It steps in the middle of every second one, from the second one on. */
static int64_t read_stepping_in_every_second_row(void)
{
    static uint32_t reading;

    return (reading++ + 512) / 2048 * 4000;
}

/*
 * The first two rows are one of either kind: were they taken in turn, all steps were in the other.
 */
static void a_clock_that_hardly_ever_moves_is_read_by_rows_in_which_steps_are_seen(void **state)
{
    static const struct etwas_lab_source stepping = {.name = "stepping",
                                                     .read = read_stepping_in_every_second_row,
                                                     .tick_ns = 1,
                                                     .available = true};
    etwas_clock_source_report report = {0};

    (void)state;
    etwas_lab_source_replace(REPLACED, &stepping);
    assert_int_equal(etwas_lab_steps(REPLACED, 0, &report), ERROR_SUCCESS);
    etwas_lab_source_replace(REPLACED, NULL);
    assert_true(report.resolution_ns == 4000);
    assert_int_equal(report.unordered_backward_steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_counted_by_kind_and_the_smallest_and_their_unit_are_found),
        cmocka_unit_test(steps_over_the_whole_range_of_stamps_are_counted),
        cmocka_unit_test(a_counter_that_adds_a_tick_between_its_steps_is_known_by_what_it_moves_by),
        cmocka_unit_test(readings_that_changed_places_are_no_steps_backwards),
        cmocka_unit_test(a_source_that_never_moves_has_no_resolution),
        cmocka_unit_test(a_source_read_from_a_table_has_the_steps_of_the_table),
        cmocka_unit_test(a_clock_that_hardly_ever_moves_is_read_by_rows_in_which_steps_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
