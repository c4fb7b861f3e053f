/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a value is as text and as a number, whatever its bytes are. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/decode.h>

struct row {
    uint16_t in_type;
    uint16_t out_type;
    const char *bytes;
    uint32_t count;
    const char *text;
};

#define ROW(in, out, bytes, text)                                                                  \
    {                                                                                              \
        TDH_INTYPE_##in, TDH_OUTTYPE_##out, bytes, sizeof(bytes) - 1, text                         \
    }

static const char *text_of(const struct row *row)
{
    static char text[1024];
    const etwas_value value = {.in_type = row->in_type,
                               .out_type = row->out_type,
                               .data = row->bytes,
                               .bytes = row->count};
    size_t length = etwas_value_text(&value, text, sizeof text);

    assert_int_equal(length, strlen(text));
    assert_int_equal(etwas_value_text(&value, NULL, 0), length);
    return text;
}

static void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(text_of(&rows[i]), rows[i].text);
    }
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void numbers_are_shown_as_their_out_type_says(void **state)
{
    static const struct row rows[] = {
        ROW(UINT8, HEXINT8, "\x0A", "0xA"),
        ROW(INT8, HEXINT8, "\xFF", "0xFF"),
        ROW(UINT32, PID, "\xFF\xFF\xFF\xFF", "4294967295"),
        ROW(INT32, INT, "\xFF\xFF\xFF\xFF", "-1"),
        ROW(HEXINT32, UNSIGNEDINT, "\x10\0\0\0", "16"),
        ROW(HEXINT64, HEXINT64, "\x10\0\0\0\0\0\0\0", "0x10"),
        ROW(UINT64, CODE_POINTER, "\x08\0\0\0\0\0\0\x80", "0x8000000000000008"),
        ROW(UINT16, PORT, "\x01\xBB", "443"),
        ROW(UINT8, BOOLEAN, "\1", "true"),
        ROW(BOOLEAN, BOOLEAN, "\0\0\0\0", "false"),
        ROW(BOOLEAN, NOPRINT, "\1\0\0\0", "true"),
        ROW(BOOLEAN, NOPRINT, "\2\0\0\0", "2"),
        ROW(UINT8, BOOLEAN, "\xDD", "221"),
        ROW(UINT8, STRING, "M", "M"),
        ROW(UINT16, STRING, "\xE9\0", "é"),
        ROW(UINT32, WIN32ERROR, "\5\0\0\0", "5(ERROR_ACCESS_DENIED)"),
        ROW(UINT32, WIN32ERROR, "\xFF\xFF\0\0", "65535"),
        ROW(HEXINT32, WIN32ERROR, "\5\0\0\0", "0x5(ERROR_ACCESS_DENIED)"),
        ROW(UINT32, NTSTATUS, "\x34\0\0\xC0", "0xC0000034(STATUS_OBJECT_NAME_NOT_FOUND)"),
        ROW(INT32, HRESULT, "\5\x40\0\x80", "0x80004005(E_FAIL)"),
        ROW(INT32, HRESULT, "\x02\0\x07\x80", "0x80070002(ERROR_FILE_NOT_FOUND)"),
        ROW(INT32, HRESULT, "\x99\x99\x07\x81", "0x81079999"),
        ROW(UINT32, IPV4, "\x7F\0\0\1", "127.0.0.1"),
        /* What makes no sense: as if it were not there. */
        ROW(UINT32, SOCKETADDRESS, "\7\0\0\0", "7"),
        ROW(UINT32, PORT, "\1\1\1\0", "65793"),
        ROW(UINT64, WIN32ERROR, "\5\0\0\0\1\0\0\0", "4294967301"),
        ROW(HEXINT64, NTSTATUS, "\5\0\0\0\1\0\0\0", "0x100000005"),
    };

    (void)state;
    EXPECT_ROWS(rows);
}

static void floats_have_as_few_digits_as_tell_them_apart(void **state)
{
    static const struct row rows[] = {
        ROW(DOUBLE, DOUBLE, "\x9A\x99\x99\x99\x99\x99\xB9\x3F", "0.1"),
        ROW(DOUBLE, DOUBLE, "\x55\x55\x55\x55\x55\x55\xD5\x3F", "0.3333333333333333"),
        ROW(FLOAT, FLOAT, "\xCD\xCC\xCC\x3D", "0.1"),
        ROW(FLOAT, FLOAT, "\0\0\xC0\xFF", "nan"),
        ROW(DOUBLE, DOUBLE, "\0\0\0\0\0\0\xF0\xFF", "-inf"),
    };

    (void)state;
    EXPECT_ROWS(rows);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL) {
        EXPECT_ROWS(rows);
        setlocale(LC_NUMERIC, "C");
    }
}

