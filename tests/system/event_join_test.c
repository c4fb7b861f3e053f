/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is remembered between two events: it is found by both numbers, and bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/stream/event_join.h"

enum {
    MANY = 8 * ETWAS_EVENT_JOIN_SETS * ETWAS_EVENT_JOIN_WAYS
};

static void it_is_found_by_both_numbers(void **state)
{
    struct etwas_event_join *join = etwas_event_join_make(sizeof(uint32_t));

    (void)state;
    assert_non_null(join);
    assert_null(etwas_event_join_find(join, 0, 0));
    *(uint32_t *)etwas_event_join_insert(join, 0, 0) = 1;
    *(uint32_t *)etwas_event_join_insert(join, 0, 1) = 2;
    *(uint32_t *)etwas_event_join_insert(join, 1, 0) = 3;
    assert_int_equal(*(uint32_t *)etwas_event_join_find(join, 0, 0), 1);
    assert_int_equal(*(uint32_t *)etwas_event_join_find(join, 0, 1), 2);
    assert_int_equal(*(uint32_t *)etwas_event_join_find(join, 1, 0), 3);
    assert_int_equal(*(uint32_t *)etwas_event_join_insert(join, 0, 1), 0);
    etwas_event_join_remove(join, 0, 1);
    etwas_event_join_remove(join, 7, 7);
    assert_null(etwas_event_join_find(join, 0, 1));
    assert_non_null(etwas_event_join_find(join, 1, 0));
    etwas_event_join_clear(join);
    assert_null(etwas_event_join_find(join, 0, 0));
    assert_null(etwas_event_join_find(join, 1, 0));
    *(uint32_t *)etwas_event_join_insert(join, 0, 0) = 4;
    assert_int_equal(*(uint32_t *)etwas_event_join_find(join, 0, 0), 4);
    etwas_event_join_free(join);
}

/* The newest is always there, and never more than there is room for; none is another's. */
static void the_oldest_gives_way(void **state)
{
    struct etwas_event_join *join = etwas_event_join_make(sizeof(uint64_t));
    uint32_t known = 0;

    (void)state;
    assert_non_null(join);
    for (uint64_t number = 0; number < MANY; number++) {
        *(uint64_t *)etwas_event_join_insert(join, number * 64, number) = number;
        assert_int_equal(*(uint64_t *)etwas_event_join_find(join, number * 64, number), number);
    }
    for (uint64_t number = 0; number < MANY; number++) {
        const uint64_t *found = etwas_event_join_find(join, number * 64, number);

        assert_true(found == NULL || *found == number);
        known += found != NULL;
    }
    assert_in_range(known, ETWAS_EVENT_JOIN_SETS * ETWAS_EVENT_JOIN_WAYS / 2,
                    ETWAS_EVENT_JOIN_SETS * ETWAS_EVENT_JOIN_WAYS);
    etwas_event_join_free(join);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_both_numbers),
        cmocka_unit_test(the_oldest_gives_way),
    };

    return cmocka_run_group_tests_name("system join", tests, NULL, NULL);
}
