/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Damage of a whole file: each kind of it has a name; a file that is cut, unfinished or longer than
 * its trace, and a buffer 0 that cannot be trusted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "damage.h"

static void every_kind_has_a_sentence(void **state)
{
    (void)state;
    for (int kind = ETWAS_DAMAGE_NONE; kind <= ETWAS_DAMAGE_READ; kind++) {
        assert_true(strlen(etwas_damage_name((etwas_damage_kind)kind)) > 5);
        for (int other = ETWAS_DAMAGE_NONE; other < kind; other++) {
            assert_string_not_equal(etwas_damage_name((etwas_damage_kind)kind),
                                    etwas_damage_name((etwas_damage_kind)other));
        }
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
        size_t left;
        uint32_t whole;
        uint64_t skipped;

        run_file(put_file(0, builder.bytes, builder.size - cut));
        left = B - cut;
        whole = left < 72 ? 0 : (uint32_t)((left - 72) / 56);
        skipped = left < 72 ? left : (uint64_t)(EVENTS_IN_BUFFER - whole) * 56;
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

/* Its process was killed inside a write: what is whole is there, and nothing is wrong. */
static void an_unfinished_file_may_end_inside_a_buffer(void **state)
{
    (void)state;
    builder_log_header(&builder)->end_filetime = 0;
    builder_log_header(&builder)->buffers_written = 1;
    for (uint32_t cut = 1; cut < B; cut++) {
        run_file(put_file(0, builder.bytes, builder.size - cut));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.damage_count, 0);
        assert_true(collected.information.unfinished);
        assert_int_equal(collected.information.buffers_damaged, 0);
        assert_int_equal(collected.information.bytes_skipped, 0);
        assert_in_range(collected.event_count, 41, 51);
        assert_all_but((uint32_t)collected.event_count, 50);
    }
}

static void space_allocated_ahead_is_not_damage(void **state)
{
    uint8_t *longer = calloc(1, builder.size + 10 * B);
    const char *path;

    (void)state;
    assert_non_null(longer);
    builder_log_header(&builder)->end_filetime = 0;
    memcpy(longer, builder.bytes, builder.size);
    run_file(put_file(0, longer, builder.size + 10 * B));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(1, 0);
    /* The same as a hole, too long to walk through. */
    path = put_file(0, builder.bytes, builder.size);
    if (truncate(path, INT64_C(1) << 42) == 0) {
        run_file(path);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_all_but(1, 0);
    }
    free(longer);
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

static void what_OpenTrace_finds_is_reported_by_ProcessTrace(void **state)
{
    etwas_trace_information information;
    etwas_trace_handle handle;

    (void)state;
    builder_header(&builder, 0)->type = 0;
    builder_log_header(&builder)->pointer_bytes = 3;
    forget_collected();
    handle =
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

/* What was filled is never more than the buffer, whatever the first record says. */
static void a_first_record_longer_than_buffer_0_is_damage(void **state)
{
    struct etwas_etl_system_header record;

    (void)state;
    memcpy(&record, builder.bytes + ETWAS_ETL_BUFFER_HEADER_BYTES, sizeof record);
    record.size = 2000;
    memcpy(builder.bytes + ETWAS_ETL_BUFFER_HEADER_BYTES, &record, sizeof record);
    builder_header(&builder, 0)->buffer_bytes = 512;
    builder_log_header(&builder)->buffer_bytes = 512;
    read_damaged();
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_true(damages_of(ETWAS_DAMAGE_BUFFER_HEADER) > 0);
    assert_true(collected.buffer_count > 0);
    for (size_t i = 0; i < collected.buffer_count; i++) {
        assert_true(collected.buffers[i].filled <= collected.buffers[i].buffer_bytes);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_sentence),
        DAMAGE_TEST(a_sound_file_has_none),
        DAMAGE_TEST(a_truncated_file_is_reported_and_the_rest_is_read),
        DAMAGE_TEST(buffers_cut_off_at_their_edge_are_missed),
        DAMAGE_TEST(an_unfinished_file_is_read_by_its_length),
        DAMAGE_TEST(an_unfinished_file_may_end_inside_a_buffer),
        DAMAGE_TEST(space_allocated_ahead_is_not_damage),
        DAMAGE_TEST(buffer_0_alone_or_not_at_all),
        DAMAGE_TEST(what_OpenTrace_finds_is_reported_by_ProcessTrace),
        DAMAGE_TEST(sizes_of_buffer_0_are_doubted_where_the_second_buffer_disagrees),
        DAMAGE_TEST(a_first_record_longer_than_buffer_0_is_damage),
        DAMAGE_TEST(a_clock_that_cannot_be_used_is_named_and_order_survives),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
