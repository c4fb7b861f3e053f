/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * R94: circular files. Whatever the place where they were left, the newest buffers are delivered
 * in their order; what was replaced is no damage, what is missing otherwise is; and of a buffer
 * that was being replaced nothing is delivered that was not written together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"

enum {
    B = 4096,
    PLACES = 6,
    IN_BUFFER = 12,
    PAYLOAD_WORDS = 16, /* records of 112 bytes: most 512-byte edges lie inside one */
};

static struct builder builder;

static void put_event(uint32_t number)
{
    uint32_t payload[PAYLOAD_WORDS];

    for (uint32_t i = 0; i < PAYLOAD_WORDS; i++) {
        payload[i] = number;
    }
    builder_classic(&builder, 2000 + number, 1, payload, sizeof payload);
}

/* `written` data buffers of events 1, 2, 3 … on three processors, not wrapped yet. */
static void build(uint32_t written, uint32_t buffer_bytes, bool own)
{
    struct builder_options options = builder_defaults();
    const struct etwas_etl_totals totals = {1, 0, 300, 25, 7, 2, 0, 0, 0, 0};
    uint32_t number = 0;

    options.buffer_bytes = buffer_bytes;
    builder_begin(&builder, &options);
    if (own) {
        builder_calibration(&builder);
        builder_totals(&builder, &totals);
    }
    for (uint32_t i = 0; i < written; i++) {
        builder_buffer(&builder, (uint16_t)(i % 3));
        for (uint32_t j = 0; j < IN_BUFFER; j++) {
            put_event(++number);
        }
    }
    builder_end(&builder);
    for (uint32_t i = 1; i <= written; i++) {
        builder_header(&builder, i)->time_stamp = 2000 + (int64_t)(i * IN_BUFFER);
    }
}

static int end(void **state)
{
    (void)state;
    builder_free(&builder);
    return 0;
}

/* Events `first` to `last` but those of data buffer `without` (0: none), each one whole. */
static void assert_events(uint32_t first, uint32_t last, uint32_t without)
{
    size_t at = 1;

    for (uint32_t number = first; number <= last; number++) {
        if ((number - 1) / IN_BUFFER + 1 == without) {
            continue;
        }
        assert_true(at < collected.event_count);
        for (uint32_t i = 0; i < COLLECT_PAYLOAD; i += 4) {
            assert_memory_equal(collected.events[at].payload + i, &number, 4);
        }
        at++;
    }
    assert_int_equal(collected.event_count, at);
}

static void read_all(void)
{
    run_file(put_file(0, builder.bytes, builder.size));
}

static uint32_t first_left(uint32_t written)
{
    return written > PLACES ? (written - PLACES) * IN_BUFFER + 1 : 1;
}

static void the_newest_buffers_are_delivered_in_order_R94(void **state)
{
    (void)state;
    for (uint32_t written = 0; written <= 3 * PLACES + 1; written++) {
        for (int way = 0; way < 4; way++) {
            build(written, B, way >= 2);
            builder_wrap(&builder, PLACES, way % 2 == 1);
            read_all();
            assert_int_equal(collected.code, ERROR_SUCCESS);
            assert_int_equal(collected.damage_count, 0);
            assert_int_equal(collected.information.unfinished, way % 2 == 0);
            assert_events(first_left(written), written * IN_BUFFER, 0);
            builder_free(&builder);
        }
    }
}

/* The header of a file that runs counts what was there at the last sync. */
static void a_count_that_is_behind_is_no_damage(void **state)
{
    (void)state;
    for (uint32_t written = 1; written <= PLACES + 2; written++) {
        build(written, B, true);
        builder_wrap(&builder, PLACES, false);
        builder_log_header(&builder)->buffers_written = 1;
        read_all();
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_true(collected.information.unfinished);
        assert_events(first_left(written), written * IN_BUFFER, 0);
        builder_free(&builder);
    }
}

static void space_allocated_ahead_of_a_circular_file_is_its_end_R97(void **state)
{
    uint8_t *longer = calloc(PLACES + 1, B);

    (void)state;
    assert_non_null(longer);
    for (uint32_t written = 0; written < PLACES; written++) {
        build(written, B, true);
        builder_wrap(&builder, PLACES, false);
        memcpy(longer, builder.bytes, builder.size);
        memset(longer + builder.size, 0, (PLACES + 1) * B - builder.size);
        run_file(put_file(0, longer, (PLACES + 1) * B));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_events(1, written * IN_BUFFER, 0);
        builder_free(&builder);
    }
    free(longer);
}

