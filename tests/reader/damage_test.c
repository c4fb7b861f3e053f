/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Damage: each kind of it is named with its place, costs no more than it must, and everything
 * else of the file is delivered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "builder.h"
#include "collect.h"
#include "etl/calibration.h"

enum {
    B = 4096,
    BUFFERS = 5,
    EVENTS_IN_BUFFER = 10
};

static struct builder builder;

/* Buffer 0 and five data buffers of ten events each, numbered from 1, on three processors. */
static void build(bool compressed)
{
    struct builder_options options = builder_defaults();
    uint32_t number = 0;

    options.compressed = compressed;
    builder_begin(&builder, &options);
    for (uint16_t i = 0; i < BUFFERS; i++) {
        builder_buffer(&builder, i % 3);
        for (int j = 0; j < EVENTS_IN_BUFFER; j++) {
            number++;
            builder_number(&builder, 2000 + number, number);
        }
    }
    builder_end(&builder);
}

static int begin(void **state)
{
    (void)state;
    build(false);
    return 0;
}

static int begin_compressed(void **state)
{
    (void)state;
    build(true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    builder_free(&builder);
    return 0;
}

static void read_damaged(void)
{
    run_file(put_file(0, builder.bytes, builder.size));
}

/* All events but those numbered from `first` to `last` were delivered, in order. */
static void assert_all_but(uint32_t first, uint32_t last)
{
    size_t at = 1;

    for (uint32_t number = 1; number <= BUFFERS * EVENTS_IN_BUFFER; number++) {
        if (number >= first && number <= last)
            continue;
        assert_true(at < collected.event_count);
        assert_int_equal(collected.events[at++].number, number);
    }
    assert_int_equal(collected.event_count, at);
    assert_int_equal(collected.information.events, at - 1);
}

static void assert_one_damage(etwas_damage_kind kind, uint64_t offset, uint64_t skipped)
{
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].kind, kind);
    assert_int_equal(collected.damages[0].file_offset, offset);
    assert_int_equal(collected.damages[0].bytes_skipped, skipped);
    assert_int_equal(collected.information.damages, 1);
    assert_int_equal(collected.information.bytes_skipped, skipped);
    assert_int_equal(collected.information.buffers_damaged, skipped > 0 ? 1 : 0);
}

static void every_kind_has_a_sentence(void **state)
{
    (void)state;
    for (int kind = ETWAS_DAMAGE_NONE; kind <= ETWAS_DAMAGE_READ; kind++) {
        assert_true(strlen(etwas_damage_name((etwas_damage_kind)kind)) > 5);
        for (int other = ETWAS_DAMAGE_NONE; other < kind; other++)
            assert_string_not_equal(etwas_damage_name((etwas_damage_kind)kind),
                                    etwas_damage_name((etwas_damage_kind)other));
    }
    assert_string_equal(etwas_damage_name((etwas_damage_kind)99), "unknown damage");
}

static void a_sound_file_has_none(void **state)
{
    (void)state;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(collected.information.buffers, BUFFERS + 1);
    assert_int_equal(collected.information.file_bytes, (BUFFERS + 1) * B);
    assert_all_but(1, 0);
}

/* Records of 56 bytes from 72 on: what is whole before the cut is delivered, the rest is named. */
static void a_truncated_file_is_reported_and_the_rest_is_read(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < B; cut++) {
        run_file(put_file(0, builder.bytes, builder.size - cut));
        size_t left = B - cut;
        uint32_t whole = left < 72 ? 0 : (uint32_t)((left - 72) / 56);
        uint64_t skipped = left < 72 ? left : (uint64_t)(EVENTS_IN_BUFFER - whole) * 56;

        if (whole > EVENTS_IN_BUFFER) {
            whole = EVENTS_IN_BUFFER;
            skipped = 0;
        }
        /* The last record is 52 bytes: the cut may take only its padding. */
        if (left >= 72 && (left - 72) % 56 >= 52 && whole < EVENTS_IN_BUFFER) {
            whole++;
            skipped -= 56;
        }
        assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
        assert_int_equal(damages_of(ETWAS_DAMAGE_TRUNCATED), 1);
        assert_int_equal(collected.damage_count, 1);
        assert_int_equal(collected.damages[0].bytes_skipped, skipped);
        assert_in_range(collected.damages[0].file_offset, BUFFERS * B, builder.size);
        assert_all_but(41 + whole, 50);
    }
}

