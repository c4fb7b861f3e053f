/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#ifndef ETWAS_TOOLS_KERNEL_SCHEDULE_THREADS_H
#define ETWAS_TOOLS_KERNEL_SCHEDULE_THREADS_H

/* The threads of a schedule, for the code that follows switches. */

#include "kernel/schedule.h"

/*
 * Adds a thread, which replaces the one that had the id before. Returns NULL if there are too many,
 * or without memory.
 */
struct etwas_schedule_thread *etwas_schedule_add_thread(struct etwas_schedule *schedule,
                                                        uint32_t thread);

/*
 * Returns the thread with the id, or NULL without memory. If the trace is complete, a thread
 * without an earlier event has waited since the trace began.
 */
struct etwas_schedule_thread *etwas_schedule_seen(struct etwas_schedule *schedule, uint32_t id);

/* Ends the thread's state at `time_ns`, and begins another. */
void etwas_schedule_change(const struct etwas_schedule *schedule,
                           struct etwas_schedule_thread *thread, enum etwas_schedule_state state,
                           int64_t time_ns);

static inline uint64_t etwas_schedule_smaller(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

#endif
