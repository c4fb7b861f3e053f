/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an event group remembers between two events of the kernel, by two numbers that both events
 * have: for example, a request from its issue to its completion. The table is bounded, since an end
 * may never come. When it is full, the oldest entry of the same set is replaced, and is unknown
 * from then on.
 */
#ifndef ETWAS_SYSTEM_STREAM_EVENT_JOIN_H
#define ETWAS_SYSTEM_STREAM_EVENT_JOIN_H

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_EVENT_JOIN_SETS = 512,
    ETWAS_EVENT_JOIN_WAYS = 8,
};

struct etwas_event_join;

/* A table of values of this size. NULL: there is no memory. */
struct etwas_event_join *etwas_event_join_make(size_t value_bytes);
void etwas_event_join_free(struct etwas_event_join *join);

/* Returns the value of these numbers; NULL: it is not known. */
void *etwas_event_join_find(const struct etwas_event_join *join, uint64_t first, uint64_t second);

/* Returns a value of zeros for these numbers, and replaces the one that was there. */
void *etwas_event_join_insert(struct etwas_event_join *join, uint64_t first, uint64_t second);

/* Removes all values. */
void etwas_event_join_clear(struct etwas_event_join *join);

void etwas_event_join_remove(struct etwas_event_join *join, uint64_t first, uint64_t second);

#endif
