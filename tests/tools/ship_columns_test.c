/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Blocks as ClickHouse's Native format has them, byte by byte; and which dialect a table has.
 */
#include "ship/schema/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* What is expected of a block, in order. */
struct expected {
    uint8_t bytes[1 << 16];
    size_t used;
};

static void expect_bytes(struct expected *expected, const void *data, size_t bytes)
{
    assert_true(sizeof expected->bytes - expected->used >= bytes);
    memcpy(expected->bytes + expected->used, data, bytes);
    expected->used += bytes;
}

static void expect_number(struct expected *expected, uint64_t value, size_t bytes)
{
    expect_bytes(expected, &value, bytes);
}

/* One that is shorter than 128 bytes. */
static void expect_text(struct expected *expected, const char *text)
{
    expect_number(expected, strlen(text), 1);
    expect_bytes(expected, text, strlen(text));
}

static void expect_head(struct expected *expected, const char *name, const char *type)
{
    expect_text(expected, name);
    expect_text(expected, type);
}

/* Checks that the pieces, one behind the other, are what is expected. */
static void assert_block(const struct etwas_columns *columns, const struct expected *expected)
{
    size_t at = 0;

    assert_int_equal(columns->total_bytes, expected->used);
    for (uint32_t i = 0; i < columns->piece_count; i++) {
        const struct iovec *piece = &columns->pieces[i];

        assert_true(expected->used - at >= piece->iov_len);
        assert_memory_equal(piece->iov_base, expected->bytes + at, piece->iov_len);
        at += piece->iov_len;
    }
    assert_int_equal(at, expected->used);
}

static const etwas_guid shop = {
    0x5ab7a3c2, 0x1f0e, 0x4d7b, {0x9a, 0x31, 0x6e, 0x02, 0xd4, 0xcc, 0x77, 0x10}};
static const etwas_guid no_guid;
/* What a server makes of 5ab7a3c2-1f0e-4d7b-9a31-6e02d4cc7710. */
static const uint8_t shop_bytes[16] = {0x7b, 0x4d, 0x0e, 0x1f, 0xc2, 0xa3, 0xb7, 0x5a,
                                       0x10, 0x77, 0xcc, 0xd4, 0x02, 0x6e, 0x31, 0x9a};

/*
 * An event of which every value differs by its row; row 0 has two numbers and a text, row 1 none of
 * them.
 */
static void put_event(struct etwas_columns *columns, uint32_t row)
{
    etwas_columns_begin(columns);
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_DAY, (uint16_t)(20000 + row));
    etwas_columns_time(columns, ETWAS_SHIP_EVENT_TIME, 1700000000000000001 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_TIME_ERROR, 100 + row);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_HOST, "web1", 4);
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_SESSION, 0xF000000000000001 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PART, 7 + row);
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_CPU, (uint16_t)(3 + row));
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_BUFFER, 11 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_POSITION, 12 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PID, 13 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_TID, 14 + row);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_PROVIDER_ID, row == 0 ? &shop : &no_guid);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_CLASS_ID, row == 0 ? &no_guid : &shop);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_PROVIDER, "Shop", row == 0 ? 4 : 0);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_CLASS, "Shop", row == 0 ? 0 : 4);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_EVENT, "Shop/Order", row == 0 ? 10 : 4);
    etwas_columns_u8(columns, ETWAS_SHIP_EVENT_OPCODE, (uint8_t)(1 + row));
    etwas_columns_u8(columns, ETWAS_SHIP_EVENT_LEVEL, (uint8_t)(4 + row));
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_ID, (uint16_t)(300 + row));
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_KEYWORD, 0x8000000000000000 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_INSTANCE, 15 + row);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PARENT_INSTANCE, 16 + row);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_ACTIVITY, &no_guid);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_RELATED_ACTIVITY, &shop);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_PAYLOAD, "\0\xFF", row == 0 ? 2 : 0);
    if (row == 0) {
        etwas_columns_int(columns, ETWAS_SHIP_EVENT_INTS, "price", 5, -2);
        etwas_columns_int(columns, ETWAS_SHIP_EVENT_INTS, "count", 5, 3);
        etwas_columns_text(columns, ETWAS_SHIP_EVENT_TEXTS, "who", 3, "me", 2);
    } else {
        etwas_columns_real(columns, ETWAS_SHIP_EVENT_REALS, "load", 4, 0.5);
    }
    etwas_columns_end(columns);
}