static void dates_are_shown_in_ISO_8601(void **state)
{
    static const struct row rows[] = {
        ROW(FILETIME, DATETIME, "\0\0\0\0\0\0\0\0", "1601-01-01T00:00:00.0000000"),
        ROW(FILETIME, DATETIME_UTC, "\0\x80\x3E\xD5\xDE\xB1\x9D\1", "1970-01-01T00:00:00.0000000Z"),
        ROW(UINT64, DATETIME, "\0\x80\x3E\xD5\xDE\xB1\x9D\1", "1970-01-01T00:00:00.0000000"),
        ROW(FILETIME, DATETIME, "\0\0\x02\x3C\xF6\x81\xBF\1", "2000-02-28T14:15:15.8365184"),
        ROW(FILETIME, DATETIME, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "60056-05-28T05:36:10.9551615"),
        ROW(SYSTEMTIME, DATETIME, "\xE5\x07\x09\0\4\0\x09\0\x0E\0\x3B\0\x23\0\x1F\3",
            "2021-09-09T14:59:35.799"),
    };

    (void)state;
    EXPECT_ROWS(rows);
}

/* Every day from 1601 on follows the one before, and leap years are where they are. */
static void days_follow_one_another(void **state)
{
    static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = 1601;
    unsigned month = 1;
    unsigned day = 1;

    (void)state;
    for (uint64_t at = 0; year < 2402; at += UINT64_C(864000000000)) {
        bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        const struct row row = {TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME, (const char *)&at, 8,
                                NULL};
        char expected[40];

        snprintf(expected, sizeof expected, "%04u-%02u-%02uT00:00:00.0000000", year, month, day);
        assert_string_equal(text_of(&row), expected);
        if (++day > days[month - 1] + (month == 2 && is_leap)) {
            day = 1;
            year += month == 12;
            month = month % 12 + 1;
        }
    }
}

static void addresses_and_ids_are_shown_as_they_are_written(void **state)
{
    static const struct row rows[] = {
        ROW(BINARY, IPV6, "\x20\1\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\1", "2001:db8::1"),
        ROW(BINARY, IPV6, "\x20\1", "2001"),
        ROW(BINARY, SOCKETADDRESS, "\2\0\0\x50\x0A\0\0\1\0\0\0\0\0\0\0\0", "10.0.0.1:80"),
        ROW(BINARY, SOCKETADDRESS, "\2\0\0\0\x0A\0\0\1", "10.0.0.1"),
        ROW(BINARY, SOCKETADDRESS,
            "\x17\0\0\x50\0\0\0\0\xFE\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1\3\0\0\0", "[fe80::1%3]:80"),
        ROW(BINARY, SOCKETADDRESS, "\x0A\0\0", "0A0000"),
        ROW(BINARY, HEXBINARY, "\xDE\xAD", "DEAD"),
        ROW(BINARY, HEXBINARY, "", ""),
        ROW(GUID, GUID, "\xC4\x14\xD6\x0A\xF4\xC4\x25\x42\x80\x13\xF4\x4F\x37\xCB\3\x97",
            "{0ad614c4-c4f4-4225-8013-f44f37cb0397}"),
        ROW(SID, STRING, "\1\2\0\0\0\0\0\5\x20\0\0\0\x20\2\0\0", "S-1-5-32-544"),
        ROW(SID, STRING, "\1\0\1\0\0\0\0\0", "S-1-0x10000000000"),
        ROW(WBEMSID, STRING, "", ""),
    };

    (void)state;
    EXPECT_ROWS(rows);
}

