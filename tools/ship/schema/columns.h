/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_COLUMNS_H
#define ETWAS_TOOLS_SHIP_SCHEMA_COLUMNS_H

/*
 * A block of rows in ClickHouse's Native format, gathered column by column.
 *
 *     etwas_columns_open(&columns, ETWAS_SHIP_EVENTS, &dialect);
 *     while (more rows) {
 *         etwas_columns_begin(&columns);
 *         etwas_columns_u32(&columns, ETWAS_SHIP_EVENT_PID, pid); … every column but pairs, once
 *         etwas_columns_int(&columns, ETWAS_SHIP_EVENT_INTS, key, key_bytes, value); … any number
 *         etwas_columns_end(&columns);
 *     }
 *     if (etwas_columns_finish(&columns)) { send columns.pieces }
 *     etwas_columns_reset(&columns, &dialect);
 *
 * The bytes depend only on the table, the dialect and what was appended. Memory grows by doubling.
 * A moderate amount of it is kept for the next block. If there is not enough memory, further
 * appends do nothing and finishing returns false, so callers need to check only once.
 */

#include "ship/schema/dialect.h"
#include "ship/schema/schema.h"

#include <etwas/types.h>

#include <string.h>
#include <sys/uio.h>

enum {
    /* A reset frees memory beyond this. */
    ETWAS_COLUMNS_KEPT_BYTES = 40 * 1024 * 1024,
    /*
     * The block's header; a header and values for each column; for plain pairs, two headers and the
     * ends twice.
     */
    ETWAS_COLUMNS_MOST_PIECES = 1 + 6 * ETWAS_SHIP_MOST_COLUMNS,
};

/* A growing byte array. */
struct etwas_columns_bytes {
    uint8_t *data;
    size_t used;
    size_t room;
};

/*
 * One column. A column of fixed width uses `values` only, and its size is rows × width, not `used`.
 */
struct etwas_columns_column {
    struct etwas_columns_bytes values;
    struct etwas_columns_bytes keys; /* of pairs; likewise `ends` */
    struct etwas_columns_bytes ends; /* u64 per row: number of pairs up to its end */
    uint64_t pairs;
};

struct etwas_columns {
    enum etwas_ship_table table;
    struct etwas_ship_dialect dialect;
    uint32_t rows; /* complete ones */
    uint32_t room; /* rows for which fixed-width columns have memory */
    bool failed;   /* no memory, or too many rows: nothing is appended any more */
    struct etwas_columns_column column[ETWAS_SHIP_MOST_COLUMNS];

    /* Filled in by etwas_columns_finish. */
    struct etwas_columns_bytes heads;
    uint64_t total_bytes; /* of all pieces */
    uint32_t piece_count;
    struct iovec pieces[ETWAS_COLUMNS_MOST_PIECES]; /* point into the memory above */
};

/* Initializes an empty block; allocates nothing. */
void etwas_columns_open(struct etwas_columns *columns, enum etwas_ship_table table,
                        const struct etwas_ship_dialect *dialect);

/* Empties the block, for the next one of the same table. */
void etwas_columns_reset(struct etwas_columns *columns, const struct etwas_ship_dialect *dialect);

/* Frees the memory. A zeroed block may be closed, too. */
void etwas_columns_close(struct etwas_columns *columns);

/*
 * Returns the size of all columns without their headers. The limit of a block applies to this size.
 */
size_t etwas_columns_size(const struct etwas_columns *columns);

/*
 * Makes the pieces: the bytes of the block, in order. They are valid until the next append, reset
 * or close. May be called again. A block without rows has no pieces. Returns false if there is not
 * enough memory.
 */
bool etwas_columns_finish(struct etwas_columns *columns);

/*
 * Returns the values of a fixed-width column, one per row, so that they can be converted in place.
 */
static inline void *etwas_columns_values(struct etwas_columns *columns, uint32_t column)
{
    return columns->column[column].values.data;
}

/*
 * Grow the memory for the functions below. They return false and set `failed` if there is not
 * enough memory.
 */
bool etwas_columns_grow_rows(struct etwas_columns *columns);
bool etwas_columns_grow(struct etwas_columns *columns, struct etwas_columns_bytes *bytes,
                        size_t more);

/* Begins a row. */
static inline void etwas_columns_begin(struct etwas_columns *columns)
{
    if (__builtin_expect(columns->rows >= columns->room, 0)) {
        (void)etwas_columns_grow_rows(columns);
    }
}

/*
 * Sets the value of the current row in a column of that width. After a failure `rows` no longer
 * advances: the same row is overwritten, or nothing if there is no memory for it.
 */
#define ETWAS_COLUMNS_PUT(columns, index, type, value)                                             \
    do {                                                                                           \
        if (__builtin_expect((columns)->rows < (columns)->room, 1)) {                              \
            ((type *)(void *)(columns)->column[index].values.data)[(columns)->rows] = (value);     \
        }                                                                                          \
    } while (0)

static inline void etwas_columns_u8(struct etwas_columns *columns, uint32_t column, uint8_t value)
{
    ETWAS_COLUMNS_PUT(columns, column, uint8_t, value);
}

