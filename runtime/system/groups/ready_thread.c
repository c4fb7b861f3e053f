/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EVENT_TRACE_FLAG_DISPATCHER: threads that are woken, and new ones, as Thread's ReadyThread.
 *
 * The record's thread is the waker. If an interrupt woke the thread, the record's thread is the
 * interrupted one, and ReadiedFromDpc is set.
 */
#include <etwas/evntrace.h>

#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    READIED_FROM_DPC = 1,

    /* The bits of common_flags for NMI, softirq and hardirq. */
    IN_INTERRUPT = 0x40 | 0x10 | 0x08,
};

ETWAS_KERNEL_RECORD(ready_record, etwas_etl_system_header, READY_THREAD);

enum {
    THREAD,
    COMMON_FLAGS,
    FIELDS,
};

static const char *const names[] = {"pid", "common_flags", NULL};

static bool ready_thread_handle(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    int64_t values[FIELDS];
    struct ready_record record;

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    record = (struct ready_record){
        .header = {ETWAS_HEADER_OF(READY_THREAD, ETWAS_READY_THREAD, record),
                   .thread_id = origin->thread_id, .process_id = origin->process_id},
        .TThreadId = etwas_thread_number(&event->host->numbers, (uint32_t)values[THREAD]),
        .Flag = (values[COMMON_FLAGS] & IN_INTERRUPT) != 0 ? READIED_FROM_DPC : 0,
    };
    etwas_emit(event->host->emitter, event->slot, &record, origin->time_ns);
    return true;
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "sched/sched_waking",
     .fields = names,
     .hooks = {ETWAS_KERNEL_HOOK(READY_THREAD, ETWAS_READY_THREAD)},
     .handle = ready_thread_handle},
    {.tracepoint = "sched/sched_wakeup_new",
     .fields = names,
     .hooks = {ETWAS_KERNEL_HOOK(READY_THREAD, ETWAS_READY_THREAD)},
     .handle = ready_thread_handle},
};

const struct etwas_event_group etwas_event_group_ready_threads = {
    .flags = EVENT_TRACE_FLAG_DISPATCHER,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
