/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The bytes of protocol buffers, by a small trace that Perfetto's trace processor was seen to read:
 * a process, a thread, a slice with its name and annotation interned, a counter, a context switch.
 */
#include "convert/wire.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    PACKET = 1,
    SNAPSHOT = 5,
    START = 0x1000000,
    WORKER = 4243,
    SHOP = 4242
};

static const uint8_t expected[] = {
    0x0a, 0x1d, 0x32, 0x19, 0x0a, 0x07, 0x08, 0x05, 0x10, 0x80, 0x80, 0x80, 0x08, 0x0a, 0x0c, 0x08,
    0x01, 0x10, 0x80, 0xc0, 0xf6, 0xdb, 0x85, 0xef, 0x8a, 0xbd, 0x18, 0x10, 0x05, 0x50, 0x01, 0x0a,
    0x0a, 0x68, 0x01, 0xda, 0x03, 0x03, 0xd0, 0x03, 0x05, 0x50, 0x01, 0x0a, 0x17, 0x40, 0x80, 0x80,
    0x80, 0x08, 0xe2, 0x03, 0x0d, 0x08, 0x01, 0x1a, 0x09, 0x08, 0x92, 0x21, 0x32, 0x04, 0x73, 0x68,
    0x6f, 0x70, 0x50, 0x01, 0x0a, 0x1c, 0x40, 0x80, 0x80, 0x80, 0x08, 0xe2, 0x03, 0x12, 0x08, 0x02,
    0x22, 0x0e, 0x08, 0x92, 0x21, 0x10, 0x93, 0x21, 0x2a, 0x06, 0x77, 0x6f, 0x72, 0x6b, 0x65, 0x72,
    0x50, 0x01, 0x0a, 0x3b, 0x68, 0x02, 0x62, 0x20, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x53, 0x68,
    0x6f, 0x70, 0x12, 0x09, 0x08, 0x01, 0x12, 0x05, 0x4f, 0x72, 0x64, 0x65, 0x72, 0x1a, 0x09, 0x08,
    0x01, 0x12, 0x05, 0x70, 0x72, 0x69, 0x63, 0x65, 0x40, 0xe8, 0x87, 0x80, 0x08, 0x5a, 0x0e, 0x48,
    0x01, 0x58, 0x02, 0x18, 0x01, 0x50, 0x01, 0x22, 0x04, 0x08, 0x01, 0x18, 0x11, 0x50, 0x01, 0x0a,
    0x0f, 0x68, 0x02, 0x40, 0xf0, 0xae, 0x80, 0x08, 0x5a, 0x04, 0x48, 0x02, 0x58, 0x02, 0x50, 0x01,
    0x0a, 0x19, 0x40, 0x80, 0x80, 0x80, 0x08, 0xe2, 0x03, 0x0f, 0x08, 0x03, 0x28, 0x01, 0x12, 0x05,
    0x64, 0x65, 0x70, 0x74, 0x68, 0x42, 0x02, 0x18, 0x02, 0x50, 0x01, 0x0a, 0x12, 0x68, 0x02, 0x40,
    0xb8, 0x97, 0x80, 0x08, 0x5a, 0x07, 0x48, 0x04, 0x58, 0x03, 0xf0, 0x01, 0x0c, 0x50, 0x01, 0x0a,
    0x31, 0x0a, 0x2d, 0x08, 0x00, 0x28, 0x04, 0x12, 0x27, 0x08, 0xd0, 0x8f, 0x80, 0x08, 0x10, 0x00,
    0x22, 0x1e, 0x0a, 0x09, 0x73, 0x77, 0x61, 0x70, 0x70, 0x65, 0x72, 0x2f, 0x30, 0x10, 0x00, 0x18,
    0x78, 0x20, 0x00, 0x2a, 0x06, 0x77, 0x6f, 0x72, 0x6b, 0x65, 0x72, 0x30, 0x93, 0x21, 0x38, 0x78,
    0x50, 0x02};

static void put_sequence(struct etwas_wire *wire, uint32_t sequence, size_t began)
{
    etwas_wire_number(wire, 10, sequence);
    etwas_wire_end(wire, began);
}

