/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes damage and losses. Damage is a slice on a track of the file, from the last event before it
 * to the first one after it. Losses while recording are on tracks of processors if the file has
 * their times; otherwise they span the whole file. These packets are independent of others, since
 * they may be earlier than the events.
 */

#include "convert/perfetto/perfetto.h"

#include "print/human.h"

#include <etwas/winerror.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    PACKET_STATS = 35,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
    STATS_BUFFER = 1,
    BUFFER_BYTES_WRITTEN = 1,
    BUFFER_CHUNKS_OVERWRITTEN = 3,
    BUFFER_SIZE = 12,
    BUFFER_CHUNKS_DISCARDED = 18,
    BUFFER_PACKET_LOSS = 19,
};

/* ---- one interval ---------------------------------------------------------------------------- */

struct loss {
    const char *name;
    const char *cause;
    uint64_t count;
    uint64_t bytes;
    const char *path;
};

static void annotate_number(struct etwas_wire *packet, const char *name, uint64_t number)
{
    size_t began = etwas_wire_begin(packet, EVENT_ANNOTATION);

    etwas_wire_text(packet, ANNOTATION_NAME, name);
    etwas_wire_number(packet, ANNOTATION_UNSIGNED, number <= INT64_MAX ? number : INT64_MAX);
    etwas_wire_end(packet, began);
}

static void annotate_text(struct etwas_wire *packet, const char *name, const char *text)
{
    size_t began = etwas_wire_begin(packet, EVENT_ANNOTATION);

    etwas_wire_text(packet, ANNOTATION_NAME, name);
    etwas_perfetto_put_utf8(packet, ANNOTATION_TEXT, text, strlen(text));
    etwas_wire_end(packet, began);
}

static void put_edge(struct etwas_perfetto *perfetto, uint32_t type, uint64_t track,
                     int64_t time_ns, const struct loss *loss)
{
    struct etwas_wire *packet = &perfetto->packet;
    size_t began;

    etwas_wire_number(packet, PACKET_CLOCK, perfetto->primary);
    etwas_wire_number(packet, PACKET_TIMESTAMP, (uint64_t)time_ns);
    began = etwas_wire_begin(packet, PACKET_TRACK_EVENT);
    etwas_wire_number(packet, EVENT_TYPE, type);
    etwas_wire_number(packet, EVENT_TRACK, track);
    if (loss != NULL) {
        etwas_wire_text(packet, EVENT_TEXT_NAME, loss->name);
        annotate_text(packet, "cause", loss->cause);
        annotate_text(packet, "file", loss->path);
        annotate_number(packet, "count", loss->count);
        if (loss->bytes > 0) {
            annotate_number(packet, "bytes_skipped", loss->bytes);
        }
    }
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
    etwas_perfetto_put_packet(perfetto);
}

static void put_loss(struct etwas_perfetto *perfetto, uint64_t track, int64_t from_ns,
                     int64_t to_ns, const struct loss *loss)
{
    put_edge(perfetto, EVENT_BEGINS, track, from_ns, loss);
    put_edge(perfetto, EVENT_ENDS, track, to_ns > from_ns ? to_ns : from_ns, NULL);
}

