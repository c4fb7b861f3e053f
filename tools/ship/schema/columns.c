/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Manages the memory of blocks, and encodes the headers of their columns. */
#include "ship/schema/columns.h"

#include <stdlib.h>

enum {
    FIRST_ROWS = 1024,
    FIRST_BYTES = 4096,
    MOST_ROWS = 1 << 24, /* far beyond any block, so that no size overflows */
    HEADS_BYTES = 8192,  /* all headers of a block, in either dialect */
};

void etwas_columns_open(struct etwas_columns *columns, enum etwas_ship_table table,
                        const struct etwas_ship_dialect *dialect)
{
    memset(columns, 0, sizeof *columns);
    columns->table = table;
    columns->dialect = *dialect;
}

static void free_bytes(struct etwas_columns_bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

void etwas_columns_close(struct etwas_columns *columns)
{
    for (uint32_t i = 0; i < ETWAS_SHIP_MOST_COLUMNS; i++) {
        free_bytes(&columns->column[i].values);
        free_bytes(&columns->column[i].keys);
        free_bytes(&columns->column[i].ends);
    }
    free_bytes(&columns->heads);
    columns->rows = 0;
    columns->room = 0;
}

void etwas_columns_reset(struct etwas_columns *columns, const struct etwas_ship_dialect *dialect)
{
    size_t kept = 0;

    for (uint32_t i = 0; i < ETWAS_SHIP_MOST_COLUMNS; i++) {
        struct etwas_columns_column *column = &columns->column[i];

        kept += column->values.room + column->keys.room + column->ends.room;
        column->values.used = 0;
        column->keys.used = 0;
        column->pairs = 0;
    }
    if (kept > ETWAS_COLUMNS_KEPT_BYTES) {
        etwas_columns_close(columns);
    }
    columns->dialect = *dialect;
    columns->rows = 0;
    columns->failed = false;
    columns->piece_count = 0;
    columns->total_bytes = 0;
}

size_t etwas_columns_size(const struct etwas_columns *columns)
{
    uint32_t count;
    const struct etwas_ship_column *table = etwas_ship_columns(columns->table, &count);
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        size_t fixed = etwas_ship_is_pairs(table[i].type) ? sizeof(uint64_t)
                                                          : etwas_ship_type_bytes(table[i].type);

        bytes +=
            columns->column[i].values.used + columns->column[i].keys.used + columns->rows * fixed;
    }
    return bytes;
}

/* Resizes the memory to `room` bytes. */
static bool set_room(struct etwas_columns *columns, struct etwas_columns_bytes *bytes, size_t room)
{
    uint8_t *data = realloc(bytes->data, room);

    if (data == NULL) {
        columns->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->room = room;
    return true;
}

bool etwas_columns_grow(struct etwas_columns *columns, struct etwas_columns_bytes *bytes,
                        size_t more)
{
    size_t room = bytes->room == 0 ? FIRST_BYTES : bytes->room;

    if (columns->failed || more > SIZE_MAX / 4 || bytes->used > SIZE_MAX / 4) {
        columns->failed = true;
        return false;
    }
    while (room - bytes->used < more) {
        room *= 2;
    }
    return set_room(columns, bytes, room);
}

bool etwas_columns_grow_rows(struct etwas_columns *columns)
{
    uint32_t count;
    const struct etwas_ship_column *table = etwas_ship_columns(columns->table, &count);
    uint32_t rows = columns->room == 0 ? FIRST_ROWS : columns->room * 2;

    if (columns->failed || rows > MOST_ROWS) {
        columns->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct etwas_columns_column *column = &columns->column[i];
        size_t bytes = (size_t)rows * etwas_ship_type_bytes(table[i].type);

        if ((bytes != 0 && !set_room(columns, &column->values, bytes)) ||
            (etwas_ship_is_pairs(table[i].type) &&
             !set_room(columns, &column->ends, (size_t)rows * sizeof(uint64_t)))) {
            return false;
        }
    }
    columns->room = rows;
    return true;
}

static void put_piece(struct etwas_columns *columns, const void *data, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    columns->pieces[columns->piece_count++] =
        (struct iovec){.iov_base = (void *)data, .iov_len = bytes};
    columns->total_bytes += bytes;
}

/* Appends a string to the headers, which have room for it. */
static void put_text(struct etwas_columns_bytes *heads, const char *first, const char *second,
                     const char *third)
{
    const char *const parts[] = {first, second, third};
    uint8_t *at = heads->data + heads->used;

    at = etwas_columns_varint(at, strlen(first) + strlen(second) + strlen(third));
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(at, parts[i], strlen(parts[i]));
        at += strlen(parts[i]);
    }
    heads->used = (size_t)(at - heads->data);
}

