/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Conversion of stamps at the ends of the range, against long arithmetic by 32-bit parts: 25 hours,
 * where 64 bits end at 10 MHz, and 10 years (R151, R158).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etl/clock_convert.h"

#define TEN_YEAR_SECONDS (INT64_C(3653) * 86400)
#define START INT64_C(133500000000000000) /* a day in 2024 */

/* A number of any length, its least significant part first. */
enum {
    PARTS = 8
};

struct long_number {
    uint32_t parts[PARTS];
};

static struct long_number long_product(uint64_t a, uint64_t b)
{
    const uint32_t factors[2][2] = {{(uint32_t)a, (uint32_t)(a >> 32)},
                                    {(uint32_t)b, (uint32_t)(b >> 32)}};
    struct long_number product = {{0}};

    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;

        for (int j = 0; j < 2; j++) {
            carry += (uint64_t)factors[0][i] * factors[1][j] + product.parts[i + j];
            product.parts[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product.parts[i + 2] = (uint32_t)carry;
    }
    return product;
}

/* Bit by bit, as by hand; `up` rounds away from zero. The quotient must fit in 64 bits. */
static uint64_t long_quotient(const struct long_number *number, uint64_t divisor, bool up)
{
    uint64_t quotient = 0;
    uint64_t rest = 0;

    for (int bit = PARTS * 32 - 1; bit >= 0; bit--) {
        bool carry = rest >> 63 != 0;

        rest = rest << 1 | (number->parts[bit / 32] >> bit % 32 & 1);
        assert_true(quotient >> 63 == 0);
        quotient <<= 1;
        if (carry || rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    return quotient + (up && rest != 0 ? 1 : 0);
}

/* Units of 100 ns in `ticks` of hz × seconds: ticks × 10,000,000 / hz, rounded downwards. */
static int64_t expected_units(int64_t ticks, uint64_t hz)
{
    bool negative = ticks < 0;
    struct long_number product = long_product(negative ? 0 - (uint64_t)ticks : (uint64_t)ticks,
                                              ETWAS_ETL_FILETIME_PER_SECOND);
    int64_t units = (int64_t)long_quotient(&product, hz, negative);

    return negative ? -units : units;
}

/* Around 25 hours and 10 years, on both sides of the anchor, wherever that is. */
static void expect_long_arithmetic(struct etwas_etl_clock clock, uint64_t hz)
{
    const int64_t seconds[] = {0, 1, 25 * 3600, TEN_YEAR_SECONDS};
    const int64_t anchors[] = {0, INT64_C(-7777777777777777), INT64_C(4611686018427387904)};

    clock.anchor_filetime = START;
    for (size_t s = 0; s < sizeof seconds / sizeof seconds[0]; s++) {
        for (int64_t odd = -1000; odd <= 1000; odd++) {
            int64_t ticks = seconds[s] * (int64_t)hz + odd;

            for (size_t a = 0; a < sizeof anchors / sizeof anchors[0]; a++) {
                clock.anchor_raw = anchors[a];
                assert_int_equal(etwas_etl_clock_to_filetime(&clock, anchors[a] + ticks),
                                 START + expected_units(ticks, hz));
                assert_int_equal(etwas_etl_clock_to_filetime(&clock, anchors[a] - ticks),
                                 START + expected_units(-ticks, hz));
            }
        }
    }
}

static void r151_r158_25_hours_and_10_years_are_exact_to_the_tick_at_every_speed(void **state)
{
    const uint64_t speeds_hz[] = {10000000, 1000000000, 3000000000, 5200000000};

    (void)state;
    for (size_t i = 0; i < sizeof speeds_hz / sizeof speeds_hz[0]; i++) {
        uint64_t hz = speeds_hz[i];
        struct etwas_etl_clock clock = {0};

        assert_true(etwas_etl_clock_from_header(&clock, ETWAS_ETL_CLOCK_PERFORMANCE, (int64_t)hz, 1,
                                                0, START));
        expect_long_arithmetic(clock, hz);
        assert_true(etwas_etl_clock_from_header(&clock, ETWAS_ETL_CLOCK_CYCLES, 1,
                                                (uint32_t)(hz / 1000000), 0, START));
        expect_long_arithmetic(clock, hz);
        /*
         * As a calibration says it, in ticks of so many nanoseconds; one Hz more has no divisors.
         */
        etwas_etl_clock_set_ratio(&clock, 1000000000, hz * 100);
        expect_long_arithmetic(clock, hz);
        etwas_etl_clock_set_ratio(&clock, 1000000000, (hz + 1) * 100);
        expect_long_arithmetic(clock, hz + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r151_r158_25_hours_and_10_years_are_exact_to_the_tick_at_every_speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
