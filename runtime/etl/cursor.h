/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a payload or a description of fields from its beginning, whatever its contents. A value
 * that exceeds what is left is not read, and the function returns false.
 */
#ifndef ETWAS_ETL_CURSOR_H
#define ETWAS_ETL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns how many bytes are left. */
struct etwas_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static inline size_t etwas_cursor_left(const struct etwas_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline bool etwas_cursor_u8(struct etwas_cursor *cursor, uint8_t *value)
{
    if (etwas_cursor_left(cursor) < sizeof *value) {
        return false;
    }
    *value = *cursor->at++;
    return true;
}

static inline bool etwas_cursor_u16(struct etwas_cursor *cursor, uint16_t *value)
{
    if (etwas_cursor_left(cursor) < sizeof *value) {
        return false;
    }
    memcpy(value, cursor->at, sizeof *value);
    cursor->at += sizeof *value;
    return true;
}

/* Copies bytes into the caller's memory. */
static inline bool etwas_cursor_copy(struct etwas_cursor *cursor, void *bytes, size_t count)
{
    if (etwas_cursor_left(cursor) < count) {
        return false;
    }
    memcpy(bytes, cursor->at, count);
    cursor->at += count;
    return true;
}

/* Reads a string in UTF-8 with its terminating zero, which *bytes does not count. */
static inline bool etwas_cursor_name(struct etwas_cursor *cursor, const char **name, size_t *bytes)
{
    size_t left = etwas_cursor_left(cursor);
    const uint8_t *zero = left == 0 ? NULL : memchr(cursor->at, 0, left);

    if (zero == NULL) {
        return false;
    }
    *name = (const char *)cursor->at;
    *bytes = (size_t)(zero - cursor->at);
    cursor->at = zero + 1;
    return true;
}

#endif
