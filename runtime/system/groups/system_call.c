/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EVENT_TRACE_FLAG_SYSTEMCALL: raw_syscalls as PerfInfo's SysClEnter and SysClExit.
 *
 * SysCallAddress is the number of the call, with BIT_32 if it was made as a 32-bit program makes it
 * (compat.h), and SysCallNtStatus the low half of its result. The records' thread is the caller.
 * The logger's own calls are left out: each read of the rings would make more to read.
 */
#include <etwas/evntrace.h>

#include "system/groups/compat.h"
#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

#define BIT_32 UINT64_C(0x80000000)

ETWAS_KERNEL_RECORD(enter_record, etwas_etl_system_header, SYSTEM_CALL_ENTER);
ETWAS_KERNEL_RECORD(exit_record, etwas_etl_system_header, SYSTEM_CALL_EXIT);

static const char *const enter_names[] = {"id", "args", NULL};
static const char *const exit_names[] = {"ret", NULL};

static bool system_call_handle_enter(const struct etwas_source_event *event)
{
    const struct etwas_sample *sample = event->sample;
    int64_t number;
    struct enter_record record;
    const uint8_t *arguments;
    size_t bytes;

    if (!etwas_source_event_numbers(event, &number, 1) ||
        !etwas_tracepoint_format_bytes(&event->fields[1], sample->raw, sample->raw_bytes,
                                       &arguments, &bytes) ||
        bytes < 2 * sizeof(uint64_t)) {
        return false;
    }
    if (etwas_call_is_32_bit(sample, arguments)) {
        number = (int64_t)((uint32_t)number | BIT_32);
    }
    record = (struct enter_record){
        .header = {ETWAS_HEADER_OF(SYSTEM_CALL_ENTER, ETWAS_SYSTEM_CALL_ENTER, record),
                   .thread_id = sample->origin.thread_id, .process_id = sample->origin.process_id},
        .SysCallAddress = (uint64_t)number,
    };
    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

static bool system_call_handle_exit(const struct etwas_source_event *event)
{
    int64_t result;
    struct exit_record record;

    if (!etwas_source_event_numbers(event, &result, 1)) {
        return false;
    }
    record = (struct exit_record){
        .header = {ETWAS_HEADER_OF(SYSTEM_CALL_EXIT, ETWAS_SYSTEM_CALL_EXIT, record),
                   .thread_id = event->sample->origin.thread_id,
                   .process_id = event->sample->origin.process_id},
        .SysCallNtStatus = (uint32_t)result,
    };
    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
    return true;
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "raw_syscalls/sys_enter",
     .fields = enter_names,
     .sample_type = PERF_SAMPLE_REGS_USER,
     .hooks = {ETWAS_KERNEL_HOOK(SYSTEM_CALL_ENTER, ETWAS_SYSTEM_CALL_ENTER)},
     .without_own = true,
     .handle = system_call_handle_enter},
    {.tracepoint = "raw_syscalls/sys_exit",
     .fields = exit_names,
     .hooks = {ETWAS_KERNEL_HOOK(SYSTEM_CALL_EXIT, ETWAS_SYSTEM_CALL_EXIT)},
     .without_own = true,
     .handle = system_call_handle_exit},
};

const struct etwas_event_group etwas_event_group_system_calls = {
    .flags = EVENT_TRACE_FLAG_SYSTEMCALL,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
