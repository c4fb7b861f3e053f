/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The LZ77 decoder: what a compressor made comes back, and nothing else is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compress.h"
#include "etl/xpress.h"

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

/* Text of `bytes` bytes with matches of every length and distance. */
static void make_text(uint8_t *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t length = next_random() % (next_random() % 8 == 0 ? 700 : 12) + 1;
        size_t back = at == 0 ? 0 : next_random() % (at < 8192 ? at : 8192) + 1;
        bool copy = back > 0 && next_random() % 3 != 0;

        for (size_t i = 0; i < length && at < bytes; i++, at++) {
            text[at] = copy ? text[at - back] : (uint8_t)next_random();
        }
    }
}

static void check_round_trip(const uint8_t *text, size_t bytes)
{
    uint8_t *squeezed = malloc(bytes * 2 + 64);
    uint8_t *back = malloc(bytes + 1);
    bool exact;
    size_t made;

    assert_non_null(squeezed);
    assert_non_null(back);
    made = compress(text, bytes, squeezed);
    assert_int_equal(etwas_xpress_decode(squeezed, made, back, bytes, &exact), bytes);
    assert_true(exact);
    if (bytes > 0) {
        assert_memory_equal(back, text, bytes);
    }
    free(squeezed);
    free(back);
}

static void what_was_compressed_comes_back(void **state)
{
    uint8_t text[4096];

    (void)state;
    for (size_t round = 0; round < 300; round++) {
        size_t bytes = round < 70 ? round : next_random() % sizeof text;

        make_text(text, bytes);
        check_round_trip(text, bytes);
    }
}

/* Each form a length can have, at its limits: 3 bits, a nibble, a byte, 16 bits, 32 bits. */
static void matches_of_every_length_form_come_back(void **state)
{
    static const size_t lengths[] = {3,   9,   10,  23,    24,    25,    279,   280,  281,
                                     282, 300, 999, 65537, 65538, 65539, 65540, 70000};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t *text = malloc(lengths[i] + 9);

        assert_non_null(text);
        memcpy(text, "abcdefgh", 8);
        for (size_t at = 8; at < lengths[i] + 8; at++) {
            text[at] = text[at - 8];
        }
        text[lengths[i] + 8] = '!';
        check_round_trip(text, lengths[i] + 9);
        free(text);
    }
}

/* Every prefix gives a prefix: what was made before the input ended is right. */
static void a_cut_input_gives_the_beginning(void **state)
{
    uint8_t text[600];
    uint8_t squeezed[1400];
    uint8_t back[600];
    bool exact;
    size_t bytes;

    (void)state;
    make_text(text, sizeof text);
    bytes = compress(text, sizeof text, squeezed);
    for (size_t cut = 0; cut < bytes; cut++) {
        uint8_t *input = malloc(cut + 1);
        size_t made;

        assert_non_null(input);
        memcpy(input, squeezed, cut);
        made = etwas_xpress_decode(input, cut, back, sizeof back, &exact);
        assert_true(made <= sizeof text);
        assert_memory_equal(back, text, made);
        free(input);
    }
}

/* Whatever lies where the output ends: it has the beginning of what was compressed. */
static void a_smaller_output_gets_the_beginning(void **state)
{
    uint8_t text[600];
    uint8_t squeezed[1400];
    bool exact;
    size_t bytes;

    (void)state;
    make_text(text, sizeof text);
    bytes = compress(text, sizeof text, squeezed);
    for (size_t room = 1; room < sizeof text; room++) {
        uint8_t *back = malloc(room);

        assert_non_null(back);
        assert_int_equal(etwas_xpress_decode(squeezed, bytes, back, room, &exact), room);
        assert_memory_equal(back, text, room);
        assert_false(exact);
        free(back);
    }
}

struct bad {
    const char *input;
    size_t bytes;
    size_t output;
    size_t made;
};

