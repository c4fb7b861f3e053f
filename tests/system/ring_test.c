/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Rings that a kernel of the test's own writes: in order, around the end, full, and wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "system/stream/ring.h"

enum {
    RING_BYTES = 4096,
    NUMBERED = 100, /* a type of ours: behind its header are numbers, all the same */
};

static struct perf_event_mmap_page page;
static uint8_t data[RING_BYTES] __attribute__((aligned(8)));
static struct etwas_ring ring;

static void begin_at(uint64_t position)
{
    page.data_head = position;
    page.data_tail = position;
    memset(data, 0, sizeof data);
    etwas_ring_over(&ring, &page, data, sizeof data);
}

static void put_u64(uint64_t value)
{
    memcpy(data + page.data_head % RING_BYTES, &value, sizeof value);
    page.data_head += sizeof value;
}

static void put_header(uint32_t type, uint16_t size)
{
    const struct perf_event_header header = {.type = type, .size = size};
    uint64_t value;

    memcpy(&value, &header, sizeof value);
    put_u64(value);
}

static void put_numbers(uint64_t number, uint32_t count)
{
    put_header(NUMBERED, (uint16_t)(8 + 8 * count));
    for (uint32_t index = 0; index < count; index++) {
        put_u64(number);
    }
}

static void expect_numbers(uint64_t number, uint32_t count)
{
    const struct perf_event_header *record = etwas_ring_next(&ring);

    assert_non_null(record);
    assert_int_equal(record->type, NUMBERED);
    assert_int_equal(record->size, 8 + 8 * count);
    for (uint32_t index = 0; index < count; index++) {
        uint64_t value;

        memcpy(&value, (const uint8_t *)(record + 1) + 8 * index, sizeof value);
        assert_int_equal(value, number);
    }
}

static void expect_end(void)
{
    assert_null(etwas_ring_next(&ring));
    assert_false(ring.is_damaged);
}

/* Records of every length from every place: many begin at the end and go on at the beginning. */
static void records_come_whole_and_in_order(void **state)
{
    uint64_t written = 0;
    uint64_t read = 0;

    (void)state;
    begin_at(0);
    for (uint32_t round = 0; round < 500; round++) {
        for (uint32_t index = 0; index < 7; index++) {
            put_numbers(written, (uint32_t)(written % 37));
            written++;
        }
        assert_true(etwas_ring_begin(&ring));
        for (; read < written; read++) {
            expect_numbers(read, (uint32_t)(read % 37));
        }
        expect_end();
        assert_true(page.data_tail < page.data_head);
        etwas_ring_give_back(&ring);
        assert_int_equal(page.data_tail, page.data_head);
    }
    assert_true(page.data_head > UINT64_C(10) * RING_BYTES);
}

static void what_comes_after_begin_is_for_the_next_time(void **state)
{
    (void)state;
    begin_at(RING_BYTES - 8);
    assert_true(etwas_ring_begin(&ring));
    put_numbers(1, 2);
    expect_end();
    assert_true(etwas_ring_begin(&ring));
    expect_numbers(1, 2);
    expect_end();
}

static void a_full_ring_is_no_damage(void **state)
{
    (void)state;
    begin_at(8);
    put_numbers(5, RING_BYTES / 8 - 1);
    assert_true(etwas_ring_begin(&ring));
    expect_numbers(5, RING_BYTES / 8 - 1);
    expect_end();
}

static void positions_may_pass_the_largest(void **state)
{
    (void)state;
    begin_at(UINT64_MAX - 15);
    put_numbers(3, 9);
    put_numbers(4, 1);
    assert_true(etwas_ring_begin(&ring));
    expect_numbers(3, 9);
    expect_numbers(4, 1);
    expect_end();
}

static void what_the_kernel_lost_is_counted(void **state)
{
    (void)state;
    begin_at(0);
    for (uint64_t lost = 1; lost <= 3; lost++) {
        put_header(PERF_RECORD_LOST, 32);
        put_u64(77);
        put_u64(lost * 100);
        put_u64(0); /* process, thread and time */
        put_numbers(lost, 1);
    }
    assert_true(etwas_ring_begin(&ring));
    for (uint64_t lost = 1; lost <= 3; lost++) {
        expect_numbers(lost, 1);
    }
    expect_end();
    assert_int_equal(ring.lost, 600);
}

/* Says of a ring that is wrong: the records before are there, then there is nothing, ever. */
static void expect_damage_behind(uint64_t number)
{
    assert_true(etwas_ring_begin(&ring));
    expect_numbers(number, 1);
    assert_null(etwas_ring_next(&ring));
    assert_true(ring.is_damaged);
    assert_null(etwas_ring_next(&ring));
    put_numbers(number, 1);
    assert_false(etwas_ring_begin(&ring));
    assert_null(etwas_ring_next(&ring));
}

static void records_without_sense_end_the_ring(void **state)
{
    static const uint16_t sizes[] = {0, 1, 7, 9, 12, 24, 32, 65528, 65535};

    (void)state;
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        begin_at(RING_BYTES - 24);
        put_numbers(index, 1);
        put_header(NUMBERED, sizes[index]);
        put_u64(0);
        expect_damage_behind(index);
    }
    begin_at(0);
    put_numbers(6, 1);
    put_header(PERF_RECORD_LOST, 16);
    put_u64(1);
    expect_damage_behind(6);
}

static void positions_without_sense_end_the_ring(void **state)
{
    static const uint64_t heads[] = {64 + RING_BYTES + 8, 56, 0, UINT64_MAX};

    (void)state;
    for (size_t index = 0; index < sizeof heads / sizeof *heads; index++) {
        begin_at(64);
        page.data_head = heads[index];
        assert_false(etwas_ring_begin(&ring));
        assert_true(ring.is_damaged);
        assert_null(etwas_ring_next(&ring));
    }
    /* Half a header, and a place where none begins. */
    begin_at(64);
    page.data_head = 68;
    assert_true(etwas_ring_begin(&ring));
    assert_null(etwas_ring_next(&ring));
    assert_true(ring.is_damaged);
    begin_at(RING_BYTES - 4);
    page.data_head += 64;
    assert_true(etwas_ring_begin(&ring));
    assert_null(etwas_ring_next(&ring));
    assert_true(ring.is_damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_whole_and_in_order),
        cmocka_unit_test(what_comes_after_begin_is_for_the_next_time),
        cmocka_unit_test(a_full_ring_is_no_damage),
        cmocka_unit_test(positions_may_pass_the_largest),
        cmocka_unit_test(what_the_kernel_lost_is_counted),
        cmocka_unit_test(records_without_sense_end_the_ring),
        cmocka_unit_test(positions_without_sense_end_the_ring),
    };

    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
