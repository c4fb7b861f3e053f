/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The target `perfetto`: reads the events into the spool, then writes the trace from it. */

#include "convert/perfetto/perfetto.h"

#include "exit.h"

#include <stdlib.h>

static void on_event(struct etwas_convert *convert)
{
    struct etwas_perfetto *perfetto = convert->state;
    int64_t time_ns = etwas_perfetto_time(perfetto);

    etwas_perfetto_take_losses(perfetto, time_ns);
    etwas_perfetto_take_event(perfetto, time_ns);
}

static bool open_all(struct etwas_perfetto *perfetto)
{
    etwas_perfetto_names_open(&perfetto->names);
    etwas_perfetto_names_open(&perfetto->class_names);
    return etwas_wire_open(&perfetto->event, ETWAS_WIRE_BYTES) &&
           etwas_wire_open(&perfetto->interned, ETWAS_WIRE_BYTES) &&
           etwas_wire_open(&perfetto->packet, ETWAS_WIRE_BYTES) &&
           etwas_addresses_open(&perfetto->addresses) && etwas_perfetto_plan_open(perfetto) &&
           etwas_processes_open(&perfetto->processes);
}

static void close_all(struct etwas_perfetto *perfetto)
{
    etwas_perfetto_spool_close(perfetto);
    etwas_perfetto_plan_close(perfetto);
    etwas_perfetto_lanes_close(perfetto);
    etwas_perfetto_tracks_close(perfetto);
    etwas_perfetto_schemas_close(perfetto);
    etwas_perfetto_names_close(&perfetto->names);
    etwas_perfetto_names_close(&perfetto->class_names);
    etwas_processes_close(&perfetto->processes);
    etwas_addresses_close(&perfetto->addresses);
    etwas_perfetto_schedule_close(perfetto);
    etwas_perfetto_stacks_close(perfetto);
    etwas_perfetto_heaps_close(perfetto);
    etwas_perfetto_counters_close(perfetto);
    free(perfetto->open);
    free(perfetto->event.bytes);
    free(perfetto->interned.bytes);
    free(perfetto->packet.bytes);
    free(perfetto);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes an event that is not part of a span. `with_track`: on the track of its thread. */
static void write_event(struct etwas_perfetto *perfetto, const struct etwas_perfetto_record *record,
                        bool with_track)
{
    const struct etwas_perfetto_part names = {perfetto->behind, record->names_bytes};
    struct etwas_perfetto_part parts[2] = {
        {NULL, 0}, {perfetto->behind + record->names_bytes, record->bytes - record->names_bytes}};

    if (with_track) {
        uint32_t stack = etwas_perfetto_stack(perfetto, record);

        etwas_wire_number(&perfetto->event, EVENT_TYPE, EVENT_INSTANT);
        etwas_perfetto_put_track(perfetto, perfetto->tracks[record->track].uuid);
        etwas_perfetto_put_stack(&perfetto->event, stack);
        parts[0] = (struct etwas_perfetto_part){perfetto->event.bytes, perfetto->event.used};
    }
    etwas_perfetto_write_event(perfetto, record->time_ns, &names, parts);
    etwas_wire_clear(&perfetto->event);
}

static void write_record(struct etwas_perfetto *perfetto,
                         const struct etwas_perfetto_record *record)
{
    switch (record->kind) {
    case ETWAS_PERFETTO_PUT_BEGIN:
        etwas_perfetto_write_begin(perfetto, record);
        break;
    case ETWAS_PERFETTO_PUT_END:
        etwas_perfetto_write_end(perfetto, record);
        break;
    case ETWAS_PERFETTO_PUT_STATE:
        etwas_perfetto_write_state(perfetto, record->time_ns, record->place != 0);
        break;
    case ETWAS_PERFETTO_PUT_PACKET:
        etwas_perfetto_write_bytes(perfetto, perfetto->behind, record->bytes);
        break;
    case ETWAS_PERFETTO_PUT_SWITCH:
    case ETWAS_PERFETTO_PUT_READY:
    case ETWAS_PERFETTO_PUT_HOLE:
        etwas_perfetto_write_schedule(perfetto, record);
        break;
    case ETWAS_PERFETTO_PUT_HEAP:
        etwas_perfetto_write_heap(perfetto, record);
        break;
    case ETWAS_PERFETTO_PUT_SAMPLE:
        etwas_perfetto_write_sample(perfetto, record);
        break;
    default:
        write_event(perfetto, record, record->kind == ETWAS_PERFETTO_PUT_INSTANT);
        break;
    }
}

/* Ends spans that are still open when the last event of their file is written. */
static void end_file(struct etwas_perfetto *perfetto, uint32_t number)
{
    struct etwas_perfetto_file *file = &perfetto->files[number - 1];

    if (++file->written == file->events) {
        etwas_perfetto_end_open(perfetto, number, file->last_ns);
    }
}

static int write_all(struct etwas_perfetto *perfetto)
{
    const struct etwas_perfetto_record *record;

    for (uint32_t i = 0; i < perfetto->track_count; i++) {
        perfetto->tracks[i].top = 0;
    }
    etwas_perfetto_write_tracks(perfetto);
    etwas_perfetto_choose_track(perfetto);
    etwas_perfetto_write_state(perfetto, perfetto->first_ns, false);
    while (perfetto->output->error == 0 && (record = etwas_perfetto_spool_next(perfetto)) != NULL) {
        uint32_t file = record->file;

        write_record(perfetto, record);
        if (file != 0) {
            end_file(perfetto, file);
        }
    }
    etwas_perfetto_end_open(perfetto, 0, perfetto->latest_ns);
    etwas_perfetto_end_schedule(perfetto);
    return etwas_perfetto_spool_has_failed(perfetto) ? ETWAS_EXIT_OUTPUT : ETWAS_EXIT_DONE;
}

static int convert_all(struct etwas_perfetto *perfetto)
{
    static const struct etwas_convert_reader reader = {
        .wants_spans = true, .wants_all = true, .event = on_event, .gap = etwas_perfetto_gap};
    int result = etwas_convert_read(perfetto->convert, &reader);
    int written;

    if (perfetto->convert->run.count == 0 || perfetto->convert->out_of_memory) {
        return result;
    }
    etwas_perfetto_begin(perfetto);
    etwas_perfetto_end_samples(perfetto);
    etwas_perfetto_end_heaps(perfetto);
    etwas_perfetto_take_totals(perfetto);
    etwas_perfetto_plan_finish(perfetto);
    if (!etwas_perfetto_spool_rewind(perfetto)) {
        return ETWAS_EXIT_OUTPUT;
    }
    written = write_all(perfetto);
    return written != ETWAS_EXIT_DONE ? written : result;
}

static int run(struct etwas_convert *convert)
{
    struct etwas_perfetto *perfetto = calloc(1, sizeof *perfetto);
    int result = ETWAS_EXIT_FAILED;

    if (perfetto == NULL) {
        convert->out_of_memory = true;
        return result;
    }
    perfetto->convert = convert;
    perfetto->output = convert->output;
    convert->state = perfetto;
    if (!open_all(perfetto)) {
        convert->out_of_memory = true;
    } else if (!etwas_perfetto_spool_open(perfetto)) {
        result = ETWAS_EXIT_OUTPUT;
    } else {
        result = convert_all(perfetto);
    }
    convert->state = NULL;
    close_all(perfetto);
    return result;
}

const struct etwas_convert_target etwas_convert_perfetto = {
    .name = "perfetto", .is_binary = true, .run = run};