/* Appends a column's header: NAME`behind` and `before`TYPE`after`. */
static void put_head(struct etwas_columns *columns, const char *name, const char *behind,
                     const char *before, const char *type, const char *after)
{
    const uint8_t *at = columns->heads.data + columns->heads.used;

    put_text(&columns->heads, name, behind, "");
    put_text(&columns->heads, before, type, after);
    put_piece(columns, at, (size_t)(columns->heads.data + columns->heads.used - at));
}

/* Keys are sent as plain strings; a server converts them to the table's type. */
static void put_pairs(struct etwas_columns *columns, const struct etwas_ship_column *of,
                      const struct etwas_columns_column *column, bool is_modern)
{
    const char *value = etwas_ship_type_name(of->type, false);
    size_t ends_bytes = columns->rows * sizeof(uint64_t);

    if (is_modern) {
        put_head(columns, of->name, "", "Map(String, ", value, ")");
    } else {
        put_head(columns, of->name, ETWAS_SHIP_KEYS, "Array(", "String", ")");
    }
    put_piece(columns, column->ends.data, ends_bytes);
    put_piece(columns, column->keys.data, column->keys.used);
    if (!is_modern) {
        put_head(columns, of->name, ETWAS_SHIP_VALUES, "Array(", value, ")");
        put_piece(columns, column->ends.data, ends_bytes);
    }
    put_piece(columns, column->values.data, column->values.used);
}

static void put_column(struct etwas_columns *columns, const struct etwas_ship_column *of,
                       const struct etwas_columns_column *column, bool is_modern)
{
    uint32_t fixed = etwas_ship_type_bytes(of->type);

    if (etwas_ship_is_pairs(of->type)) {
        put_pairs(columns, of, column, is_modern);
        return;
    }
    put_head(columns, of->name, "", "",
             of->type == ETWAS_SHIP_NAME ? "String" : etwas_ship_type_name(of->type, is_modern),
             "");
    put_piece(columns, column->values.data,
              fixed != 0 ? (size_t)columns->rows * fixed : column->values.used);
}

/* Returns the number of columns in the block. Plain pairs count as two. */
static uint32_t count_sent(const struct etwas_ship_column *table, uint32_t count, uint32_t modern)
{
    uint32_t sent = count;

    for (uint32_t i = 0; i < count; i++) {
        sent += etwas_ship_is_pairs(table[i].type) && (modern >> i & 1) == 0;
    }
    return sent;
}

bool etwas_columns_finish(struct etwas_columns *columns)
{
    uint32_t count;
    const struct etwas_ship_column *table = etwas_ship_columns(columns->table, &count);
    uint32_t modern = columns->dialect.modern[columns->table];
    uint8_t *at;

    columns->piece_count = 0;
    columns->total_bytes = 0;
    columns->heads.used = 0;
    if (columns->failed || etwas_columns_room(columns, &columns->heads, HEADS_BYTES) == NULL) {
        return false;
    }
    if (columns->rows == 0) {
        return true;
    }
    at = etwas_columns_varint(columns->heads.data, count_sent(table, count, modern));
    at = etwas_columns_varint(at, columns->rows);
    columns->heads.used = (size_t)(at - columns->heads.data);
    put_piece(columns, columns->heads.data, columns->heads.used);
    for (uint32_t i = 0; i < count; i++) {
        put_column(columns, &table[i], &columns->column[i], (modern >> i & 1) != 0);
    }
    return true;
}
