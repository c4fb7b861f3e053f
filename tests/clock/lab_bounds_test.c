/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What made-up rounds of ping-pong and made-up handovers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/clocks.h>
#include <stdbool.h>
#include <stdlib.h>

#include <math.h>

#include "clock/lab/bounds.h"
#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"

static bool near_to(double value, double wanted)
{
    double apart = value - wanted;

    return apart < 1e-6 && apart > -1e-6;
}

static etwas_clock_offset offset_of(const struct etwas_lab_round *rounds, size_t count,
                                    double tick_ns)
{
    struct etwas_lab_bounds bounds = {0};
    etwas_clock_offset offset = {0};

    for (size_t index = 0; index < count; index++) {
        etwas_lab_bounds_add(&bounds, &rounds[index]);
    }
    if (bounds.rounds != 0) {
        etwas_lab_bounds_report(&bounds, tick_ns, 1, &offset);
    }
    return offset;
}

static void a_round_says_the_middle_and_half_of_its_trip_and_a_step(void **state)
{
    static const struct {
        struct etwas_lab_round round;
        double tick_ns;
        double offset_ns;
        double bound_ns;
    } rows[] = {
        {{1000, 2050, 1100}, 1, 1000, 51},
        {{1000, 50, 1100}, 1, -1000, 51},
        {{1000, 1000, 1000}, 1, 0, 1}, /* a clock of large steps: it stood still */
        {{1000, 1001, 1003}, 100, -50, 250},
        {{-50, 5, 51}, 0.5, 2.25, 25.75},
        /* A counter whose highest bit is set looks negative. */
        {{INT64_MIN, INT64_MIN + 30, INT64_MIN + 40}, 1, 10, 21},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        etwas_clock_offset offset = offset_of(&rows[index].round, 1, rows[index].tick_ns);

        assert_int_equal(offset.rounds, 1);
        assert_true(near_to(offset.offset_ns, rows[index].offset_ns));
        assert_true(near_to(offset.bound_ns, rows[index].bound_ns));
    }
}

static void rounds_together_say_more_than_the_fastest(void **state)
{
    const struct etwas_lab_round rounds[] = {
        {0, 1090, 100},     /* 990 to 1,090 */
        {500, 1510, 620},   /* 890 to 1,010 */
        {900, 2000, 5000},  /* −3,000 to 1,100: interrupted, and still true */
        {7000, 5000, 6000}, /* near's clock ran backwards: nothing */
    };
    etwas_clock_offset offset = offset_of(rounds, 4, 1);

    (void)state;
    assert_int_equal(offset.rounds, 3);
    assert_true(near_to(offset.offset_ns, 1000));
    assert_true(near_to(offset.bound_ns, 11));
}

static void an_offset_that_moves_gets_a_bound_that_holds_all_it_was(void **state)
{
    const struct etwas_lab_round rounds[] = {
        {0, 1005, 10},      /* 995 to 1,005 */
        {1000, 1510, 1012}, /* 498 to 510 */
        {2000, 2000, 3000}, /* −1,000 to 0 */
        {5000, 6010, 5020}, /* 990 to 1,010 */
    };
    etwas_clock_offset offset = offset_of(rounds, 4, 1);

    (void)state;
    assert_true(near_to(offset.offset_ns, 1000));
    assert_true(offset.offset_ns - offset.bound_ns <= 0);
    assert_true(offset.offset_ns + offset.bound_ns >= 1005);
}

/* ---- two processors that are made up --------------------------------------------------------- */

static double uniform(unsigned short *seed)
{
    return erand48(seed);
}

/* Mostly quick, at times interrupted. */
static double delay_ns(unsigned short *seed)
{
    double quick = 30 + 60 * uniform(seed);

    return uniform(seed) < 0.02 ? quick + 1e6 * uniform(seed) : quick;
}

/* Never negative here, so this rounds down. */
static int64_t ticks_at(double time_ns, double tick_ns, int64_t quantum)
{
    return (int64_t)(time_ns / (tick_ns * (double)quantum)) * quantum;
}

