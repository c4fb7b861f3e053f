/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is true of a pool and its buffers at every moment, whoever runs meanwhile: looked at in the
 * library the tests link, at each transition whose caller keeps the pool alive. Used inside
 * ETWAS_INVARIANT only; what does not hold is said on standard error.
 */
#ifndef ETWAS_BUFFER_VALID_H
#define ETWAS_BUFFER_VALID_H

#include "platform/testpoint.h"

#ifdef ETWAS_TESTPOINTS

#include <stdbool.h>
#include <stdint.h>

struct etwas_collected;
struct etwas_pool;

/*
 * The pool's numbers, the owner words of its first buffers, and the current buffers of its slots
 * (I3). For the owner of the role of a session that has not ended: a visitor's may have.
 */
bool etwas_pool_is_valid(const struct etwas_pool *pool);

/* The caller has the buffer, and nobody else (I3). */
bool etwas_buffer_is_owned(const struct etwas_pool *pool, uint32_t buffer);

/* Shared slots: a commit word as it was before `bytes` were added has room for them (I1). */
bool etwas_commit_is_valid(const struct etwas_pool *pool, uint64_t before, uint64_t bytes);

/* What was collected is so many whole records, one behind the other (I1), in order of time (I2). */
bool etwas_collected_is_valid(const struct etwas_pool *pool,
                              const struct etwas_collected *collected);

#endif

#endif