static void invalid_characters_are_replaced(void **state)
{
    static const struct row rows[] = {
        ROW(ANSISTRING, STRING, "a\xC0\xAF", "a\xEF\xBF\xBD\xEF\xBF\xBD"),
        ROW(ANSISTRING, STRING, "\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"),
        ROW(ANSISTRING, STRING, "a\0b",
            "a\xEF\xBF\xBD"
            "b"),
        ROW(UNICODESTRING, STRING, "\0\xD8", "\xEF\xBF\xBD"),
        ROW(UNICODESTRING, STRING, "\0\xDC\x41\0",
            "\xEF\xBF\xBD"
            "A"),
        ROW(UNICODESTRING, STRING, "\x3D\xD8\0\xDE", "😀"),
        ROW(UNICODESTRING, STRING, "\x41\0\x42", "A"),
    };

    (void)state;
    EXPECT_ROWS(rows);
}

static void text_that_does_not_fit_ends_between_characters(void **state)
{
    const etwas_value value = {.in_type = TDH_INTYPE_ANSISTRING,
                               .out_type = TDH_OUTTYPE_STRING,
                               .data = "aé€z",
                               .bytes = 7};
    static const char *const texts[] = {"", "a", "a", "aé", "aé", "aé", "aé€", "aé€z"};
    char text[16];

    (void)state;
    for (size_t size = 1; size <= 8; size++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(etwas_value_text(&value, text, size), 7);
        assert_string_equal(text, texts[size - 1]);
        assert_int_equal(text[size], 'x');
    }
}

static void numbers_are_numbers(void **state)
{
    etwas_number number;
    etwas_value value = {
        .in_type = TDH_INTYPE_INT16, .out_type = TDH_OUTTYPE_SHORT, .data = "\xFE\xFF", .bytes = 2};

    (void)state;
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_SIGNED);
    assert_int_equal(number.i, -2);
    value.in_type = TDH_INTYPE_UINT16;
    value.out_type = TDH_OUTTYPE_PORT;
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_UNSIGNED);
    assert_int_equal(number.u, 0xFEFF);
    value.in_type = TDH_INTYPE_UINT8;
    value.out_type = TDH_OUTTYPE_BOOLEAN;
    value.bytes = 1;
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_UNSIGNED);
    assert_int_equal(number.u, 0xFE);
    value.data = "\1";
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_BOOLEAN);
    assert_int_equal(number.u, 1);
    value.in_type = TDH_INTYPE_BOOLEAN;
    value.out_type = TDH_OUTTYPE_NOPRINT;
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_BOOLEAN);
    value.in_type = TDH_INTYPE_UINT8;
    value.out_type = TDH_OUTTYPE_STRING;
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_TEXT);
    assert_true(etwas_value_is_string(&value));
    value = (etwas_value){.in_type = TDH_INTYPE_FLOAT, .data = "\0\0\xC0\x3F", .bytes = 4};
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_FLOAT);
    assert_true(number.f == 1.5);
    value = (etwas_value){
        .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_IPV4, .data = "abcd", .bytes = 4};
    assert_int_equal(etwas_value_number(&value, &number), ETWAS_VALUE_TEXT);
    assert_false(etwas_value_is_string(&value));
}

/* Whatever the types and the bytes are, they are looked at within their bounds. */
static void every_pair_of_types_has_a_text(void **state)
{
    char *bytes = malloc(16);

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 0x81, 16);
    for (unsigned in = 0; in < 320; in++) {
        for (unsigned out = 0; out < 320; out++) {
            for (uint32_t count = 0; count <= 16; count = 2 * count + 1) {
                const struct row row = {(uint16_t)in, (uint16_t)out, bytes + 16 - count, count,
                                        NULL};
                etwas_value value = {.in_type = row.in_type,
                                     .out_type = row.out_type,
                                     .data = row.bytes,
                                     .bytes = count};
                etwas_number number;

                if (count == 16 || (in != TDH_INTYPE_GUID && in != TDH_INTYPE_SYSTEMTIME)) {
                    text_of(&row);
                }
                etwas_value_number(&value, &number);
                etwas_value_is_string(&value);
            }
        }
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_shown_as_their_out_type_says),
        cmocka_unit_test(floats_have_as_few_digits_as_tell_them_apart),
        cmocka_unit_test(dates_are_shown_in_ISO_8601),
        cmocka_unit_test(days_follow_one_another),
        cmocka_unit_test(addresses_and_ids_are_shown_as_they_are_written),
        cmocka_unit_test(invalid_characters_are_replaced),
        cmocka_unit_test(text_that_does_not_fit_ends_between_characters),
        cmocka_unit_test(numbers_are_numbers),
        cmocka_unit_test(every_pair_of_types_has_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
