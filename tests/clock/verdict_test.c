/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a report's numbers mean, in sentences, for reports that are made up. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "clock/fake_machine.h"
#include "clock/lab/lab.h"
#include "clock/lab/sentences.h"
#include "clock/trust.h"

#define BARE_METAL                                                                                 \
    (ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_NONSTOP |                                   \
     ETWAS_CLOCK_REASON_KERNEL_USES_IT | ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT)

#define HEAD_UNUSABLE                                                                              \
    "The cycle counter cannot be used: a session that asks for it gets system time."
#define HEAD_DOUBTFUL "The cycle counter can be used, but something speaks against it."
#define HEAD_TRUSTED "The cycle counter can be trusted."

static etwas_clock_report report;
static etwas_clock_offset offsets[3];

static etwas_clock_source_report *cost(uint32_t source, double ns)
{
    report.sources[source].available = true;
    report.sources[source].back_to_back_ns = ns;
    report.sources[source].warm_ns.count = 1000;
    report.sources[source].warm_ns.median = ns + 1;
    return &report.sources[source];
}

/* Two processors, 50 ns between them at most, and a counter that is read in a third of the time. */
static void begin(uint32_t reasons)
{
    memset(&report, 0, sizeof report);
    memset(offsets, 0, sizeof offsets);
    report.trust.reasons = reasons;
    report.trust.frequency_hz = 2445406250;
    report.trust.frequency_error_ppb = 2010;
    (void)snprintf(report.trust.clocksource, sizeof report.trust.clocksource, "tsc");
    report.processors = 2;
    report.processors_allowed = 2;
    report.processors_online = 2;
    cost(ETWAS_CLOCK_SOURCE_QPC, 21.44);
    cost(ETWAS_CLOCK_SOURCE_SYSTEM_TIME, 22.04);
    cost(ETWAS_CLOCK_SOURCE_TSC, 8.124);
    cost(ETWAS_CLOCK_SOURCE_LFENCE_RDTSC, 15);
    report.sources[ETWAS_CLOCK_SOURCE_TSC].readings = 1000000;
    report.sources[ETWAS_CLOCK_SOURCE_TSC].against_raw = (etwas_clock_drift){
        .known = true, .ppm = -0.3125, .interval_ppm = 0.05, .points = 100, .seconds = 4.9};
    offsets[0] = (etwas_clock_offset){.other = 1, .offset_ns = -6.5, .bound_ns = 43.5};
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offsets = offsets;
    report.conversions[1] =
        (etwas_clock_conversion){.name = "whole MHz", .after_hour_ns = -598.2e6};
}

static void conclude(uint32_t verdict, uint32_t recommended)
{
    etwas_lab_write_verdict(&report);
    assert_int_equal(report.trust.verdict, verdict);
    assert_int_equal(report.recommended_clock, recommended);
}

static void expect_words(const char *text, const char *words)
{
    if (strstr(text, words) == NULL) {
        fail_msg("'%s' is not in: %s", words, text);
    }
}

static void a_good_counter_is_recommended_with_what_it_saves_and_when_not_to_use_it(void **state)
{
    (void)state;
    begin(BARE_METAL);
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_string_equal(
        report.verdict,
        HEAD_TRUSTED " It ticks at 2445.406250 MHz, known within 2.01 ppm. It runs at one rate in "
                     "all power states. It does not stop in deep sleep. The kernel itself keeps "
                     "time by it. Over 4.9 s it was 0.312 ± 0.050 ppm slow against "
                     "CLOCK_MONOTONIC_RAW. No two of 2 processors are more than 50.0 ns apart.");
    assert_string_equal(
        report.recommendation,
        "Ask for ClientContext 3, the cycle counter. A stamp costs 21.4 ns with 1 (QPC), 22.0 ns "
        "with 2 (system time), 8.12 ns with 3. Ask for 1 where other readers than etwas convert "
        "long traces: they know whole MHz only, 598 ms off after an hour. Ask for 2 to compare "
        "traces with logs of other machines; it steps when the wall clock is set.");
}

