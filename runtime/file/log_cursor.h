/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The cursor of a log file that is written: which entry the next data buffer goes to, and what lies
 * there. The file is a table of buffers of one size; its entry 0 is buffer 0.
 *
 * Data buffer k (from 0) goes to entry 1 + k; in a circular file of n entries for data to
 * 1 + k mod n, where it replaces the oldest. How many records lie in each entry of a circular file
 * is remembered, so that events are counted overwritten exactly.
 */
#ifndef ETWAS_FILE_LOG_CURSOR_H
#define ETWAS_FILE_LOG_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_log_cursor {
    uint32_t limit;    /* entries for data; 0: as many as wanted */
    uint64_t written;  /* data buffers so far, in an appended file those that were there too */
    uint32_t *records; /* circular: of what lies in each entry; NULL: a file that does not wrap */
};

/* False when memory is short. `limit` is not 0 for a circular file. */
bool etwas_log_cursor_begin(struct etwas_log_cursor *cursor, uint32_t limit, bool circular);
void etwas_log_cursor_end(struct etwas_log_cursor *cursor);

/* The entry of the next data buffer. */
uint32_t etwas_log_cursor_next(const struct etwas_log_cursor *cursor);

/* How many of `wanted` buffers fit in one piece from there. 0: the file is full. */
uint32_t etwas_log_cursor_room(const struct etwas_log_cursor *cursor, uint32_t wanted);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_cursor_used(const struct etwas_log_cursor *cursor);

/* Whether the next data buffer takes the entry of an older one. */
bool etwas_log_cursor_replaces(const struct etwas_log_cursor *cursor);

/* Notes that the next data buffer was written; returns how many records the one it replaced had. */
uint32_t etwas_log_cursor_advance(struct etwas_log_cursor *cursor, uint32_t records);

/* This entry holds nothing of use any more; returns how many records a circular file had in it. */
uint32_t etwas_log_cursor_clear(struct etwas_log_cursor *cursor, uint32_t entry);

#endif
