/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Guests that have lost their connection and may still have the pool: they are dying, or their
 * program has closed the connection. The row of such a guest lingers until it has the pool no more.
 * Callers hold no lock of the library, unless a function says otherwise.
 */
#ifndef ETWAS_SHARING_HOST_LINGERING_H
#define ETWAS_SHARING_HOST_LINGERING_H

#include <stdbool.h>
#include <stdint.h>

/* The byte of the pool's file that is locked as long as the guest of this row has the pool. */
uint32_t etwas_lingering_lock_byte(uint32_t row);

/* Whether the guest of this row still has the session's pool. */
bool etwas_lingering_has_pool(uint64_t session, uint32_t row);

/*
 * Frees the row of a guest without a connection, or has a thread wait until it has released
 * the pool.
 */
void etwas_lingering_await_or_free(uint64_t session, uint32_t row);

/* In a fork's child, with the lock of the guests held: the threads are the parent's. */
void etwas_lingering_forget(void);

#endif