/* Also for a DATE: days since 1970. */
static inline void etwas_columns_u16(struct etwas_columns *columns, uint32_t column, uint16_t value)
{
    ETWAS_COLUMNS_PUT(columns, column, uint16_t, value);
}

static inline void etwas_columns_u32(struct etwas_columns *columns, uint32_t column, uint32_t value)
{
    ETWAS_COLUMNS_PUT(columns, column, uint32_t, value);
}

static inline void etwas_columns_u64(struct etwas_columns *columns, uint32_t column, uint64_t value)
{
    ETWAS_COLUMNS_PUT(columns, column, uint64_t, value);
}

/*
 * A TIME in ns since 1970, or any stamp that is converted to that in place before the block is
 * finished.
 */
static inline void etwas_columns_time(struct etwas_columns *columns, uint32_t column, int64_t value)
{
    ETWAS_COLUMNS_PUT(columns, column, int64_t, value);
}

/*
 * The two halves of a UUID as ClickHouse stores them. Each is a number made of the text's digits in
 * their order.
 */
struct etwas_columns_guid {
    uint64_t high;
    uint64_t low;
};

static inline void etwas_columns_guid(struct etwas_columns *columns, uint32_t column,
                                      const etwas_guid *guid)
{
    struct etwas_columns_guid halves;
    uint64_t low;

    memcpy(&low, guid->Data4, sizeof low);
    halves.high = (uint64_t)guid->Data1 << 32 | (uint64_t)guid->Data2 << 16 | guid->Data3;
    halves.low = __builtin_bswap64(low);
    ETWAS_COLUMNS_PUT(columns, column, struct etwas_columns_guid, halves);
}

/*
 * Returns room for `more` bytes, or NULL if there is not enough memory. The caller adds to `used`
 * what it filled.
 */
static inline uint8_t *etwas_columns_room(struct etwas_columns *columns,
                                          struct etwas_columns_bytes *bytes, size_t more)
{
    if (__builtin_expect(bytes->room - bytes->used < more, 0) &&
        !etwas_columns_grow(columns, bytes, more)) {
        return NULL;
    }
    return bytes->data + bytes->used;
}

enum {
    ETWAS_COLUMNS_VARINT_BYTES = 10
};

/* Encodes a number in 7 bits per byte, low bits first. Returns the position behind it. */
static inline uint8_t *etwas_columns_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline void etwas_columns_put_string(struct etwas_columns *columns,
                                            struct etwas_columns_bytes *bytes, const void *data,
                                            size_t data_bytes)
{
    uint8_t *at = etwas_columns_room(columns, bytes, ETWAS_COLUMNS_VARINT_BYTES + data_bytes);

    if (at == NULL) {
        return;
    }
    at = etwas_columns_varint(at, data_bytes);
    if (data_bytes != 0) {
        memcpy(at, data, data_bytes);
    }
    bytes->used = (size_t)(at - bytes->data) + data_bytes;
}

/* A STRING or NAME. `data` may be NULL if `bytes` is 0. */
static inline void etwas_columns_string(struct etwas_columns *columns, uint32_t column,
                                        const void *data, size_t bytes)
{
    etwas_columns_put_string(columns, &columns->column[column].values, data, bytes);
}

/* Appends a pair of INTS to the row. */
static inline void etwas_columns_int(struct etwas_columns *columns, uint32_t column,
                                     const char *key, size_t key_bytes, int64_t value)
{
    struct etwas_columns_column *pairs = &columns->column[column];
    uint8_t *at = etwas_columns_room(columns, &pairs->values, sizeof value);

    if (at == NULL) {
        return;
    }
    memcpy(at, &value, sizeof value);
    pairs->values.used += sizeof value;
    etwas_columns_put_string(columns, &pairs->keys, key, key_bytes);
    pairs->pairs++;
}

/* Appends a pair of REALS. */
static inline void etwas_columns_real(struct etwas_columns *columns, uint32_t column,
                                      const char *key, size_t key_bytes, double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    etwas_columns_int(columns, column, key, key_bytes, bits);
}

/* Appends a pair of TEXTS. */
static inline void etwas_columns_text(struct etwas_columns *columns, uint32_t column,
                                      const char *key, size_t key_bytes, const void *data,
                                      size_t bytes)
{
    struct etwas_columns_column *pairs = &columns->column[column];

    etwas_columns_put_string(columns, &pairs->values, data, bytes);
    etwas_columns_put_string(columns, &pairs->keys, key, key_bytes);
    pairs->pairs++;
}

/* Ends the row. */
static inline void etwas_columns_end(struct etwas_columns *columns)
{
    if (__builtin_expect(columns->failed, 0)) {
        return;
    }
    if (columns->table == ETWAS_SHIP_EVENTS) {
        for (uint32_t i = ETWAS_SHIP_EVENT_INTS; i <= ETWAS_SHIP_EVENT_TEXTS; i++) {
            ((uint64_t *)(void *)columns->column[i].ends.data)[columns->rows] =
                columns->column[i].pairs;
        }
    }
    columns->rows++;
}

#endif