static void a_counter_that_saves_nothing_is_not_recommended(void **state)
{
    (void)state;
    begin(BARE_METAL);
    cost(ETWAS_CLOCK_SOURCE_TSC, 20);
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 1);
    expect_words(report.recommendation,
                 "Ask for ClientContext 1, QPC: the cycle counter would save next to nothing.");
    cost(ETWAS_CLOCK_SOURCE_TSC, 19);
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
}

static void a_counter_that_cannot_be_used_leaves_qpc(void **state)
{
    (void)state;
    begin(ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT);
    cost(ETWAS_CLOCK_SOURCE_QPC, 900);
    cost(ETWAS_CLOCK_SOURCE_SYSTEM_TIME, 22);
    conclude(ETWAS_CLOCK_VERDICT_UNUSABLE, 1);
    expect_words(report.verdict, HEAD_UNUSABLE);
    expect_words(report.verdict, "The kernel does not have it among its clock sources, or no "
                                 "longer. It runs at one rate in all power states.");
    expect_words(report.recommendation,
                 "Ask for ClientContext 1, QPC: the cycle counter cannot be used.");
    expect_words(report.recommendation, "QPC costs more than twice as much as system time");
}

static void a_guest_is_notified_whether_its_kernel_trusts_the_counter(void **state)
{
    (void)state;
    begin(BARE_METAL | ETWAS_CLOCK_REASON_HYPERVISOR);
    (void)snprintf(report.trust.hypervisor, sizeof report.trust.hypervisor, "KVMKVMKVM");
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "This is a guest of KVMKVMKVM, which may be moved to another "
                                 "machine, but its kernel keeps time by the counter too");
    expect_words(report.recommendation, "if this guest is to be moved while it traces");

    begin((BARE_METAL | ETWAS_CLOCK_REASON_HYPERVISOR) & ~ETWAS_CLOCK_REASON_KERNEL_USES_IT);
    (void)snprintf(report.trust.clocksource, sizeof report.trust.clocksource, "kvm-clock");
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    expect_words(report.verdict, HEAD_DOUBTFUL);
    expect_words(report.verdict,
                 "This is a guest, which may be moved to another machine, and its kernel keeps "
                 "time by kvm-clock, so nothing says");
    expect_words(report.verdict, "The kernel has it among its clock sources.");
    expect_words(report.recommendation, "QPC: the cycle counter is doubtful.");

    begin(ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_HYPERVISOR);
    report.trust.clocksource[0] = '\0';
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    expect_words(report.verdict, "and its kernel does not say what it keeps time by, so nothing");
}

static void what_is_stated_is_compared_with_what_was_measured(void **state)
{
    (void)state;
    begin(BARE_METAL | ETWAS_CLOCK_REASON_STATED_FREQUENCY);
    report.trust.stated_by = ETWAS_CLOCK_STATED_CPUID_15H;
    report.trust.stated_hz = report.trust.frequency_hz + 4800;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "Within that, CPUID 15h states the same: 2445.411050 MHz.");

    report.trust.stated_by = ETWAS_CLOCK_STATED_CPUID_16H;
    report.trust.stated_hz = 2450000000;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "Stated by CPUID 16h: 2450.000000 MHz, +1878.5 ppm of that.");

    begin(BARE_METAL | ETWAS_CLOCK_REASON_STATED_FREQUENCY | ETWAS_CLOCK_REASON_WRONG_FREQUENCY);
    report.trust.stated_by = ETWAS_CLOCK_STATED_HYPERVISOR;
    report.trust.stated_hz = 2444184000;
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    expect_words(report.verdict, "Its stated frequency differs from the measured one: the "
                                 "hypervisor says 2444.184000 MHz, -499.8 ppm of what was "
                                 "measured; the measured one is used.");
}

