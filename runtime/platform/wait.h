/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system's side of Concurrency Kit's event count: futex and CLOCK_MONOTONIC.
 *
 * A session's writers increment one (many producers: ck_ec's multi-producer mode), its flusher
 * waits on it. An increment makes a system call only when the flusher sleeps.
 */
#ifndef ETWAS_PLATFORM_WAIT_H
#define ETWAS_PLATFORM_WAIT_H

#include <ck_ec.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

extern const struct ck_ec_mode etwas_wait_mode;

/*
 * Waits until `count` differs from `seen`, for at most `timeout_ns` (and at most a century); may
 * return early.
 */
void etwas_wait(struct ck_ec32 *count, uint32_t seen, uint64_t timeout_ns);

/*
 * Increments `count`, so that every etwas_wait with `seen` ends, even one that has not begun yet.
 * Sleepers are woken when this returns, even if another thread has incremented `count` before and
 * is delayed before it wakes them. Async-signal-safe.
 */
void etwas_wake(struct ck_ec32 *count, uint32_t seen);

/*
 * Locks the mutex, unless the deadline (CLOCK_MONOTONIC, ns) passes first. Returns whether it is
 * locked.
 */
bool etwas_mutex_lock_until(pthread_mutex_t *lock, uint64_t deadline_ns);

enum {
    ETWAS_NS_A_MILLISECOND = 1000000
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t etwas_monotonic_ns(void);

#endif
