/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The compressor of buffers: whatever it is given comes back, it stays in its room, and records
 * become small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "etl/xpress.h"

enum {
    BUFFER_BYTES = 64 << 10,
    WINDOW_BYTES = 8192,
    /* The room behind what is made; less than this is never enough. */
    SPARE_ROOM_BYTES = 32,
};

static uint64_t random_state = 88172645463325252u;
static uint8_t memory[ETWAS_XPRESS_MEMORY_BYTES];

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

static size_t always_enough(size_t bytes)
{
    return bytes + bytes / 8 + 2 * (size_t)SPARE_ROOM_BYTES;
}

/* Copies what it is given to where nothing may be touched before or behind. How much it became. */
static uint32_t check_round_trip(const uint8_t *given, size_t bytes)
{
    size_t room = always_enough(bytes);
    uint8_t *text = malloc(bytes + 1);
    uint8_t *squeezed = malloc(room);
    uint8_t *back = malloc(bytes + 1);
    uint32_t made;
    bool exact;

    assert_non_null(text);
    assert_non_null(squeezed);
    assert_non_null(back);
    memcpy(text + 1, given, bytes);
    made = etwas_xpress_encode(text + 1, (uint32_t)bytes, squeezed, (uint32_t)room, memory);
    assert_in_range(made, 4, room);
    assert_int_equal(etwas_xpress_decode(squeezed, made, back, bytes, &exact), bytes);
    assert_true(exact);
    assert_memory_equal(back, text + 1, bytes);
    free(text);
    free(squeezed);
    free(back);
    return made;
}

/* Text with matches of every length and distance. */
static void make_text(uint8_t *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t length = next_random() % (next_random() % 8 == 0 ? 700 : 12) + 1;
        size_t back = at == 0 ? 0 : next_random() % (at < 9000 ? at : 9000) + 1;
        bool copy = back > 0 && next_random() % 3 != 0;

        for (size_t i = 0; i < length && at < bytes; i++, at++) {
            text[at] = copy ? text[at - back] : (uint8_t)next_random();
        }
    }
}

static void text_of_every_length_comes_back(void **state)
{
    static uint8_t text[BUFFER_BYTES];

    (void)state;
    for (size_t round = 0; round < 1000; round++) {
        size_t bytes = round < 300 ? round : next_random() % sizeof text;

        make_text(text, bytes);
        check_round_trip(text, bytes);
    }
}

static void noise_comes_back_and_grows_by_an_eighth_at_most(void **state)
{
    static uint8_t noise[BUFFER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)next_random();
    }
    for (size_t bytes = 0; bytes < sizeof noise; bytes += bytes / 3 + 1) {
        assert_in_range(check_round_trip(noise, bytes), bytes, bytes + bytes / 8 + 8);
    }
}

/* What is repeated at any distance, also where the window ends, and one byte behind it. */
static void what_repeats_at_any_distance_comes_back(void **state)
{
    static uint8_t text[3 * (WINDOW_BYTES + 4)];

    (void)state;
    for (size_t period = 1; period < WINDOW_BYTES + 4;
         period += period < 70 || period > WINDOW_BYTES - 4 ? 1 : 97) {
        for (size_t at = 0; at < sizeof text; at++) {
            text[at] = at < period ? (uint8_t)next_random() : text[at - period];
        }
        check_round_trip(text, 3 * period);
        check_round_trip(text, sizeof text);
    }
}

/* Each form a length can have, at its limits: 3 bits, a nibble, a byte, 16 bits, 32 bits. */
static void matches_of_every_length_form_come_back(void **state)
{
    static const size_t lengths[] = {3,   9,   10,  23,    24,    25,    279,   280,  281,
                                     282, 300, 999, 65537, 65538, 65539, 65540, 70000};
    static uint8_t text[8 + 70000 + 33];

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memcpy(text, "abcdefgh", 8);
        for (size_t at = 8; at < lengths[i] + 8; at++) {
            text[at] = text[at - 8];
        }
        memset(text + 8 + lengths[i], '!', 33);
        check_round_trip(text, lengths[i] + 8 + 33);
        assert_in_range(check_round_trip(text, lengths[i] + 8), 12, 48);
    }
}

static void the_largest_buffer_comes_back(void **state)
{
    enum {
        LARGEST_BYTES = 16 << 20
    };
    uint8_t *text = calloc(1, LARGEST_BYTES);

    (void)state;
    assert_non_null(text);
    assert_in_range(check_round_trip(text, LARGEST_BYTES), 12, 24);
    make_text(text, LARGEST_BYTES);
    check_round_trip(text, LARGEST_BYTES);
    free(text);
}

/* Whatever room there is, nothing behind it is touched; a sanitizer sees what the bytes do not. */
static void it_stays_in_its_room_or_says_that_there_is_none(void **state)
{
    static uint8_t text[1200];
    static uint8_t squeezed[2400];

    (void)state;
    for (size_t round = 0; round < 10; round++) {
        uint32_t whole;

        make_text(text, sizeof text);
        whole = check_round_trip(text, sizeof text);
        for (uint32_t room = 0; room < always_enough(sizeof text); room++) {
            uint8_t *end = squeezed + sizeof squeezed - room;
            uint32_t made;

            memset(squeezed, 0xA5, sizeof squeezed);
            made = etwas_xpress_encode(text, sizeof text, squeezed, room, memory);
            assert_true(made == whole || (made == 0 && room < always_enough(whole)));
            assert_true(made <= room);
            for (uint8_t *at = squeezed + room; at < end; at++) {
                assert_int_equal(*at, 0xA5);
            }
        }
    }
}

/* ---- records --------------------------------------------------------------------------------- */

struct record {
    struct etwas_etl_instance_header header;
    uint64_t first;
    uint32_t second;
    uint32_t padding;
};

/* A buffer of instance events, some 20 ns apart, as one thread logs them. Bytes an event. */
static double bytes_of_an_event(bool counting)
{
    static struct record records[BUFFER_BYTES / sizeof(struct record)];
    const uint32_t count = sizeof records / sizeof records[0];
    int64_t stamp = 123456789012345;
    uint32_t made;

    for (uint32_t index = 0; index < count; index++) {
        uint64_t noise = (uint64_t)next_random() << 32 | next_random();

        stamp += 15 + next_random() % 20 + (index % 100 == 0 ? 20000 : 0);
        records[index] =
            (struct record){.first = counting ? 70000 + index : noise, .second = next_random()};
        if (counting) {
            records[index].second %= 100;
        }
        memset(&records[index].header, 0x11, sizeof records[index].header);
        memcpy((uint8_t *)&records[index] + 16, &stamp, sizeof stamp);
    }
    made = check_round_trip((const uint8_t *)records, sizeof records);
    return (double)(made + ETWAS_ETL_BUFFER_HEADER_BYTES) / count;
}

static void a_counting_event_takes_20_bytes_at_most_and_a_random_one_28(void **state)
{
    (void)state;
    assert_true(bytes_of_an_event(true) <= 20);
    assert_true(bytes_of_an_event(false) <= 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_every_length_comes_back),
        cmocka_unit_test(noise_comes_back_and_grows_by_an_eighth_at_most),
        cmocka_unit_test(what_repeats_at_any_distance_comes_back),
        cmocka_unit_test(matches_of_every_length_form_come_back),
        cmocka_unit_test(the_largest_buffer_comes_back),
        cmocka_unit_test(it_stays_in_its_room_or_says_that_there_is_none),
        cmocka_unit_test(a_counting_event_takes_20_bytes_at_most_and_a_random_one_28),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
