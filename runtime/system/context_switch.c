/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/context_switch.h"

enum {
    GROUP_THREAD = 0x05,
    TYPE_SWITCH = 36,
    CLASS_VERSION = 2,

    /* As ETW numbers them. */
    STATE_READY = 1,
    STATE_TERMINATED = 4,
    STATE_WAITING = 5,
    REASON_EXECUTIVE = 0,
    REASON_SUSPENDED = 5,
    REASON_USER_REQUEST = 6,
    REASON_PREEMPTED = 32,
    MODE_USER = 1,

    /* As the kernel tells them in prev_state, on every version that has the tracepoint. */
    TASK_INTERRUPTIBLE = 1,
    TASK_STOPPED_OR_TRACED = 4 | 8,
    TASK_DEAD_OR_ZOMBIE = 0x10 | 0x20,
    TASK_WAITS = 0xFF, /* beyond: preempted, or an inner bit */

    REAL_TIME_PRIORITIES = 100,
    NICE_VALUES = 40,
};

bool etwas_switch_fields_find(const struct etwas_tracepoint *tracepoint,
                              struct etwas_switch_fields *fields)
{
    return etwas_tracepoint_find(tracepoint, "prev_pid", &fields->previous_thread) &&
           etwas_tracepoint_find(tracepoint, "prev_prio", &fields->previous_priority) &&
           etwas_tracepoint_find(tracepoint, "prev_state", &fields->previous_state) &&
           etwas_tracepoint_find(tracepoint, "next_pid", &fields->next_thread) &&
           etwas_tracepoint_find(tracepoint, "next_prio", &fields->next_priority);
}

/* The kernel's 0 to 139, of which the least comes first: 99 → 16, 100 → 15, 120 → 8, 139 → 1. */
static int8_t priority_of(int64_t thread, int64_t priority)
{
    int64_t nice = priority - REAL_TIME_PRIORITIES;

    if (thread == 0) {
        return 0;
    }
    if (nice < 0) {
        return (int8_t)(priority < 0 ? 31 : 31 - 15 * priority / (REAL_TIME_PRIORITIES - 1));
    }
    return (int8_t)(nice >= NICE_VALUES ? 1 : 15 - 14 * nice / (NICE_VALUES - 1));
}

static void put_state(int64_t state, struct etwas_switch_record *record)
{
    if ((state & TASK_WAITS) == 0) {
        record->old_state = STATE_READY;
        record->old_wait_reason = REASON_PREEMPTED;
    } else if ((state & TASK_DEAD_OR_ZOMBIE) != 0) {
        record->old_state = STATE_TERMINATED;
    } else {
        record->old_state = STATE_WAITING;
        if ((state & TASK_STOPPED_OR_TRACED) != 0) {
            record->old_wait_reason = REASON_SUSPENDED;
        } else if ((state & TASK_INTERRUPTIBLE) != 0) {
            record->old_wait_reason = REASON_USER_REQUEST;
            record->old_wait_mode = MODE_USER;
        } else {
            record->old_wait_reason = REASON_EXECUTIVE;
        }
    }
}

bool etwas_switch_record_make(const struct etwas_switch_fields *fields,
                              const struct etwas_sample *sample, struct etwas_switch_record *record)
{
    const uint8_t *raw = sample->raw;
    size_t bytes = sample->raw_bytes;
    int64_t previous;
    int64_t next;
    int64_t previous_priority;
    int64_t next_priority;
    int64_t state;

    if (!etwas_format_number(&fields->previous_thread, raw, bytes, &previous) ||
        !etwas_format_number(&fields->previous_priority, raw, bytes, &previous_priority) ||
        !etwas_format_number(&fields->previous_state, raw, bytes, &state) ||
        !etwas_format_number(&fields->next_thread, raw, bytes, &next) ||
        !etwas_format_number(&fields->next_priority, raw, bytes, &next_priority)) {
        return false;
    }
    *record = (struct etwas_switch_record){
        .header = {.version = CLASS_VERSION,
                   .header_type = ETWAS_ETL_PERFINFO64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof *record,
                   .type = TYPE_SWITCH,
                   .group = GROUP_THREAD},
        .new_thread_id = (uint32_t)next,
        .old_thread_id = (uint32_t)previous,
        .new_priority = priority_of(next, next_priority),
        .old_priority = priority_of(previous, previous_priority),
    };
    put_state(state, record);
    return true;
}
