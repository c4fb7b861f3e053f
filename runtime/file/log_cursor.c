/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_file_internal.h"

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

uint32_t etwas_log_cursor_clear(struct etwas_log_cursor *cursor, uint32_t entry)
{
    uint32_t before = 0;

    if (cursor->records != NULL) {
        before = cursor->records[entry];
        cursor->records[entry] = 0;
    }
    return before;
}

uint32_t etwas_log_cursor_advance(struct etwas_log_cursor *cursor, uint32_t records)
{
    uint32_t entry = etwas_log_cursor_next(cursor);
    uint32_t before = etwas_log_cursor_clear(cursor, entry);

    if (cursor->records != NULL) {
        cursor->records[entry] = records;
    }
    cursor->written++;
    return before;
}