static void input_that_lies_is_not_believed(void **state)
{
    static const struct bad table[] = {
        {"", 0, 1, 0},                                     /* nothing */
        {"\0\0\0", 3, 1, 0},                               /* half a flag word */
        {"\0\0\0\x80\0\0", 6, 8, 0},                       /* a match before the start */
        {"\0\0\0\x40\x41\x08\0", 7, 8, 1},                 /* two back after one byte */
        {"\0\0\0\x40\x41\x07\0", 7, 8, 1},                 /* no length byte */
        {"\0\0\0\x40\x41\x07\0\x0F", 8, 64, 1},            /* no second length byte */
        {"\0\0\0\x40\x41\x07\0\x0F\xFF\0", 10, 64, 1},     /* half a 16-bit length */
        {"\0\0\0\x40\x41\x07\0\x0F\xFF\0\0\1", 12, 64, 1}, /* half a 32-bit length */
        {"\0\0\0\x40\x41\x07\0\x0F\xFF\0\0\xFF\xFF\xFF\xFF", 15, 64, 64}, /* past the end */
        {"\0\0\0\x40\x41\x04\0", 7, 3, 3},                                /* a match past the end */
        {"\0\0\0\0abc", 7, 2, 2},                                         /* a byte left over */
        {"\0\0\0\0ab\xFF\xFF\xFF", 9, 2, 2},                              /* three left over */
        {"\0\0\0\0ab\xFF\xFF\xFF\xFE", 10, 2, 2},                         /* not a closing word */
    };
    uint8_t output[64];
    bool exact;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint8_t *input = malloc(table[i].bytes + 1);

        assert_non_null(input);
        memcpy(input, table[i].input, table[i].bytes);
        exact = true;
        assert_int_equal(
            etwas_xpress_decode(input, table[i].bytes, output, table[i].output, &exact),
            table[i].made);
        assert_false(exact);
        free(input);
    }
}

static void noise_is_decoded_without_harm(void **state)
{
    (void)state;
    for (size_t round = 0; round < 20000; round++) {
        size_t bytes = next_random() % 200;
        size_t room = next_random() % 500 + 1;
        uint8_t *input = malloc(bytes + 1);
        uint8_t *output = malloc(room);
        bool exact;

        assert_non_null(input);
        assert_non_null(output);
        for (size_t i = 0; i < bytes; i++) {
            input[i] = (uint8_t)(next_random() & next_random());
        }
        assert_true(etwas_xpress_decode(input, bytes, output, room, &exact) <= room);
        free(input);
        free(output);
    }
}

/* ---- what a few bytes may cost --------------------------------------------------------------- */

void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap___asan_memcpy(void *to, const void *from, size_t bytes);

static size_t pieces;
static size_t copied;

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    pieces++;
    copied += bytes;
    return __real_memcpy(to, from, bytes);
}

void *__wrap___asan_memcpy(void *to, const void *from, size_t bytes)
{
    return __wrap_memcpy(to, from, bytes);
}

/*
 * 15 bytes that promise 16 MiB: a literal and a match of it for all the rest. Each piece that is
 * copied is twice as long as the one before.
 */
static void a_match_as_long_as_the_largest_buffer_is_copied_in_few_pieces(void **state)
{
    enum {
        LARGEST = 16 << 20,
        DOUBLINGS = 24
    };
    uint8_t input[15] = {0xFF, 0xFF, 0xFF, 0x7F, 'x', 7, 0, 0xF, 0xFF};
    const uint32_t rest = LARGEST - 1 - 3;
    static uint8_t output[LARGEST];
    bool exact;

    (void)state;
    memcpy(input + sizeof input - sizeof rest, &rest, sizeof rest);
    pieces = 0;
    copied = 0;
    assert_int_equal(etwas_xpress_decode(input, sizeof input, output, LARGEST, &exact), LARGEST);
    assert_true(exact);
    assert_int_equal(copied, LARGEST - 1);
    assert_in_range(pieces, 1, DOUBLINGS + 1);
    assert_int_equal(output[LARGEST - 1], 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_compressed_comes_back),
        cmocka_unit_test(matches_of_every_length_form_come_back),
        cmocka_unit_test(a_cut_input_gives_the_beginning),
        cmocka_unit_test(a_smaller_output_gets_the_beginning),
        cmocka_unit_test(input_that_lies_is_not_believed),
        cmocka_unit_test(noise_is_decoded_without_harm),
        cmocka_unit_test(a_match_as_long_as_the_largest_buffer_is_copied_in_few_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
