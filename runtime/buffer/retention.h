/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that the slots of a flight recorder hold: a slot's buffers, from its current one back
 * to the first that leads to an overwritten claim. The caller keeps the pool from being destroyed;
 * writers go on meanwhile.
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
    uint64_t owner; /* its owner word, in any state */
    int64_t newest; /* no record in it has a later stamp; INT64_MAX: it is current */
    /* remaining steps back: links that a guest has overwritten may form a ring */
    uint32_t left;

    /*
     * Its link: the buffer before it (ETWAS_NO_BUFFER: none), and that buffer's newest stamp and
     * owner word.
     */
    uint32_t previous;
    int64_t previous_newest;
    uint64_t previous_owner; /* rseq slots only */
};

/* Starts at the slot's current buffer. Returns false if it never had one. */
bool etwas_chain_begin(const struct etwas_pool *pool, uint32_t slot, struct etwas_chain *chain);

/*
 * Moves to the buffer before. Returns false, and leaves *chain unchanged, if there is none or it is
 * overwritten.
 */
bool etwas_chain_back(const struct etwas_pool *pool, struct etwas_chain *chain);

/*
 * Finds the time since which the slot's buffers hold everything recorded in it: *since receives a
 * stamp, and no overwritten record is later. Returns false if nothing was overwritten.
 */
bool etwas_retention_of(const struct etwas_pool *pool, uint32_t slot, int64_t *since);

#endif
