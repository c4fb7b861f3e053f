/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The cursor of a log file that is written: which entry the next data buffer goes to, and what lies
 * there. The file is a table of buffers of one size; its entry 0 is buffer 0.
 *
 * Data buffer k (from 0) goes to entry 1 + k; in a circular file of n entries for data to 1 + k mod
 * n, where it replaces the oldest. The cursor of a circular file remembers how many records lie in
 * each entry, so that events are counted overwritten exactly.
 */
#ifndef ETWAS_FILE_LOG_CURSOR_H
#define ETWAS_FILE_LOG_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_log_cursor {
    uint32_t limit;    /* entries for data; 0: no limit */
    uint64_t written;  /* data buffers so far, in an appended file those that were there too */
    uint32_t *records; /* circular: records in each entry; NULL: a file that does not wrap */
};

/* Begins a cursor. Returns false when memory is short. `limit` is not 0 for a circular file. */
bool etwas_log_cursor_begin(struct etwas_log_cursor *cursor, uint32_t limit, bool circular);
void etwas_log_cursor_end(struct etwas_log_cursor *cursor);

/* The entry of the next data buffer. */
uint32_t etwas_log_cursor_next(const struct etwas_log_cursor *cursor);

/* How many of `wanted` buffers fit in one piece from the next entry on. 0: the file is full. */
uint32_t etwas_log_cursor_room(const struct etwas_log_cursor *cursor, uint32_t wanted);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_cursor_used(const struct etwas_log_cursor *cursor);

/* Whether the next data buffer takes the entry of an older one. */
bool etwas_log_cursor_replaces(const struct etwas_log_cursor *cursor);

/* Counts the next data buffer as written; returns how many records the one it replaced had. */
uint32_t etwas_log_cursor_advance(struct etwas_log_cursor *cursor, uint32_t records);

/* Marks the entry as empty; returns how many records a circular file had in it. */
uint32_t etwas_log_cursor_clear(struct etwas_log_cursor *cursor, uint32_t entry);

#endif