static void a_made_up_offset_is_within_the_bound_always(void **state)
{
    enum {
        CASES = 1000,
        ROUNDS = 50
    };
    static const double ticks_ns[] = {1, 1.0 / 3, 100, 41.7};
    static const int64_t quanta[] = {1, 26, 1, 2};
    static const double offsets_ns[] = {1000, 0, 0.4, 123456.7};

    (void)state;
    for (unsigned index = 0; index < CASES; index++) {
        unsigned short seed[3] = {(unsigned short)index, 7, 9};
        double tick_ns = ticks_ns[index % 4];
        int64_t quantum = quanta[index % 4];
        double true_ns = offsets_ns[index / 4 % 4];
        double time_ns = 1e6 * uniform(seed);
        double fastest_ns = 1e9;
        struct etwas_lab_bounds bounds = {0};
        etwas_clock_offset offset = {0};

        for (int round = 0; round < ROUNDS; round++) {
            double there_ns = delay_ns(seed);
            double back_ns = delay_ns(seed);
            struct etwas_lab_round played = {
                .sent = ticks_at(time_ns, tick_ns, quantum),
                .answered = ticks_at(time_ns + there_ns + true_ns, tick_ns, quantum),
                .received = ticks_at(time_ns + there_ns + back_ns, tick_ns, quantum),
            };

            fastest_ns = there_ns + back_ns < fastest_ns ? there_ns + back_ns : fastest_ns;
            time_ns += there_ns + back_ns + 10;
            etwas_lab_bounds_add(&bounds, &played);
        }
        etwas_lab_bounds_report(&bounds, tick_ns, (double)quantum, &offset);
        if (offset.offset_ns - offset.bound_ns > true_ns ||
            offset.offset_ns + offset.bound_ns < true_ns) {
            fail_msg("case %u: %f is not %f within %f", index, true_ns, offset.offset_ns,
                     offset.bound_ns);
        }
        assert_true(offset.bound_ns > 0);
        assert_true(offset.bound_ns <= fastest_ns / 2 + 2 * tick_ns * (double)quantum);
    }
}

/* ---- handovers ------------------------------------------------------------------------------- */

static void each_later_stamp_that_is_smaller_is_counted(void **state)
{
    static const int64_t stamps[][2] = {
        {10, 11}, {10, 10}, {10, 9}, {100, 58}, {-5, -6}, {-5, -5}, {INT64_MIN, INT64_MAX}, {5, 4},
    };
    struct etwas_lab_handovers handovers = {0};
    etwas_clock_offset offset = {0};

    (void)state;
    for (size_t index = 0; index < sizeof stamps / sizeof stamps[0]; index++) {
        etwas_lab_handover_add(&handovers, stamps[index][0], stamps[index][1]);
    }
    etwas_lab_handover_report(&handovers, 0.5, &offset);
    assert_int_equal(offset.handovers, 8);
    assert_int_equal(offset.smaller, 4);
    assert_true(near_to(offset.worst_ns, 21));

    etwas_lab_handover_add(&handovers, INT64_MAX, INT64_MIN);
    assert_int_equal(handovers.smaller, 5);
    assert_true(handovers.worst == UINT64_MAX);
}

/* ---- quanta ---------------------------------------------------------------------------------- */

static const int64_t *script; /* steps, again and again */
static size_t script_length;
static size_t script_place;
static int64_t script_stamp;

static int64_t read_script(void)
{
    script_stamp += script[script_place % script_length];
    script_place++;
    return script_stamp;
}

static void a_quantum_is_what_nearly_all_steps_have_in_common(void **state)
{
    static const int64_t many_ticks[] = {26, 52, 26, 78, 0, 26, 52};
    static const int64_t single_ticks[] = {20, 31, 37, 44, 20, 51, 25};
    static const int64_t even_ticks[] = {20, 30, 38, 44, 26, 50, 62, 6};
    static const int64_t backwards[] = {100, -300, 700};
    static const int64_t whole[] = {1};
    static const int64_t never[] = {0};
    /* One odd step in 301; one step in 90 readings. */
    static int64_t odd[301];
    static int64_t coarse[90];
    const struct {
        const int64_t *steps;
        size_t length;
        double quantum;
    } rows[] = {{many_ticks, 7, 26}, {single_ticks, 7, 1}, {even_ticks, 8, 2}, {backwards, 3, 100},
                {whole, 1, 1},       {never, 1, 1},        {odd, 301, 26},     {coarse, 90, 1}};

    (void)state;
    for (size_t index = 0; index < 301; index++) {
        odd[index] = index == 250 ? 41 : (int64_t)(index % 3 + 1) * 26;
    }
    coarse[40] = 4000000;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        script = rows[row].steps;
        script_length = rows[row].length;
        script_place = 0;
        script_stamp = -1000;
        assert_true(near_to(etwas_lab_quantum(read_script), rows[row].quantum));
    }
}