/* Two values that differ by one. */
static void expect_two(struct expected *expected, const char *name, const char *type,
                       uint64_t value, size_t bytes)
{
    expect_head(expected, name, type);
    expect_number(expected, value, bytes);
    expect_number(expected, value + 1, bytes);
}

static void expect_guids(struct expected *expected, const char *name, bool first, bool second)
{
    expect_head(expected, name, "UUID");
    expect_bytes(expected, first ? shop_bytes : (const uint8_t[16]){0}, 16);
    expect_bytes(expected, second ? shop_bytes : (const uint8_t[16]){0}, 16);
}

/* The columns up to the pairs. */
static void expect_fixed(struct expected *expected, const char *time_type)
{
    expect_two(expected, "day", "Date", 20000, 2);
    expect_two(expected, "time", time_type, 1700000000000000001, 8);
    expect_two(expected, "time_error", "UInt32", 100, 4);
    expect_head(expected, "host", "String");
    expect_text(expected, "web1");
    expect_text(expected, "web1");
    expect_two(expected, "session_id", "UInt64", 0xF000000000000001, 8);
    expect_two(expected, "part", "UInt32", 7, 4);
    expect_two(expected, "cpu", "UInt16", 3, 2);
    expect_two(expected, "buffer", "UInt64", 11, 8);
    expect_two(expected, "position", "UInt32", 12, 4);
    expect_two(expected, "pid", "UInt32", 13, 4);
    expect_two(expected, "tid", "UInt32", 14, 4);
    expect_guids(expected, "provider_id", true, false);
    expect_head(expected, "provider", "String");
    expect_text(expected, "Shop");
    expect_text(expected, "");
    expect_guids(expected, "event_class_id", false, true);
    expect_head(expected, "event_class", "String");
    expect_text(expected, "");
    expect_text(expected, "Shop");
    expect_head(expected, "event", "String");
    expect_text(expected, "Shop/Order");
    expect_text(expected, "Shop");
    expect_two(expected, "opcode", "UInt8", 1, 1);
    expect_two(expected, "level", "UInt8", 4, 1);
    expect_two(expected, "event_id", "UInt16", 300, 2);
    expect_two(expected, "keyword", "UInt64", 0x8000000000000000, 8);
    expect_two(expected, "instance", "UInt32", 15, 4);
    expect_two(expected, "parent_instance", "UInt32", 16, 4);
    expect_guids(expected, "activity", false, false);
    expect_guids(expected, "related_activity", true, true);
}

static void expect_ends(struct expected *expected, uint64_t first, uint64_t second)
{
    expect_number(expected, first, 8);
    expect_number(expected, second, 8);
}

static void expect_payload(struct expected *expected)
{
    expect_head(expected, "payload", "String");
    expect_bytes(expected, "\x02\x00\xFF\x00", 4);
}

static void expect_plain(struct expected *expected)
{
    expect_bytes(expected, "\x1f\x02", 2); /* 28 columns, of which three are two each; 2 rows */
    expect_fixed(expected, "UInt64");
    expect_head(expected, "ints.keys", "Array(String)");
    expect_ends(expected, 2, 2);
    expect_text(expected, "price");
    expect_text(expected, "count");
    expect_head(expected, "ints.values", "Array(Int64)");
    expect_ends(expected, 2, 2);
    expect_number(expected, (uint64_t)-2, 8);
    expect_number(expected, 3, 8);
    expect_head(expected, "reals.keys", "Array(String)");
    expect_ends(expected, 0, 1);
    expect_text(expected, "load");
    expect_head(expected, "reals.values", "Array(Float64)");
    expect_ends(expected, 0, 1);
    expect_number(expected, 0x3FE0000000000000, 8);
    expect_head(expected, "texts.keys", "Array(String)");
    expect_ends(expected, 1, 1);
    expect_text(expected, "who");
    expect_head(expected, "texts.values", "Array(String)");
    expect_ends(expected, 1, 1);
    expect_text(expected, "me");
    expect_payload(expected);
}

