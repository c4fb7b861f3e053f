/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the slots of a flight recorder hold: a slot's buffers, from its current one back to the first that
 * leads to a claim which has been overwritten. For whoever keeps the pool from being destroyed, while
 * writers write.
 */
#ifndef ETWAS_BUFFER_RETENTION_H
#define ETWAS_BUFFER_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"

/* One of these buffers, as it was a moment ago. */
struct etwas_chain {
    uint32_t slot;
    uint32_t buffer;
    uint64_t owner; /* its owner word, in whichever state */
    int64_t newest; /* no record in it is newer; INT64_MAX: it is current */
    uint32_t left;  /* so often it may be gone back: what somebody has scribbled on may be a ring */

    /* Its link: the buffer before it, ETWAS_NO_BUFFER: none, and of that one the rest. */
    uint32_t previous;
    int64_t previous_newest;
    uint64_t previous_owner; /* rseq slots only */
};

/* The slot's current buffer. False: it never had one. */
bool etwas_chain_begin(const struct etwas_pool *pool, uint32_t slot, struct etwas_chain *chain);

/* To the one before it. False: there is none, or it is overwritten; *chain stays. */
bool etwas_chain_back(const struct etwas_pool *pool, struct etwas_chain *chain);

/*
 * Since when the slot's buffers hold everything that was recorded in it: *since receives a stamp, and no
 * record that was overwritten is newer. False: nothing was overwritten.
 */
bool etwas_retention_of(const struct etwas_pool *pool, uint32_t slot, int64_t *since);

#endif