/* The end of a session numbers the buffers anew, the oldest first: killed in between. */
static void numbers_half_given_anew_are_no_damage(void **state)
{
    const uint32_t written = 3 * PLACES + 2;

    (void)state;
    for (uint32_t done = 0; done <= PLACES; done++) {
        build(written, B, true);
        builder_wrap(&builder, PLACES, false);
        for (uint32_t place = 1; place <= PLACES; place++) {
            struct etwas_etl_buffer_header *header = builder_header(&builder, place);
            int64_t anew = header->sequence_number - (written - PLACES);

            if (anew <= done) {
                header->sequence_number = anew;
            }
        }
        read_all();
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_events(first_left(written), written * IN_BUFFER, 0);
        builder_free(&builder);
    }
}

/* Place 3 still holds what buffer 15 was to replace, although 16 and 17 are there. */
static void what_replacement_cannot_explain_is_damage(void **state)
{
    static uint8_t older[B];
    const uint32_t written = 2 * PLACES + 5;

    (void)state;
    build(written, B, true);
    memcpy(older, builder.bytes + 9 * B, B);
    builder_wrap(&builder, PLACES, false);
    memcpy(builder.bytes + 3 * B, older, B);
    read_all();
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(damages_of(ETWAS_DAMAGE_SEQUENCE), 1);
    assert_int_equal(collected.damages[0].file_offset, 4 * B);
    assert_int_equal(collected.event_count, 1 + PLACES * IN_BUFFER);
    assert_int_equal(collected.events[1].number, 8 * IN_BUFFER + 1);
}

static void a_place_with_a_useless_header_costs_one_buffer_and_is_reported_once(void **state)
{
    const uint32_t written = 2 * PLACES + 3;

    (void)state;
    for (uint32_t place = 1; place <= PLACES; place++) {
        uint32_t number;

        build(written, B, true);
        builder_wrap(&builder, PLACES, false);
        number = (uint32_t)builder_header(&builder, place)->sequence_number;
        memset(builder.bytes + place * B, place % 2 == 0 ? 0 : 0x5A, 72);
        read_all();
        assert_int_equal(damages_of(ETWAS_DAMAGE_BUFFER_HEADER), place == PLACES ? 0 : 1);
        assert_int_equal(damages_of(ETWAS_DAMAGE_SEQUENCE), place == PLACES ? 1 : 0);
        assert_int_equal(collected.damage_count, 1);
        assert_events(first_left(written), written * IN_BUFFER, number);
        builder_free(&builder);
    }
}

static void a_circular_file_cut_at_a_buffers_edge_is_reported(void **state)
{
    (void)state;
    for (uint32_t written = PLACES; written <= 2 * PLACES; written++) {
        for (int way = 0; way < 2; way++) {
            build(written, B, true);
            builder_wrap(&builder, PLACES, way == 1);
            run_file(put_file(0, builder.bytes, builder.size - 2 * B));
            assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
            /* Once where numbers are missing side by side: the oldest and the newest are not. */
            assert_in_range(damages_of(ETWAS_DAMAGE_SEQUENCE), 1, 2);
            assert_int_equal(collected.event_count, 1 + (PLACES - 2) * IN_BUFFER);
            builder_free(&builder);
        }
    }
    /* A file of others that counts every write shows a cut only if it never wrapped. */
    build(PLACES, B, false);
    builder_wrap(&builder, PLACES, true);
    run_file(put_file(0, builder.bytes, builder.size - 2 * B));
    assert_int_equal(damages_of(ETWAS_DAMAGE_SEQUENCE), 1);
}

/*
 * The oldest buffer is being replaced by the next. For every sector's edge: what is delivered of it
 * is its beginning, whole records only, and nothing of the older one; and what is not, is told.
 */
static void a_buffer_torn_in_the_middle_gives_its_beginning(void **state)
{
    static uint8_t older[B];
    const uint32_t written = 2 * PLACES + 4;
    const uint32_t place = 1 + (written - 1) % PLACES;
    const uint32_t before = (written - 1) * IN_BUFFER;

    (void)state;
    for (uint32_t edge = 512; edge < B; edge += 512) {
        uint32_t sure = (edge - 72) / 112; /* records that end before the edge */

        if (sure > IN_BUFFER) {
            sure = IN_BUFFER;
        }
        build(written, B, true);
        memcpy(older, builder.bytes + (written - PLACES) * B, B);
        builder_wrap(&builder, PLACES, false);
        memcpy(builder.bytes + place * B + edge, older + edge, B - edge);
        read_all();
        assert_events(first_left(written), before + sure, 0);
        assert_int_equal(damages_of(ETWAS_DAMAGE_RECORD), sure < IN_BUFFER);
        assert_int_equal(collected.damage_count, sure < IN_BUFFER);
        if (sure < IN_BUFFER) {
            assert_int_equal(collected.damages[0].file_offset, place * B + 72 + sure * 112);
            assert_int_equal(collected.damages[0].bytes_skipped, (IN_BUFFER - sure) * 112);
        }
        builder_free(&builder);
    }
}