static uint64_t make_track(struct etwas_perfetto *perfetto, const char *name)
{
    size_t began = etwas_perfetto_begin_track(perfetto, ++perfetto->uuid, 0);

    etwas_wire_text(&perfetto->packet, DESCRIPTOR_NAME, name);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_put_packet(perfetto);
    return perfetto->uuid;
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Counts damage, which lies between the previous and the next event of the file. */
void etwas_perfetto_gap(struct etwas_convert *convert, const struct etwas_input *input,
                        const etwas_damage *damage)
{
    struct etwas_perfetto *perfetto = convert->state;
    struct etwas_perfetto_file *file = &perfetto->files[input->number - 1];

    file->damage = file->damages == 0 ? damage->kind : file->damage;
    file->damages++;
    if (__builtin_add_overflow(file->bytes_skipped, damage->bytes_skipped, &file->bytes_skipped)) {
        file->bytes_skipped = UINT64_MAX;
    }
}

static void put_gap(struct etwas_perfetto *perfetto, struct etwas_perfetto_file *file,
                    const char *path, int64_t from_ns, int64_t to_ns)
{
    struct loss loss = {.name = "events lost",
                        .cause = etwas_damage_name(file->damage),
                        .count = file->damages,
                        .bytes = file->bytes_skipped,
                        .path = path};

    if (file->loss_track == 0) {
        file->loss_track = make_track(perfetto, "losses");
    }
    put_loss(perfetto, file->loss_track, from_ns, to_ns, &loss);
    file->damages = 0;
    file->bytes_skipped = 0;
}

void etwas_perfetto_take_losses(struct etwas_perfetto *perfetto, int64_t time_ns)
{
    const struct etwas_input *input = perfetto->convert->current.input;
    struct etwas_perfetto_file *file = &perfetto->files[input->number - 1];
    etwas_trace_clock clock;

    if (!file->has_events) {
        file->has_events = true;
        file->first_ns = time_ns;
        file->last_ns = time_ns;
        file->is_kernel = input->is_kernel;
        file->is_linux = etwas_trace_query_clock(input->trace, &clock) == ERROR_SUCCESS &&
                         clock.clock_snapshots > 0;
    }
    if (file->damages > 0) {
        put_gap(perfetto, file, input->path, file->last_ns, time_ns);
        perfetto->has_dropped = true;
        perfetto->needs_state = true;
    }
    file->last_ns = time_ns;
}

/* ---- the kernel's losses --------------------------------------------------------------------- */

void etwas_perfetto_take_kernel_loss(struct etwas_perfetto *perfetto, uint32_t processor,
                                     int64_t time_ns)
{
    const struct etwas_current_event *current = &perfetto->convert->current;
    int64_t since_ns = perfetto->files[current->input->number - 1].first_ns; /* if from_raw is 0 */
    struct etwas_event_loss told;
    etwas_clock_time since;
    char name[64];
    struct loss loss = {.name = name, .path = current->input->path};

    if (!etwas_event_ring_loss(current->record, &told)) {
        return;
    }
    loss.count = told.events;
    loss.cause =
        told.is_off ? "the processor was off, or not recorded" : "no room in the kernel's ring";
    if (told.from_raw != 0 &&
        etwas_trace_convert_time(current->input->trace, told.from_raw, ETWAS_CLOCK_PROCESS_TRACE,
                                 &since) == ERROR_SUCCESS) {
        since_ns = etwas_perfetto_primary_ns(perfetto, since.value);
    }
    if (perfetto->loss_tracks[processor] == 0) {
        snprintf(name, sizeof name, "losses of processor %" PRIu32, processor);
        perfetto->loss_tracks[processor] = (uint32_t)make_track(perfetto, name);
    }
    if (told.is_off) {
        snprintf(name, sizeof name, "not recorded");
    } else {
        snprintf(name, sizeof name, "%" PRIu64 " event%s lost", loss.count,
                 etwas_human_plural(loss.count));
    }
    put_loss(perfetto, perfetto->loss_tracks[processor], since_ns, time_ns, &loss);
}

/* ---- the session's losses -------------------------------------------------------------------- */

/*
 * The losses of a file on one processor. Slices of different intervals follow one another; those of
 * one interval are nested.
 */
struct lost_track {
    uint64_t track;   /* 0: not written yet */
    int64_t from_ns;  /* start of the last interval */
    int64_t drawn_ns; /* start of its slices */
    int64_t until_ns; /* end of its slices */
};

static void put_session_loss(struct etwas_perfetto *perfetto, struct lost_track *lost,
                             const char *path, const struct etwas_trace_loss *told)
{
    char name[64];
    struct loss loss = {
        .name = name, .cause = etwas_lost_name(told->cause), .count = told->events, .path = path};
    int64_t from_ns = etwas_perfetto_primary_ns(perfetto, told->from_ns);
    int64_t until_ns = etwas_perfetto_primary_ns(perfetto, told->until_ns);
    bool is_new = lost->track == 0 || from_ns != lost->from_ns;

    if (lost->track == 0) {
        snprintf(name, sizeof name,
                 told->processor == ETWAS_LOST_ANYWHERE ? "lost" : "lost on processor %" PRIu32,
                 told->processor);
        lost->track = make_track(perfetto, name);
    }
    if (is_new) {
        lost->from_ns = from_ns;
        lost->drawn_ns = from_ns > lost->until_ns ? from_ns : lost->until_ns;
        lost->until_ns = until_ns > lost->drawn_ns ? until_ns : lost->drawn_ns;
    }
    snprintf(name, sizeof name, "%" PRIu64 " event%s lost", told->events,
             etwas_human_plural(told->events));
    put_loss(perfetto, lost->track, lost->drawn_ns, lost->until_ns, &loss);
}

static void put_session_losses(struct etwas_perfetto *perfetto, const struct etwas_input *input)
{
    struct lost_track tracks[ETWAS_PERFETTO_PROCESSORS + 1]; /* the last one: unknown processor */
    const struct etwas_trace_losses *losses = &perfetto->convert->losses[input->number - 1];

    memset(tracks, 0, sizeof tracks); /* valid since primary times are not negative */
    for (uint32_t i = 0; i < losses->count; i++) {
        const struct etwas_trace_loss *loss = &losses->list[i];
        uint32_t index = loss->processor < ETWAS_PERFETTO_PROCESSORS ? loss->processor
                                                                     : ETWAS_PERFETTO_PROCESSORS;

        put_session_loss(perfetto, &tracks[index], input->path, loss);
    }
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void put_total(struct etwas_perfetto *perfetto, const struct etwas_input *input,
                      const char *what, const char *became, uint64_t count)
{
    const struct etwas_perfetto_file *file = &perfetto->files[input->number - 1];
    char name[64];
    struct loss loss = {
        .name = name, .cause = "while the trace was recorded", .count = count, .path = input->path};

    if (count > 0) {
        snprintf(name, sizeof name, "%" PRIu64 " %s%s %s", count, what, etwas_human_plural(count),
                 became);
        put_loss(perfetto, make_track(perfetto, "lost while recording"),
                 file->has_events ? file->first_ns : perfetto->first_ns,
                 file->has_events ? file->last_ns : perfetto->first_ns, &loss);
    }
}

/* Returns the number of lost events whose time the file does not have. */
static uint64_t without_time(const struct etwas_perfetto *perfetto, const struct etwas_input *input)
{
    uint64_t told = perfetto->convert->losses[input->number - 1].events;
    uint64_t lost = etwas_input_lost(input);

    return lost > told ? lost - told : 0;
}

static void put_stats(struct etwas_perfetto *perfetto)
{
    const struct etwas_input_run *run = &perfetto->convert->run;
    struct etwas_wire *packet = &perfetto->packet;
    size_t began = etwas_wire_begin(packet, PACKET_STATS);

    for (uint32_t i = 0; i < run->count; i++) {
        const struct etwas_input *input = &run->inputs[i];
        const etwas_trace_information *information = &input->information;
        size_t buffer = etwas_wire_begin(packet, STATS_BUFFER);

        etwas_wire_number(packet, BUFFER_BYTES_WRITTEN, information->file_bytes);
        etwas_wire_number(packet, BUFFER_SIZE, input->logfile.LogfileHeader.BufferSize);
        etwas_wire_number(packet, BUFFER_CHUNKS_OVERWRITTEN,
                          information->overwritten_buffers -
                              information->repeated_overwritten_buffers);
        etwas_wire_number(packet, BUFFER_CHUNKS_DISCARDED,
                          information->lost_buffers - information->repeated_lost_buffers);
        etwas_wire_number(packet, BUFFER_PACKET_LOSS,
                          etwas_input_lost(input) + information->damages);
        etwas_wire_end(packet, buffer);
    }
    etwas_wire_end(packet, began);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
    etwas_perfetto_put_packet(perfetto);
}

void etwas_perfetto_take_totals(struct etwas_perfetto *perfetto)
{
    const struct etwas_input_run *run = &perfetto->convert->run;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct etwas_input *input = &run->inputs[i];
        struct etwas_perfetto_file *file = &perfetto->files[input->number - 1];

        if (file->damages > 0) {
            put_gap(perfetto, file, input->path,
                    file->has_events ? file->last_ns : perfetto->first_ns, perfetto->latest_ns);
        }
        put_session_losses(perfetto, input);
        put_total(perfetto, input, "event", "lost", without_time(perfetto, input));
        put_total(perfetto, input, "buffer", "lost",
                  input->information.lost_buffers - input->information.repeated_lost_buffers);
        put_total(perfetto, input, "event", "overwritten", etwas_input_overwritten(input));
    }
    put_stats(perfetto);
}