/* As a hypervisor makes it that scales the counter, and as a clock of whole nanoseconds does. */
static void a_quantum_that_is_no_whole_number_of_ticks_is_found(void **state)
{
    static const double quanta[] = {24.45406, 10.014, 69.841, 8.3, 10.014, 24.45406};

    (void)state;
    for (size_t index = 0; index < sizeof quanta / sizeof quanta[0]; index++) {
        uint64_t steps[500];
        uint32_t fewest = index % 2 == 0 ? 1 : 50; /* a reading takes so many at least */
        double stood = 0.3;
        double found;

        for (uint32_t step = 0; step < 500; step++) {
            double next = stood + quanta[index] * (step % 5 == 0 ? fewest : fewest + step * 7 % 4);

            steps[step] = (uint64_t)next - (uint64_t)stood;
            stood = next;
        }
        steps[333] = 57; /* on the way to another processor */
        found = etwas_lab_quantum_of(steps, 500);
        assert_true(fabs(found - quanta[index]) < 0.02);
    }
}

static void a_counter_that_does_move_by_a_tick_has_no_larger_quantum(void **state)
{
    uint64_t steps[500];
    uint64_t chance = 1;

    (void)state;
    for (uint32_t from = 10; from < 2000; from = from * 3 / 2) {
        for (uint32_t step = 0; step < 500; step++) {
            chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            steps[step] = from + (chance >> 33) % from;
        }
        assert_true(near_to(etwas_lab_quantum_of(steps, 500), 1));
    }
}

static void of_few_steps_no_quantum_is_reported(void **state)
{
    uint64_t steps[ETWAS_LAB_QUANTUM_STEPS];

    (void)state;
    for (uint32_t step = 0; step < ETWAS_LAB_QUANTUM_STEPS; step++) {
        steps[step] = 4000000 + step % 7; /* slewed */
    }
    assert_true(near_to(etwas_lab_quantum_of(steps, ETWAS_LAB_QUANTUM_STEPS - 1), 0));
    assert_true(near_to(etwas_lab_quantum_of(steps, 0), 0));
    assert_true(fabs(etwas_lab_quantum_of(steps, ETWAS_LAB_QUANTUM_STEPS) - 4000003) < 4);
}

static void pairs_are_counted_once_each(void **state)
{
    (void)state;
    assert_int_equal(etwas_lab_pair_count(0), 0);
    assert_int_equal(etwas_lab_pair_count(1), 0);
    assert_int_equal(etwas_lab_pair_count(2), 1);
    assert_int_equal(etwas_lab_pair_count(64), 2016);
    assert_true(etwas_lab_pair_count(UINT32_MAX) == UINT64_C(9223372030412324865));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_says_the_middle_and_half_of_its_trip_and_a_step),
        cmocka_unit_test(rounds_together_say_more_than_the_fastest),
        cmocka_unit_test(an_offset_that_moves_gets_a_bound_that_holds_all_it_was),
        cmocka_unit_test(a_made_up_offset_is_within_the_bound_always),
        cmocka_unit_test(each_later_stamp_that_is_smaller_is_counted),
        cmocka_unit_test(a_quantum_is_what_nearly_all_steps_have_in_common),
        cmocka_unit_test(a_quantum_that_is_no_whole_number_of_ticks_is_found),
        cmocka_unit_test(a_counter_that_does_move_by_a_tick_has_no_larger_quantum),
        cmocka_unit_test(of_few_steps_no_quantum_is_reported),
        cmocka_unit_test(pairs_are_counted_once_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
