/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Damage of a record: it costs itself, and without a size to trust the rest of its buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "damage.h"
#include "etl/own_record.h"

static void an_end_past_the_records_is_damage(void **state)
{
    (void)state;
    builder_header(&builder, 3)->offset += 16;
    builder_header(&builder, 3)->saved_offset += 16;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_RECORD, 3 * B + 72 + 560, 16);
    assert_all_but(1, 0);
}

static void stamps_that_go_back_are_named_once_and_delivered(void **state)
{
    struct etwas_etl_full_header *record;

    (void)state;
    for (size_t i = 4; i <= 6; i += 2) {
        record = (struct etwas_etl_full_header *)(void *)(builder.bytes + 3 * B + 72 + i * 56);
        record->time_stamp -= 1000;
    }
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_TIME_ORDER, 3 * B + 72 + 4 * 56, 0);
    assert_all_but(1, 0);
}

/* The rest of the buffer cannot be found behind a record whose size cannot be trusted. */
static void a_record_with_a_bad_marker_or_size_costs_the_rest_of_its_buffer(void **state)
{
    static const uint32_t markers[] = {
        0,          /* 0 is damage */
        0xFFFFFFFF, /* the end, too early */
        0xC0142222, /* longer than the buffer has left */
        0xC0140000, /* a size of 0 */
        0xC014002F, /* smaller than its header */
        0xC0990034, /* no such type */
        0xC00F0034, /* a message never has this marker */
        0x90000007, /* a message smaller than its header */
        0xB0000004, /* the obsolete form, smaller than a marker */
        0x00000010, /* a size instead of a marker, too small */
        0x7FFFFFFF, /* a size instead of a marker, too large */
        0xA0000034, /* nothing known */
    };

    (void)state;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        memcpy(builder.bytes + 3 * B + 72 + 4 * 56, &markers[i], 4);
        read_damaged();
        assert_one_damage(ETWAS_DAMAGE_RECORD, 3 * B + 72 + 4 * 56, 6 * 56);
        assert_all_but(25, 30);
    }
}

/* Where the size can be trusted, a record that cannot be shown costs only itself. */
static void a_record_that_contradicts_itself_costs_only_itself(void **state)
{
    static const uint32_t records[][4] = {
        {0xC00C0034, 0, 0, 0},          /* TIMED */
        {0xC00D0034, 0, 0, 0},          /* ERROR */
        {0xC00E0034, 0, 0, 0},          /* WNODE */
        {0xB0000034, 0, 0, 0},          /* the obsolete short form */
        {0x00000034, 0, 0, 0},          /* a WNODE: size alone */
        {0xC0118702, 0x0F2E0034, 0, 0}, /* PERFINFO, 64 bytes of counters in 52 */
        {0x90000034, 0x00FF0001, 0, 0}, /* fits: see below */
    };
    uint8_t *place = builder.bytes + 3 * B + 72 + 4 * 56;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        memcpy(place, records[i], sizeof records[i]);
        read_damaged();
        assert_one_damage(ETWAS_DAMAGE_RECORD, 3 * B + 72 + 4 * 56, 52);
        assert_all_but(25, 25);
    }
    memcpy(place, records[6], sizeof records[6]);
    read_damaged();
    assert_int_equal(collected.event_count, 51);
}

/* Extended items: lengths that do not fit, chains that do not end, more than there can be. */
static void extended_items_that_lie_cost_only_their_record(void **state)
{
    struct builder_options options = builder_defaults();
    static const struct etwas_etl_extended_item items[] = {
        {0, 1, 1, 0},      /* no size: would never end */
        {4, 1, 0, 0},      /* smaller than itself */
        {12, 1, 0, 0},     /* not a multiple of 8 */
        {8, 1, 0, 1},      /* data longer than the item */
        {2000, 1, 0, 16},  /* past the record */
        {24, 1, 0, 65535}, /* data past the record */
        {8, 1, 1, 0},      /* more follow, to the end of the record and on */
    };

    (void)state;
    options.compressed = false;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        struct etwas_etl_event_header header = {
            .size = sizeof header + 1024,
            .header_type = ETWAS_ETL_EVENT_HEADER64,
            .marker_flags = ETWAS_ETL_MARKER_FLAGS,
            .flags = 1,
            .time_stamp = 2000,
        };
        struct etwas_etl_extended_item payload[128];

        for (size_t j = 0; j < 128; j++) {
            payload[j] = items[i];
        }
        builder_free(&builder);
        builder_begin(&builder, &options);
        builder_buffer(&builder, 0);
        builder_number(&builder, 1999, 1);
        builder_record(&builder, &header, sizeof header, payload, sizeof payload);
        builder_number(&builder, 2001, 2);
        builder_end(&builder);
        read_damaged();
        assert_one_damage(ETWAS_DAMAGE_RECORD, B + 72 + 56, sizeof header + 1024);
        assert_int_equal(collected.event_count, 3);
        assert_int_equal(collected.events[2].number, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAMAGE_TEST(an_end_past_the_records_is_damage),
        DAMAGE_TEST(stamps_that_go_back_are_named_once_and_delivered),
        DAMAGE_TEST(a_record_with_a_bad_marker_or_size_costs_the_rest_of_its_buffer),
        DAMAGE_TEST(a_record_that_contradicts_itself_costs_only_itself),
        DAMAGE_TEST(extended_items_that_lie_cost_only_their_record),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
