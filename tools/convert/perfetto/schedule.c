/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Context switches and wake-ups, bundled by processor. Switches of our own system logger are
 * written in Linux's ftrace form, those of Windows in ETW's form. Each form has its own names of
 * states.
 *
 * Processor numbers of several machines would collide, so only the switches of one file are written
 * in this form.
 */

#include "convert/perfetto/schedule.h"
#include "convert/perfetto/perfetto.h"
#include "kernel/kernel.h"

#include <stdlib.h>

enum {
    PROCESSORS = ETWAS_PERFETTO_PROCESSORS,
    BUNDLE_BYTES = 32 * 1024,
    ROOM_BYTES = 1024, /* limit of one event */
    PACKET_FTRACE = 1,
    PACKET_ETW = 95,
    BUNDLE_PROCESSOR = 1,
    FTRACE_LOST = 3,
    FTRACE_CLOCK = 5,
    FTRACE_MONOTONIC_RAW = 4,
};

struct etwas_perfetto_schedule {
    struct etwas_perfetto_bundle bundles[PROCESSORS];
    bool is_linux;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns whether this file's switches are written. The first file with switches is chosen. */
static bool is_chosen(struct etwas_perfetto *perfetto, uint32_t file)
{
    if (perfetto->schedule_file == 0) {
        perfetto->schedule_file = file;
    }
    return perfetto->schedule_file == file;
}

bool etwas_perfetto_take_schedule(struct etwas_perfetto *perfetto,
                                  struct etwas_perfetto_record *record)
{
    const EVENT_RECORD *event = perfetto->convert->current.record;
    struct etwas_kernel_event kernel;

    if (!perfetto->files[record->file - 1].is_kernel || !etwas_kernel_read(event, &kernel) ||
        kernel.processor >= PROCESSORS) {
        return false;
    }
    if (kernel.kind == ETWAS_KERNEL_THREAD_START || kernel.kind == ETWAS_KERNEL_THREAD_HERE) {
        (void)etwas_perfetto_track(perfetto, kernel.process, kernel.thread);
        return false;
    }
    if ((kernel.kind != ETWAS_KERNEL_SWITCH && kernel.kind != ETWAS_KERNEL_READY &&
         kernel.kind != ETWAS_KERNEL_LOSS) ||
        kernel.old_is_unknown || !is_chosen(perfetto, record->file)) {
        return false;
    }
    if (kernel.kind != ETWAS_KERNEL_LOSS && !perfetto->convert->is_wanted) {
        return true;
    }
    record->kind = kernel.kind == ETWAS_KERNEL_SWITCH  ? ETWAS_PERFETTO_PUT_SWITCH
                   : kernel.kind == ETWAS_KERNEL_READY ? ETWAS_PERFETTO_PUT_READY
                                                       : ETWAS_PERFETTO_PUT_HOLE;
    if (kernel.kind == ETWAS_KERNEL_LOSS) {
        etwas_perfetto_take_kernel_loss(perfetto, kernel.processor, record->time_ns);
    }
    record->place = kernel.processor;
    record->thread = kernel.logger;
    if (kernel.kind == ETWAS_KERNEL_SWITCH) {
        etwas_wire_raw(&perfetto->event, event->UserData, SWITCH_VERSION_AT);
        etwas_wire_raw(&perfetto->event, &event->EventHeader.EventDescriptor.Version, 1);
    } else {
        etwas_wire_raw(&perfetto->event, event->UserData, event->UserDataLength);
    }
    perfetto->files[record->file - 1].events++;
    etwas_perfetto_put_event(perfetto, record, NULL);
    return kernel.kind != ETWAS_KERNEL_LOSS; /* a loss is written as an event, too */
}

/* ---- writing --------------------------------------------------------------------------------- */

static void end_bundle(struct etwas_perfetto *perfetto, uint32_t processor)
{
    struct etwas_perfetto_bundle *bundle = &perfetto->schedule->bundles[processor];
    bool is_linux = perfetto->schedule->is_linux;
    struct etwas_wire *packet = &perfetto->packet;
    size_t began;

    if (bundle->events.used == 0) {
        return;
    }
    began = etwas_wire_begin(packet, is_linux ? PACKET_FTRACE : PACKET_ETW);
    etwas_wire_number(packet, BUNDLE_PROCESSOR, processor);
    etwas_wire_raw(packet, bundle->events.bytes, bundle->events.used);
    if (is_linux) {
        if (bundle->has_hole) {
            etwas_wire_number(packet, FTRACE_LOST, 1);
        }
        etwas_wire_number(packet, FTRACE_CLOCK, FTRACE_MONOTONIC_RAW);
    }
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
    etwas_perfetto_write_packet(perfetto);
    etwas_wire_clear(&bundle->events);
    bundle->has_hole = false;
}

static struct etwas_perfetto_bundle *bundle_of(struct etwas_perfetto *perfetto,
                                               const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_bundle *bundle;

    if (perfetto->schedule == NULL) {
        perfetto->schedule = calloc(1, sizeof *perfetto->schedule);
    }
    if (perfetto->schedule == NULL) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    perfetto->schedule->is_linux = perfetto->files[record->file - 1].is_linux;
    bundle = &perfetto->schedule->bundles[record->place];
    if (bundle->events.bytes == NULL && !etwas_wire_open(&bundle->events, BUNDLE_BYTES)) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    return bundle;
}

/* Ends the bundle, and marks that events are missing before the next one. */
static void note_hole(struct etwas_perfetto *perfetto, struct etwas_perfetto_bundle *bundle,
                      uint32_t processor)
{
    end_bundle(perfetto, processor);
    bundle->has_hole = true;
}

void etwas_perfetto_write_schedule(struct etwas_perfetto *perfetto,
                                   const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_bundle *bundle = bundle_of(perfetto, record);
    struct etwas_perfetto_happening happening = {
        .time_ns = record->time_ns, .processor = record->place, .thread = record->thread};
    bool is_switch = record->kind == ETWAS_PERFETTO_PUT_SWITCH;

    if (bundle == NULL) {
        return;
    }
    if (record->kind == ETWAS_PERFETTO_PUT_HOLE) {
        note_hole(perfetto, bundle, record->place);
        return;
    }
    happening.payload = perfetto->behind;
    if (is_switch) {
        uint32_t old = etwas_perfetto_payload_u32(&happening, SWITCH_OLD_AT);

        if (bundle->has_switch && bundle->running != old) {
            note_hole(perfetto, bundle, record->place);
        }
        bundle->has_switch = true;
        bundle->running = etwas_perfetto_payload_u32(&happening, SWITCH_NEW_AT);
        happening.thread = old;
    } else if (happening.thread == ETWAS_EVENT_UNKNOWN_ID) {
        happening.thread = bundle->running;
    }
    if (perfetto->schedule->is_linux) {
        etwas_perfetto_put_ftrace(perfetto, &bundle->events, &happening, is_switch);
    } else {
        etwas_perfetto_put_etw(&bundle->events, &happening, is_switch);
    }
    if (bundle->events.used > BUNDLE_BYTES - ROOM_BYTES) {
        end_bundle(perfetto, record->place);
    }
}

void etwas_perfetto_end_schedule(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; perfetto->schedule != NULL && i < PROCESSORS; i++) {
        end_bundle(perfetto, i);
    }
}

void etwas_perfetto_schedule_close(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; perfetto->schedule != NULL && i < PROCESSORS; i++) {
        free(perfetto->schedule->bundles[i].events.bytes);
    }
    free(perfetto->schedule);
}
