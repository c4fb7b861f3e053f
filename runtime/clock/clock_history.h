/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session's clock readings in memory: the first one, the newest as close as they were taken, and
 * older ones the sparser the older they are.
 *
 * The memory is bounded: when it is full every second reading of its older half is dropped. After
 * hours at one reading a second the last two minutes are complete, the two before have every second
 * reading, and so on.
 *
 * The thread with the session's role calls; nothing here is thread-safe except
 * etwas_clock_history_copy, which may be called at any time.
 */
#ifndef ETWAS_CLOCK_CLOCK_HISTORY_H
#define ETWAS_CLOCK_CLOCK_HISTORY_H

#include <stdint.h>

#include "clock/clock_reading.h"

enum {
    ETWAS_CLOCK_HISTORY_READINGS = 256
};

/* Interval between two readings of a running session. Tests set another before it starts. */
#define ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS UINT64_C(1000000000)
extern uint64_t etwas_clock_snapshot_interval_ns;

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
 * Copies the history without the session's role, even while the owner changes it or was stopped
 * during a change. While older readings make room, which is rare, the copy has the first reading
 * alone. Async-signal-safe.
 */
void etwas_clock_history_copy(struct etwas_clock_history *copy,
                              const struct etwas_clock_history *history);

#endif
