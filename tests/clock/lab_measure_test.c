/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the clock laboratory counts of sources that read from a table, and of the machine's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "clock/lab/counter.h"
#include "clock/lab/lab.h"
#include "clock/lab/monotony.h"
#include "clock/lab/steps.h"
#include "clock/lab/tally.h"
#include "platform/memory.h"

enum {
    REPLACED = ETWAS_CLOCK_SOURCE_TAI, /* stands for any */
    LENGTH = 64,                       /* of the table: rows are a multiple of it */
};

static const double tick_ns = 2.5;

static double sum_of(const etwas_clock_histogram *histogram)
{
    double sum = 0;

    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        sum += (double)histogram->bin[bin].count;
    }
    return sum;
}

static void assert_in_order(const etwas_clock_histogram *histogram)
{
    assert_true(histogram->bins <= ETWAS_CLOCK_BINS);
    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        assert_true(histogram->bin[bin].from < histogram->bin[bin].to);
        assert_true(bin == 0 || histogram->bin[bin - 1].to <= histogram->bin[bin].from);
        assert_true(histogram->bin[bin].count > 0);
    }
}

/* How many of a histogram's values lie in the one bin that holds `ns`. */
static uint64_t count_at(const etwas_clock_histogram *histogram, double ns)
{
    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        if (histogram->bin[bin].from <= ns && ns < histogram->bin[bin].to) {
            return histogram->bin[bin].count;
        }
    }
    return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void steps_are_counted_by_kind_and_the_smallest_and_their_unit_are_found(void **state)
{
    static const int64_t stamps[] = {100, 100, 112, 130, 130, 124, 139, 139, 139, 109, 1009};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_note(&steps, stamps, sizeof stamps / sizeof stamps[0], tick_ns);
    /* A second row: nothing is compared with the end of the first. */
    etwas_lab_steps_note(&steps, (const int64_t[]){0, 6}, 2, tick_ns);
    etwas_lab_steps_tell(&steps, tick_ns, &report);
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
    etwas_lab_steps_note(&steps, stamps, 3, 1);
    etwas_lab_steps_note_ordered(&steps, stamps, 3);
    etwas_lab_steps_tell(&steps, 1, &report);
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
    etwas_lab_steps_note(&steps, stamps, 256, tick_ns);
    etwas_lab_steps_note_ordered(&steps, ordered, 256);
    etwas_lab_steps_tell(&steps, tick_ns, &report);
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
    etwas_lab_steps_note(&steps, stamps, 4, tick_ns);
    etwas_lab_steps_note_ordered(&steps, (const int64_t[]){10, 20, 30}, 3);
    etwas_lab_steps_tell(&steps, tick_ns, &report);
    assert_int_equal(report.backward_steps, 0);
    assert_true(report.largest_backward_ns == 0);
    assert_int_equal(report.unordered_backward_steps, 1);
    assert_true(report.largest_unordered_backward_ns == 10 * tick_ns);
    etwas_lab_steps_note_ordered(&steps, stamps, 4);
    etwas_lab_steps_tell(&steps, tick_ns, &report);
    assert_int_equal(report.backward_steps, 1);
    assert_true(report.largest_backward_ns == 10 * tick_ns);
}

static void a_source_that_never_moves_has_no_resolution(void **state)
{
    static const int64_t stamps[] = {7, 7, 7};
    static struct etwas_lab_steps steps;
    static etwas_clock_source_report report;

    (void)state;
    etwas_lab_steps_note(&steps, stamps, 3, 1);
    etwas_lab_steps_tell(&steps, 1, &report);
    assert_true(report.resolution_ns == 0 && report.unit_ns == 0);
    assert_int_equal(report.equal_pairs, 2);
}

/*
 * Of 64 readings: 40 pairs are equal, 19 make a step of 8, 3 of 20, 1 goes 32 back; the 64th pair,
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

/* ---- monotony -------------------------------------------------------------------------------- */

