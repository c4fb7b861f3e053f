/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS: page faults, as PageFault's types by the processor's error
 * code. The record's thread is the one that had the fault.
 *
 *     DemandZeroFault     data, where no page is mapped
 *     TransitionFault     an instruction, where no page is mapped: code is in a file
 *     CopyOnWrite         a write to a page that may be read
 *     AccessViolation     anything else that a present page does not allow
 *
 * Only x86 has the tracepoints. Elsewhere, and for the own process alone, a software event reports
 * the address when a fault ends, and not its type: DemandZeroFault, or TransitionFault if the
 * instruction itself was not present.
 */
#include <etwas/evntrace.h>
#include <linux/perf_event.h>

#include "platform/thread.h"
#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    /* The processor's error code. */
    PAGE_IS_THERE = 1 << 0,
    IS_WRITE = 1 << 1,
    IS_INSTRUCTION = 1 << 4,
};

ETWAS_KERNEL_RECORD(fault_record, etwas_etl_system_header, PAGE_FAULT);

static uint8_t page_fault_type_of(int64_t error_code)
{
    if ((error_code & PAGE_IS_THERE) != 0) {
        return (error_code & IS_WRITE) != 0 ? ETWAS_PAGE_FAULT_COPY_ON_WRITE
                                            : ETWAS_PAGE_FAULT_ACCESS_VIOLATION;
    }
    return (error_code & IS_INSTRUCTION) != 0 ? ETWAS_PAGE_FAULT_TRANSITION
                                              : ETWAS_PAGE_FAULT_DEMAND_ZERO;
}

enum {
    ADDRESS,
    INSTRUCTION,
    ERROR_CODE,
    FIELDS,
};

static const char *const names[] = {"address", "ip", "error_code", NULL};

static void page_fault_emit(const struct etwas_source_event *event, uint8_t type, uint64_t address,
                            uint64_t instruction)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    const struct fault_record record = {
        .header = {ETWAS_HEADER_OF(PAGE_FAULT, type, record), .thread_id = origin->thread_id,
                   .process_id = origin->process_id},
        .VirtualAddress = address,
        .ProgramCounter = instruction,
    };

    etwas_emit(event->host->emitter, event->slot, &record, origin->time_ns);
}

static bool page_fault_handle(const struct etwas_source_event *event)
{
    int64_t values[FIELDS];

    if (!etwas_source_event_numbers(event, values, FIELDS)) {
        return false;
    }
    page_fault_emit(event, page_fault_type_of(values[ERROR_CODE]), (uint64_t)values[ADDRESS],
                    (uint64_t)values[INSTRUCTION]);
    return true;
}

/* The event has no filter that leaves out the logger's own faults. */
static bool page_fault_handle_counted(const struct etwas_source_event *event)
{
    uint64_t address = event->sample->data_address;
    uint64_t instruction = event->sample->address;

    if (event->sample->origin.thread_id != etwas_thread_ids().thread_id) {
        page_fault_emit(event,
                        address == instruction ? ETWAS_PAGE_FAULT_TRANSITION
                                               : ETWAS_PAGE_FAULT_DEMAND_ZERO,
                        address, instruction);
    }
    return true;
}

#define KINDS                                                                                      \
    ETWAS_KERNEL_HOOK(PAGE_FAULT, ETWAS_PAGE_FAULT_TRANSITION),                                    \
        ETWAS_KERNEL_HOOK(PAGE_FAULT, ETWAS_PAGE_FAULT_DEMAND_ZERO),                               \
        ETWAS_KERNEL_HOOK(PAGE_FAULT, ETWAS_PAGE_FAULT_COPY_ON_WRITE),                             \
        ETWAS_KERNEL_HOOK(PAGE_FAULT, ETWAS_PAGE_FAULT_ACCESS_VIOLATION)

static const struct etwas_event_source sources[] = {
    {.tracepoint = "exceptions/page_fault_user",
     .fields = names,
     .hooks = {KINDS},
     .is_optional = true,
     .without_own = true,
     .handle = page_fault_handle},
    {.tracepoint = "exceptions/page_fault_kernel",
     .fields = names,
     .hooks = {KINDS},
     .is_optional = true,
     .without_own = true,
     .handle = page_fault_handle},
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_PAGE_FAULTS,
     .period = 1,
     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR,
     .scope = ETWAS_OF_BOTH,
     .hooks = {KINDS},
     .is_substitute = true,
     .handle = page_fault_handle_counted},
};

const struct etwas_event_group etwas_event_group_page_faults = {
    .flags = EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