static void buffers_cut_off_at_their_edge_are_missed(void **state)
{
    (void)state;
    run_file(put_file(0, builder.bytes, builder.size - 2 * B));
    assert_one_damage(ETWAS_DAMAGE_SEQUENCE, 4 * B, 0);
    assert_all_but(31, 50);
}

static void an_unfinished_file_is_read_by_its_length(void **state)
{
    (void)state;
    builder_log_header(&builder)->end_filetime = 0;
    builder_log_header(&builder)->buffers_written = 1;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_true(collected.information.unfinished);
    assert_all_but(1, 0);
    run_file(put_file(0, builder.bytes, builder.size - 2 * B));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(31, 50);
}

static void space_allocated_ahead_is_not_damage(void **state)
{
    uint8_t *longer = calloc(1, builder.size + 10 * B);

    (void)state;
    assert_non_null(longer);
    builder_log_header(&builder)->end_filetime = 0;
    memcpy(longer, builder.bytes, builder.size);
    run_file(put_file(0, longer, builder.size + 10 * B));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(1, 0);
    /* The same as a hole, too long to walk through. */
    const char *path = put_file(0, builder.bytes, builder.size);

    if (truncate(path, INT64_C(1) << 42) == 0) {
        run_file(path);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_all_but(1, 0);
    }
    free(longer);
}

static void a_hole_between_buffers_is_damage(void **state)
{
    (void)state;
    memset(builder.bytes + 2 * B, 0, 2 * B);
    read_damaged();
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(damages_of(ETWAS_DAMAGE_BUFFER_HEADER), 1);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.information.buffers_damaged, 2);
    assert_int_equal(collected.damages[0].file_offset, 2 * B);
    assert_int_equal(collected.damages[0].bytes_skipped, 2 * B);
    assert_all_but(11, 30);
}

static void a_buffer_with_a_bad_size_costs_only_itself(void **state)
{
    static const uint32_t sizes[] = {1, 71, 72, B - 8, B + 8, 2 * B, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        builder_header(&builder, 3)->buffer_bytes = sizes[i];
        read_damaged();
        assert_one_damage(ETWAS_DAMAGE_BUFFER_HEADER, 3 * B, B);
        assert_all_but(21, 30);
    }
}

static void a_buffer_without_a_usable_end_costs_only_itself(void **state)
{
    static const uint32_t ends[] = {0, 71, B + 1, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        builder_header(&builder, 3)->offset = ends[i];
        builder_header(&builder, 3)->saved_offset = ends[(i + 1) % 4];
        read_damaged();
        assert_one_damage(ETWAS_DAMAGE_BUFFER_HEADER, 3 * B, B);
        assert_all_but(21, 30);
    }
}

static void one_good_end_of_two_is_enough(void **state)
{
    const uint32_t right = builder_header(&builder, 3)->offset;
    static const uint32_t wrong[] = {0, 72, 72 + 5 * 56, B + 1};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (int which = 0; which < 2; which++) {
            builder_header(&builder, 3)->offset = which == 0 ? wrong[i] : right;
            builder_header(&builder, 3)->saved_offset = which == 0 ? right : wrong[i];
            read_damaged();
            assert_one_damage(ETWAS_DAMAGE_BUFFER_HEADER, 3 * B, 0);
            assert_all_but(1, 0);
        }
    }
}

static void an_end_past_the_records_is_damage(void **state)
{
    (void)state;
    builder_header(&builder, 3)->offset += 16;
    builder_header(&builder, 3)->saved_offset += 16;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_RECORD, 3 * B + 72 + 560, 16);
    assert_all_but(1, 0);
}

static void a_processor_above_the_header_is_named_and_read(void **state)
{
    (void)state;
    builder_header(&builder, 3)->processor = 2047;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_PROCESSOR, 3 * B, 0);
    assert_all_but(1, 0);
    builder_log_header(&builder)->number_of_processors = 2048;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
}