/* The sectors of a buffer may reach the disk in any order: the head is old, what follows is new. */
static void records_newer_than_their_buffer_are_not_its_own(void **state)
{
    static uint8_t older[B];
    const uint32_t written = 2 * PLACES + 4;
    const uint32_t place = 1 + (written - 1) % PLACES;
    const uint32_t edge = 1024;
    const uint32_t sure = (edge - 72) / 112;

    (void)state;
    build(written, B, true);
    memcpy(older, builder.bytes + (written - PLACES) * B, B);
    builder_wrap(&builder, PLACES, false);
    memcpy(builder.bytes + place * B, older, edge);
    read_all();
    assert_int_equal(damages_of(ETWAS_DAMAGE_RECORD), 1);
    assert_int_equal(collected.damages[0].bytes_skipped, (IN_BUFFER - sure) * 112);
    assert_int_equal(collected.event_count, 1 + (PLACES - 1) * IN_BUFFER + sure);
    assert_int_equal(collected.events[1].number, (written - PLACES - 1) * IN_BUFFER + 1);
    assert_int_equal(collected.events[1 + sure].number, (written - PLACES) * IN_BUFFER + 1);
}

/* The last record lies across the last edge, and older, longer data follow it. */
static void a_tear_in_the_last_record_shows_behind_it(void **state)
{
    const uint32_t written = 2 * PLACES + 4;
    const uint32_t place = 1 + (written - 1) % PLACES;
    const uint32_t records = 9;

    (void)state;
    build(written, B, true);
    builder_wrap(&builder, PLACES, false);
    builder_header(&builder, place)->offset = 72 + records * 112;
    builder_header(&builder, place)->saved_offset = 72 + records * 112;
    memset(builder.bytes + place * B + 1024, 0x11, B - 1024);
    read_all();
    assert_events(first_left(written), (written - 1) * IN_BUFFER + records - 1, 0);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].bytes_skipped, 112);
    /* The damage lies behind the sector of the last record: nothing is lost. */
    builder_free(&builder);
    build(written, B, true);
    builder_wrap(&builder, PLACES, false);
    memset(builder.bytes + place * B + 1536, 0x11, B - 1536);
    read_all();
    assert_int_equal(collected.damage_count, 0);
    assert_events(first_left(written), written * IN_BUFFER, 0);
}

/* A finished file cannot be torn: what is wrong in it is told as in any other. */
static void a_finished_file_is_not_searched_for_tears(void **state)
{
    struct etwas_etl_full_header *record;

    (void)state;
    build(PLACES + 2, B, true);
    builder_wrap(&builder, PLACES, true);
    record = (struct etwas_etl_full_header *)(void *)(builder.bytes + 4 * B + 72 + 4 * 112);
    record->time_stamp -= 1000;
    read_all();
    assert_int_equal(damages_of(ETWAS_DAMAGE_TIME_ORDER), 1);
    assert_int_equal(collected.event_count, 1 + PLACES * IN_BUFFER);
}

static void what_was_overwritten_is_told_apart_from_what_was_lost(void **state)
{
    (void)state;
    build(PLACES + 2, B, true);
    builder_wrap(&builder, PLACES, true);
    builder_log_header(&builder)->events_lost = 7;
    read_all();
    assert_int_equal(collected.information.overwritten_events, 300);
    assert_int_equal(collected.information.overwritten_buffers, 25);
    assert_int_equal(collected.information.lost_events, 7);
    assert_int_equal(collected.information.lost_buffers, 2);
    assert_int_equal(collected.event_count, 1 + PLACES * IN_BUFFER);
}

#define CIRCULAR_TEST(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CIRCULAR_TEST(the_newest_buffers_are_delivered_in_order_R94),
        CIRCULAR_TEST(a_count_that_is_behind_is_no_damage),
        CIRCULAR_TEST(space_allocated_ahead_of_a_circular_file_is_its_end_R97),
        CIRCULAR_TEST(numbers_half_given_anew_are_no_damage),
        CIRCULAR_TEST(what_replacement_cannot_explain_is_damage),
        CIRCULAR_TEST(a_place_with_a_useless_header_costs_one_buffer_and_is_reported_once),
        CIRCULAR_TEST(a_circular_file_cut_at_a_buffers_edge_is_reported),
        CIRCULAR_TEST(a_buffer_torn_in_the_middle_gives_its_beginning),
        CIRCULAR_TEST(records_newer_than_their_buffer_are_not_its_own),
        CIRCULAR_TEST(a_tear_in_the_last_record_shows_behind_it),
        CIRCULAR_TEST(a_finished_file_is_not_searched_for_tears),
        CIRCULAR_TEST(what_was_overwritten_is_told_apart_from_what_was_lost),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
