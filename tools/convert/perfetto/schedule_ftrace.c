/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes context switches of Linux as Perfetto's FtraceEvent. The system logger recorded them in
 * ETW's form; this converts them back to the kernel's.
 */

#include "convert/perfetto/schedule.h"

/* Fields of FtraceEvent, SchedSwitchFtraceEvent and SchedWakingFtraceEvent. */
enum {
    BUNDLE_EVENT = 2,
    TIMESTAMP = 1,
    THREAD = 2,
    SCHED_SWITCH = 4,
    SCHED_WAKING = 20,
    OLD_NAME = 1,
    OLD_THREAD = 2,
    OLD_PRIORITY = 3,
    OLD_STATE = 4,
    NEW_NAME = 5,
    NEW_THREAD = 6,
    NEW_PRIORITY = 7,
    WOKEN_NAME = 1,
    WOKEN_THREAD = 2,
    WOKEN_PRIORITY = 3,
    WOKEN_SUCCESS = 4,
};

/* States of the thread that is switched out: those of the payload, and those of the kernel. */
enum {
    READY = 1,
    STANDBY = 3,
    TERMINATED = 4,
    DEFERRED_READY = 7,
    REASON_SUSPENDED = 5,
    MODE_USER = 1,
    TASK_RUNNING = 0,
    TASK_INTERRUPTIBLE = 1,
    TASK_UNINTERRUPTIBLE = 2,
    TASK_STOPPED = 4,
    TASK_DEAD = 16,
};

/* Priorities: ETW's for nice 0 and for the first real-time one, and the kernel's. */
enum {
    NORMAL = 8,
    REAL_TIME = 16,
    HIGHEST = 31,
    KERNEL_NORMAL = 120,
    KERNEL_REAL_TIME = 99,
    NICE_STEPS = 20,
};

static uint64_t state_of(const uint8_t *payload)
{
    switch (payload[SWITCH_STATE_AT]) {
    case READY:
    case STANDBY:
    case DEFERRED_READY:
        return TASK_RUNNING;
    case TERMINATED:
        return TASK_DEAD;
    default:
        return payload[SWITCH_MODE_AT] == MODE_USER            ? TASK_INTERRUPTIBLE
               : payload[SWITCH_REASON_AT] == REASON_SUSPENDED ? TASK_STOPPED
                                                               : TASK_UNINTERRUPTIBLE;
    }
}

/* Returns the approximate kernel priority: ETW has 32 levels, the kernel 140. */
static uint64_t priority_of(uint8_t priority)
{
    if (priority >= REAL_TIME) {
        int above = (priority <= HIGHEST ? priority : HIGHEST) - REAL_TIME;

        return (uint64_t)(KERNEL_REAL_TIME - above * KERNEL_REAL_TIME / (HIGHEST - REAL_TIME));
    }
    return priority == 0 ? KERNEL_NORMAL
                         : (uint64_t)(KERNEL_NORMAL + (NORMAL - priority) * NICE_STEPS / NORMAL);
}

/*
 * Writes a thread's name. The thread id is tried as a process id first, since a process's first
 * thread has its id. The time selects among processes that reused an id.
 */
static void put_name(struct etwas_perfetto *perfetto, struct etwas_wire *events, uint32_t field,
                     uint32_t thread, int64_t time_ns)
{
    const char *name = etwas_processes_name(&perfetto->processes, thread, time_ns);
    uint32_t process;

    if (name == NULL && etwas_addresses_process(&perfetto->addresses, thread, &process)) {
        name = etwas_processes_name(&perfetto->processes, process, time_ns);
    }

    name = thread == 0 ? "swapper" : name;
    if (name != NULL) {
        etwas_perfetto_put_utf8(events, field, name, strnlen(name, 64));
    }
}

static void put_switch(struct etwas_perfetto *perfetto, struct etwas_wire *events,
                       const struct etwas_perfetto_happening *happening)
{
    uint32_t old = etwas_perfetto_payload_u32(happening, SWITCH_OLD_AT);
    uint32_t new = etwas_perfetto_payload_u32(happening, SWITCH_NEW_AT);
    const uint8_t *payload = happening->payload;

    put_name(perfetto, events, OLD_NAME, old, happening->time_ns);
    etwas_wire_number(events, OLD_THREAD, old);
    etwas_wire_number(events, OLD_PRIORITY, priority_of(payload[SWITCH_OLD_PRIORITY_AT]));
    etwas_wire_number(events, OLD_STATE, state_of(payload));
    put_name(perfetto, events, NEW_NAME, new, happening->time_ns);
    etwas_wire_number(events, NEW_THREAD, new);
    etwas_wire_number(events, NEW_PRIORITY, priority_of(payload[SWITCH_NEW_PRIORITY_AT]));
}

static void put_ready(struct etwas_perfetto *perfetto, struct etwas_wire *events,
                      const struct etwas_perfetto_happening *happening)
{
    uint32_t woken = etwas_perfetto_payload_u32(happening, READY_THREAD_AT);

    put_name(perfetto, events, WOKEN_NAME, woken, happening->time_ns);
    etwas_wire_number(events, WOKEN_THREAD, woken);
    etwas_wire_number(events, WOKEN_PRIORITY, KERNEL_NORMAL);
    etwas_wire_number(events, WOKEN_SUCCESS, 1);
}

void etwas_perfetto_put_ftrace(struct etwas_perfetto *perfetto, struct etwas_wire *events,
                               const struct etwas_perfetto_happening *happening, bool is_switch)
{
    size_t event = etwas_wire_begin(events, BUNDLE_EVENT);
    size_t inner;

    etwas_wire_number(events, TIMESTAMP, (uint64_t)happening->time_ns);
    etwas_wire_number(events, THREAD, happening->thread);
    inner = etwas_wire_begin(events, is_switch ? SCHED_SWITCH : SCHED_WAKING);
    if (is_switch) {
        put_switch(perfetto, events, happening);
    } else {
        put_ready(perfetto, events, happening);
    }
    etwas_wire_end(events, inner);
    etwas_wire_end(events, event);
}
