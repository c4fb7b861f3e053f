/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* UTF-8 and UTF-16: every code point both ways, every kind of malformed input, every capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "etl/utf16.h"

/* The textbook encodings, written apart from the code under test. */
static size_t encode_8(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xC0 + point / 64);
        out[1] = (char)(0x80 + point % 64);
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 + point / 4096);
        out[1] = (char)(0x80 + point / 64 % 64);
        out[2] = (char)(0x80 + point % 64);
        return 3;
    }
    out[0] = (char)(0xF0 + point / 262144);
    out[1] = (char)(0x80 + point / 4096 % 64);
    out[2] = (char)(0x80 + point / 64 % 64);
    out[3] = (char)(0x80 + point % 64);
    return 4;
}

static void every_code_point_goes_there_and_back(void **state)
{
    (void)state;
    for (uint32_t point = 1; point <= 0x10FFFF; point++) {
        char bytes[5];
        char back[8];
        etwas_wchar units[4];
        size_t length = encode_8(point, bytes);
        size_t needed;
        enum etwas_utf_result result = etwas_utf8_to_utf16(bytes, length, units, 4, &needed);
        uint32_t decoded;

        if (point >= 0xD800 && point <= 0xDFFF) {
            assert_int_equal(result, ETWAS_UTF_INVALID);
            continue;
        }
        assert_int_equal(result, ETWAS_UTF_OK);
        assert_int_equal(needed, point < 0x10000 ? 2 : 3);
        assert_int_equal(units[needed - 1], 0);
        decoded = units[0];
        if (needed == 3) {
            decoded = 0x10000 + (units[0] - 0xD800u) * 1024 + (units[1] - 0xDC00u);
        }
        assert_int_equal(decoded, point);
        assert_int_equal(etwas_utf16_to_utf8(units, needed - 1, back, sizeof back, &needed),
                         ETWAS_UTF_OK);
        assert_int_equal(needed, length + 1);
        assert_memory_equal(back, bytes, length);
        assert_int_equal(back[length], 0);
    }
}

static void malformed_utf8_is_refused(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } table[] = {
        {"\x00", 1},                 /* an embedded 0 */
        {"a\x00z", 3},               /* the same inside */
        {"\x80", 1},                 /* a lone continuation */
        {"\xBF\xBF", 2},             /* two */
        {"\xC3", 1},                 /* cut after the lead */
        {"\xE2\x82", 2},             /* cut in three */
        {"\xF0\x9F\x98", 3},         /* cut in four */
        {"\xC3\x28", 2},             /* no continuation */
        {"\xE2\x28\xA1", 3},         /* no continuation in the middle */
        {"\xE2\x82\x28", 3},         /* no continuation at the end */
        {"\xC0\x80", 2},             /* overlong 0 */
        {"\xC1\xBF", 2},             /* overlong U+007F */
        {"\xE0\x9F\xBF", 3},         /* overlong U+07FF */
        {"\xF0\x8F\xBF\xBF", 4},     /* overlong U+FFFF */
        {"\xED\xA0\x80", 3},         /* U+D800 */
        {"\xED\xBF\xBF", 3},         /* U+DFFF */
        {"\xF4\x90\x80\x80", 4},     /* U+110000 */
        {"\xF5\x80\x80\x80", 4},     /* above */
        {"\xF8\x88\x80\x80\x80", 5}, /* five bytes */
        {"\xFE", 1},
        {"\xFF", 1},
    };
    etwas_wchar out[16];

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t needed = 99;

        assert_int_equal(etwas_utf8_to_utf16(table[i].text, table[i].bytes, out, 16, &needed),
                         ETWAS_UTF_INVALID);
        assert_int_equal(needed, 0);
    }
}

static void malformed_utf16_is_refused(void **state)
{
    static const struct {
        etwas_wchar text[3];
        size_t units;
    } table[] = {
        {{0}, 1},                      /* an embedded 0 */
        {{'a', 0, 'z'}, 3},            /* the same inside */
        {{0xD800}, 1},                 /* a high surrogate at the end */
        {{0xDBFF, 'a'}, 2},            /* a high surrogate alone */
        {{0xD800, 0xD800, 0xDC00}, 3}, /* two highs */
        {{0xDC00}, 1},                 /* a low surrogate alone */
        {{'a', 0xDFFF}, 2},            /* the same at the end */
        {{0xD800, 0xE000}, 2},         /* just past the lows */
    };
    char out[16];

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t needed = 99;

        assert_int_equal(etwas_utf16_to_utf8(table[i].text, table[i].units, out, 16, &needed),
                         ETWAS_UTF_INVALID);
        assert_int_equal(needed, 0);
    }
}

static void the_room_needed_is_reported_and_never_exceeded(void **state)
{
    static const char text[] = "aé€😀z";
    size_t bytes = sizeof text - 1;
    etwas_wchar units[8];
    char back[16];
    size_t needed;
    enum etwas_utf_result result;

    (void)state;
    for (size_t capacity = 0; capacity < 8; capacity++) {
        memset(units, 0x55, sizeof units);
        result = etwas_utf8_to_utf16(text, bytes, capacity > 0 ? units : NULL, capacity, &needed);
        assert_int_equal(needed, 7);
        assert_int_equal(result, capacity >= 7 ? ETWAS_UTF_OK : ETWAS_UTF_TOO_LONG);
        for (size_t i = capacity >= 7 ? 7 : 0; i < 8; i++) {
            assert_int_equal(units[i], 0x5555);
        }
    }
    etwas_utf8_to_utf16(text, bytes, units, 8, &needed);
    for (size_t capacity = 0; capacity < sizeof back; capacity++) {
        memset(back, 0x55, sizeof back);
        result = etwas_utf16_to_utf8(units, 6, capacity > 0 ? back : NULL, capacity, &needed);
        assert_int_equal(needed, bytes + 1);
        assert_int_equal(result, capacity > bytes ? ETWAS_UTF_OK : ETWAS_UTF_TOO_LONG);
        for (size_t i = capacity > bytes ? bytes + 1 : 0; i < sizeof back; i++) {
            assert_int_equal(back[i], 0x55);
        }
    }
}

static void nothing_becomes_a_terminator(void **state)
{
    etwas_wchar unit = 7;
    char byte = 7;
    size_t needed;

    (void)state;
    assert_int_equal(etwas_utf8_to_utf16("", 0, &unit, 1, &needed), ETWAS_UTF_OK);
    assert_int_equal(needed, 1);
    assert_int_equal(unit, 0);
    assert_int_equal(etwas_utf16_to_utf8(u"", 0, &byte, 1, &needed), ETWAS_UTF_OK);
    assert_int_equal(needed, 1);
    assert_int_equal(byte, 0);
}

static void a_length_stops_at_its_limit(void **state)
{
    (void)state;
    assert_int_equal(etwas_utf16_length(u"abc", 10), 3);
    assert_int_equal(etwas_utf16_length(u"abc", 3), 3);
    assert_int_equal(etwas_utf16_length(u"abc", 2), 2);
    assert_int_equal(etwas_utf16_length(u"", 5), 0);
    assert_int_equal(etwas_utf16_length(u"abc", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_goes_there_and_back),
        cmocka_unit_test(malformed_utf8_is_refused),
        cmocka_unit_test(malformed_utf16_is_refused),
        cmocka_unit_test(the_room_needed_is_reported_and_never_exceeded),
        cmocka_unit_test(nothing_becomes_a_terminator),
        cmocka_unit_test(a_length_stops_at_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