static void put_clock(struct etwas_wire *wire, uint32_t clock, uint64_t time_ns)
{
    size_t began = etwas_wire_begin(wire, 1);

    etwas_wire_number(wire, 1, clock);
    etwas_wire_number(wire, 2, time_ns);
    etwas_wire_end(wire, began);
}

static void put_clocks(struct etwas_wire *wire)
{
    size_t packet = etwas_wire_begin(wire, PACKET);
    size_t inner = etwas_wire_begin(wire, 6);

    put_clock(wire, SNAPSHOT, START);
    put_clock(wire, 1, UINT64_C(1763770000000000000));
    etwas_wire_number(wire, 2, SNAPSHOT);
    etwas_wire_end(wire, inner);
    put_sequence(wire, 1, packet);
    packet = etwas_wire_begin(wire, PACKET);
    etwas_wire_number(wire, 13, 1);
    inner = etwas_wire_begin(wire, 59);
    etwas_wire_number(wire, 58, SNAPSHOT);
    etwas_wire_end(wire, inner);
    put_sequence(wire, 1, packet);
}

static size_t begin_track(struct etwas_wire *wire, uint64_t uuid, size_t *packet)
{
    size_t track;

    *packet = etwas_wire_begin(wire, PACKET);
    etwas_wire_number(wire, 8, START);
    track = etwas_wire_begin(wire, 60);
    etwas_wire_number(wire, 1, uuid);
    return track;
}

static void put_tracks(struct etwas_wire *wire)
{
    size_t packet;
    size_t track = begin_track(wire, 1, &packet);
    size_t inner = etwas_wire_begin(wire, 3);

    etwas_wire_number(wire, 1, SHOP);
    etwas_wire_text(wire, 6, "shop");
    etwas_wire_end(wire, inner);
    etwas_wire_end(wire, track);
    put_sequence(wire, 1, packet);
    track = begin_track(wire, 2, &packet);
    inner = etwas_wire_begin(wire, 4);
    etwas_wire_number(wire, 1, SHOP);
    etwas_wire_number(wire, 2, WORKER);
    etwas_wire_text(wire, 5, "worker");
    etwas_wire_end(wire, inner);
    etwas_wire_end(wire, track);
    put_sequence(wire, 1, packet);
}

static void put_name(struct etwas_wire *wire, uint32_t kind, const char *text)
{
    size_t began = etwas_wire_begin(wire, kind);

    etwas_wire_number(wire, 1, 1);
    etwas_wire_text(wire, 2, text);
    etwas_wire_end(wire, began);
}

static void put_slice(struct etwas_wire *wire)
{
    size_t packet = etwas_wire_begin(wire, PACKET);
    size_t event;
    size_t inner;

    etwas_wire_number(wire, 13, 2);
    inner = etwas_wire_begin(wire, 12);
    put_name(wire, 1, "Shop");
    put_name(wire, 2, "Order");
    put_name(wire, 3, "price");
    etwas_wire_end(wire, inner);
    etwas_wire_number(wire, 8, START + 1000);
    event = etwas_wire_begin(wire, 11);
    etwas_wire_number(wire, 9, 1);
    etwas_wire_number(wire, 11, 2);
    etwas_wire_number(wire, 3, 1);
    etwas_wire_number(wire, 10, 1);
    inner = etwas_wire_begin(wire, 4);
    etwas_wire_number(wire, 1, 1);
    etwas_wire_number(wire, 3, 17);
    etwas_wire_end(wire, inner);
    etwas_wire_end(wire, event);
    put_sequence(wire, 1, packet);
    packet = etwas_wire_begin(wire, PACKET);
    etwas_wire_number(wire, 13, 2);
    etwas_wire_number(wire, 8, START + 6000);
    event = etwas_wire_begin(wire, 11);
    etwas_wire_number(wire, 9, 2);
    etwas_wire_number(wire, 11, 2);
    etwas_wire_end(wire, event);
    put_sequence(wire, 1, packet);
}

static void put_counter(struct etwas_wire *wire)
{
    size_t packet;
    size_t inner = begin_track(wire, 3, &packet);
    size_t counter;

    etwas_wire_number(wire, 5, 1);
    etwas_wire_text(wire, 2, "depth");
    counter = etwas_wire_begin(wire, 8);
    etwas_wire_number(wire, 3, 2);
    etwas_wire_end(wire, counter);
    etwas_wire_end(wire, inner);
    put_sequence(wire, 1, packet);
    packet = etwas_wire_begin(wire, PACKET);
    etwas_wire_number(wire, 13, 2);
    etwas_wire_number(wire, 8, START + 3000);
    inner = etwas_wire_begin(wire, 11);
    etwas_wire_number(wire, 9, 4);
    etwas_wire_number(wire, 11, 3);
    etwas_wire_number(wire, 30, 12);
    etwas_wire_end(wire, inner);
    put_sequence(wire, 1, packet);
}

