/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes spans as slices, on the track of their thread or on a lane, as planned. An arrow connects
 * a parent and a child that are not on one thread's track.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"

#include <stdlib.h>

/* An open span; entries are indexed by etwas_span.place. */
struct etwas_perfetto_open {
    uint64_t number; /* 0: none */
    uint64_t track;  /* uuid; 0: not written */
    uint32_t lane;   /* from 1; 0: on its thread's track */
    uint32_t top;    /* index of that track */
    uint32_t below;  /* place + 1 of the span around it there */
    uint32_t flows;  /* arrows used by children */
    uint32_t file;   /* number */
    uint32_t thread;
    int64_t begin_ns;
};

static const struct etwas_perfetto_part nothing;

static struct etwas_perfetto_open *open_at(struct etwas_perfetto *perfetto, uint32_t place)
{
    if (!etwas_array_reach(&perfetto->open, &perfetto->open_capacity, place,
                           sizeof *perfetto->open)) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    return &perfetto->open[place];
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void leave(struct etwas_perfetto *perfetto, struct etwas_perfetto_open *open,
                  int64_t time_ns)
{
    if (open->lane != 0) {
        etwas_perfetto_leave_lane(perfetto, open->lane, time_ns);
    } else {
        perfetto->tracks[open->top].top = open->below;
    }
    open->number = 0;
}

static void write_end(struct etwas_perfetto *perfetto, struct etwas_perfetto_open *open,
                      int64_t time_ns, const struct etwas_perfetto_part *names,
                      const struct etwas_perfetto_part *body)
{
    struct etwas_perfetto_part parts[2] = {nothing, *body};
    int64_t end_ns = time_ns > open->begin_ns ? time_ns : open->begin_ns;

    parts[0].bytes = perfetto->event.bytes;
    parts[0].count = perfetto->event.used;
    etwas_perfetto_write_event(perfetto, end_ns, names, parts);
    etwas_wire_clear(&perfetto->event);
    leave(perfetto, open, end_ns);
}

static void begin_end(struct etwas_perfetto *perfetto, const struct etwas_perfetto_open *open)
{
    etwas_wire_number(&perfetto->event, EVENT_TYPE, EVENT_ENDS);
    etwas_perfetto_put_track(perfetto, open->track);
}

/* Ends a span that has no END. */
static void end_lost(struct etwas_perfetto *perfetto, struct etwas_perfetto_open *open,
                     int64_t time_ns)
{
    if (open->number != 0 && open->track != 0) {
        begin_end(perfetto, open);
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_END, "lost");
        write_end(perfetto, open, time_ns, &nothing, &nothing);
    }
    open->number = 0;
}

void etwas_perfetto_end_open(struct etwas_perfetto *perfetto, uint32_t file, int64_t time_ns)
{
    for (uint32_t place = 0; place < perfetto->open_capacity; place++) {
        struct etwas_perfetto_open *open = &perfetto->open[place];

        if (open->number != 0 && (file == 0 || open->file == file)) {
            end_lost(perfetto, open, time_ns);
        }
    }
}

void etwas_perfetto_write_end(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_open *open = open_at(perfetto, record->place);
    struct etwas_perfetto_part names = {perfetto->behind, record->names_bytes};
    struct etwas_perfetto_part body = {perfetto->behind + record->names_bytes,
                                       record->bytes - record->names_bytes};

    if (open == NULL || open->number == 0 || open->track == 0) {
        return;
    }
    begin_end(perfetto, open);
    if (record->thread != open->thread && record->thread != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_END_THREAD, record->thread);
    }
    write_end(perfetto, open, record->time_ns, &names, &body);
}

/* ---- begins ---------------------------------------------------------------------------------- */

static uint64_t flow_of(uint64_t parent, uint32_t child)
{
    return (parent << 8) + child + 1;
}

/* Returns the open parent; NULL if it is not open, or not written. */
static struct etwas_perfetto_open *parent_of(const struct etwas_perfetto *perfetto,
                                             const struct etwas_perfetto_begin *begin)
{
    struct etwas_perfetto_open *parent =
        begin->parent_place < perfetto->open_capacity ? &perfetto->open[begin->parent_place] : NULL;

    return begin->parent != 0 && parent != NULL && parent->number == begin->parent &&
                   parent->track != 0
               ? parent
               : NULL;
}

