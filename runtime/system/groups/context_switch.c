/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Context switches: samples of sched:sched_switch as Thread's CSwitch.
 *
 *     priority    0 idle, 1 to 15 nice 19 to -20, 16 to 31 real time; nice 0 is 8
 *     state       of the thread that gave way: ready, waiting, terminated
 *     reason      preempted; waiting, interruptibly or not; suspended
 *
 * For the own process alone: SWITCH, which says that one thread gets a processor or gives it away.
 *
 * The stack of a switch is that of the thread that gave way: where it waits. How long the new
 * thread had waited is not known: 0.
 */
#include <etwas/evntrace.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"
#include "system/stream/cpu_stream.h"

enum {
    GROUP_THREAD = 0x05,
    TYPE_SWITCH = 36,
    CLASS_VERSION = 2,

    /* ETW's numbers. */
    STATE_READY = 1,
    STATE_TERMINATED = 4,
    STATE_WAITING = 5,
    REASON_EXECUTIVE = 0,
    REASON_SUSPENDED = 5,
    REASON_USER_REQUEST = 6,
    REASON_PREEMPTED = 32,
    MODE_USER = 1,

    /* The values of prev_state, on every kernel that has the tracepoint. */
    TASK_INTERRUPTIBLE = 1,
    TASK_STOPPED_OR_TRACED = 4 | 8,
    TASK_DEAD_OR_ZOMBIE = 0x10 | 0x20,
    TASK_WAITS = 0xFF, /* higher: preempted, or an internal bit */

    REAL_TIME_PRIORITIES = 100,
    NICE_VALUES = 40,
};

struct switch_record {
    struct etwas_etl_perfinfo_header header;
    uint32_t new_thread_id;
    uint32_t old_thread_id;
    int8_t new_priority;
    int8_t old_priority;
    uint8_t previous_c_state;
    int8_t spare;
    uint8_t old_wait_reason;
    int8_t old_wait_mode;
    uint8_t old_state;
    uint8_t old_ideal_processor;
    uint32_t new_wait_time;
    uint32_t old_remaining_quantum;
};
_Static_assert(sizeof(struct switch_record) == 16 + 24, "CSwitch, version 2");

/* Maps the kernel's priorities 0 to 139, lowest first: 99 → 16, 100 → 15, 120 → 8, 139 → 1. */
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

static void put_state(int64_t state, struct switch_record *record)
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

enum {
    PREVIOUS_THREAD,
    PREVIOUS_PRIORITY,
    PREVIOUS_STATE,
    NEXT_THREAD,
    NEXT_PRIORITY,
    FIELDS,
};

static const char *const names[] = {"prev_pid", "prev_prio", "prev_state",
                                    "next_pid", "next_prio", NULL};

static bool handle(const struct etwas_source_event *event)
{
    struct etwas_thread_numbers *numbers = &event->host->numbers;
    int64_t values[FIELDS];
    struct switch_record record;

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    etwas_thread_numbers_learn(numbers, (uint32_t)values[NEXT_THREAD], event->next_thread);
    record = (struct switch_record){
        .header = {.version = CLASS_VERSION,
                   .header_type = ETWAS_ETL_PERFINFO64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof record,
                   .type = TYPE_SWITCH,
                   .group = GROUP_THREAD},
        .new_thread_id = etwas_thread_number(numbers, (uint32_t)values[NEXT_THREAD]),
        .old_thread_id = etwas_thread_number(numbers, (uint32_t)values[PREVIOUS_THREAD]),
        .new_priority = priority_of(values[NEXT_THREAD], values[NEXT_PRIORITY]),
        .old_priority = priority_of(values[PREVIOUS_THREAD], values[PREVIOUS_PRIORITY]),
    };
    put_state(values[PREVIOUS_STATE], &record);
    if (record.old_state ==
        STATE_TERMINATED) { /* the next thread with this number is another one */
        etwas_thread_numbers_learn(numbers, (uint32_t)values[PREVIOUS_THREAD], 0);
    }
    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

/*
 * The other thread is not known: 0, as for the idle thread; neither are priorities and the reason
 * of a wait.
 */
static void handle_turn(void *state, const struct etwas_event_group_host *host, uint32_t slot,
                        const struct etwas_process_record *process_record)
{
    struct switch_record record = {
        .header = {.version = CLASS_VERSION,
                   .header_type = ETWAS_ETL_PERFINFO64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof record,
                   .type = TYPE_SWITCH,
                   .group = GROUP_THREAD},
    };

    (void)state;
    if (process_record->turn.is_out) {
        record.old_thread_id = process_record->thread_id;
        put_state(process_record->turn.is_preempted ? 0 : TASK_INTERRUPTIBLE, &record);
    } else {
        record.new_thread_id = process_record->thread_id;
    }
    etwas_emit(host->emitter, slot, &record, process_record->origin.time_ns);
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "sched/sched_switch",
     .fields = names,
     .hooks = {GROUP_THREAD << 8 | TYPE_SWITCH},
     .handle = handle},
};

const struct etwas_event_group etwas_event_group_switches = {
    .flags = EVENT_TRACE_FLAG_CSWITCH,
    .own_process_records = ETWAS_PROCESS_RECORD_SWITCHES,
    .process_records = ETWAS_PROCESS_RECORD_SWITCHES,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .handle_process_record = handle_turn,
};
