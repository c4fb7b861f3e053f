/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DPC: work items, as PerfInfo's ThreadDPC with their functions.
 *
 * A worker thread may sleep and continue on another processor, so an item is found by the thread.
 * If the beginning is not known, or was replaced in the table, InitialTime is the record's own
 * time.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>

#include "system/groups/deferred_call_record.h"
#include "system/groups/event_groups.h"

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
    THREAD,
    ITEM,
    FUNCTION,
    FIELDS,
};

static const char *const names[] = {"common_pid", "work", "function", NULL};

static struct work *place_of(const struct etwas_source_event *event, int64_t thread_id)
{
    return (struct work *)event->state + (uint32_t)thread_id % THREADS;
}

static bool handle_start(const struct etwas_source_event *event)
{
    int64_t values[FIELDS];

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    *place_of(event, values[THREAD]) = (struct work){.thread_id = (uint32_t)values[THREAD],
                                                     .item = (uint64_t)values[ITEM],
                                                     .since_ns = event->sample->origin.time_ns};
    return true;
}

static bool handle_end(const struct etwas_source_event *event)
{
    int64_t since_ns = event->sample->origin.time_ns;
    int64_t values[FIELDS];
    struct work *work;

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    work = place_of(event, values[THREAD]);
    if (work->thread_id == (uint32_t)values[THREAD] && work->item == (uint64_t)values[ITEM]) {
        since_ns = work->since_ns;
        work->thread_id = 0;
    }
    etwas_deferred_call_emit(event, ETWAS_THREAD_DPC, since_ns, (uint64_t)values[FUNCTION]);
    return true;
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "workqueue/workqueue_execute_start", .fields = names, .handle = handle_start},
    {.tracepoint = "workqueue/workqueue_execute_end", .fields = names, .handle = handle_end},
};

static void *open_works(const struct etwas_event_group_host *host)
{
    (void)host;
    return calloc(THREADS, sizeof(struct work));
}

/* The loss may contain the end of one item and the beginning of another, of any thread. */
static void handle_loss(void *state, uint32_t slot)
{
    (void)slot;
    memset(state, 0, THREADS * sizeof(struct work));
}

const struct etwas_event_group etwas_event_group_work_queues = {
    .flags = EVENT_TRACE_FLAG_DPC,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_works,
    .close = free,
    .handle_loss = handle_loss,
};
