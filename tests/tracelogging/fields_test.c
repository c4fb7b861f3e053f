/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every macro of a field, in C and in C++: the schema, byte by byte, and the data, as a session
 * recorded them.
 */
#include "tracelogging/fields.h"

#include <string.h>

#include "tracelogging/field_rows.h"
#include "tracelogging/recorded.h"

TRACELOGGING_DEFINE_PROVIDER(fields_provider, "Etwas.Test.Fields",
                             (0xa3f1b07c, 0x52d6, 0x4e0b, 0x9c, 0x31, 0x77, 0x18, 0x2e, 0xd5, 0x40,
                              0x6a));

static const uint8_t traits[] = "\x14\0Etwas.Test.Fields";

#define TWO_OF_64_BITS                                                                             \
    {                                                                                              \
        -2, 0x123456789ABCDEF0                                                                     \
    }
#define TWO_UNSIGNED                                                                               \
    {                                                                                              \
        UINT64_MAX - 1, 0x123456789ABCDEF0                                                         \
    }

const struct field_values values = {
    .int8 = {-2, 127},
    .uint8 = {254, 1},
    .int16 = {-2, 0x1234},
    .uint16 = {0xFFFE, 0x1234},
    .int32 = {-2, 0x12345678},
    .uint32 = {0xFFFFFFFE, 0x12345678},
    .int64 = TWO_OF_64_BITS,
    .uint64 = TWO_UNSIGNED,
    .intptr = TWO_OF_64_BITS,
    .uintptr = TWO_UNSIGNED,
    .longs = TWO_OF_64_BITS,
    .ulongs = TWO_UNSIGNED,
    .floats = {1.5f, -2.0f},
    .doubles = {1.5, -2.0},
    .booleans = {1, 0},
    .bools = {1, 0},
    .chars = "Ab",
    .wchars = {u'A', u'\u20ac'},
    .pointers = {(const void *)0x1000, (const void *)0x123456789ABCDEF0},
    .guids = {{0x01020304, 0x0506, 0x0708, {9, 10, 11, 12, 13, 14, 15, 16}},
              {0xFFFFFFFF, 0xFFFF, 0xFFFF, {255, 255, 255, 255, 255, 255, 255, 255}}},
    .filetimes = {{0x01020304, 0x05060708}, {0, 0}},
    .systemtimes = {{2026, 11, 0, 22, 8, 45, 9, 999}, {0, 0, 0, 0, 0, 0, 0, 0}},
    .truth = true,
    .port = 0x5000,
    .ipv4 = 0x0100007F,
    .ipv6 = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    .sid = {1, 2, 0, 0, 0, 0, 0, 5, 0x20, 0, 0, 0, 0x21, 2, 0, 0},
    .inet = {2, 0, 0, 0x50, 127, 0, 0, 1},
    .inet6 = {10, 0, 0, 0x50},
    .text = "abc",
    .wide = u"a\u20ac",
    .ansi = {3, 4, (char *)(uintptr_t) "abc"},
    .unicode = {2, 4, (etwas_wchar *)(uintptr_t)u"ab"},
};

#define EXPECTED_ROW(row, row_schema, row_data, ...)                                               \
    {.name = #row,                                                                                 \
     .schema = "\0E\0" row_schema,                                                                 \
     .schema_bytes = sizeof("\0E\0" row_schema) - 1,                                               \
     .data = row_data,                                                                             \
     .data_bytes = sizeof(row_data) - 1},

static const struct {
    const char *name;
    const char *schema; /* behind its size */
    size_t schema_bytes;
    const char *data;
    size_t data_bytes;
} rows[] = {ALL_ROWS(EXPECTED_ROW)};

enum {
    ROWS = sizeof rows / sizeof rows[0]
};

static void compare_row(const struct recorded *event, size_t row)
{
    uint8_t schema[256];

    assert_true(rows[row].schema_bytes + 2 <= sizeof schema);
    schema[0] = (uint8_t)(rows[row].schema_bytes + 2);
    schema[1] = 0;
    memcpy(schema + 2, rows[row].schema, rows[row].schema_bytes);
    expect_bytes(rows[row].name, event->schema, schema, rows[row].schema_bytes + 2);
    expect_bytes(rows[row].name, event->data, rows[row].data, rows[row].data_bytes);
    expect_bytes("traits", event->traits, traits, sizeof traits);
}

static void write_and_compare(void (*write_fields)(void))
{
    etwas_trace_handle session = start_recording();
    struct recording recording;

    assert_int_equal(TraceLoggingRegister(fields_provider), 0);
    enable(session, fields_provider, 0, 0, 0);
    write_fields();
    TraceLoggingUnregister(fields_provider);
    recording = stop_recording(session);
    assert_int_equal(recording.count, ROWS);
    for (size_t row = 0; row < ROWS; row++) {
        compare_row(&recording.events[row], row);
    }
}

static void each_field_has_its_schema_and_data_in_c(void **state)
{
    (void)state;
    write_and_compare(write_fields_c);
}

static void each_field_has_its_schema_and_data_in_cpp(void **state)
{
    (void)state;
    write_and_compare(write_fields_cpp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_field_has_its_schema_and_data_in_c),
        FOLDER_TEST(each_field_has_its_schema_and_data_in_cpp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