static void a_counter_seen_running_backwards_is_doubtful(void **state)
{
    (void)state;
    begin(BARE_METAL);
    report.sources[ETWAS_CLOCK_SOURCE_TSC].backward_steps = 3;
    report.sources[ETWAS_CLOCK_SOURCE_TSC].largest_backward_ns = 1234;
    report.sources[ETWAS_CLOCK_SOURCE_QPC].backward_steps = 1;
    report.sources[ETWAS_CLOCK_SOURCE_QPC].largest_backward_ns = 4e6;
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    assert_int_equal(report.trust.reasons, BARE_METAL | ETWAS_CLOCK_REASON_BACKWARDS);
    expect_words(report.verdict,
                 "It was seen running backwards, 3 times in 1000000 readings, by up to 1.23 µs.");
    expect_words(report.verdict, "QPC was seen running backwards too, by up to 4.00 ms.");
}

/* The pair that is farthest apart is named; one that is as far as its bound may be 0 apart. */
static void processors_that_are_apart_are_named(void **state)
{
    (void)state;
    begin(BARE_METAL);
    offsets[0] = (etwas_clock_offset){.other = 1, .offset_ns = -43.5, .bound_ns = 43.5};
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    offsets[1] = (etwas_clock_offset){.processor = 0, .other = 4, .offset_ns = 60, .bound_ns = 40};
    offsets[2] =
        (etwas_clock_offset){.processor = 1, .other = 4, .offset_ns = -812.4, .bound_ns = 40};
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offset_count = 3;
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    assert_int_equal(report.trust.reasons, BARE_METAL | ETWAS_CLOCK_REASON_APART);
    expect_words(report.verdict, "It is not the same on all processors: that of processor 4 is 812 "
                                 "ns behind that of 1, ± 40.0 ns.");
    assert_null(strstr(report.verdict, "No two of"));

    /* rdtscp shows it too; readings without a fence show nothing of it. */
    begin(BARE_METAL);
    offsets[0] = (etwas_clock_offset){.other = 1, .offset_ns = 100, .bound_ns = 43.5};
    report.sources[ETWAS_CLOCK_SOURCE_TSC].offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_TSC].offsets = offsets;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].available = false;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    cost(ETWAS_CLOCK_SOURCE_RDTSCP, 15)->offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_RDTSCP].offsets = offsets;
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    expect_words(report.verdict, "that of processor 1 is 100 ns ahead of that of 0, ± 43.5 ns.");
}

static void the_better_of_two_ways_says_how_far_processors_may_be_apart(void **state)
{
    (void)state;
    begin(BARE_METAL);
    offsets[1] = (etwas_clock_offset){.other = 1, .offset_ns = 10, .bound_ns = 20};
    cost(ETWAS_CLOCK_SOURCE_RDTSCP, 15)->offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_RDTSCP].offsets = &offsets[1];
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "No two of 2 processors are more than 30.0 ns apart.");
}

static void stamps_read_early_are_reported_and_are_no_fault_of_the_counter(void **state)
{
    (void)state;
    begin(BARE_METAL);
    offsets[1] = (etwas_clock_offset){
        .other = 1, .bound_ns = 40, .handovers = 22464, .smaller = 51, .worst_ns = 15.02};
    report.sources[ETWAS_CLOCK_SOURCE_TSC].offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_TSC].offsets = &offsets[1];
    report.sources[ETWAS_CLOCK_SOURCE_TSC].unordered_readings = 4000000;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict,
                 "Sessions read it without a fence, and it may be read early. Its stamps of "
                 "different processors may be in the wrong order: of 22464 that were taken after "
                 "one of another processor, 51 were smaller than that, by up to 15.0 ns.");
    assert_null(strstr(report.verdict, "changed places"));
    assert_null(strstr(report.recommendation, "the order of events"));

    /* Where QPC keeps the order, it is the way out. */
    offsets[2] = (etwas_clock_offset){.other = 1, .bound_ns = 40, .handovers = 20000};
    report.sources[ETWAS_CLOCK_SOURCE_QPC].offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_QPC].offsets = &offsets[2];
    report.sources[ETWAS_CLOCK_SOURCE_TSC].unordered_backward_steps = 7;
    report.sources[ETWAS_CLOCK_SOURCE_TSC].largest_unordered_backward_ns = 3.1;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_int_equal(report.trust.reasons, BARE_METAL);
    expect_words(report.verdict, "Without a fence 7 of 4000000 readings on one processor changed "
                                 "places too, by up to 3.10 ns.");
    expect_words(report.recommendation,
                 "Ask for 1 where the order of events on different processors matters: it was "
                 "always right with QPC, and wrong by up to 15.0 ns with 3.");

    offsets[2].smaller = 1;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_null(strstr(report.recommendation, "the order of events"));
}

