/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session's readings in memory: the one of its start, and of the others so many that the newest
 * lie as close as they were taken, and older ones the wider the older they are.
 *
 * Bounded: when it is full every second one of its older half goes. After hours at one a second the
 * last two minutes are complete, the two before have every second, and so on.
 *
 * Not thread-safe: the owner of the session's flusher role calls. But a copy may be made at any time.
 */
#ifndef ETWAS_CLOCK_CLOCK_HISTORY_H
#define ETWAS_CLOCK_CLOCK_HISTORY_H

#include <stdint.h>

#include "clock/clock_reading.h"

enum {
    ETWAS_CLOCK_HISTORY_READINGS = 256
};

/* Between two readings of a session that runs. */
#define ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS UINT64_C(1000000000)

#ifdef ETWAS_TESTPOINTS
/* Replaces the interval in tests: set before a session starts. */
extern uint64_t etwas_clock_snapshot_interval_ns;
#else
#define etwas_clock_snapshot_interval_ns ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS
#endif

struct etwas_clock_history {
    uint32_t count; /* 0: the session has not started */
    uint32_t thins_begun;
    uint32_t thins_ended;
    struct etwas_clock_reading readings[ETWAS_CLOCK_HISTORY_READINGS]; /* the oldest first */
};

void etwas_clock_history_begin(struct etwas_clock_history *history,
                               const struct etwas_clock_reading *started);
void etwas_clock_history_add(struct etwas_clock_history *history,
                             const struct etwas_clock_reading *reading);

/*
 * Copies it without the role, whatever its owner does meanwhile, or was stopped in. While older
 * readings make room, which is seldom, the copy has the start's alone. Async-signal-safe.
 */
void etwas_clock_history_copy(struct etwas_clock_history *copy,
                              const struct etwas_clock_history *history);

#endif
