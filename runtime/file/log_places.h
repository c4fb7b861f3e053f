/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Places: where in a log file each data buffer goes, and what lies there.
 *
 * Place 0 is buffer 0. Data buffer k (from 0) goes to place 1 + k; in a circular file of n places
 * for data to 1 + k mod n, where it replaces the oldest. What a circular file replaces is
 * remembered by place, so that the events are counted overwritten exactly.
 */
#ifndef ETWAS_FILE_LOG_PLACES_H
#define ETWAS_FILE_LOG_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_log_places {
    uint32_t limit;    /* places for data; 0: as many as wanted */
    uint64_t written;  /* data buffers so far, in an appended file those that were there too */
    uint32_t *records; /* circular: of what lies in each place; NULL: a file that does not wrap */
};

/* False when memory is short. `limit` is not 0 for a circular file. */
bool etwas_log_places_begin(struct etwas_log_places *places, uint32_t limit, bool circular);
void etwas_log_places_end(struct etwas_log_places *places);

/* The place of the next data buffer. */
uint32_t etwas_log_places_next(const struct etwas_log_places *places);

/* How many of `wanted` buffers fit in one piece from there. 0: the file is full. */
uint32_t etwas_log_places_room(const struct etwas_log_places *places, uint32_t wanted);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_places_used(const struct etwas_log_places *places);

/* Whether the next data buffer takes the place of an older one. */
bool etwas_log_places_replaces(const struct etwas_log_places *places);

/* Notes that the next data buffer was written; returns how many records the one it replaced had. */
uint32_t etwas_log_places_take(struct etwas_log_places *places, uint32_t records);

/* This place, of a circular file, holds nothing of use any more, and will replace nothing. */
void etwas_log_places_clear(struct etwas_log_places *places, uint32_t place);

/* The next buffer's place holds nothing of use any more; returns how many records were in it. */
uint32_t etwas_log_places_lose(struct etwas_log_places *places);

#endif
