/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: ship_block ddl MAJOR NAME CLUSTER|- KEEP_DAYS [event|buffer COLUMN...]
 *        ship_block event|buffer MAJOR
 *        ship_block prove EVENTS BUFFERS LOCAL_BUFFERS DAYS
 *
 * Writes the statements that make the tables for a server of that version, where one of them may be
 * there already but for some columns; or a block of three rows: usual values, the largest, the
 * smallest; or the proof's query.
 */
#include "ship/schema/columns.h"
#include "ship/schema/ddl.h"
#include "ship/state/prove.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum row {
    USUAL,
    LARGEST,
    SMALLEST,
    ROWS,
};

static const etwas_guid guids[ROWS] = {
    {0x5ab7a3c2, 0x1f0e, 0x4d7b, {0x9a, 0x31, 0x6e, 0x02, 0xd4, 0xcc, 0x77, 0x10}},
    {0xffffffff, 0xffff, 0xffff, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    {0, 0, 0, {0}},
};
static const uint64_t numbers[ROWS] = {11, UINT64_MAX, 0};
static const int64_t times[ROWS] = {1700000000123456789, 4102444800999999999, 0};
static const uint16_t days[ROWS] = {19675, 19676, 19675};

/* Any bytes are text: with a tab, a NUL and what is no UTF-8. */
static void put_text(struct etwas_columns *columns, uint32_t column, enum row row)
{
    static const char odd[] = "a\tb\0c\\\xff\n";

    if (row == USUAL) {
        etwas_columns_string(columns, column, "Shop/Order", 10);
    } else if (row == LARGEST) {
        etwas_columns_string(columns, column, odd, sizeof odd - 1);
    } else {
        etwas_columns_string(columns, column, NULL, 0);
    }
}

static void put_value(struct etwas_columns *columns, const struct etwas_ship_column *of,
                      uint32_t column, enum row row)
{
    switch (of->type) {
    case ETWAS_SHIP_U8:
        etwas_columns_u8(columns, column, (uint8_t)numbers[row]);
        break;
    case ETWAS_SHIP_U16:
        etwas_columns_u16(columns, column, (uint16_t)numbers[row]);
        break;
    case ETWAS_SHIP_U32:
        etwas_columns_u32(columns, column, (uint32_t)numbers[row]);
        break;
    case ETWAS_SHIP_U64:
        etwas_columns_u64(columns, column, numbers[row]);
        break;
    case ETWAS_SHIP_DATE:
        etwas_columns_u16(columns, column, days[row]);
        break;
    case ETWAS_SHIP_TIME:
        etwas_columns_time(columns, column, times[row]);
        break;
    case ETWAS_SHIP_GUID:
        etwas_columns_guid(columns, column, &guids[row]);
        break;
    case ETWAS_SHIP_STRING:
    case ETWAS_SHIP_NAME:
        put_text(columns, column, row);
        break;
    case ETWAS_SHIP_INTS:
        for (enum row i = USUAL; i < row; i++) {
            etwas_columns_int(columns, column, i == USUAL ? "price" : "least", 5,
                              i == USUAL ? 7 : INT64_MIN);
        }
        break;
    case ETWAS_SHIP_REALS:
        if (row == LARGEST) {
            etwas_columns_real(columns, column, "load", 4, -0.5);
        }
        break;
    case ETWAS_SHIP_TEXTS:
        if (row != SMALLEST) {
            etwas_columns_text(columns, column, "who", 3, "me", 2);
        }
        break;
    }
}

static int write_block(enum etwas_ship_table table, uint32_t major)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(major);
    static struct etwas_columns columns;
    uint32_t count;
    const struct etwas_ship_column *all = etwas_ship_columns(table, &count);

    etwas_columns_open(&columns, table, &dialect);
    for (enum row row = USUAL; row < ROWS; row++) {
        etwas_columns_begin(&columns);
        for (uint32_t i = 0; i < count; i++) {
            put_value(&columns, &all[i], i, row);
        }
        etwas_columns_end(&columns);
    }
    if (!etwas_columns_finish(&columns)) {
        return 1;
    }
    for (uint32_t i = 0; i < columns.piece_count; i++) {
        if (fwrite(columns.pieces[i].iov_base, columns.pieces[i].iov_len, 1, stdout) != 1) {
            return 1;
        }
    }
    etwas_columns_close(&columns);
    return 0;
}

/*
 * Is the column one of those that are named? A half of pairs is named with what is behind it:
 * ints.values
 */
static bool is_named(char **names, int count, const char *name, const char *behind)
{
    char whole[64];

    (void)snprintf(whole, sizeof whole, "%s%s", name, behind);
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], whole) == 0) {
            return true;
        }
    }
    return false;
}

/* A table as a server has it that lacks the named columns. */
static void know(struct etwas_ship_known_table *known, enum etwas_ship_table table, char **names,
                 int name_count)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = 1u << i;
        bool gone = is_named(names, name_count, columns[i].name, "");

        known->keys |=
            gone || is_named(names, name_count, columns[i].name, ETWAS_SHIP_KEYS) ? 0 : bit;
        known->values |=
            gone || is_named(names, name_count, columns[i].name, ETWAS_SHIP_VALUES) ? 0 : bit;
    }
}

/*
 * Writes the statements for `arguments`: MAJOR NAME CLUSTER KEEP_DAYS, then a table that is there
 * and the columns that it lacks.
 */
static int write_ddl(char **arguments, int count)
{
    struct etwas_ship_known_tables known = {.own = {{0}}};
    struct etwas_ship_ddl ddl = {
        .database = "etwas",
        .table = arguments[1],
        .cluster = strcmp(arguments[2], "-") == 0 ? NULL : arguments[2],
        .major = (uint32_t)strtoul(arguments[0], NULL, 10),
        .keep_days = (uint32_t)strtoul(arguments[3], NULL, 10),
        .known = &known,
    };
    struct etwas_output *output = etwas_standard_output();

    if (count > 4) {
        enum etwas_ship_table table =
            strcmp(arguments[4], "event") == 0 ? ETWAS_SHIP_EVENTS : ETWAS_SHIP_BUFFERS;

        know(&known.own[table], table, arguments + 5, count - 5);
        know(&known.all[table], table, arguments + 5, count - 5);
    }
    etwas_ship_ddl_write(output, &ddl);
    return etwas_output_finish(output) ? 0 : 1;
}

static int write_query(char **arguments)
{
    char query[ETWAS_SHIP_PROOF_QUERY_BYTES];
    uint32_t days = (uint32_t)strtoul(arguments[3], NULL, 10);

    return etwas_ship_proof_query(query, arguments[0], arguments[1], arguments[2], days) &&
                   puts(query) >= 0
               ? 0
               : 1;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "prove") == 0) {
        return write_query(argv + 2);
    }
    if (argc >= 6 && strcmp(argv[1], "ddl") == 0) {
        return write_ddl(argv + 2, argc - 2);
    }
    if (argc == 3) {
        return write_block(strcmp(argv[1], "event") == 0 ? ETWAS_SHIP_EVENTS : ETWAS_SHIP_BUFFERS,
                           (uint32_t)strtoul(argv[2], NULL, 10));
    }
    return 2;
}