static void put_flows(struct etwas_perfetto *perfetto, const struct etwas_perfetto_begin *begin,
                      const struct etwas_perfetto_open *open, uint32_t flows)
{
    struct etwas_perfetto_open *parent = parent_of(perfetto, begin);

    for (uint32_t i = 0; i < flows; i++) {
        etwas_wire_fixed64(&perfetto->event, EVENT_FLOW, flow_of(begin->number, i));
    }
    if (parent != NULL && (parent->lane != 0 || parent->track != open->track) &&
        parent->flows < etwas_perfetto_fate_of(perfetto, begin->parent).flows) {
        etwas_wire_fixed64(&perfetto->event, EVENT_FLOW_END,
                           flow_of(begin->parent, parent->flows++));
    }
}

/* Returns whether the slice around it is its parent, which needs no annotation then. */
static bool is_in_parent(const struct etwas_perfetto *perfetto,
                         const struct etwas_perfetto_open *open,
                         const struct etwas_perfetto_begin *begin)
{
    return begin->parent != 0 && open->lane == 0 && open->below == begin->parent_place + 1 &&
           perfetto->open[begin->parent_place].number == begin->parent;
}

static bool find_track(struct etwas_perfetto *perfetto, struct etwas_perfetto_open *open,
                       const struct etwas_perfetto_record *record,
                       const struct etwas_perfetto_begin *begin, bool is_on_thread)
{
    struct etwas_perfetto_track *track = &perfetto->tracks[record->track];

    if (is_on_thread) {
        open->track = track->uuid;
        open->top = record->track;
        open->below = track->top;
        track->top = record->place + 1;
        return true;
    }
    open->lane = etwas_perfetto_take_lane(perfetto, perfetto->tracks[track->process_track].uuid,
                                          begin->span_class, record->time_ns);
    open->track = open->lane != 0 ? etwas_perfetto_lane_uuid(perfetto, open->lane) : 0;
    return open->lane != 0;
}

void etwas_perfetto_write_begin(struct etwas_perfetto *perfetto,
                                const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_open *open = open_at(perfetto, record->place);
    struct etwas_perfetto_begin begin;
    struct etwas_perfetto_part names = {perfetto->behind + sizeof begin, record->names_bytes};
    struct etwas_perfetto_part parts[2] = {
        nothing, {names.bytes + names.count, record->bytes - sizeof begin - record->names_bytes}};
    struct etwas_perfetto_fate fate;
    uint32_t stack;

    memcpy(&begin, perfetto->behind, sizeof begin);
    fate = etwas_perfetto_fate_of(perfetto, begin.number);
    if (open == NULL) {
        return;
    }
    end_lost(perfetto, open, record->time_ns); /* an earlier span without END has the same place */
    *open = (struct etwas_perfetto_open){.number = begin.number,
                                         .file = record->file,
                                         .thread = record->thread,
                                         .begin_ns = record->time_ns};
    if (!fate.is_wanted || !find_track(perfetto, open, record, &begin, fate.is_on_thread)) {
        return;
    }
    stack = etwas_perfetto_stack(perfetto, record);
    etwas_wire_number(&perfetto->event, EVENT_TYPE, EVENT_BEGINS);
    etwas_perfetto_put_track(perfetto, open->track);
    put_flows(perfetto, &begin, open, fate.flows);
    etwas_perfetto_put_stack(&perfetto->event, stack);
    if (!fate.is_on_thread && record->thread != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_THREAD, record->thread);
    }
    parts[0] = (struct etwas_perfetto_part){perfetto->event.bytes, perfetto->event.used};
    parts[1].count -= is_in_parent(perfetto, open, &begin) ? record->parent_bytes : 0;
    etwas_perfetto_write_event(perfetto, record->time_ns, &names, parts);
    etwas_wire_clear(&perfetto->event);
}