static void missing_and_doubled_sequence_numbers_are_named(void **state)
{
    (void)state;
    builder_header(&builder, 5)->sequence_number = 9;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_SEQUENCE, 5 * B, 0);
    assert_all_but(1, 0);
    builder_header(&builder, 5)->sequence_number = 4;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_SEQUENCE, 5 * B, 0);
    assert_all_but(1, 0);
    builder_header(&builder, 5)->sequence_number = -1;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_SEQUENCE, 5 * B, 0);
    assert_int_equal(collected.event_count, 51);
}

static void a_file_that_wrapped_has_lost_its_first_buffers_rightly(void **state)
{
    (void)state;
    builder_log_header(&builder)->log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR;
    builder_log_header(&builder)->buffers_written = 1000;
    for (uint32_t i = 1; i <= BUFFERS; i++)
        builder_header(&builder, i)->sequence_number += 994;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
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

        for (size_t j = 0; j < 128; j++)
            payload[j] = items[i];
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

static void buffer_0_alone_or_not_at_all(void **state)
{
    (void)state;
    /* Any length that does not hold the header record is no trace; any that does is one. */
    for (size_t length = 0; length <= B; length++) {
        const char *path = put_file(0, builder.bytes, length);

        run_file(path);
        if (length < 72 + 32 + 280 + 20 + 26) {
            assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
            assert_int_equal(collected.event_count, 0);
            assert_int_equal(collected.damage_count, 0);
        } else {
            assert_int_equal(collected.event_count, 1);
            assert_int_equal(damages_of(ETWAS_DAMAGE_TRUNCATED), length < B ? 1 : 0);
        }
    }
}

static void what_OpenTrace_finds_is_told_by_ProcessTrace(void **state)
{
    etwas_trace_information information;

    (void)state;
    builder_header(&builder, 0)->type = 0;
    builder_log_header(&builder)->pointer_bytes = 3;
    forget_collected();
    etwas_trace_handle handle =
        open_collecting(put_file(0, builder.bytes, builder.size), PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
    assert_int_equal(information.damages, 2);
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_FILE_CORRUPT);
        assert_int_equal(collected.damage_count, 2 * round);
        assert_int_equal(etwas_trace_query(handle, &information), ERROR_SUCCESS);
        assert_int_equal(information.damages, 2);
    }
    CloseTrace(handle);
}

static void sizes_of_buffer_0_are_doubted_where_the_second_buffer_disagrees(void **state)
{
    static const uint32_t sizes[] = {0, 71, 300, B / 2, 2 * B - 8, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        builder_header(&builder, 0)->buffer_bytes = sizes[i];
        read_damaged();
        assert_all_but(1, 0);
        assert_int_equal(damages_of(ETWAS_DAMAGE_BUFFER_HEADER), collected.damage_count);
        assert_true(collected.damage_count > 0);
        builder_header(&builder, 0)->buffer_bytes = B;

        builder_log_header(&builder)->buffer_bytes = sizes[i];
        read_damaged();
        assert_all_but(1, 0);
        assert_int_equal(damages_of(ETWAS_DAMAGE_BUFFER_HEADER), collected.damage_count);
        assert_true(collected.damage_count > 0);
        builder_log_header(&builder)->buffer_bytes = B;
    }
}

static void a_clock_that_cannot_be_used_is_named_and_order_survives(void **state)
{
    int64_t *frequency =
        (int64_t *)(void *)(builder.bytes + ETWAS_ETL_LOG_HEADER_FILE_OFFSET + 256);

    (void)state;
    *frequency = 0;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_BUFFER_HEADER, ETWAS_ETL_LOG_HEADER_FILE_OFFSET, 0);
    assert_all_but(1, 0);
}

/* ---- compressed files ---- */

static size_t place_of(uint32_t number)
{
    size_t at = 0;
    uint32_t bytes;

    while (number-- > 0) {
        memcpy(&bytes, builder.bytes + at, sizeof bytes);
        at += bytes;
    }
    return at;
}