static void expect_modern(struct expected *expected)
{
    expect_bytes(expected, "\x1c\x02", 2);
    expect_fixed(expected, "DateTime64(9, 'UTC')");
    expect_head(expected, "ints", "Map(String, Int64)");
    expect_ends(expected, 2, 2);
    expect_text(expected, "price");
    expect_text(expected, "count");
    expect_number(expected, (uint64_t)-2, 8);
    expect_number(expected, 3, 8);
    expect_head(expected, "reals", "Map(String, Float64)");
    expect_ends(expected, 0, 1);
    expect_text(expected, "load");
    expect_number(expected, 0x3FE0000000000000, 8);
    expect_head(expected, "texts", "Map(String, String)");
    expect_ends(expected, 1, 1);
    expect_text(expected, "who");
    expect_text(expected, "me");
    expect_payload(expected);
}

static void a_block_is_encoded_for_a_plain_table(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns columns;
    struct expected expected = {.used = 0};

    (void)state;
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
    put_event(&columns, 0);
    put_event(&columns, 1);
    assert_true(etwas_columns_finish(&columns));
    expect_plain(&expected);
    assert_block(&columns, &expected);
    etwas_columns_close(&columns);
}

/* And the memory of a block is used again for one of the other dialect. */
static void a_block_is_encoded_for_a_modern_table(void **state)
{
    struct etwas_ship_dialect plain = etwas_ship_dialect_of_version(18);
    struct etwas_ship_dialect modern = etwas_ship_dialect_of_version(26);
    struct etwas_columns columns;
    struct expected expected = {.used = 0};

    (void)state;
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &plain);
    for (uint32_t row = 0; row < 3000; row++) {
        put_event(&columns, row & 1);
    }
    assert_true(etwas_columns_finish(&columns));
    etwas_columns_reset(&columns, &modern);
    put_event(&columns, 0);
    put_event(&columns, 1);
    assert_true(etwas_columns_finish(&columns));
    expect_modern(&expected);
    assert_block(&columns, &expected);
    etwas_columns_close(&columns);
}

/* A column by its place: three rows of buffers, in a table of buffers. */
static void buffers_have_a_table_of_their_own(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns columns;
    uint32_t count;

    (void)state;
    (void)etwas_ship_columns(ETWAS_SHIP_BUFFERS, &count);
    assert_int_equal(count, 28);
    etwas_columns_open(&columns, ETWAS_SHIP_BUFFERS, &dialect);
    for (uint64_t row = 0; row < 3; row++) {
        etwas_columns_begin(&columns);
        for (uint32_t i = 0; i < count; i++) {
            if (i == ETWAS_SHIP_BUFFER_HOST || i == ETWAS_SHIP_BUFFER_FILE) {
                etwas_columns_string(&columns, i, NULL, 0);
            } else if (i == ETWAS_SHIP_BUFFER_DAY || i == ETWAS_SHIP_BUFFER_CPU) {
                etwas_columns_u16(&columns, i, 5);
            } else if (i == ETWAS_SHIP_BUFFER_PART) {
                etwas_columns_u32(&columns, i, 5);
            } else if (i == ETWAS_SHIP_BUFFER_STATE || i == ETWAS_SHIP_BUFFER_ENDED) {
                etwas_columns_u8(&columns, i, 5);
            } else {
                etwas_columns_u64(&columns, i, row);
            }
        }
        etwas_columns_end(&columns);
    }
    assert_int_equal(etwas_columns_size(&columns), 3 * (21 * 8 + 2 * 2 + 4 + 2 * 1 + 2));
    assert_true(etwas_columns_finish(&columns));
    assert_memory_equal(columns.pieces[0].iov_base, "\x1c\x03", 2);
    assert_memory_equal(columns.pieces[1].iov_base, "\3day\4Date", 9);
    etwas_columns_close(&columns);
}

/* A length of two bytes, one of three, and texts that are larger than what memory begins with. */
static void long_texts_have_long_lengths(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(26);
    struct etwas_columns columns;
    static char text[100000];
    const uint8_t *payloads;

    (void)state;
    memset(text, 'x', sizeof text);
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
    put_event(&columns, 1);
    etwas_columns_string(&columns, ETWAS_SHIP_EVENT_PAYLOAD, text, 300);
    etwas_columns_string(&columns, ETWAS_SHIP_EVENT_PAYLOAD, text, sizeof text);
    payloads = columns.column[ETWAS_SHIP_EVENT_PAYLOAD].values.data;
    assert_memory_equal(payloads, "\x00\xac\x02x", 4);
    assert_memory_equal(payloads + 3 + 300, "\xa0\x8d\x06x", 4);
    assert_int_equal(columns.column[ETWAS_SHIP_EVENT_PAYLOAD].values.used, 3 + 300 + 3 + 100000);
    etwas_columns_close(&columns);
}

