/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a topic remembers between two events of the kernel, by two numbers that both have: of a request
 * from its issue to its completion, of a socket from one state to the next. Bounded, since an end may
 * never come: where there is no room the oldest of those nearby gives way, and is unknown from then on.
 */
#ifndef ETWAS_SYSTEM_STREAM_JOIN_H
#define ETWAS_SYSTEM_STREAM_JOIN_H

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_JOIN_SETS = 512,
    ETWAS_JOIN_WAYS = 8,
};

struct etwas_join;

/* Of values of so many bytes. NULL: no memory. */
struct etwas_join *etwas_join_make(size_t value_bytes);
void etwas_join_free(struct etwas_join *join);

/* NULL: it is not known. */
void *etwas_join_find(const struct etwas_join *join, uint64_t first, uint64_t second);

/* All zeros, whatever was there. */
void *etwas_join_insert(struct etwas_join *join, uint64_t first, uint64_t second);

/* Nothing is known any more. */
void etwas_join_clear(struct etwas_join *join);

void etwas_join_remove(struct etwas_join *join, uint64_t first, uint64_t second);

#endif
