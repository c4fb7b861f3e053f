/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Format files: fields as kernels write them, and texts that no kernel writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/stream/tracepoint.h"

static const char switched[] =
    "name: sched_switch\n"
    "ID: 372\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:__data_loc char[] filename;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc u8[] rest;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\tfield:void * function;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\n"
    "print fmt: \"prev_comm=%s\", REC->prev_comm\n";

static bool find(const char *text, const char *name, struct etwas_tracepoint_field *field)
{
    return etwas_tracepoint_format_find(text, strlen(text), name, field);
}

static void expect_field(const char *name, uint32_t offset, uint32_t size, bool is_signed,
                         enum etwas_tracepoint_field_kind kind)
{
    struct etwas_tracepoint_field field;

    assert_true(find(switched, name, &field));
    assert_int_equal(field.offset, offset);
    assert_int_equal(field.size, size);
    assert_int_equal(field.is_signed, is_signed);
    assert_int_equal(field.kind, kind);
}

static void fields_of_every_kind_are_found(void **state)
{
    struct etwas_tracepoint_field field;
    uint32_t id = 0;

    (void)state;
    assert_true(etwas_tracepoint_format_id(switched, strlen(switched), &id));
    assert_int_equal(id, 372);
    expect_field("common_type", 0, 2, false, ETWAS_FORMAT_PLAIN);
    expect_field("common_pid", 4, 4, true, ETWAS_FORMAT_PLAIN);
    expect_field("prev_comm", 8, 16, false, ETWAS_FORMAT_ARRAY);
    expect_field("prev_state", 32, 8, true, ETWAS_FORMAT_PLAIN);
    expect_field("filename", 40, 4, false, ETWAS_FORMAT_DATA_LOC);
    expect_field("rest", 44, 4, false, ETWAS_FORMAT_REL_LOC);
    expect_field("function", 48, 8, false, ETWAS_FORMAT_PLAIN);
    assert_false(find(switched, "comm", &field));
    assert_false(find(switched, "pid", &field));
    assert_false(find(switched, "prev_comm[16]", &field));
    assert_false(find(switched, "", &field));
}

static void texts_without_sense_have_no_fields(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n\n",
        "field:",
        "field:int x",
        "field:int x;",
        "field:int x;offset:0;",
        "field:int x;offset:0;size:4;",
        "field:int x;offset:0;size:4;signed:0",
        "field:int x;offset:0;size:4;signed:2;",
        "field:int x;offset:;size:4;signed:0;",
        "field:int x;offset:-1;size:4;signed:0;",
        "field:int x;offset:0x1;size:4;signed:0;",
        "field:int x;offset:65536;size:4;signed:0;",
        "field:int x;offset:65530;size:8;signed:0;",
        "field:int x;offset:99999999999999999999999999;size:4;signed:0;",
        "field:int x;size:4;offset:0;signed:0;",
        "field:int x]];offset:0;size:4;signed:0;",
        "field:];offset:0;size:4;signed:0;",
        "field:int x;\noffset:0;size:4;signed:0;",
    };
    struct etwas_tracepoint_field field;

    (void)state;
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        assert_false(find(texts[index], "x", &field));
    }
    /* A first line without sense is not made up for by a second. */
    assert_false(
        find("field:int x;offset:no;\nfield:int x;offset:0;size:4;signed:0;\n", "x", &field));
}

static void numbers_of_tracepoints_are_numbers(void **state)
{
    static const char *const texts[] = {"",       "ID:",       "ID: \n",       "ID: 4294967296\n",
                                        "ID: -1", "ID: 1 2\n", "name: ID: 3\n"};
    uint32_t id;

    (void)state;
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        assert_false(etwas_tracepoint_format_id(texts[index], strlen(texts[index]), &id));
    }
    assert_true(etwas_tracepoint_format_id("ID: 4294967295", 14, &id));
    assert_int_equal(id, UINT32_MAX);
}

