/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How long `etwas ship` waits for a server from one attempt to the next.
 */

#include "ship/wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t doubled(uint32_t times)
{
    uint32_t ms = 100;

    for (uint32_t i = 0; i < times && ms < 30000; i++) {
        ms *= 2;
    }
    return ms < 30000 ? ms : 30000;
}

static void waits_double_to_half_a_minute_and_differ_by_half(void **state)
{
    (void)state;
    for (uint32_t chance = 0; chance < 100000; chance += 7) {
        struct etwas_ship_wait wait = {0};

        for (uint32_t i = 0; i < 12; i++) {
            uint32_t ms = etwas_ship_wait_next_ms(&wait, chance * 2654435761u);

            assert_in_range(ms, doubled(i) / 2, doubled(i) + doubled(i) / 2);
        }
    }
}

static void chance_reaches_both_ends(void **state)
{
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;

    (void)state;
    for (uint32_t chance = 0; chance < 1000; chance++) {
        struct etwas_ship_wait wait = {0};
        uint32_t ms = etwas_ship_wait_next_ms(&wait, chance);

        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_int_equal(least, 50);
    assert_int_equal(most, 150);
}

static void a_wait_without_end_does_not_grow_for_ever(void **state)
{
    struct etwas_ship_wait wait = {.count = UINT32_MAX - 2};

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_in_range(etwas_ship_wait_next_ms(&wait, UINT32_MAX), 50, 45000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_to_half_a_minute_and_differ_by_half),
        cmocka_unit_test(chance_reaches_both_ends),
        cmocka_unit_test(a_wait_without_end_does_not_grow_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