static void put_switch(struct etwas_wire *wire)
{
    size_t packet = etwas_wire_begin(wire, PACKET);
    size_t bundle = etwas_wire_begin(wire, 1);
    size_t event;
    size_t inner;

    etwas_wire_number(wire, 1, 0);
    etwas_wire_number(wire, 5, 4);
    event = etwas_wire_begin(wire, 2);
    etwas_wire_number(wire, 1, START + 2000);
    etwas_wire_number(wire, 2, 0);
    inner = etwas_wire_begin(wire, 4);
    etwas_wire_text(wire, 1, "swapper/0");
    etwas_wire_number(wire, 2, 0);
    etwas_wire_number(wire, 3, 120);
    etwas_wire_number(wire, 4, 0);
    etwas_wire_text(wire, 5, "worker");
    etwas_wire_number(wire, 6, WORKER);
    etwas_wire_number(wire, 7, 120);
    etwas_wire_end(wire, inner);
    etwas_wire_end(wire, event);
    etwas_wire_end(wire, bundle);
    put_sequence(wire, 2, packet);
}

static void test_a_trace_has_the_bytes_that_were_seen_to_be_read(void **state)
{
    struct etwas_wire wire;

    (void)state;
    assert_true(etwas_wire_open(&wire, 4096));
    put_clocks(&wire);
    put_tracks(&wire);
    put_slice(&wire);
    put_counter(&wire);
    put_switch(&wire);
    assert_false(wire.is_short);
    assert_int_equal(wire.used, sizeof expected);
    assert_memory_equal(wire.bytes, expected, sizeof expected);
    free(wire.bytes);
}

static void test_a_long_message_inside_moves_up_for_its_length(void **state)
{
    struct etwas_wire wire;
    uint8_t text[300];
    size_t began;

    (void)state;
    memset(text, 'x', sizeof text);
    assert_true(etwas_wire_open(&wire, 4096));
    began = etwas_wire_begin(&wire, 1);
    etwas_wire_bytes(&wire, 2, text, sizeof text);
    etwas_wire_end(&wire, began);
    assert_int_equal(wire.used, 3 + 3 + sizeof text);
    assert_memory_equal(wire.bytes, "\x0a\xaf\x02\x12\xac\x02xx", 8);
    free(wire.bytes);
}

static void test_negative_numbers_take_ten_bytes_or_go_zigzag(void **state)
{
    struct etwas_wire wire;

    (void)state;
    assert_true(etwas_wire_open(&wire, 64));
    etwas_wire_number(&wire, 4, (uint64_t)INT64_C(-2));
    etwas_wire_zigzag(&wire, 3, -2);
    etwas_wire_zigzag(&wire, 3, 2);
    assert_int_equal(wire.used, 11 + 2 + 2);
    assert_memory_equal(wire.bytes, "\x20\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x03\x18\x04",
                        15);
    free(wire.bytes);
}

static void test_what_does_not_fit_makes_it_short(void **state)
{
    struct etwas_wire wire;
    uint8_t text[60] = {0};
    size_t began;

    (void)state;
    assert_true(etwas_wire_open(&wire, 64));
    began = etwas_wire_begin(&wire, 1);
    etwas_wire_bytes(&wire, 2, text, sizeof text);
    etwas_wire_end(&wire, began);
    assert_true(wire.is_short);
    assert_true(wire.used <= 64);
    etwas_wire_clear(&wire);
    etwas_wire_number(&wire, 1, 1);
    assert_false(wire.is_short);
    free(wire.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trace_has_the_bytes_that_were_seen_to_be_read),
        cmocka_unit_test(test_a_long_message_inside_moves_up_for_its_length),
        cmocka_unit_test(test_negative_numbers_take_ten_bytes_or_go_zigzag),
        cmocka_unit_test(test_what_does_not_fit_makes_it_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
