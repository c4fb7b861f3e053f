/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the cycle counter of a machine is worth, for machines that are made up (fake_machine.h) and
 * for this one, and which clock a session then gets (R153).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <etwas/etwas.h>

#include "clock/fake_machine.h"
#include "clock/session_clock.h"
#include "clock/trust.h"
#include "support/folder.h"
#include "support/start.h"

#define INVARIANT ETWAS_CLOCK_REASON_INVARIANT
#define NONSTOP ETWAS_CLOCK_REASON_NONSTOP
#define STATED ETWAS_CLOCK_REASON_STATED_FREQUENCY
#define USES ETWAS_CLOCK_REASON_KERNEL_USES_IT
#define OFFERS ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT
#define ADJUSTABLE ETWAS_CLOCK_REASON_ADJUSTABLE
#define TOLD ETWAS_CLOCK_REASON_KERNEL_WAS_TOLD
#define GUEST ETWAS_CLOCK_REASON_HYPERVISOR
#define NOT_INVARIANT ETWAS_CLOCK_REASON_NOT_INVARIANT
#define DROPPED ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT
#define EMULATED ETWAS_CLOCK_REASON_EMULATED
#define WRONG ETWAS_CLOCK_REASON_WRONG_FREQUENCY
#define BACKWARDS ETWAS_CLOCK_REASON_BACKWARDS
#define NO_COUNTER ETWAS_CLOCK_REASON_NO_COUNTER

#define UNUSABLE ETWAS_CLOCK_VERDICT_UNUSABLE
#define DOUBTFUL ETWAS_CLOCK_VERDICT_DOUBTFUL
#define TRUSTED ETWAS_CLOCK_VERDICT_TRUSTED

#define FLAGS "constant_tsc nonstop_tsc"
#define TSC_FIRST "tsc hpet acpi_pm "

struct row {
    struct fake_machine machine;
    uint32_t verdict;
    uint32_t reasons;
    uint32_t stated_by;
    uint64_t stated_hz;
    bool agrees;
};

/* Crystal 38.4 MHz × 156 / 2 = 2,995,200,000 Hz. */
#define INTEL                                                                                      \
    .invariant = true, .adjustable = true, .crystal_hz = 38400000, .numerator = 156,               \
    .denominator = 2, .base_mhz = 3000, .flags = FLAGS " tsc_known_freq", .current = "tsc",        \
    .available = TSC_FIRST
#define INTEL_REASONS (INVARIANT | NONSTOP | STATED | USES | OFFERS | ADJUSTABLE | TOLD)

#define AMD .invariant = true, .flags = FLAGS, .current = "tsc", .available = TSC_FIRST
#define AMD_REASONS (INVARIANT | NONSTOP | USES | OFFERS)

