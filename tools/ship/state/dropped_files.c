/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/state/dropped_files.h"

#include <string.h>

/* ---- a row and its numbers ------------------------------------------------------------------- */

/* Keeps the numbers of a row. Its texts are in the cursor. */
static void keep_row(const struct etwas_columns *columns, uint32_t at, struct etwas_ship_row *row)
{
    uint32_t count;
    const struct etwas_ship_column *kinds = etwas_ship_columns(ETWAS_SHIP_BUFFERS, &count);

    *row = (struct etwas_ship_row){.is_there = true};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = etwas_ship_type_bytes(kinds[i].type);

        if (bytes > 0 && bytes <= sizeof row->values[i]) {
            memcpy(&row->values[i], columns->column[i].values.data + (size_t)at * bytes, bytes);
        }
    }
}

static void put_text(struct etwas_columns *columns, uint32_t column,
                     const struct etwas_ship_cursor *cursor)
{
    const char *text = column == ETWAS_SHIP_BUFFER_HOST ? cursor->host : cursor->file;

    etwas_columns_string(columns, column, text, strlen(text));
}

static void put_row(struct etwas_columns *columns, const struct etwas_ship_cursor *cursor,
                    const struct etwas_ship_row *row)
{
    uint32_t count;
    const struct etwas_ship_column *kinds = etwas_ship_columns(ETWAS_SHIP_BUFFERS, &count);

    etwas_columns_begin(columns);
    for (uint32_t i = 0; i < count; i++) {
        switch (kinds[i].type) {
        case ETWAS_SHIP_U8:
            etwas_columns_u8(columns, i, (uint8_t)row->values[i]);
            break;
        case ETWAS_SHIP_U16:
        case ETWAS_SHIP_DATE:
            etwas_columns_u16(columns, i, (uint16_t)row->values[i]);
            break;
        case ETWAS_SHIP_U32:
            etwas_columns_u32(columns, i, (uint32_t)row->values[i]);
            break;
        case ETWAS_SHIP_U64:
        case ETWAS_SHIP_TIME:
            etwas_columns_u64(columns, i, row->values[i]);
            break;
        default:
            put_text(columns, i, cursor);
        }
    }
    etwas_columns_end(columns);
}

/* ---- what is owed ---------------------------------------------------------------------------- */

bool etwas_ship_dropped_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                              struct etwas_columns *rows, struct etwas_ship_owed *owed)
{
    struct etwas_ship_block block = {.events = rows, .buffers = rows};
    struct etwas_ship_unshipped rest;

    *owed = (struct etwas_ship_owed){0};
    if (!etwas_ship_unshipped_count(file, from, &rest)) {
        return false;
    }
    etwas_columns_reset(rows, &rows->dialect);
    if (!etwas_ship_unshipped_row(&rest, rows) || rows->rows != 1) {
        return false;
    }
    keep_row(rows, 0, &owed->gone);
    if (etwas_ship_file_facts(file)->has_ended &&
        etwas_ship_block_end(file, &block) == ETWAS_SHIP_BLOCK && rows->rows == 1) {
        keep_row(rows, 0, &owed->end);
    }
    return true;
}

void etwas_ship_dropped_rows(const struct etwas_ship_cursor *cursor, struct etwas_columns *buffers)
{
    etwas_columns_reset(buffers, &cursor->dialect);
    put_row(buffers, cursor, &cursor->gone);
    if (cursor->end.is_there) {
        put_row(buffers, cursor, &cursor->end);
    }
}

static bool is_before(int64_t one_ns, int64_t other_ns, int64_t error_ns)
{
    int64_t apart_ns;

    return one_ns < other_ns &&
           (__builtin_sub_overflow(other_ns, one_ns, &apart_ns) || apart_ns > error_ns);
}

/*
 * Returns whether the event is this file's. If it was unknown what had been sent, the servers'
 * events may belong to another file of the same session and part.
 */
static bool is_its(const struct etwas_ship_cursor *cursor, const struct etwas_ship_event *event)
{
    const uint64_t *gone = cursor->gone.values;
    bool was_known = cursor->place.offset != 0 || cursor->bounds.rows != 0;

    return was_known || (!is_before(event->unix_ns, (int64_t)gone[ETWAS_SHIP_BUFFER_FIRST_TIME],
                                    event->error_ns) &&
                         !is_before((int64_t)gone[ETWAS_SHIP_BUFFER_LAST_TIME], event->unix_ns,
                                    event->error_ns));
}

bool etwas_ship_dropped_account(struct etwas_ship_cursor *cursor,
                                const struct etwas_ship_server_progress *progress)
{
    uint64_t *gone = &cursor->gone.values[ETWAS_SHIP_BUFFER_EVENTS];
    uint64_t arrived = progress->events > cursor->events && is_its(cursor, &progress->last)
                           ? progress->events - cursor->events
                           : 0;

    *gone += cursor->bounds.rows;
    *gone -= arrived < *gone ? arrived : *gone;
    cursor->end.is_there = cursor->end.is_there && !progress->has_end;
    cursor->events += arrived;
    cursor->bounds = (struct etwas_ship_bounds){0};
    cursor->stage = ETWAS_SHIP_AT_REST;
    return *gone != 0 || !progress->has_end;
}
