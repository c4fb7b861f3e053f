/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * EVENT_TRACE_FLAG_INTERRUPT: interrupts as PerfInfo's ISR, when they end.
 *
 *     of a device       Vector is its number in /proc/interrupts; Reserved 0
 *     of a processor    Vector is the processor's own vector: its timer, or a call from another
 *                       processor; Reserved 1
 *
 * If the beginning is not known, InitialTime is the record's own time. Routine is 0: the kernel
 * reports its name, and no address.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>

#include "system/groups/event_groups.h"
#include "system/groups/nests.h"
#include "system/keywords.h"
#include "system/stream/kernel_record.h"

enum {
    HANDLED = 1,
};

enum kind {
    OF_DEVICE,
    OF_PROCESSOR,
};

ETWAS_KERNEL_RECORD(isr_record, etwas_etl_perfinfo_header, ISR);

static void interrupt_emit(const struct etwas_source_event *event, enum kind kind, int64_t number,
                           int64_t result)
{
    const struct etwas_nested nested = etwas_nests_end(event, kind, (uint64_t)number, 0);
    const struct isr_record record = {
        .header = {ETWAS_HEADER_OF(ISR, ETWAS_ISR, record)},
        .InitialTime = etwas_emit_stamp(event->host->emitter, nested.since_ns),
        .ReturnValue = (uint8_t)result,
        .Vector = (uint16_t)number,
        .Reserved = (uint8_t)kind,
    };

    etwas_emit(event->host->emitter, event->slot, &record, event->sample->origin.time_ns);
}

static bool interrupt_handle_device_entry(const struct etwas_source_event *event)
{
    int64_t number;

    if (!etwas_source_event_numbers(event, &number, 1)) {
        return false;
    }
    etwas_nests_begin(event, OF_DEVICE, (uint64_t)number, 0);
    return true;
}

static bool interrupt_handle_device_exit(const struct etwas_source_event *event)
{
    int64_t values[2];

    if (!etwas_source_event_numbers(event, values, 2)) {
        return false;
    }
    interrupt_emit(event, OF_DEVICE, values[0], values[1]);
    return true;
}

static bool interrupt_handle_vector_entry(const struct etwas_source_event *event)
{
    int64_t vector;

    if (!etwas_source_event_numbers(event, &vector, 1)) {
        return false;
    }
    etwas_nests_begin(event, OF_PROCESSOR, (uint64_t)vector, 0);
    return true;
}

static bool interrupt_handle_vector_exit(const struct etwas_source_event *event)
{
    int64_t vector;

    if (!etwas_source_event_numbers(event, &vector, 1)) {
        return false;
    }
    interrupt_emit(event, OF_PROCESSOR, vector, HANDLED);
    return true;
}

static const char *const entry_names[] = {"irq", NULL};
static const char *const exit_names[] = {"irq", "ret", NULL};
static const char *const vector_names[] = {"vector", NULL};

#define VECTOR(name, handle_function, want)                                                        \
    {                                                                                              \
        .tracepoint = "irq_vectors/" name, .fields = vector_names, .is_optional = true,            \
        .flags = EVENT_TRACE_FLAG_INTERRUPT | (want), .handle = handle_function                    \
    }

static const struct etwas_event_source sources[] = {
    {.tracepoint = "irq/irq_handler_entry",
     .fields = entry_names,
     .flags = EVENT_TRACE_FLAG_INTERRUPT,
     .handle = interrupt_handle_device_entry},
    {.tracepoint = "irq/irq_handler_exit",
     .fields = exit_names,
     .flags = EVENT_TRACE_FLAG_INTERRUPT,
     .handle = interrupt_handle_device_exit},
    VECTOR("local_timer_entry", interrupt_handle_vector_entry, ETWAS_REQUESTED_CLOCK_INTERRUPT),
    VECTOR("local_timer_exit", interrupt_handle_vector_exit, ETWAS_REQUESTED_CLOCK_INTERRUPT),
    VECTOR("reschedule_entry", interrupt_handle_vector_entry, ETWAS_REQUESTED_PROCESSOR_CALL),
    VECTOR("reschedule_exit", interrupt_handle_vector_exit, ETWAS_REQUESTED_PROCESSOR_CALL),
    VECTOR("call_function_single_entry", interrupt_handle_vector_entry,
           ETWAS_REQUESTED_PROCESSOR_CALL),
    VECTOR("call_function_single_exit", interrupt_handle_vector_exit,
           ETWAS_REQUESTED_PROCESSOR_CALL),
};

const struct etwas_event_group etwas_event_group_interrupts = {
    .flags = EVENT_TRACE_FLAG_INTERRUPT | ETWAS_REQUESTED_CLOCK_INTERRUPT |
             ETWAS_REQUESTED_PROCESSOR_CALL,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = etwas_nests_open,
    .close = free,
    .handle_loss = etwas_nests_take_loss,
};
