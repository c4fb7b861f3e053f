/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Damage of a buffer: it is named with its place, and the other buffers are delivered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "damage.h"

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
    builder_log_header(&builder)->buffers_written += 4; /* 5 to 8 */
    builder_header(&builder, 5)->sequence_number = 9;
    read_damaged();
    assert_one_damage(ETWAS_DAMAGE_SEQUENCE, 5 * B, 0);
    assert_all_but(1, 0);
    builder_log_header(&builder)->buffers_written -= 4;
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
    for (uint32_t i = 1; i <= BUFFERS; i++) {
        builder_header(&builder, i)->sequence_number += 994;
    }
    read_damaged();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_all_but(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAMAGE_TEST(a_hole_between_buffers_is_damage),
        DAMAGE_TEST(a_buffer_with_a_bad_size_costs_only_itself),
        DAMAGE_TEST(a_buffer_without_a_usable_end_costs_only_itself),
        DAMAGE_TEST(one_good_end_of_two_is_enough),
        DAMAGE_TEST(a_processor_above_the_header_is_named_and_read),
        DAMAGE_TEST(missing_and_doubled_sequence_numbers_are_named),
        DAMAGE_TEST(a_file_that_wrapped_has_lost_its_first_buffers_rightly),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
