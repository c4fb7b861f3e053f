/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/testpoint.h"

enum {
    NANOSECONDS_A_SECOND = 1000000000
};

static int wait_get_time(const struct ck_ec_ops *operations, struct timespec *out)
{
    (void)operations;
    return clock_gettime(CLOCK_MONOTONIC, out);
}

/*
 * Does not use the process-private operations: an event count may lie in a mapping, where other
 * processes increment it.
 */
static void wait_on_futex(const struct ck_ec_wait_state *state, const uint32_t *address,
                          uint32_t expected, const struct timespec *deadline)
{
    (void)state;
    /* FUTEX_WAIT_BITSET takes an absolute time, so an early return loses nothing. */
    (void)syscall(SYS_futex, address, FUTEX_WAIT_BITSET, expected, deadline, NULL,
                  FUTEX_BITSET_MATCH_ANY);
}

static void wait_wake_futex(const struct ck_ec_ops *operations, const uint32_t *address)
{
    (void)operations;
    ETWAS_TESTPOINT(ETWAS_POINT_WAKING);
    (void)syscall(SYS_futex, address, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static const struct ck_ec_ops operations = {
    .gettime = wait_get_time,
    .wait32 = wait_on_futex,
    .wake32 = wait_wake_futex,
    .busy_loop_iter = 1, /* the flusher shares processors with the writers: sleep at once */
};

const struct ck_ec_mode etwas_wait_mode = {.ops = &operations, .single_producer = false};

uint64_t etwas_monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS_A_SECOND + (uint64_t)now.tv_nsec;
}

void etwas_wait(struct ck_ec32 *count, uint32_t seen, uint64_t timeout_ns)
{
    uint64_t end_ns = etwas_monotonic_ns() + timeout_ns;
    struct timespec deadline = {
        .tv_sec = (time_t)(end_ns / NANOSECONDS_A_SECOND),
        .tv_nsec = (long)(end_ns % NANOSECONDS_A_SECOND),
    };

    (void)ck_ec32_wait(count, &etwas_wait_mode, seen, &deadline);
}

/*
 * An increment that finds the mark of a sleeper removes the mark, and only then makes the system
 * call. So if another thread has incremented since `seen`, it may have removed the mark and not
 * made the call yet: then the sleeper is woken here as well.
 */
void etwas_wake(struct ck_ec32 *count, uint32_t seen)
{
    const uint32_t value_mask = INT32_MAX; /* the highest bit is the mark */

    ck_ec32_inc(count, &etwas_wait_mode);
    if (ck_ec32_value(count) != ((seen + 1) & value_mask)) {
        ck_ec32_wake(count, &operations);
    }
}

#ifdef __SANITIZE_THREAD__

/* The sanitizer of gcc 12 does not know a lock function with this clock. */
bool etwas_mutex_lock_until(pthread_mutex_t *lock, uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (pthread_mutex_trylock(lock) != 0) {
        if (etwas_monotonic_ns() >= deadline_ns) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

#else

bool etwas_mutex_lock_until(pthread_mutex_t *lock, uint64_t deadline_ns)
{
    const struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / NANOSECONDS_A_SECOND),
        .tv_nsec = (long)(deadline_ns % NANOSECONDS_A_SECOND),
    };

    return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &deadline) == 0;
}

#endif
