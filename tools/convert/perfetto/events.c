/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Converts an event to the begin or the end of a slice, or to an instant on its thread's track. */

#include "convert/perfetto/perfetto.h"

#include "kernel/kernel.h"

#include <etwas/evntrace.h>

static void put_name(struct etwas_perfetto *perfetto, const struct etwas_perfetto_schema *schema,
                     struct etwas_perfetto_name *name)
{
    if (schema->category != NULL) {
        etwas_wire_number(&perfetto->event, EVENT_CATEGORY,
                          etwas_perfetto_iid(perfetto, schema->category));
    }
    etwas_wire_number(&perfetto->event, EVENT_NAME, etwas_perfetto_iid(perfetto, name));
}

static void take_start(struct etwas_perfetto *perfetto, const struct etwas_perfetto_schema *schema,
                       struct etwas_perfetto_record *record)
{
    const etwas_span *span = perfetto->convert->span;
    const struct etwas_perfetto_begin begin = {.number = span->number,
                                               .parent = span->parent,
                                               .parent_place = span->parent_place,
                                               .span_class = schema->span_class};

    record->kind = ETWAS_PERFETTO_PUT_BEGIN;
    record->place = span->place;
    etwas_perfetto_plan_start(perfetto, record->track);
    put_name(perfetto, schema, schema->span);
    etwas_perfetto_annotate(perfetto, schema, record->track);
    record->parent_bytes = (uint16_t)etwas_perfetto_annotate_parent(perfetto, record->track);
    etwas_perfetto_put_event(perfetto, record, &begin);
}

static void take_end(struct etwas_perfetto *perfetto, const struct etwas_perfetto_schema *schema,
                     struct etwas_perfetto_record *record)
{
    record->kind = ETWAS_PERFETTO_PUT_END;
    record->place = perfetto->convert->span->place;
    etwas_perfetto_plan_end(perfetto, record->track);
    etwas_perfetto_annotate(perfetto, schema, record->track);
    etwas_perfetto_put_event(perfetto, record, NULL);
}

/* Returns whether the event is an END without a START, or with one too long ago. */
static bool is_lost_end(const struct etwas_convert *convert)
{
    const struct etwas_current_event *current = &convert->current;

    return convert->span_role == ETWAS_SPAN_NONE && !current->event.message &&
           current->record->EventHeader.EventDescriptor.Opcode == EVENT_TRACE_TYPE_END &&
           (current->event.classic
                ? current->event.has_instance
                : etwas_current_event_guid(current, ETWAS_PROPERTY_ACTIVITY) != NULL);
}

static void take_instant(struct etwas_perfetto *perfetto,
                         const struct etwas_perfetto_schema *schema,
                         struct etwas_perfetto_record *record)
{
    record->kind = ETWAS_PERFETTO_PUT_INSTANT;
    put_name(perfetto, schema, schema->event);
    etwas_perfetto_put_counters(perfetto, schema, record->track);
    etwas_perfetto_annotate(perfetto, schema, record->track);
    (void)etwas_perfetto_annotate_parent(perfetto, record->track);
    if (is_lost_end(perfetto->convert)) {
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_START, "lost");
    }
    etwas_perfetto_put_event(perfetto, record, NULL);
}

/*
 * Adds images, threads and processes with times of the primary clock, whatever clock their file
 * has.
 */
static void take_address(struct etwas_perfetto *perfetto, int64_t time_ns)
{
    EVENT_RECORD record = *perfetto->convert->current.record;
    uint32_t process;

    record.EventHeader.TimeStamp.QuadPart = time_ns;
    etwas_addresses_add_record(&perfetto->addresses, &record);
    if (etwas_kernel_is_process(&record)) {
        (void)etwas_processes_add_record(&perfetto->processes, &record, time_ns, &process);
    }
}

/* Stores the call stack with the record. It is resolved when all images are known. */
static void take_stack(struct etwas_perfetto *perfetto, struct etwas_perfetto_record *record)
{
    const struct etwas_event_stack stack = etwas_event_stack(perfetto->convert->current.record);

    record->stack_frames =
        (uint16_t)(stack.count < ETWAS_PERFETTO_FRAMES ? stack.count : ETWAS_PERFETTO_FRAMES);
    record->stack_process = stack.process;
    for (uint32_t i = 0; i < record->stack_frames; i++) {
        perfetto->stack[i] = etwas_event_frame(&stack, i);
    }
}

void etwas_perfetto_take_event(struct etwas_perfetto *perfetto, int64_t time_ns)
{
    const struct etwas_convert *convert = perfetto->convert;
    const struct etwas_event *event = &convert->current.event;
    struct etwas_perfetto_record record = {.time_ns = time_ns,
                                           .thread = event->thread,
                                           .file = (uint16_t)convert->current.input->number};
    const struct etwas_perfetto_schema *schema;

    etwas_perfetto_put_state(perfetto, time_ns);
    if (event->classic && !event->has_instance) {
        take_address(perfetto, time_ns);
        if (etwas_perfetto_take_schedule(perfetto, &record) ||
            etwas_perfetto_take_sample(perfetto, &record)) {
            return;
        }
    }
    if (event->classic && etwas_perfetto_take_heap(perfetto, &record)) {
        return;
    }
    if (!convert->is_wanted && convert->span_role != ETWAS_SPAN_START &&
        convert->span_role != ETWAS_SPAN_END) {
        return;
    }
    if (convert->current.record->ExtendedDataCount > 0) {
        take_stack(perfetto, &record);
    }
    schema = etwas_perfetto_schema(perfetto);
    record.track = etwas_perfetto_track(perfetto, event->process, event->thread);
    if (schema == NULL || record.track == UINT32_MAX) {
        return;
    }
    perfetto->files[record.file - 1].events++;
    perfetto->tracks[record.track].events++;
    if (convert->span_role == ETWAS_SPAN_START) {
        take_start(perfetto, schema, &record);
    } else if (convert->span_role == ETWAS_SPAN_END) {
        take_end(perfetto, schema, &record);
    } else {
        take_instant(perfetto, schema, &record);
    }
}