/* It does not matter by which of the ways it was read. */
static void steps_backwards_of_ordered_readings_alone_speak_against_the_counter(void **state)
{
    (void)state;
    begin(BARE_METAL);
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].readings = 500;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].unordered_backward_steps = 5;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].backward_steps = 1;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].largest_backward_ns = 20;
    conclude(ETWAS_CLOCK_VERDICT_DOUBTFUL, 1);
    expect_words(report.verdict, "backwards, 1 time in 1000500 readings, by up to 20.0 ns.");
}

static void pairs_that_were_left_out_are_reported(void **state)
{
    (void)state;
    begin(BARE_METAL);
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offsets_left_out = 1;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "No two of 2 processors that could be compared are more than 50.0 "
                                 "ns apart. Nothing is known of 1 pair of processors.");

    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offset_count = 0;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offsets_left_out = 3;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_null(strstr(report.verdict, "No two of"));
    expect_words(report.verdict, "Nothing is known of 3 pairs of processors.");
    /* What one of two ways left out, the other has compared. */
    cost(ETWAS_CLOCK_SOURCE_RDTSCP, 15)->offset_count = 1;
    report.sources[ETWAS_CLOCK_SOURCE_RDTSCP].offsets = offsets;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_null(strstr(report.verdict, "Nothing is known"));
}

static void processors_that_could_not_be_examined_are_counted(void **state)
{
    (void)state;
    begin(BARE_METAL);
    report.processors = 1;
    report.processors_online = 8;
    report.sources[ETWAS_CLOCK_SOURCE_LFENCE_RDTSC].offset_count = 0;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    expect_words(report.verdict, "Nothing is known of 7 of 8 processors online.");
    assert_null(strstr(report.verdict, "No two of"));

    report.processors_online = 1;
    conclude(ETWAS_CLOCK_VERDICT_TRUSTED, 3);
    assert_null(strstr(report.verdict, "Nothing is known"));
}

static void expect_whole_sentences(const char *text, size_t size)
{
    size_t length = strnlen(text, size);

    assert_true(length > 0 && length < size);
    assert_int_equal(text[length - 1], '.');
    assert_null(strstr(text, "  "));
    assert_null(strstr(text, ".."));
}

/* Few reasons, or nearly all: each alone, each two together, and the most there is to say. */
static bool is_tried(uint32_t reasons)
{
    int count = __builtin_popcount(reasons);

    return count <= 3 || count >= 13;
}

/* Nothing was examined, or the numbers are as wide as they come. */
static void whatever_was_found_there_are_whole_sentences(void **state)
{
    (void)state;
    for (uint32_t reasons = 0; reasons <= 0xffff; reasons++) {
        if (!is_tried(reasons)) {
            continue;
        }
        memset(&report, 0, sizeof report);
        report.trust.reasons = reasons;
        etwas_lab_write_verdict(&report);
        expect_whole_sentences(report.verdict, sizeof report.verdict);
        expect_whole_sentences(report.recommendation, sizeof report.recommendation);

        begin(reasons);
        report.trust.frequency_hz = UINT64_MAX;
        report.trust.frequency_error_ppb = UINT32_MAX;
        report.trust.stated_hz = 1;
        memset(report.trust.clocksource, 'x', sizeof report.trust.clocksource - 1);
        memset(report.trust.hypervisor, 'y', sizeof report.trust.hypervisor - 1);
        report.processors_online = UINT32_MAX;
        report.conversions[1].after_hour_ns = DBL_MAX;
        report.sources[ETWAS_CLOCK_SOURCE_TSC].against_raw.ppm = -DBL_MAX;
        offsets[0].bound_ns = 1e18;
        cost(ETWAS_CLOCK_SOURCE_QPC, DBL_MAX);
        etwas_lab_write_verdict(&report);
        expect_whole_sentences(report.verdict, sizeof report.verdict);
        expect_whole_sentences(report.recommendation, sizeof report.recommendation);
    }
}

