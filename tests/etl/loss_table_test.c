/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Losses over time in little room: they become coarser, and none is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etl/loss_table.h"

enum {
    JOINED = 100,
};

static struct etwas_loss_table table;

static int setup(void **state)
{
    (void)state;
    etwas_loss_table_begin(&table, JOINED);
    return 0;
}

static void add_from(int64_t from, int64_t until, uint32_t cause, uint32_t processor,
                     uint64_t events)
{
    etwas_loss_table_add(&table, &(struct etwas_etl_loss){.version = ETWAS_ETL_LOSS_VERSION,
                                                          .cause = cause,
                                                          .processor = processor,
                                                          .events = events,
                                                          .from_raw = from,
                                                          .until_raw = until});
}

static uint64_t events_of(uint32_t cause, uint32_t processor)
{
    uint64_t events = 0;

    for (uint32_t index = 0; index < table.count; index++) {
        const struct etwas_etl_loss *loss = &table.losses[index];

        events += loss->cause == cause && loss->processor == processor ? loss->events : 0;
    }
    return events;
}

static void expect_interval(uint32_t index, int64_t from, int64_t until)
{
    assert_int_equal(table.losses[index].from_raw, from);
    assert_int_equal(table.losses[index].until_raw, until);
}

static void what_follows_at_once_is_of_the_same_interval(void **state)
{
    (void)state;
    add_from(1000, 1010, ETWAS_LOST_NO_BUFFER, 0, 1);
    add_from(1010, 1099, ETWAS_LOST_NO_BUFFER, 1, 2);
    add_from(1010, 1099, ETWAS_LOST_NO_BUFFER, 0, 4);
    assert_int_equal(table.count, 2);
    expect_interval(0, 1000, 1099);
    expect_interval(1, 1000, 1099);
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 0), 5);
    add_from(1099, 1100, ETWAS_LOST_NO_BUFFER, 0, 8);
    assert_int_equal(table.count, 3);
    expect_interval(2, 1099, 1100);
}

/* However long it is, a look has one interval. */
static void what_one_look_found_is_together(void **state)
{
    (void)state;
    add_from(0, 5000, ETWAS_LOST_NO_BUFFER, 0, 1);
    add_from(0, 5000, ETWAS_LOST_NO_BUFFER, 1, 1);
    add_from(0, 5000, ETWAS_LOST_WRITE_ERROR, ETWAS_LOST_ANYWHERE, 1);
    assert_int_equal(table.count, 3);
    for (uint32_t index = 0; index < 3; index++) {
        expect_interval(index, 0, 5000);
    }
}

static void bursts_stay_apart_when_room_is_made(void **state)
{
    (void)state;
    etwas_loss_table_limit(&table, 8);
    for (int64_t burst = 0; burst < 4; burst++) {
        for (int64_t look = 0; look < 50; look++) {
            int64_t from = burst * 1000000 + look * JOINED;

            add_from(from, from + JOINED, ETWAS_LOST_NO_BUFFER, 0, 1);
            add_from(from, from + JOINED, ETWAS_LOST_NO_BUFFER, 1, 2);
        }
    }
    assert_int_equal(table.count, 8);
    for (int64_t burst = 0; burst < 4; burst++) {
        expect_interval((uint32_t)burst * 2, burst * 1000000, burst * 1000000 + 50 * JOINED);
    }
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 0), 200);
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 1), 400);
}

static void with_more_processors_than_room_they_become_one(void **state)
{
    uint64_t lost = 0;

    (void)state;
    etwas_loss_table_limit(&table, ETWAS_LOSSES_LEAST);
    for (int64_t look = 0; look < 10; look++) {
        for (uint32_t processor = 0; processor < 100; processor++) {
            add_from(look * JOINED, (look + 1) * JOINED, 1 + processor % ETWAS_LOST_CAUSES,
                     processor, processor + 1);
            lost += processor + 1;
            assert_true(table.count <= ETWAS_LOSSES_LEAST);
        }
    }
    for (uint32_t index = 0; index < table.count; index++) {
        lost -= table.losses[index].events;
    }
    assert_int_equal(lost, 0);
    expect_interval(0, 0, 10 * JOINED);
}

static void the_largest_table_is_kept_and_can_be_made_smaller(void **state)
{
    uint64_t lost = 0;

    (void)state;
    for (int64_t look = 0; look < 3 * ETWAS_LOSSES; look++) {
        add_from(look * JOINED, (look + 1) * JOINED, ETWAS_LOST_NO_BUFFER, 3, 7);
        lost += 7;
    }
    assert_int_equal(table.count, ETWAS_LOSSES);
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 3), lost);
    etwas_loss_table_limit(&table, 10);
    assert_int_equal(table.count, 10);
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 3), lost);
    for (uint32_t index = 1; index < table.count; index++) {
        assert_int_equal(table.losses[index].from_raw, table.losses[index - 1].until_raw);
    }
}

/* System time goes where it is set to. */
static void a_clock_that_is_set_back_loses_nothing(void **state)
{
    (void)state;
    etwas_loss_table_limit(&table, ETWAS_LOSSES_LEAST);
    for (int64_t look = 0; look < 50; look++) {
        int64_t from = look % 2 == 0 ? 100000 + look * JOINED : look * JOINED;

        add_from(from, from + JOINED, ETWAS_LOST_NO_BUFFER, 0, 1);
    }
    assert_int_equal(events_of(ETWAS_LOST_NO_BUFFER, 0), 50);
    for (uint32_t index = 0; index < table.count; index++) {
        assert_true(table.losses[index].from_raw <= table.losses[index].until_raw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_follows_at_once_is_of_the_same_interval, setup),
        cmocka_unit_test_setup(what_one_look_found_is_together, setup),
        cmocka_unit_test_setup(bursts_stay_apart_when_room_is_made, setup),
        cmocka_unit_test_setup(with_more_processors_than_room_they_become_one, setup),
        cmocka_unit_test_setup(the_largest_table_is_kept_and_can_be_made_smaller, setup),
        cmocka_unit_test_setup(a_clock_that_is_set_back_loses_nothing, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