static const struct row rows[] = {
    {{"bare metal with CPUID 15h", INTEL, .hz = 2995200000},
     TRUSTED,
     INTEL_REASONS,
     ETWAS_CLOCK_STATED_CPUID_15H,
     2995200000,
     true},
    {{"15h without a crystal, 16h is what the box says", .invariant = true, .numerator = 216,
      .denominator = 2, .base_mhz = 2600, .flags = FLAGS, .current = "tsc", .available = TSC_FIRST,
      .hz = 2592000000},
     TRUSTED,
     AMD_REASONS | STATED,
     ETWAS_CLOCK_STATED_CPUID_16H,
     2600000000,
     false},
    {{"bare metal that states nothing", AMD, .hz = 3393623000},
     TRUSTED,
     AMD_REASONS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"the kernel was told to use another", .invariant = true, .flags = FLAGS, .current = "hpet",
      .available = TSC_FIRST, .raw_step_ns = 70, .hz = 3393623000},
     TRUSTED,
     INVARIANT | NONSTOP | OFFERS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"guest of KVM that keeps time by kvm-clock", .invariant = true, .hypervisor = "KVMKVMKVM",
      .last_leaf = 0x40000001, .leaf_10h = 7, .flags = FLAGS " tsc_known_freq",
      .current = "kvm-clock", .available = "kvm-clock tsc acpi_pm ", .hz = 2445406000},
     DOUBTFUL,
     INVARIANT | NONSTOP | OFFERS | TOLD | GUEST,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"guest of KVM that keeps time by the counter", .invariant = true, .hypervisor = "KVMKVMKVM",
      .last_leaf = 0x40000010, .leaf_10h = 2445406, .flags = FLAGS, .current = "tsc",
      .available = "tsc kvm-clock ", .hz = 2445406000},
     TRUSTED,
     AMD_REASONS | STATED | GUEST,
     ETWAS_CLOCK_STATED_HYPERVISOR,
     2445406000,
     true},
    {{"guest of VMware: its leaf goes before the processor's", INTEL, .hypervisor = "VMwareVMware",
      .last_leaf = 0x40000010, .leaf_10h = 2000000, .hz = 2000000400},
     TRUSTED,
     INTEL_REASONS | GUEST,
     ETWAS_CLOCK_STATED_HYPERVISOR,
     2000000000,
     true},
    {{"guest of Hyper-V, which means something else by that leaf", .invariant = true,
      .hypervisor = "Microsoft Hv", .last_leaf = 0x40000082, .leaf_10h = 5, .flags = FLAGS,
      .current = "hyperv_clocksource_tsc_page",
      .available = "hyperv_clocksource_tsc_page tsc acpi_pm ", .raw_step_ns = 100,
      .hz = 2593905000},
     DOUBTFUL,
     INVARIANT | NONSTOP | OFFERS | GUEST,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"the kernel gave it up", .invariant = true, .flags = FLAGS, .current = "hpet",
      .available = "hpet acpi_pm ", .raw_step_ns = 70, .hz = 2000000000},
     UNUSABLE,
     INVARIANT | NONSTOP | DROPPED,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"a name that only begins like it", .invariant = true, .current = "tsc-early",
      .available = "tsc-early hpet ", .flags = "nonstop_tsc_s3", .hz = 2000000000},
     UNUSABLE,
     INVARIANT | DROPPED,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"its rate follows the power state", .current = "acpi_pm", .available = "tsc acpi_pm ",
      .flags = "sse2", .raw_step_ns = 279, .hz = 1600000000},
     UNUSABLE,
     NOT_INVARIANT | OFFERS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"readings leave the guest", AMD, .hypervisor = "KVMKVMKVM", .last_leaf = 0x40000001,
      .counter_ns = 1500, .hz = 2000000000},
     DOUBTFUL,
     AMD_REASONS | GUEST | EMULATED,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"a slow instruction is an instruction", AMD, .counter_ns = 120, .hz = 1000000000},
     TRUSTED,
     AMD_REASONS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"all instructions are emulated", AMD, .hypervisor = "TCGTCGTCGTCG", .last_leaf = 0x40000001,
      .hz = 1000000000},
     DOUBTFUL,
     AMD_REASONS | GUEST | EMULATED,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"neither the kernel's files nor its flags are there", .invariant = true, .hz = 2000000000},
     TRUSTED,
     INVARIANT,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"the list is empty, which says nothing", .invariant = true, .current = "", .available = "",
      .hz = 2000000000},
     TRUSTED,
     INVARIANT,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"aarch64", .aarch64 = true, .cntfrq_hz = 24000000, .current = "arch_sys_counter",
      .available = "arch_sys_counter ", .raw_step_ns = 42, .hz = 24000000},
     TRUSTED,
     AMD_REASONS | STATED,
     ETWAS_CLOCK_STATED_CNTFRQ,
     24000000,
     true},
    {{"aarch64 at 1 MHz: most readings are equal", .aarch64 = true, .cntfrq_hz = 1000000,
      .current = "arch_sys_counter", .available = "arch_sys_counter ", .raw_step_ns = 1000,
      .hz = 1000000},
     TRUSTED,
     AMD_REASONS | STATED,
     ETWAS_CLOCK_STATED_CNTFRQ,
     1000000,
     true},
    {{"aarch64 whose firmware leaves the register empty", .aarch64 = true,
      .current = "arch_sys_counter", .available = "arch_sys_counter ", .hz = 62500000},
     TRUSTED,
     AMD_REASONS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"15h states 500 ppm too much", INTEL, .hz = 2995200000 / 1.0005},
     DOUBTFUL,
     INTEL_REASONS | WRONG,
     ETWAS_CLOCK_STATED_CPUID_15H,
     2995200000,
     false},
    {{"the counter runs 500 ppm fast", INTEL, .hz = 2995200000 * 1.0005},
     DOUBTFUL,
     INTEL_REASONS | WRONG,
     ETWAS_CLOCK_STATED_CPUID_15H,
     2995200000,
     false},
    {{"the hypervisor states 500 ppm too little", AMD, .hypervisor = "KVMKVMKVM",
      .last_leaf = 0x40000010, .leaf_10h = 1999000, .hz = 2000000000},
     DOUBTFUL,
     AMD_REASONS | STATED | GUEST | WRONG,
     ETWAS_CLOCK_STATED_HYPERVISOR,
     1999000000,
     false},
    {{"the register states 500 ppm too much", .aarch64 = true, .cntfrq_hz = 25012500,
      .current = "arch_sys_counter", .available = "arch_sys_counter ", .raw_step_ns = 40,
      .hz = 25000000},
     DOUBTFUL,
     AMD_REASONS | STATED | WRONG,
     ETWAS_CLOCK_STATED_CNTFRQ,
     25012500,
     false},
    {{"a crystal may be 80 ppm off", INTEL, .hz = 2995200000 * 1.00008},
     TRUSTED,
     INTEL_REASONS,
     ETWAS_CLOCK_STATED_CPUID_15H,
     2995200000,
     false},
    {{"it stands still", AMD, .hz = 0},
     UNUSABLE,
     AMD_REASONS | NO_COUNTER,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"it runs backwards", AMD, .backwards = 7, .hz = 2000000000},
     UNUSABLE,
     AMD_REASONS | NO_COUNTER | BACKWARDS,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
    {{"its clock and it never agree for long", AMD, .suspends = 0xaaaaaaaa,
      .suspended_ns = 1000000000, .hz = 2000000000},
     UNUSABLE,
     AMD_REASONS | NO_COUNTER,
     ETWAS_CLOCK_STATED_NOWHERE,
     0,
     false},
};

