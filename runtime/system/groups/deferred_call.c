/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EVENT_TRACE_FLAG_DPC: calls that interrupts defer, when they end.
 *
 *     softirq              DPC; Routine is its number
 *     tasklet              DPC; Routine is its function
 *     timer, hrtimer       TimerDPC; Routine is its function
 *     work queue           ThreadDPC; Routine is the item's function
 *
 * If the beginning is not known, InitialTime is the record's own time, and a timer's Routine is 0.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>

#include "system/groups/event_groups.h"
#include "system/groups/nests.h"
#include "system/stream/kernel_record.h"

ETWAS_KERNEL_RECORD(deferred_call_record, etwas_etl_perfinfo_header, DPC);

/*
 * Emits a deferred call that ends with the sample, as ETWAS_DPC, ETWAS_TIMER_DPC or
 * ETWAS_THREAD_DPC, which have the same fields.
 */
static void deferred_call_emit(const struct etwas_source_event *event, uint8_t type,
                               int64_t since_ns, uint64_t routine)
{
    const struct deferred_call_record record = {
        .header = {ETWAS_HEADER_OF(DPC, type, record)},
        .InitialTime = etwas_emit_stamp(event->host->emitter, since_ns),
        .Routine = routine,
    };

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
}

/* ---- softirqs, tasklets, timers -------------------------------------------------------------- */

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

static bool deferred_call_begin(const struct etwas_source_event *event, enum kind kind)
{
    int64_t values[FIELDS];

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    etwas_nests_begin(event, kind, (uint64_t)values[KEY], (uint64_t)values[ROUTINE]);
    return true;
}

/* `has_routine`: the event of the end has the routine, too. */
static bool deferred_call_end(const struct etwas_source_event *event, enum kind kind,
                              bool has_routine)
{
    int64_t values[FIELDS] = {0};
    struct etwas_nested nested;

    if (!etwas_source_event_numbers(event, values, has_routine ? FIELDS : 1)) {
        return false;
    }
    nested = etwas_nests_end(event, kind, (uint64_t)values[KEY], (uint64_t)values[ROUTINE]);
    deferred_call_emit(event, kind >= TIMER ? ETWAS_TIMER_DPC : ETWAS_DPC, nested.since_ns,
                       nested.routine);
    return true;
}

#define HANDLE(name, kind, ...)                                                                    \
    static bool deferred_call_handle_##name##_entry(const struct etwas_source_event *event)        \
    {                                                                                              \
        return deferred_call_begin(event, kind);                                                   \
    }                                                                                              \
    static bool deferred_call_handle_##name##_exit(const struct etwas_source_event *event)         \
    {                                                                                              \
        return deferred_call_end(event, kind, __VA_ARGS__);                                        \
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
    {.tracepoint = "irq/softirq_entry",
     .fields = softirq_names,
     .handle = deferred_call_handle_softirq_entry},
    {.tracepoint = "irq/softirq_exit",
     .fields = softirq_names,
     .handle = deferred_call_handle_softirq_exit},
    {.tracepoint = "irq/tasklet_entry",
     .fields = tasklet_names,
     .is_optional = true,
     .handle = deferred_call_handle_tasklet_entry},
    {.tracepoint = "irq/tasklet_exit",
     .fields = tasklet_names,
     .is_optional = true,
     .handle = deferred_call_handle_tasklet_exit},
    {.tracepoint = "timer/timer_expire_entry",
     .fields = timer_entry_names,
     .handle = deferred_call_handle_timer_entry},
    {.tracepoint = "timer/timer_expire_exit",
     .fields = timer_exit_names,
     .handle = deferred_call_handle_timer_exit},
    {.tracepoint = "timer/hrtimer_expire_entry",
     .fields = hrtimer_entry_names,
     .handle = deferred_call_handle_hrtimer_entry},
    {.tracepoint = "timer/hrtimer_expire_exit",
     .fields = hrtimer_exit_names,
     .handle = deferred_call_handle_hrtimer_exit},
};

const struct etwas_event_group etwas_event_group_deferred_calls = {
    .flags = EVENT_TRACE_FLAG_DPC,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = etwas_nests_open,
    .close = free,
    .handle_loss = etwas_nests_take_loss,
};

/* ---- work queues ----------------------------------------------------------------------------- */

/*
 * A worker thread may sleep and continue on another processor, so an item is found by the thread.
 * If its entry was replaced, its beginning is not known.
 */
enum {
    THREADS = 1024
};

/* An entry belongs to one thread; another thread with the same entry replaces it. */
struct work {
    uint32_t thread_id; /* 0: the entry is free */
    uint64_t item;
    int64_t since_ns;
};

enum {
    WORK_THREAD,
    WORK_ITEM,
    WORK_FUNCTION,
    WORK_FIELDS,
};

static const char *const work_names[] = {"common_pid", "work", "function", NULL};

static struct work *deferred_call_work_place_of(const struct etwas_source_event *event,
                                                int64_t thread_id)
{
    return (struct work *)event->state + (uint32_t)thread_id % THREADS;
}

static bool deferred_call_work_handle_start(const struct etwas_source_event *event)
{
    int64_t values[WORK_FIELDS];

    if (!etwas_source_event_numbers(event, values, WORK_FIELDS)) {
        return false;
    }
    *deferred_call_work_place_of(event, values[WORK_THREAD]) =
        (struct work){.thread_id = (uint32_t)values[WORK_THREAD],
                      .item = (uint64_t)values[WORK_ITEM],
                      .since_ns = event->sample->origin.time_ns};
    return true;
}

static bool deferred_call_work_handle_end(const struct etwas_source_event *event)
{
    int64_t since_ns = event->sample->origin.time_ns;
    int64_t values[WORK_FIELDS];
    struct work *work;

    if (!etwas_source_event_numbers(event, values, WORK_FIELDS)) {
        return false;
    }
    work = deferred_call_work_place_of(event, values[WORK_THREAD]);
    if (work->thread_id == (uint32_t)values[WORK_THREAD] &&
        work->item == (uint64_t)values[WORK_ITEM]) {
        since_ns = work->since_ns;
        work->thread_id = 0;
    }
    deferred_call_emit(event, ETWAS_THREAD_DPC, since_ns, (uint64_t)values[WORK_FUNCTION]);
    return true;
}

static const struct etwas_event_source work_sources[] = {
    {.tracepoint = "workqueue/workqueue_execute_start",
     .fields = work_names,
     .handle = deferred_call_work_handle_start},
    {.tracepoint = "workqueue/workqueue_execute_end",
     .fields = work_names,
     .handle = deferred_call_work_handle_end},
};

static void *deferred_call_work_open(const struct etwas_event_group_host *host)
{
    (void)host;
    return calloc(THREADS, sizeof(struct work));
}

/* The loss may contain the end of one item and the beginning of another, of any thread. */
static void deferred_call_work_handle_loss(void *state, uint32_t slot)
{
    (void)slot;
    memset(state, 0, THREADS * sizeof(struct work));
}

const struct etwas_event_group etwas_event_group_work_queues = {
    .flags = EVENT_TRACE_FLAG_DPC,
    .sources = work_sources,
    .source_count = sizeof work_sources / sizeof *work_sources,
    .open = deferred_call_work_open,
    .close = free,
    .handle_loss = deferred_call_work_handle_loss,
};
