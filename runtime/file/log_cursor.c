/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_cursor.h"

#include <stddef.h>
#include <stdlib.h>

bool etwas_log_cursor_begin(struct etwas_log_cursor *cursor, uint32_t limit, bool circular)
{
    *cursor = (struct etwas_log_cursor){.limit = limit};
    if (!circular) {
        return true;
    }
    /* Zeroes that were never touched cost address space only. */
    cursor->records = calloc((size_t)limit + 1, sizeof *cursor->records);
    return cursor->records != NULL;
}

void etwas_log_cursor_end(struct etwas_log_cursor *cursor)
{
    free(cursor->records);
}

uint32_t etwas_log_cursor_next(const struct etwas_log_cursor *cursor)
{
    uint64_t number = cursor->records != NULL ? cursor->written % cursor->limit : cursor->written;

    return 1 + (uint32_t)number;
}

uint32_t etwas_log_cursor_room(const struct etwas_log_cursor *cursor, uint32_t wanted)
{
    uint32_t next = etwas_log_cursor_next(cursor);
    uint32_t left;

    if (cursor->limit == 0) {
        return wanted;
    }
    left = next <= cursor->limit ? cursor->limit - next + 1 : 0;
    return wanted < left ? wanted : left;
}

uint32_t etwas_log_cursor_used(const struct etwas_log_cursor *cursor)
{
    return 1 + (uint32_t)(etwas_log_cursor_replaces(cursor) ? cursor->limit : cursor->written);
}

bool etwas_log_cursor_replaces(const struct etwas_log_cursor *cursor)
{
    return cursor->records != NULL && cursor->written >= cursor->limit;
}

/* What lay in the next entry; from here on `now` does. */
static uint32_t exchange(struct etwas_log_cursor *cursor, uint32_t now)
{
    uint32_t *records;
    uint32_t before;

    if (cursor->records == NULL) {
        return 0;
    }
    records = &cursor->records[etwas_log_cursor_next(cursor)];
    before = *records;
    *records = now;
    return before;
}

uint32_t etwas_log_cursor_take(struct etwas_log_cursor *cursor, uint32_t records)
{
    uint32_t before = exchange(cursor, records);

    cursor->written++;
    return before;
}

void etwas_log_cursor_clear(struct etwas_log_cursor *cursor, uint32_t entry)
{
    if (cursor->records != NULL) {
        cursor->records[entry] = 0;
    }
}

uint32_t etwas_log_cursor_lose(struct etwas_log_cursor *cursor)
{
    return exchange(cursor, 0);
}