static void every_machine_gets_its_verdict_for_its_reasons(void **state)
{
    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        const struct row *row = &rows[index];
        etwas_clock_trust trust;

        etwas_clock_trust_of(make_up(&row->machine), &trust);
        if (trust.verdict != row->verdict || trust.reasons != row->reasons ||
            trust.stated_by != row->stated_by || trust.stated_hz != row->stated_hz ||
            etwas_clock_stated_agrees(&trust) != row->agrees) {
            fail_msg("%s: verdict %u, reasons %#x, stated by %u: %llu Hz, measured %llu Hz",
                     row->machine.name, trust.verdict, trust.reasons, trust.stated_by,
                     (unsigned long long)trust.stated_hz, (unsigned long long)trust.frequency_hz);
        }
        assert_string_equal(trust.hypervisor,
                            row->machine.hypervisor != NULL ? row->machine.hypervisor : "");
        assert_string_equal(trust.clocksource,
                            row->machine.current != NULL ? row->machine.current : "");
    }
}

static void r153_a_session_gets_the_counter_or_system_time_as_the_verdict_says(void **state)
{
    etwas_session_counts counts;

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        uint32_t effective =
            rows[index].verdict == UNUSABLE ? ETWAS_CLOCK_SYSTEM_TIME : ETWAS_CLOCK_TSC;
        etwas_clock_trust trust;

        etwas_clock_replace_machine(make_up(&rows[index].machine));
        assert_int_equal(etwas_clock_query_trust(&trust), ERROR_SUCCESS);
        assert_int_equal(trust.reasons, rows[index].reasons);
        assert_int_equal(etwas_clock_select(3), effective);
        assert_int_equal(etwas_clock_effective(3), effective);
        assert_true(etwas_clock_frequency(3) ==
                    (effective == ETWAS_CLOCK_TSC ? trust.frequency_hz : 0));
        (void)expect_session_has_clock(3, effective, &counts);
        (void)unlink(folder_path("trace.etl"));
    }
    etwas_clock_replace_machine(NULL);
    (void)expect_session_has_clock(3, etwas_clock_effective(3), &counts);
}

/* The true rate is within the bound, and the bound says something. */
static void expect_rate(const struct fake_machine *fake_machine, double largest_ppm)
{
    etwas_clock_trust trust;
    double error_ppb;

    etwas_clock_trust_of(make_up(fake_machine), &trust);
    error_ppb = fabs((double)trust.frequency_hz - fake_machine->hz) / fake_machine->hz * 1e9;
    if (error_ppb > trust.frequency_error_ppb || trust.frequency_error_ppb > largest_ppm * 1e3) {
        fail_msg("%s: %llu Hz, %.0f ppb off, said to be within %u", fake_machine->name,
                 (unsigned long long)trust.frequency_hz, error_ppb, trust.frequency_error_ppb);
    }
}

