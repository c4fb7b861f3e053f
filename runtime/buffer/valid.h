/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Invariants of a pool and its buffers that hold at every moment, whichever threads run meanwhile.
 * The library that the tests link checks them at each transition whose caller keeps the pool alive.
 * Used inside ETWAS_INVARIANT only; a violation is reported on standard error.
 */
#ifndef ETWAS_BUFFER_VALID_H
#define ETWAS_BUFFER_VALID_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/testpoint.h"

struct etwas_collected;
struct etwas_pool;

/*
 * Checks the pool's numbers, the owner words of its first buffers, and the current buffers of its
 * slots (I3). Role held, of a session that has not ended: a slow-path writer's may have.
 */
bool etwas_pool_is_valid(const struct etwas_pool *pool);

/* Checks that the buffer is held, by the caller alone (I3). */
bool etwas_buffer_is_owned(const struct etwas_pool *pool, uint32_t buffer);

/*
 * Checks that a commit word of a shared slot, as it was before `bytes` were added, had room for
 * them (I1).
 */
bool etwas_commit_is_valid(const struct etwas_pool *pool, uint64_t before, uint64_t bytes);

/*
 * Checks that the collected records are whole, as many as counted (I1), in the order of time (I2).
 */
bool etwas_collected_is_valid(const struct etwas_pool *pool,
                              const struct etwas_collected *collected);

#endif
