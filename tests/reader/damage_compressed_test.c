/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Damage of a compressed file, whose buffers are a chain: it costs one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "damage.h"

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

static void an_unfinished_compressed_file_may_end_inside_a_buffer(void **state)
{
    size_t place = place_of(5);

    (void)state;
    builder_log_header(&builder)->end_filetime = 0;
    builder_log_header(&builder)->buffers_written = 1;
    for (size_t length = place + 1; length < builder.size; length++) {
        run_file(put_file(0, builder.bytes, length));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.damage_count, 0);
        assert_true(collected.information.unfinished);
        assert_in_range(collected.event_count, 41, 51);
        assert_all_but((uint32_t)collected.event_count, 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPRESSED_TEST(a_compressed_buffer_that_lies_costs_only_itself),
        COMPRESSED_TEST(a_compressed_buffer_that_promises_too_much_costs_only_itself),
        COMPRESSED_TEST(a_lost_header_in_a_chain_costs_only_its_buffer),
        COMPRESSED_TEST(a_cut_compressed_buffer_gives_its_beginning),
        COMPRESSED_TEST(an_unfinished_compressed_file_may_end_inside_a_buffer),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