static void the_bound_of_the_frequency_holds_on_every_machine(void **state)
{
    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        if ((rows[index].reasons & NO_COUNTER) == 0) {
            expect_rate(&rows[index].machine, 200);
        }
    }
    expect_rate(&(struct fake_machine){"as usual", AMD, .hz = 2995200000}, 3);
}

/* Every n-th reading takes 50 µs longer, between any two of the three readings of a bracket. */
static void interrupted_readings_do_not_make_the_frequency_less_known(void **state)
{
    (void)state;
    for (uint32_t interrupt = 4; interrupt < 32; interrupt++) {
        expect_rate(
            &(struct fake_machine){"interrupted", AMD, .hz = 2995200000, .interrupt = interrupt},
            4);
    }
}

/* Or the counter jumps, as where the processors are apart and the thread moves. */
static void a_suspend_while_it_is_calibrated_is_noticed_and_it_is_calibrated_again(void **state)
{
    /* In the first or second half of the first attempt, and in the second attempt too. */
    static const uint32_t pauses[] = {0x1, 0x2, 0x5, 0x6, 0x9, 0xa};

    (void)state;
    for (int64_t suspended_ns = 1000; suspended_ns <= 100000000000; suspended_ns *= 10) {
        for (size_t index = 0; index < sizeof pauses / sizeof pauses[0]; index++) {
            expect_rate(&(struct fake_machine){"suspended", AMD, .hz = 2995200000,
                                               .suspends = pauses[index],
                                               .suspended_ns = suspended_ns},
                        3);
        }
    }
}

/* What can be said then: between what the halves say. */
static void a_counter_that_jumps_each_time_is_known_as_well_as_it_jumps(void **state)
{
    (void)state;
    expect_rate(&(struct fake_machine){"jumps", AMD, .hz = 2995200000, .suspends = 0xaaaaaaaa,
                                       .suspended_ns = 1000},
                60);
}

static void a_counter_may_begin_anywhere(void **state)
{
    static const int64_t first[] = {INT64_MIN, -3000000 - 1000, INT64_MAX - 3000000 - 1000,
                                    INT64_MAX};

    (void)state;
    for (size_t index = 0; index < sizeof first / sizeof first[0]; index++) {
        expect_rate(
            &(struct fake_machine){"wraps", AMD, .hz = 2995200000, .first_tick = first[index]}, 3);
    }
}

static void a_kernels_clock_of_coarse_steps_makes_the_bound_as_wide(void **state)
{
    (void)state;
    for (int64_t step_ns = 2; step_ns < 1000; step_ns += 7) {
        expect_rate(&(struct fake_machine){"coarse", .invariant = true, .current = "acpi_pm",
                                           .available = "tsc acpi_pm", .hz = 2995200000,
                                           .raw_step_ns = step_ns},
                    100);
    }
}

/* Some processors' counters move by tens of ticks. The kernel's clock is another one here. */
static void a_counter_of_coarse_steps_makes_the_bound_as_wide(void **state)
{
    (void)state;
    for (uint64_t step = 2; step < 5000; step += 13) {
        for (int64_t counter_ns = 15; counter_ns < 25; counter_ns++) {
            expect_rate(&(struct fake_machine){"moves by leaps", .invariant = true,
                                               .current = "hpet", .available = "tsc hpet",
                                               .hz = 2596138200, .counter_ns = counter_ns,
                                               .step = step},
                        200);
        }
    }
}

static void names_of_clock_sources_that_do_not_fit_are_left_out_whole(void **state)
{
    struct fake_machine machine = {"long", .invariant = true, .hz = 1000000000};
    char list[200] = "";
    etwas_clock_trust trust;

    (void)state;
    for (int name = 0; name < 20; name++) {
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "source%02d ", name);
    }
    (void)snprintf(list + strlen(list), sizeof list - strlen(list), "tsc ");
    machine.available = list;
    machine.current = "a-clock-source-whose-name-is-longer-than-the-field";
    etwas_clock_trust_of(make_up(&machine), &trust);
    assert_int_equal(trust.reasons, INVARIANT | OFFERS);
    assert_int_equal(strlen(trust.available_clocksources), 10 * 9 - 1);
    assert_memory_equal(trust.available_clocksources, list, 10 * 9 - 1);
    assert_string_equal(trust.clocksource, "");
}

