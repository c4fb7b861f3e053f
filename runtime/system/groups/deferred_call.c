/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DPC: calls that interrupts defer, when they end.
 *
 *     softirq              DPC; Routine is its number
 *     tasklet              DPC; Routine is its function
 *     timer, hrtimer       TimerDPC; Routine is its function
 *
 * If the beginning is not known, InitialTime is the record's own time, and a timer's Routine is 0.
 * Work queues are in work_queue.c.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>

#include "system/groups/deferred_call_record.h"
#include "system/groups/event_groups.h"
#include "system/groups/nests.h"

enum kind {
    SOFTIRQ,
    TASKLET,
    TIMER,
    HIGH_RESOLUTION_TIMER,
};

enum {
    KEY,
    ROUTINE,
    FIELDS,
};

static bool begin_call(const struct etwas_source_event *event, enum kind kind)
{
    int64_t values[FIELDS];

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    etwas_nests_begin(event, kind, (uint64_t)values[KEY], (uint64_t)values[ROUTINE]);
    return true;
}

/* `has_routine`: the end has it, too. */
static bool end_call(const struct etwas_source_event *event, enum kind kind, bool has_routine)
{
    int64_t values[FIELDS] = {0};
    struct etwas_nested nested;

    if (!etwas_source_event_numbers(event, values, has_routine ? FIELDS : 1)) {
        return false;
    }
    nested = etwas_nests_end(event, kind, (uint64_t)values[KEY], (uint64_t)values[ROUTINE]);
    etwas_deferred_call_emit(event, kind >= TIMER ? ETWAS_TIMER_DPC : ETWAS_DPC, nested.since_ns,
                             nested.routine);
    return true;
}

#define HANDLE(name, kind, ...)                                                                    \
    static bool handle_##name##_entry(const struct etwas_source_event *event)                      \
    {                                                                                              \
        return begin_call(event, kind);                                                            \
    }                                                                                              \
    static bool handle_##name##_exit(const struct etwas_source_event *event)                       \
    {                                                                                              \
        return end_call(event, kind, __VA_ARGS__);                                                 \
    }

HANDLE(softirq, SOFTIRQ, true)
HANDLE(tasklet, TASKLET, true)
HANDLE(timer, TIMER, false)
HANDLE(hrtimer, HIGH_RESOLUTION_TIMER, false)

static const char *const softirq_names[] = {"vec", "vec", NULL};
static const char *const tasklet_names[] = {"tasklet", "func", NULL};
static const char *const timer_entry_names[] = {"timer", "function", NULL};
static const char *const timer_exit_names[] = {"timer", NULL};
static const char *const hrtimer_entry_names[] = {"hrtimer", "function", NULL};
static const char *const hrtimer_exit_names[] = {"hrtimer", NULL};

static const struct etwas_event_source sources[] = {
    {.tracepoint = "irq/softirq_entry", .fields = softirq_names, .handle = handle_softirq_entry},
    {.tracepoint = "irq/softirq_exit", .fields = softirq_names, .handle = handle_softirq_exit},
    {.tracepoint = "irq/tasklet_entry",
     .fields = tasklet_names,
     .is_optional = true,
     .handle = handle_tasklet_entry},
    {.tracepoint = "irq/tasklet_exit",
     .fields = tasklet_names,
     .is_optional = true,
     .handle = handle_tasklet_exit},
    {.tracepoint = "timer/timer_expire_entry",
     .fields = timer_entry_names,
     .handle = handle_timer_entry},
    {.tracepoint = "timer/timer_expire_exit",
     .fields = timer_exit_names,
     .handle = handle_timer_exit},
    {.tracepoint = "timer/hrtimer_expire_entry",
     .fields = hrtimer_entry_names,
     .handle = handle_hrtimer_entry},
    {.tracepoint = "timer/hrtimer_expire_exit",
     .fields = hrtimer_exit_names,
     .handle = handle_hrtimer_exit},
};

const struct etwas_event_group etwas_event_group_deferred_calls = {
    .flags = EVENT_TRACE_FLAG_DPC,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = etwas_nests_open,
    .close = free,
    .handle_loss = etwas_nests_take_loss,
};