static void a_compressed_buffer_that_lies_costs_only_itself(void **state)
{
    size_t place = place_of(3);

    (void)state;
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(1, 0);
    /* The first item becomes a match, of something before the start. */
    builder.bytes[place + 72 + 3] |= 0x80;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_COMPRESSION, place, 560);
    assert_all_but(21, 30);
}

static void a_compressed_buffer_that_promises_too_much_costs_only_itself(void **state)
{
    size_t place = place_of(3);
    struct etwas_etl_buffer_header header;

    (void)state;
    memcpy(&header, builder.bytes + place, sizeof header);
    header.offset += 8;
    header.saved_offset += 8;
    memcpy(builder.bytes + place, &header, sizeof header);
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_COMPRESSION, place, 568);
    assert_all_but(21, 30);
}

/* The next buffer is found again behind a header that is lost. */
static void a_lost_header_in_a_chain_costs_only_its_buffer(void **state)
{
    size_t place = place_of(3);
    size_t next = place_of(4);

    (void)state;
    memset(builder.bytes + place, 0xEE, 72);
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_BUFFER_HEADER, place, next - place);
    assert_all_but(21, 30);
}

static void a_cut_compressed_buffer_gives_its_beginning(void **state)
{
    size_t place = place_of(5);

    (void)state;
    for (size_t length = place + 72; length < builder.size; length++) {
        run_file(put_file(0, builder.bytes, length));
        assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
        assert_int_equal(collected.damage_count, 1);
        assert_int_equal(damages_of(ETWAS_DAMAGE_TRUNCATED), 1);
        assert_in_range(collected.event_count, 41, 51);
        assert_all_but((uint32_t)collected.event_count, 50);
    }
}

#define DAMAGE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define COMPRESSED_TEST(test) cmocka_unit_test_setup_teardown(test, begin_compressed, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_sentence),
        DAMAGE_TEST(a_sound_file_has_none),
        DAMAGE_TEST(a_truncated_file_is_reported_and_the_rest_is_read),
        DAMAGE_TEST(buffers_cut_off_at_their_edge_are_missed),
        DAMAGE_TEST(an_unfinished_file_is_read_by_its_length),
        DAMAGE_TEST(space_allocated_ahead_is_not_damage),
        DAMAGE_TEST(a_hole_between_buffers_is_damage),
        DAMAGE_TEST(a_buffer_with_a_bad_size_costs_only_itself),
        DAMAGE_TEST(a_buffer_without_a_usable_end_costs_only_itself),
        DAMAGE_TEST(one_good_end_of_two_is_enough),
        DAMAGE_TEST(an_end_past_the_records_is_damage),
        DAMAGE_TEST(a_processor_above_the_header_is_named_and_read),
        DAMAGE_TEST(missing_and_doubled_sequence_numbers_are_named),
        DAMAGE_TEST(a_file_that_wrapped_has_lost_its_first_buffers_rightly),
        DAMAGE_TEST(stamps_that_go_back_are_named_once_and_delivered),
        DAMAGE_TEST(a_record_with_a_bad_marker_or_size_costs_the_rest_of_its_buffer),
        DAMAGE_TEST(a_record_that_contradicts_itself_costs_only_itself),
        DAMAGE_TEST(extended_items_that_lie_cost_only_their_record),
        DAMAGE_TEST(buffer_0_alone_or_not_at_all),
        DAMAGE_TEST(what_OpenTrace_finds_is_told_by_ProcessTrace),
        DAMAGE_TEST(sizes_of_buffer_0_are_doubted_where_the_second_buffer_disagrees),
        DAMAGE_TEST(a_clock_that_cannot_be_used_is_named_and_order_survives),
        COMPRESSED_TEST(a_compressed_buffer_that_lies_costs_only_itself),
        COMPRESSED_TEST(a_compressed_buffer_that_promises_too_much_costs_only_itself),
        COMPRESSED_TEST(a_lost_header_in_a_chain_costs_only_its_buffer),
        COMPRESSED_TEST(a_cut_compressed_buffer_gives_its_beginning),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
