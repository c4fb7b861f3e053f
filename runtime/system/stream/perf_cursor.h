/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The rest of a record that is being read. Reading beyond the end yields 0, and the cursor is short
 * from then on.
 */
#ifndef ETWAS_SYSTEM_STREAM_PERF_CURSOR_H
#define ETWAS_SYSTEM_STREAM_PERF_CURSOR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct etwas_perf_cursor {
    const uint8_t *at;
    size_t left;
    bool is_short;
};

/* A cursor over what follows the header of a record. */
static inline struct etwas_perf_cursor etwas_perf_cursor_of(const struct perf_event_header *record)
{
    if (record->size < sizeof *record) {
        return (struct etwas_perf_cursor){.is_short = true};
    }
    return (struct etwas_perf_cursor){(const uint8_t *)(record + 1), record->size - sizeof *record,
                                      false};
}

/* Returns the skipped bytes; NULL: the record ends before them. */
static inline const uint8_t *etwas_perf_cursor_skip(struct etwas_perf_cursor *cursor,
                                                    uint64_t bytes)
{
    const uint8_t *skipped = cursor->at;

    if (cursor->is_short || bytes > cursor->left) {
        cursor->is_short = true;
        return NULL;
    }
    cursor->at += bytes;
    cursor->left -= bytes;
    return skipped;
}

static inline void etwas_perf_cursor_copy(struct etwas_perf_cursor *cursor, void *to, size_t bytes)
{
    const uint8_t *from = etwas_perf_cursor_skip(cursor, bytes);

    if (from != NULL) {
        memcpy(to, from, bytes);
    } else {
        memset(to, 0, bytes);
    }
}

static inline uint32_t etwas_perf_cursor_u32(struct etwas_perf_cursor *cursor)
{
    uint32_t value;

    etwas_perf_cursor_copy(cursor, &value, sizeof value);
    return value;
}

static inline uint64_t etwas_perf_cursor_u64(struct etwas_perf_cursor *cursor)
{
    uint64_t value;

    etwas_perf_cursor_copy(cursor, &value, sizeof value);
    return value;
}

#endif
