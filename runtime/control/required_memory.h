/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Properties of memory that a session requires. */
#ifndef ETWAS_CONTROL_REQUIRED_MEMORY_H
#define ETWAS_CONTROL_REQUIRED_MEMORY_H

#include <stdint.h>

#include "buffer/pool.h"

/*
 * Checks that a new pool has all of `required`. ERROR_ACCESS_DENIED for LOCK,
 * ERROR_NOT_ENOUGH_MEMORY for the others; the sentence is stored.
 */
uint32_t etwas_required_memory_check(const struct etwas_pool *pool, uint32_t required);

#endif