/* Every beginning of the text, in memory of that size: nothing behind it is read. */
static void a_text_may_end_anywhere(void **state)
{
    size_t whole = strlen(switched);
    size_t found = 0;

    (void)state;
    for (size_t bytes = 0; bytes <= whole; bytes++) {
        char *text = malloc(bytes + 1);
        struct etwas_tracepoint_field field;
        uint32_t id;

        assert_non_null(text);
        memcpy(text, switched, bytes);
        text = realloc(text, bytes != 0 ? bytes : 1);
        assert_non_null(text);
        (void)etwas_tracepoint_format_id(text, bytes, &id);
        found += etwas_tracepoint_format_find(text, bytes, "function", &field);
        free(text);
    }
    assert_in_range(found, 1, whole / 2);
}

static int64_t number(uint16_t offset, uint16_t size, bool is_signed)
{
    static const uint8_t raw[] = {0x80, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F};
    const struct etwas_tracepoint_field field = {offset, size, is_signed, ETWAS_FORMAT_PLAIN};
    int64_t value = 0;

    assert_true(etwas_tracepoint_format_number(&field, raw, sizeof raw, &value));
    return value;
}

static void numbers_have_their_sign_and_end_with_the_data(void **state)
{
    static const uint8_t raw[16];
    static const struct etwas_tracepoint_field refused[] = {
        {9, 8, false, ETWAS_FORMAT_PLAIN},   {16, 1, false, ETWAS_FORMAT_PLAIN},
        {0, 3, false, ETWAS_FORMAT_PLAIN},   {0, 0, false, ETWAS_FORMAT_PLAIN},
        {0, 16, false, ETWAS_FORMAT_PLAIN},  {0, 4, false, ETWAS_FORMAT_ARRAY},
        {0, 4, false, ETWAS_FORMAT_DATA_LOC}};
    int64_t value;

    (void)state;
    assert_int_equal(number(0, 1, false), 0x80);
    assert_int_equal(number(0, 1, true), -128);
    assert_int_equal(number(1, 2, true), -257);
    assert_int_equal(number(1, 2, false), 0xFEFF);
    assert_int_equal(number(1, 4, true), -257);
    assert_int_equal(number(1, 8, false), INT64_C(0x7FFFFFFFFFFFFEFF));
    for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) {
        assert_false(etwas_tracepoint_format_number(&refused[index], raw, sizeof raw, &value));
    }
}

static void bytes_lie_within_the_data(void **state)
{
    static const struct etwas_tracepoint_field array = {4, 4, false, ETWAS_FORMAT_ARRAY};
    static const struct etwas_tracepoint_field placed = {0, 4, false, ETWAS_FORMAT_DATA_LOC};
    static const struct etwas_tracepoint_field relative = {0, 4, false, ETWAS_FORMAT_REL_LOC};
    static const struct etwas_tracepoint_field odd = {0, 2, false, ETWAS_FORMAT_DATA_LOC};
    uint8_t raw[16] = {8, 0, 3, 0};
    const uint8_t *bytes;
    size_t count;

    (void)state;
    assert_true(etwas_tracepoint_format_bytes(&array, raw, sizeof raw, &bytes, &count));
    assert_true(bytes == raw + 4 && count == 4);
    assert_false(etwas_tracepoint_format_bytes(&array, raw, 7, &bytes, &count));
    assert_true(etwas_tracepoint_format_bytes(&placed, raw, sizeof raw, &bytes, &count));
    assert_true(bytes == raw + 8 && count == 3);
    assert_false(etwas_tracepoint_format_bytes(&placed, raw, 10, &bytes, &count));
    assert_true(etwas_tracepoint_format_bytes(&relative, raw, sizeof raw, &bytes, &count));
    assert_true(bytes == raw + 12 && count == 3);
    assert_false(etwas_tracepoint_format_bytes(&relative, raw, 14, &bytes, &count));
    assert_false(etwas_tracepoint_format_bytes(&odd, raw, sizeof raw, &bytes, &count));
    memset(raw, 0xFF, sizeof raw);
    assert_false(etwas_tracepoint_format_bytes(&placed, raw, sizeof raw, &bytes, &count));
    assert_false(etwas_tracepoint_format_bytes(&relative, raw, sizeof raw, &bytes, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_every_kind_are_found),
        cmocka_unit_test(texts_without_sense_have_no_fields),
        cmocka_unit_test(numbers_of_tracepoints_are_numbers),
        cmocka_unit_test(a_text_may_end_anywhere),
        cmocka_unit_test(numbers_have_their_sign_and_end_with_the_data),
        cmocka_unit_test(bytes_lie_within_the_data),
    };

    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
