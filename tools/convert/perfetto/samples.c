/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's CPU samples. A sample's stack follows as separate events of the same time and
 * processor: the kernel's part, the program's, or both. A sample is stored in the spool when the
 * next one of its processor arrives.
 */

#include "convert/perfetto/perfetto.h"
#include "kernel/kernel.h"

#include <stdlib.h>

enum {
    PROCESSORS = ETWAS_PERFETTO_PROCESSORS,
    PACKET_SAMPLE = 66,
    SAMPLE_PROCESSOR = 1,
    SAMPLE_PROCESS = 2,
    SAMPLE_THREAD = 3,
    SAMPLE_STACK = 4,
    SAMPLE_MODE = 5,
    MODE_KERNEL = 1,
    MODE_USER = 2,
};

struct etwas_perfetto_pending {
    struct etwas_perfetto_record record;
    bool is_open;
    bool has_stack; /* else `frames` has only the sampled address */
    int64_t raw_time;
    uint64_t frames[ETWAS_PERFETTO_FRAMES];
};

static struct etwas_perfetto_pending *pending_of(struct etwas_perfetto *perfetto,
                                                 uint32_t processor)
{
    struct etwas_perfetto_pending **pending;

    if (processor >= PROCESSORS) {
        return NULL;
    }
    if (perfetto->pending == NULL) {
        perfetto->pending = calloc(PROCESSORS, sizeof *perfetto->pending);
    }
    if (perfetto->pending == NULL) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    pending = &perfetto->pending[processor];
    if (*pending == NULL) {
        *pending = calloc(1, sizeof **pending);
        perfetto->convert->out_of_memory |= *pending == NULL;
    }
    return *pending;
}

static void put_pending(struct etwas_perfetto *perfetto, struct etwas_perfetto_pending *pending)
{
    if (pending != NULL && pending->is_open) {
        pending->is_open = false;
        memcpy(perfetto->stack, pending->frames,
               pending->record.stack_frames * sizeof pending->frames[0]);
        perfetto->files[pending->record.file - 1].events++;
        etwas_perfetto_put_event(perfetto, &pending->record, NULL);
    }
}

static void begin_sample(struct etwas_perfetto *perfetto, struct etwas_perfetto_pending *pending,
                         const struct etwas_perfetto_record *record, uint64_t address,
                         uint32_t thread)
{
    put_pending(perfetto, pending);
    pending->record = *record;
    pending->record.kind = ETWAS_PERFETTO_PUT_SAMPLE;
    pending->record.place = perfetto->convert->current.event.processor;
    pending->record.thread = thread;
    pending->record.stack_frames = 1;
    pending->record.stack_process = ETWAS_EVENT_UNKNOWN_ID;
    pending->frames[0] = address;
    pending->is_open = true;
    pending->has_stack = false;
    pending->raw_time = perfetto->convert->current.record->EventHeader.TimeStamp.QuadPart;
}

/*
 * Adds a part of the stack; the innermost part comes first. Returns false if it is not of this
 * sample.
 */
static bool add_stack(struct etwas_perfetto *perfetto, struct etwas_perfetto_pending *pending)
{
    const EVENT_RECORD *record = perfetto->convert->current.record;
    const struct etwas_event_stack stack = etwas_event_stack(record);
    struct etwas_kernel_event kernel;

    if (!pending->is_open || stack.count == 0 || !etwas_kernel_read(record, &kernel) ||
        kernel.kind != ETWAS_KERNEL_STACK || kernel.initial_time != pending->raw_time ||
        kernel.thread != pending->record.thread) {
        return false;
    }
    if (!pending->has_stack) {
        pending->record.stack_frames = 0;
        pending->has_stack = true;
    }
    pending->record.stack_process = stack.process;
    for (uint32_t i = 0; i < stack.count && pending->record.stack_frames < ETWAS_PERFETTO_FRAMES;
         i++) {
        pending->frames[pending->record.stack_frames++] = etwas_event_frame(&stack, i);
    }
    return true;
}

bool etwas_perfetto_take_sample(struct etwas_perfetto *perfetto,
                                const struct etwas_perfetto_record *record)
{
    const EVENT_RECORD *event = perfetto->convert->current.record;
    struct etwas_perfetto_pending *pending;
    uint64_t address;
    uint32_t thread;

    if (!perfetto->files[record->file - 1].is_kernel) {
        return false;
    }
    if (etwas_kernel_sample(event, &address, &thread)) {
        pending = pending_of(perfetto, perfetto->convert->current.event.processor);
        if (pending != NULL && perfetto->convert->is_wanted) {
            begin_sample(perfetto, pending, record, address, thread);
        }
        return pending != NULL;
    }
    pending = etwas_event_is_stack_walk(event)
                  ? pending_of(perfetto, perfetto->convert->current.event.processor)
                  : NULL;
    return pending != NULL && add_stack(perfetto, pending);
}

void etwas_perfetto_end_samples(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; perfetto->pending != NULL && i < PROCESSORS; i++) {
        put_pending(perfetto, perfetto->pending[i]);
        free(perfetto->pending[i]);
    }
    free(perfetto->pending);
    perfetto->pending = NULL;
}

void etwas_perfetto_write_sample(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_record sample = *record;
    const struct etwas_perfetto_part nothing = {NULL, 0};
    struct etwas_perfetto_part parts[2] = {nothing, nothing};
    struct etwas_wire *event = &perfetto->event;
    uint32_t process = record->stack_process;
    uint64_t innermost;
    uint32_t stack;

    if (process == ETWAS_EVENT_UNKNOWN_ID) {
        (void)etwas_addresses_process(&perfetto->addresses, record->thread, &process);
    }
    memcpy(&innermost, perfetto->frames, sizeof innermost);
    sample.stack_process = process;
    stack = etwas_perfetto_stack(perfetto, &sample);
    etwas_wire_number(event, SAMPLE_PROCESSOR, record->place);
    etwas_wire_number(event, SAMPLE_PROCESS, process != ETWAS_EVENT_UNKNOWN_ID ? process : 0);
    etwas_wire_number(event, SAMPLE_THREAD, record->thread);
    etwas_wire_number(event, SAMPLE_STACK, stack);
    etwas_wire_number(event, SAMPLE_MODE,
                      etwas_address_is_kernel(innermost) ? MODE_KERNEL : MODE_USER);
    parts[0] = (struct etwas_perfetto_part){event->bytes, event->used};
    etwas_perfetto_write_timed(perfetto, PACKET_SAMPLE, record->time_ns, &nothing, parts);
    etwas_wire_clear(event);
}