static void the_conclusion_is_about_the_machine_it_runs_on(void **state)
{
    const struct fake_machine machine = {"no invariant counter", .current = "hpet",
                                         .available = "hpet acpi_pm", .raw_step_ns = 70,
                                         .hz = 1000000000};

    (void)state;
    begin(BARE_METAL);
    etwas_clock_replace_machine(make_up(&machine));
    etwas_lab_conclude(&report);
    etwas_clock_replace_machine(NULL);
    assert_string_equal(report.trust.clocksource, "hpet");
    assert_int_equal(report.trust.reasons,
                     ETWAS_CLOCK_REASON_NOT_INVARIANT | ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT);
    assert_int_equal(report.recommended_clock, 1);
    expect_words(report.verdict, HEAD_UNUSABLE);
}

static void sentences_that_do_not_fit_are_left_out(void **state)
{
    char text[12];
    struct etwas_sentences sentences = etwas_sentences_in(text, sizeof text);

    (void)state;
    assert_string_equal(text, "");
    etwas_sentences_add(&sentences, "%s", "Longer than all.");
    assert_string_equal(text, "");
    etwas_sentences_add(&sentences, "One %d.", 1);
    etwas_sentences_add(&sentences, "12345.");
    assert_string_equal(text, "One 1.");
    etwas_sentences_add(&sentences, "Two.");
    assert_string_equal(text, "One 1. Two.");
    etwas_sentences_add(&sentences, "%s", "");
    etwas_sentences_add(&sentences, ".");
    assert_string_equal(text, "One 1. Two.");
}

static void durations_have_a_unit_that_suits(void **state)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0.00 ns"},      {0.004, "0.00 ns"},  {8.124, "8.12 ns"},  {9.994, "9.99 ns"},
        {9.996, "10.0 ns"},  {99.94, "99.9 ns"},  {99.96, "100 ns"},   {999.4, "999 ns"},
        {999.6, "1.00 µs"},  {-1500, "-1.50 µs"}, {999.4e3, "999 µs"}, {999.6e3, "1.00 ms"},
        {598.2e6, "598 ms"}, {999.6e6, "1.00 s"}, {3.6e12, "3600 s"},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        char text[ETWAS_DURATION_BYTES];

        assert_string_equal(etwas_duration_text(cases[index].ns, text), cases[index].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_counter_is_recommended_with_what_it_saves_and_when_not_to_use_it),
        cmocka_unit_test(a_counter_that_saves_nothing_is_not_recommended),
        cmocka_unit_test(a_counter_that_cannot_be_used_leaves_qpc),
        cmocka_unit_test(a_guest_is_notified_whether_its_kernel_trusts_the_counter),
        cmocka_unit_test(what_is_stated_is_compared_with_what_was_measured),
        cmocka_unit_test(a_counter_seen_running_backwards_is_doubtful),
        cmocka_unit_test(processors_that_are_apart_are_named),
        cmocka_unit_test(the_better_of_two_ways_says_how_far_processors_may_be_apart),
        cmocka_unit_test(stamps_read_early_are_reported_and_are_no_fault_of_the_counter),
        cmocka_unit_test(steps_backwards_of_ordered_readings_alone_speak_against_the_counter),
        cmocka_unit_test(pairs_that_were_left_out_are_reported),
        cmocka_unit_test(processors_that_could_not_be_examined_are_counted),
        cmocka_unit_test(whatever_was_found_there_are_whole_sentences),
        cmocka_unit_test(the_conclusion_is_about_the_machine_it_runs_on),
        cmocka_unit_test(sentences_that_do_not_fit_are_left_out),
        cmocka_unit_test(durations_have_a_unit_that_suits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