static void each_reason_has_a_sentence_of_its_own_and_nothing_else_has_one(void **state)
{
    const uint32_t all = 0xff7f;

    (void)state;
    for (int bit = 0; bit < 32; bit++) {
        const char *text = etwas_clock_reason_text(1u << bit);

        assert_int_equal(text[0] != '\0', (all >> bit & 1) != 0);
        assert_true(text[0] == '\0' || text[strlen(text) - 1] != '.');
        for (int other = 0; other < bit; other++) {
            const char *before = etwas_clock_reason_text(1u << other);

            assert_true(text[0] == '\0' || strcmp(text, before) != 0);
        }
    }
    assert_string_equal(etwas_clock_reason_text(0), "");
    assert_string_equal(etwas_clock_reason_text(3), "");
    assert_string_equal(etwas_clock_reason_text(UINT32_MAX), "");
}

static void only_what_speaks_against_the_counter_lowers_the_verdict(void **state)
{
    (void)state;
    for (uint32_t reasons = 0; reasons <= 0xffff; reasons++) {
        bool unusable = (reasons & (NOT_INVARIANT | DROPPED | NO_COUNTER)) != 0;
        bool moved = (reasons & GUEST) != 0 && (reasons & USES) == 0;
        bool doubtful =
            moved || (reasons & (EMULATED | WRONG | BACKWARDS | ETWAS_CLOCK_REASON_APART)) != 0;

        assert_int_equal(etwas_clock_trust_verdict(reasons), unusable   ? UNUSABLE
                                                             : doubtful ? DOUBTFUL
                                                                        : TRUSTED);
    }
}

static void this_machine_is_judged_once_and_by_what_it_says(void **state)
{
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    etwas_clock_trust trust;
    etwas_clock_trust again;
    char line[64] = "";

    (void)state;
    assert_int_equal(etwas_clock_query_trust(NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_clock_query_trust(&trust), ERROR_SUCCESS);
    assert_int_equal(etwas_clock_query_trust(&again), ERROR_SUCCESS);
    assert_memory_equal(&trust, &again, sizeof trust);
    assert_int_equal(trust.verdict, etwas_clock_trust_verdict(trust.reasons));
    assert_int_equal(trust.verdict != UNUSABLE, etwas_clock_tsc_trusted());
    assert_int_equal((trust.reasons & INVARIANT) == 0, (trust.reasons & NOT_INVARIANT) != 0);
    assert_int_equal(trust.stated_hz != 0, (trust.reasons & STATED) != 0);
    if (trust.verdict != UNUSABLE) {
        assert_true(trust.frequency_hz == etwas_clock_frequency(ETWAS_CLOCK_TSC));
        assert_true(trust.frequency_hz > 0 && trust.frequency_error_ppb > 0);
    }
    if (file != NULL) {
        assert_non_null(fgets(line, sizeof line, file));
        line[strcspn(line, "\n")] = '\0';
        (void)fclose(file);
    }
    assert_string_equal(trust.clocksource, line);
    print_message("verdict %u, reasons %#x, %llu Hz within %u ppb, stated %llu Hz by %u, %s, %s\n",
                  trust.verdict, trust.reasons, (unsigned long long)trust.frequency_hz,
                  trust.frequency_error_ppb, (unsigned long long)trust.stated_hz, trust.stated_by,
                  trust.clocksource, trust.hypervisor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_gets_its_verdict_for_its_reasons),
        FOLDER_TEST(r153_a_session_gets_the_counter_or_system_time_as_the_verdict_says),
        cmocka_unit_test(the_bound_of_the_frequency_holds_on_every_machine),
        cmocka_unit_test(interrupted_readings_do_not_make_the_frequency_less_known),
        cmocka_unit_test(a_suspend_while_it_is_calibrated_is_noticed_and_it_is_calibrated_again),
        cmocka_unit_test(a_counter_that_jumps_each_time_is_known_as_well_as_it_jumps),
        cmocka_unit_test(a_counter_may_begin_anywhere),
        cmocka_unit_test(a_kernels_clock_of_coarse_steps_makes_the_bound_as_wide),
        cmocka_unit_test(a_counter_of_coarse_steps_makes_the_bound_as_wide),
        cmocka_unit_test(names_of_clock_sources_that_do_not_fit_are_left_out_whole),
        cmocka_unit_test(each_reason_has_a_sentence_of_its_own_and_nothing_else_has_one),
        cmocka_unit_test(only_what_speaks_against_the_counter_lowers_the_verdict),
        cmocka_unit_test(this_machine_is_judged_once_and_by_what_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