static void a_block_of_no_rows_is_nothing(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns columns;

    (void)state;
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
    assert_true(etwas_columns_finish(&columns));
    assert_int_equal(columns.piece_count, 0);
    assert_int_equal(columns.total_bytes, 0);
    etwas_columns_close(&columns);
}

/* Rows beyond any block: appending stops, finishing says it, and a reset begins anew. */
static void a_block_without_end_is_refused(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns columns;

    (void)state;
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
    put_event(&columns, 0);
    assert_false(etwas_columns_grow(&columns, &columns.column[ETWAS_SHIP_EVENT_PAYLOAD].values,
                                    SIZE_MAX / 2));
    put_event(&columns, 1);
    assert_int_equal(columns.rows, 1);
    assert_false(etwas_columns_finish(&columns));
    etwas_columns_reset(&columns, &dialect);
    put_event(&columns, 0);
    assert_true(etwas_columns_finish(&columns));
    assert_int_equal(columns.rows, 1);
    etwas_columns_close(&columns);
}

/* Memory that one block needed is not kept for all that follow. */
static void much_memory_is_given_back(void **state)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns columns;
    struct etwas_columns_bytes *payloads;

    (void)state;
    etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
    payloads = &columns.column[ETWAS_SHIP_EVENT_PAYLOAD].values;
    put_event(&columns, 0);
    etwas_columns_reset(&columns, &dialect);
    assert_non_null(payloads->data);
    assert_non_null(etwas_columns_room(&columns, payloads, ETWAS_COLUMNS_KEPT_BYTES));
    etwas_columns_reset(&columns, &dialect);
    assert_null(payloads->data);
    put_event(&columns, 0);
    assert_true(etwas_columns_finish(&columns));
    etwas_columns_close(&columns);
}

static void know(struct etwas_ship_known_table *known, enum etwas_ship_table table,
                 const char *name, const char *type)
{
    etwas_ship_know_column(known, table, name, strlen(name), type, strlen(type));
}

/* All columns of a table as that dialect has them, but one. */
static void know_all(struct etwas_ship_known_table *known, enum etwas_ship_table table, bool modern,
                     const char *but)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);
    char name[64];
    char type[64];

    memset(known, 0, sizeof *known);
    for (uint32_t i = 0; i < count; i++) {
        const char *type_name = etwas_ship_type_name(columns[i].type, modern);

        if (strcmp(columns[i].name, but) == 0) {
            continue;
        }
        if (modern || !etwas_ship_is_pairs(columns[i].type)) {
            know(known, table, columns[i].name, type_name);
            continue;
        }
        (void)snprintf(name, sizeof name, "%s.keys", columns[i].name);
        know(known, table, name, "Array(String)");
        (void)snprintf(name, sizeof name, "%s.values", columns[i].name);
        (void)snprintf(type, sizeof type, "Array(%s)", type_name);
        know(known, table, name, type);
    }
}

static void a_table_tells_its_dialect(void **state)
{
    struct etwas_ship_dialect modern = etwas_ship_dialect_of_version(26);
    struct etwas_ship_known_table known;

    (void)state;
    for (uint32_t table = 0; table < ETWAS_SHIP_TABLES; table++) {
        know_all(&known, (enum etwas_ship_table)table, false, "");
        assert_null(etwas_ship_missing_column(&known, (enum etwas_ship_table)table));
        assert_null(etwas_ship_foreign_column(&known, (enum etwas_ship_table)table));
        assert_int_equal(known.modern, 0);
        know_all(&known, (enum etwas_ship_table)table, true, "");
        assert_null(etwas_ship_missing_column(&known, (enum etwas_ship_table)table));
        assert_null(etwas_ship_foreign_column(&known, (enum etwas_ship_table)table));
        assert_int_equal(known.modern, modern.modern[table]);
        assert_true(known.modern != 0);
    }
}

