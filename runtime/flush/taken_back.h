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

static inline void etwas_settle_taken_back(struct etwas_pool *pool, enum etwas_outcome outcome,
                                           uint64_t events)
{
    if (events == 0) {
        return;
    }
    etwas_pool_settle_begin(pool);
    etwas_pool_settle_besides(pool, outcome, events);
    etwas_pool_settle_end(pool);
}

#endif
