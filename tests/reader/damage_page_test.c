/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Kinds of damage that docs/reference/damage.md describes and no other test covers, also damage
 * that cannot be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <etwas/winerror.h>

#include "damage.h"

enum {
    RECORD_BYTES = 56,
    FOREIGN = 1000, /* what the numbers of another file begin behind */
};

static uint8_t *record_of(uint32_t buffer, uint32_t record)
{
    return builder.bytes + (size_t)buffer * B + ETWAS_ETL_BUFFER_HEADER_BYTES +
           (size_t)record * RECORD_BYTES;
}

static void zeroes_inside_a_buffer_cost_the_rest_of_it(void **state)
{
    (void)state;
    memset(record_of(3, 7), 0, (size_t)(builder.bytes + 4 * B - record_of(3, 7)));
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_RECORD, (uint64_t)(record_of(3, 7) - builder.bytes),
                      3 * RECORD_BYTES);
    assert_all_but(28, 30);
}

static void a_file_whose_first_page_is_zeroes_is_refused(void **state)
{
    (void)state;
    memset(builder.bytes, 0, B);
    read_damaged();
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.event_count, 0);
}

static void buffers_out_of_order_are_put_in_order(void **state)
{
    uint8_t second[B];

    (void)state;
    memcpy(second, builder.bytes + 2 * B, B);
    memcpy(builder.bytes + 2 * B, builder.bytes + 5 * B, B);
    memcpy(builder.bytes + 5 * B, second, B);
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(1, 0);
}

/* The buffers of a file like this one, whose events have other numbers. */
static void put_foreign(uint32_t from, uint32_t to)
{
    struct builder own = builder;
    void *ignored = NULL;
    uint8_t foreign[B];

    (void)damage_begin(&ignored);
    for (uint32_t record = 0; record < EVENTS_IN_BUFFER; record++) {
        uint32_t number;

        memcpy(&number, record_of(from, record) + 48, sizeof number);
        number += FOREIGN;
        memcpy(record_of(from, record) + 48, &number, sizeof number);
    }
    memcpy(foreign, builder.bytes + (size_t)from * B, B);
    builder_free(&builder);
    builder = own;
    memcpy(builder.bytes + (size_t)to * B, foreign, B);
}

static uint32_t foreign_events(void)
{
    uint32_t count = 0;

    for (size_t i = 0; i < collected.event_count; i++) {
        count += collected.events[i].number > FOREIGN &&
                 collected.events[i].number <= FOREIGN + BUFFERS * EVENTS_IN_BUFFER;
    }
    return count;
}

/* Nothing in a buffer says of which file it is, but its number. */
static void a_foreign_buffer_shows_by_its_number_alone(void **state)
{
    (void)state;
    put_foreign(3, 3);
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(foreign_events(), EVENTS_IN_BUFFER);
    assert_int_equal(collected.event_count, 1 + BUFFERS * EVENTS_IN_BUFFER);

    put_foreign(5, 3);
    read_damaged();
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_true(damages_of(ETWAS_DAMAGE_SEQUENCE) > 0);
    assert_int_equal(damages_of(ETWAS_DAMAGE_SEQUENCE), collected.damage_count);
    assert_int_equal(foreign_events(), EVENTS_IN_BUFFER);
    assert_int_equal(collected.event_count, 1 + BUFFERS * EVENTS_IN_BUFFER);
}

/* Then the buffer has fewer records; the counts show that there were more. */
static void ends_that_agree_and_are_too_early_hide_what_is_behind(void **state)
{
    (void)state;
    builder_header(&builder, 3)->offset -= 2 * RECORD_BYTES;
    builder_header(&builder, 3)->saved_offset -= 2 * RECORD_BYTES;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(29, 30);
}

static void bits_flipped_in_a_payload_are_delivered(void **state)
{
    (void)state;
    *(record_of(3, 7) + 48) ^= 0xFF;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 1 + BUFFERS * EVENTS_IN_BUFFER);
    assert_int_equal(collected.events[1 + 27].number, 28 ^ 0xFF);
}

/* What the file says of itself is told as it says it. */
static void counts_and_names_of_the_header_are_believed(void **state)
{
    (void)state;
    builder_log_header(&builder)->events_lost = 4711;
    builder_log_header(&builder)->maximum_file_size = 1;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.information.lost_events, 4711);
    assert_all_but(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAMAGE_TEST(zeroes_inside_a_buffer_cost_the_rest_of_it),
        DAMAGE_TEST(a_file_whose_first_page_is_zeroes_is_refused),
        DAMAGE_TEST(buffers_out_of_order_are_put_in_order),
        DAMAGE_TEST(a_foreign_buffer_shows_by_its_number_alone),
        DAMAGE_TEST(ends_that_agree_and_are_too_early_hide_what_is_behind),
        DAMAGE_TEST(bits_flipped_in_a_payload_are_delivered),
        DAMAGE_TEST(counts_and_names_of_the_header_are_believed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