static void what_a_table_lacks_is_reported(void **state)
{
    struct etwas_ship_known_table known = {.keys = 0};

    (void)state;
    assert_false(etwas_ship_is_known(&known));
    know_all(&known, ETWAS_SHIP_EVENTS, false, "part");
    assert_true(etwas_ship_is_known(&known));
    assert_string_equal(etwas_ship_missing_column(&known, ETWAS_SHIP_EVENTS)->name, "part");
    know_all(&known, ETWAS_SHIP_EVENTS, false, "ints");
    know(&known, ETWAS_SHIP_EVENTS, "ints.keys", "Array(String)");
    assert_string_equal(etwas_ship_missing_column(&known, ETWAS_SHIP_EVENTS)->name, "ints");
    know(&known, ETWAS_SHIP_EVENTS, "ints.values", "Array(Int64)");
    assert_null(etwas_ship_missing_column(&known, ETWAS_SHIP_EVENTS));
}

/* Columns of the user's own are not looked at; ours must be what blocks are made for. */
static void types_that_are_not_ours_are_reported(void **state)
{
    static const char *const wrong[][2] = {
        {"pid", "UInt64"},
        {"time", "DateTime"},
        {"time", "DateTime64(3, 'UTC')"},
        {"host", "Nullable(String)"},
        {"ints", "Map(String, UInt64)"},
        {"ints.values", "Array(UInt64)"},
        {"texts.keys", "String"},
        {"event_class_id", "FixedString(16)"},
        {"payload", ""},
    };
    struct etwas_ship_known_table known;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memset(&known, 0, sizeof known);
        know(&known, ETWAS_SHIP_EVENTS, wrong[i][0], wrong[i][1]);
        assert_non_null(etwas_ship_foreign_column(&known, ETWAS_SHIP_EVENTS));
        assert_string_equal(known.foreign_type, wrong[i][1]);
    }
    memset(&known, 0, sizeof known);
    know(&known, ETWAS_SHIP_EVENTS, "team", "UInt64");
    know(&known, ETWAS_SHIP_EVENTS, "pid.keys", "UInt64");
    know(&known, ETWAS_SHIP_EVENTS, "ints.x", "Array(UInt64)");
    know(&known, ETWAS_SHIP_EVENTS, "", "");
    know(&known, ETWAS_SHIP_EVENTS, "texts", "Map(String, String)");
    assert_null(etwas_ship_foreign_column(&known, ETWAS_SHIP_EVENTS));
    etwas_ship_know_column(&known, ETWAS_SHIP_EVENTS, "pid", 3, "a\x1b\0\xff", 4);
    assert_string_equal(known.foreign_type, "a???");
}

static void versions_are_told_apart(void **state)
{
    static const char *const none[] = {"",     "x",       ".5",           "-1",      "18x",
                                       "17.9", "99999.1", "4294967314.1", "18.14.2", "1"};
    uint32_t major;

    (void)state;
    assert_true(etwas_ship_version_read("18.16.1", &major));
    assert_int_equal(major, 18);
    assert_false(etwas_ship_version_is_modern(major));
    assert_true(etwas_ship_version_read("26.7.3-stable.1", &major));
    assert_true(etwas_ship_version_is_modern(major));
    assert_true(etwas_ship_version_read("18", &major));
    assert_true(etwas_ship_version_read("19.4", &major));
    assert_true(etwas_ship_version_read("24", &major));
    assert_int_equal(major, 24);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(etwas_ship_version_read(none[i], &major));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_encoded_for_a_plain_table),
        cmocka_unit_test(a_block_is_encoded_for_a_modern_table),
        cmocka_unit_test(buffers_have_a_table_of_their_own),
        cmocka_unit_test(long_texts_have_long_lengths),
        cmocka_unit_test(a_block_of_no_rows_is_nothing),
        cmocka_unit_test(a_block_without_end_is_refused),
        cmocka_unit_test(much_memory_is_given_back),
        cmocka_unit_test(a_table_tells_its_dialect),
        cmocka_unit_test(what_a_table_lacks_is_reported),
        cmocka_unit_test(types_that_are_not_ours_are_reported),
        cmocka_unit_test(versions_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