static void a_step_backwards_is_counted_with_its_size_and_watched_from_there(void **state)
{
    static const int64_t stamps[] = {100, 101, 90, 95, 99, 100, 60, 61};
    struct etwas_lab_watch watch = {0};
    int64_t reference = 0;

    (void)state;
    for (size_t index = 0; index < sizeof stamps / sizeof stamps[0]; index++) {
        etwas_lab_watch_note(&watch, reference, stamps[index], reference + 1, 1000);
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
    struct etwas_lab_watch watch = {0};

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        etwas_lab_watch_note(&watch, rows[row].before, rows[row].stamp, rows[row].after, 100);
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
    struct etwas_lab_monotony *monotony;

    assert_int_equal(etwas_lab_cpus_read(&cpus), ERROR_SUCCESS);
    *others = cpus.count < 4 ? cpus.count : 4;
    memset(report, 0, sizeof *report);
    report->sources[REPLACED].resolution_ns = resolution_ns;
    report->sources[REPLACED].unit_ns = unit_ns;
    etwas_lab_source_replace(REPLACED, frozen);
    monotony = etwas_lab_monotony_begin(1u << REPLACED, &cpus);
    assert_non_null(monotony);
    for (int run = 0; run < 4; run++) {
        ck_pr_store_64(&frozen_stamp, run < 2 ? 100 : 60);
        assert_int_equal(etwas_lab_monotony_run(monotony, 1000000, report), ERROR_SUCCESS);
    }
    etwas_lab_monotony_end(monotony, report);
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
static void a_stall_is_told_by_what_a_clock_really_moves_by(void **state)
{
    static const struct etwas_lab_source frozen = {
        .name = "frozen", .read = read_frozen, .tick_ns = 2.5, .available = true};
    static etwas_clock_report report;
    uint32_t others;

    (void)state;
    watch_frozen(&frozen, 1, 1e11, &report, &others);
    assert_int_equal(report.sources[REPLACED].stalls, 0);
}

/* ---- cold readings --------------------------------------------------------------------------- */

/* However short the time: a single one says nothing. */
static void some_cold_readings_are_taken_at_least_and_the_kernels_data_is_known(void **state)
{
    struct etwas_lab_walk walk;
    static etwas_clock_source_report report;

    (void)state;
    assert_true(etwas_lab_walk_begin(&walk));
    etwas_lab_cost_cold(ETWAS_CLOCK_SOURCE_QPC, &walk, 0, &report);
    assert_int_equal(report.cold_ns.count, ETWAS_LAB_COLD_READINGS);
    assert_true(report.cold_ns.median > 0);
    assert_true(walk.data_pages <= ETWAS_LAB_WALK_PAGES);
    for (uint32_t page = 0; page < walk.data_pages; page++) {
        assert_int_equal(walk.data[page] % etwas_memory_page_bytes(), 0);
    }
    if (getauxval(AT_SYSINFO_EHDR) != 0) {
        assert_true(walk.data_pages > 0);
    }
    etwas_lab_walk_end(&walk);
}

/* ---- durations ------------------------------------------------------------------------------- */

static void quantiles_are_values_that_enough_others_do_not_exceed_and_the_mean_leaves_1_percent_out(
    void **state)
{
    enum {
        COUNT = 2000
    };
    static double values[COUNT];
    etwas_clock_distribution of;

    (void)state;
    for (int index = 0; index < COUNT; index++) {
        values[index] = (index * 7 + 3) % COUNT + 1; /* 1 to 2,000, shuffled */
    }
    etwas_lab_distribution_of(values, COUNT, &of);
    assert_int_equal(of.count, COUNT);
    assert_true(of.minimum == 1 && of.median == 1000 && of.p90 == 1800 && of.p99 == 1980);
    assert_true(of.p999 == 1998 && of.maximum == 2000);
    assert_true(of.mean == 990.5); /* of 1 to 1,980 */
    etwas_lab_distribution_of(values, 1, &of);
    assert_true(of.minimum == 1 && of.median == 1 && of.p999 == 1 && of.maximum == 1);
    etwas_lab_distribution_of(values, 0, &of);
    assert_true(of.count == 0 && of.maximum == 0);
}

static void each_duration_is_in_a_bin_that_is_a_sixteenth_of_it_wide(void **state)
{
    static const double values[] = {0, 0.0624, 0.0625, 0.99, 1, 1.5, 19.9, 20, 4e6, 1e15, 1e30};

    (void)state;
    for (size_t index = 0; index < sizeof values / sizeof values[0]; index++) {
        struct etwas_lab_tally tally = {{0}};
        etwas_clock_histogram histogram;
        double most = values[index] < 5.7e17 ? values[index] : 5.7e17;

        etwas_lab_tally_add(&tally, values[index]);
        etwas_lab_tally_bins(&tally, &histogram);
        assert_int_equal(histogram.bins, 1);
        assert_int_equal(count_at(&histogram, most), 1);
        assert_true(histogram.bin[0].to - histogram.bin[0].from <=
                    (most < 1 ? 1.0 / 16 : most / 16));
    }
}

static void bins_are_joined_until_they_fit_and_none_is_lost(void **state)
{
    static struct etwas_lab_tally tally;
    etwas_clock_histogram histogram;
    double ns = 0.01;

    (void)state;
    for (int value = 0; value < 600; value++) {
        etwas_lab_tally_add(&tally, ns);
        ns *= 1.05;
    }
    for (int value = 0; value < 100000; value++) {
        etwas_lab_tally_add(&tally, 20);
    }
    etwas_lab_tally_bins(&tally, &histogram);
    assert_int_equal(histogram.bins, ETWAS_CLOCK_BINS);
    assert_in_order(&histogram);
    assert_true(sum_of(&histogram) == 100600);
    /* What holds nearly all is joined with nothing. */
    assert_true(histogram.bin[0].count < 100);
    assert_in_range(count_at(&histogram, 20), 100000, 100003);
}

/* ---- the machine ----------------------------------------------------------------------------- */

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
        skip(); /* more processors than a plain mask holds */
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
        cmocka_unit_test(steps_are_counted_by_kind_and_the_smallest_and_their_unit_are_found),
        cmocka_unit_test(steps_over_the_whole_range_of_stamps_are_counted),
        cmocka_unit_test(a_counter_that_adds_a_tick_between_its_steps_is_known_by_what_it_moves_by),
        cmocka_unit_test(readings_that_changed_places_are_no_steps_backwards),
        cmocka_unit_test(a_source_that_never_moves_has_no_resolution),
        cmocka_unit_test(a_source_read_from_a_table_has_the_steps_of_the_table),
        cmocka_unit_test(a_clock_that_hardly_ever_moves_is_read_by_rows_in_which_steps_are_seen),
        cmocka_unit_test(a_step_backwards_is_counted_with_its_size_and_watched_from_there),
        cmocka_unit_test(equal_stamps_are_a_stall_when_the_other_clock_goes_on_beyond_the_limit),
        cmocka_unit_test(a_clock_set_back_between_two_runs_is_seen_by_one_thread),
        cmocka_unit_test(a_threads_own_clock_is_not_compared_with_that_of_another),
        cmocka_unit_test(no_stall_is_seen_of_a_clock_whose_steps_are_unknown),
        cmocka_unit_test(a_stall_is_told_by_what_a_clock_really_moves_by),
        cmocka_unit_test(some_cold_readings_are_taken_at_least_and_the_kernels_data_is_known),
        cmocka_unit_test(
            quantiles_are_values_that_enough_others_do_not_exceed_and_the_mean_leaves_1_percent_out),
        cmocka_unit_test(each_duration_is_in_a_bin_that_is_a_sixteenth_of_it_wide),
        cmocka_unit_test(bins_are_joined_until_they_fit_and_none_is_lost),
        cmocka_unit_test(every_source_is_named_and_what_is_available_counts_in_its_ticks),
        cmocka_unit_test(a_thread_runs_where_it_is_pinned_and_then_where_it_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
