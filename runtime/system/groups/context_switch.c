/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Context switches: samples of sched:sched_switch as Thread's CSwitch.
 *
 *     priority    0 idle, 1 to 15 nice 19 to -20, 16 to 31 real time; nice 0 is 8
 *     state       of the thread that gave way: ready, waiting, terminated
 *     reason      preempted; waiting, interruptibly or not; suspended
 *
 * For the own process alone: SWITCH, which says that one thread gets a processor or gives it away.
 *
 * The stack of a switch is that of the thread that gave way, and shows where it waits. How long the
 * new thread had waited is not known: 0.
 */
#include <etwas/evntrace.h>

#include "system/groups/event_groups.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/kernel_record.h"

enum {
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

ETWAS_KERNEL_RECORD(switch_record, etwas_etl_perfinfo_header, CSWITCH);

/* Maps the kernel's priorities 0 to 139, lowest first: 99 → 16, 100 → 15, 120 → 8, 139 → 1. */
static int8_t context_switch_priority_of(int64_t thread, int64_t priority)
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

static void context_switch_put_state(int64_t state, struct switch_record *record)
{
    if ((state & TASK_WAITS) == 0) {
        record->OldThreadState = STATE_READY;
        record->OldThreadWaitReason = REASON_PREEMPTED;
    } else if ((state & TASK_DEAD_OR_ZOMBIE) != 0) {
        record->OldThreadState = STATE_TERMINATED;
    } else {
        record->OldThreadState = STATE_WAITING;
        if ((state & TASK_STOPPED_OR_TRACED) != 0) {
            record->OldThreadWaitReason = REASON_SUSPENDED;
        } else if ((state & TASK_INTERRUPTIBLE) != 0) {
            record->OldThreadWaitReason = REASON_USER_REQUEST;
            record->OldThreadWaitMode = MODE_USER;
        } else {
            record->OldThreadWaitReason = REASON_EXECUTIVE;
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

static bool context_switch_handle(const struct etwas_source_event *event)
{
    struct etwas_thread_numbers *numbers = &event->host->numbers;
    int64_t values[FIELDS];
    struct switch_record record;

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    etwas_thread_numbers_learn(numbers, (uint32_t)values[NEXT_THREAD], event->next_thread);
    record = (struct switch_record){
        .header = {ETWAS_HEADER_OF(CSWITCH, ETWAS_CSWITCH, record)},
        .NewThreadId = etwas_thread_number(numbers, (uint32_t)values[NEXT_THREAD]),
        .OldThreadId = etwas_thread_number(numbers, (uint32_t)values[PREVIOUS_THREAD]),
        .NewThreadPriority = context_switch_priority_of(values[NEXT_THREAD], values[NEXT_PRIORITY]),
        .OldThreadPriority =
            context_switch_priority_of(values[PREVIOUS_THREAD], values[PREVIOUS_PRIORITY]),
    };
    context_switch_put_state(values[PREVIOUS_STATE], &record);
    if (record.OldThreadState ==
        STATE_TERMINATED) { /* the next thread with this number is another one */
        etwas_thread_numbers_learn(numbers, (uint32_t)values[PREVIOUS_THREAD], 0);
    }
    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

/*
 * The other thread is not known: 0, as for the idle thread. Priorities and the reason of a wait are
 * not known either.
 */
static void context_switch_handle_process_record(void *state,
                                                 const struct etwas_event_group_host *host,
                                                 uint32_t slot,
                                                 const struct etwas_process_record *process_record)
{
    struct switch_record record = {
        .header = {ETWAS_HEADER_OF(CSWITCH, ETWAS_CSWITCH, record)},
    };

    (void)state;
    if (process_record->turn.is_out) {
        record.OldThreadId = process_record->thread_id;
        context_switch_put_state(process_record->turn.is_preempted ? 0 : TASK_INTERRUPTIBLE,
                                 &record);
    } else {
        record.NewThreadId = process_record->thread_id;
    }
    etwas_emit(host->emitter, slot, &record, process_record->origin.time_ns);
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "sched/sched_switch",
     .fields = names,
     .hooks = {ETWAS_KERNEL_HOOK(CSWITCH, ETWAS_CSWITCH)},
     .handle = context_switch_handle},
};

const struct etwas_event_group etwas_event_group_switches = {
    .flags = EVENT_TRACE_FLAG_CSWITCH,
    .process_records = ETWAS_PROCESS_RECORD_SWITCHES,
    .own_process_records = ETWAS_PROCESS_RECORD_SWITCHES,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .handle_process_record = context_switch_handle_process_record,
};
