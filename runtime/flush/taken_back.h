/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that were settled as written, and are in the file no more: a circular file replaced them,
 * or the system found out late that it could not keep them.
 */
#ifndef ETWAS_FLUSH_TAKEN_BACK_H
#define ETWAS_FLUSH_TAKEN_BACK_H

#include <stdint.h>

#include "buffer/pool.h"

/* `of_sequences` of the `events` were stored by restartable sequences. */
static inline void etwas_settle_taken_back(struct etwas_pool *pool, enum etwas_outcome outcome,
                                           uint64_t events, uint64_t of_sequences)
{
    uint64_t of_others = events - of_sequences;

    if (events == 0) {
        return;
    }
    etwas_pool_settle_begin(pool);
    etwas_pool_settle(pool, ETWAS_OUTCOME_WRITTEN, 0 - of_others);
    etwas_pool_settle(pool, outcome, of_others);
    etwas_pool_settle_stored(pool, outcome, of_sequences);
    etwas_pool_settle_end(pool);
}

#endif
