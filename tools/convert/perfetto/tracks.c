/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tracks of processes and threads. Events of an unknown thread are on the track of their process.
 * All events of unknown processes are on one track.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "print/text.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PACKET_DESCRIPTOR = 60,
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    PROCESS_LABEL = 8,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    LARGEST_ID = INT32_MAX, /* limit of process and thread ids: readers use int32 */
};

/* ---- the table ------------------------------------------------------------------------------- */

static uint64_t hash_track(uint32_t process, uint32_t thread, uint32_t first)
{
    return ((uint64_t)process << 32 | thread) ^ (uint64_t)(first + 1) << 20;
}

/* Returns a new track's index; UINT32_MAX if memory runs out. */
static uint32_t add_track(struct etwas_perfetto *perfetto, uint32_t process, uint32_t thread,
                          uint32_t first)
{
    uint32_t index = perfetto->track_count;

    if (!etwas_array_reserve(&perfetto->tracks, &perfetto->track_capacity, index + 1,
                             sizeof *perfetto->tracks) ||
        !etwas_hash_index_add(&perfetto->track_places, hash_track(process, thread, first),
                              index + 1)) {
        perfetto->convert->out_of_memory = true;
        return UINT32_MAX;
    }
    perfetto->tracks[index] = (struct etwas_perfetto_track){.process = process,
                                                            .thread = thread,
                                                            .first = first,
                                                            .uuid = ++perfetto->uuid,
                                                            .process_track = index};
    perfetto->track_count++;
    return index;
}

static bool is_known(uint32_t id)
{
    return id != 0 && id <= LARGEST_ID;
}

/* Finds or adds a track. Unknown ids must already be ETWAS_EVENT_UNKNOWN_ID. */
static uint32_t find_track(struct etwas_perfetto *perfetto, uint32_t process, uint32_t thread,
                           uint32_t first)
{
    struct etwas_hash_place place;
    uint32_t number =
        etwas_hash_index_first(&perfetto->track_places, hash_track(process, thread, first), &place);

    for (; number != 0; number = etwas_hash_index_next(&perfetto->track_places, &place)) {
        const struct etwas_perfetto_track *track = &perfetto->tracks[number - 1];

        if (track->process == process && track->thread == thread && track->first == first) {
            return number - 1;
        }
    }
    return add_track(perfetto, process, thread, first);
}

uint32_t etwas_perfetto_track(struct etwas_perfetto *perfetto, uint32_t process, uint32_t thread)
{
    const struct etwas_perfetto_track *last =
        perfetto->track_count > 0 ? &perfetto->tracks[perfetto->track_last] : NULL;
    uint32_t first = etwas_processes_now(&perfetto->processes, process);
    uint32_t index;
    uint32_t process_track;

    if (last != NULL && last->process == process && last->thread == thread &&
        last->first == first) {
        return perfetto->track_last;
    }
    if (!is_known(process) || perfetto->track_count >= ETWAS_PERFETTO_TRACKS) {
        process = ETWAS_EVENT_UNKNOWN_ID;
        thread = ETWAS_EVENT_UNKNOWN_ID;
    } else if (!is_known(thread)) {
        thread = ETWAS_EVENT_UNKNOWN_ID;
    }
    first = process != ETWAS_EVENT_UNKNOWN_ID ? first : ETWAS_PROCESSES_NONE;
    index = find_track(perfetto, process, thread, first);
    if (index != UINT32_MAX && thread != ETWAS_EVENT_UNKNOWN_ID &&
        perfetto->tracks[index].process_track == index) {
        process_track = find_track(perfetto, process, ETWAS_EVENT_UNKNOWN_ID, first);
        if (process_track == UINT32_MAX) {
            return UINT32_MAX;
        }
        perfetto->tracks[index].process_track = process_track;
    }
    perfetto->track_last = index != UINT32_MAX ? index : perfetto->track_last;
    return index;
}

void etwas_perfetto_tracks_close(struct etwas_perfetto *perfetto)
{
    free(perfetto->tracks);
    etwas_hash_index_clear(&perfetto->track_places);
}

void etwas_perfetto_choose_track(struct etwas_perfetto *perfetto)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < perfetto->track_count; i++) {
        if (perfetto->tracks[i].events > most) {
            most = perfetto->tracks[i].events;
            perfetto->usual_track = perfetto->tracks[i].uuid;
        }
    }
}

/* ---- descriptors ----------------------------------------------------------------------------- */

size_t etwas_perfetto_begin_track(struct etwas_perfetto *perfetto, uint64_t uuid, uint64_t parent)
{
    struct etwas_wire *packet = &perfetto->packet;
    size_t began;

    etwas_wire_number(packet, PACKET_TIMESTAMP, (uint64_t)perfetto->first_ns);
    began = etwas_wire_begin(packet, PACKET_DESCRIPTOR);
    etwas_wire_number(packet, DESCRIPTOR_UUID, uuid);
    if (parent != 0) {
        etwas_wire_number(packet, DESCRIPTOR_PARENT, parent);
    }
    return began;
}

void etwas_perfetto_end_track(struct etwas_perfetto *perfetto, size_t began)
{
    etwas_wire_end(&perfetto->packet, began);
    etwas_wire_number(&perfetto->packet, PACKET_SEQUENCE, ETWAS_PERFETTO_APART);
}

void etwas_perfetto_put_utf8(struct etwas_wire *wire, uint32_t field, const char *text,
                             size_t bytes)
{
    struct etwas_output escaped = {.bytes = NULL};

    etwas_text_utf8(etwas_output_anew(&escaped), ETWAS_TEXT_PLAIN, text, bytes);
    etwas_wire_bytes(wire, field, escaped.bytes, escaped.used_bytes);
    etwas_output_free(&escaped);
}

/* Writes the part of the activity ids that follows the counted number. */
static void put_activities(struct etwas_perfetto *perfetto, uint64_t maker)
{
    uint8_t bytes[sizeof maker];
    char text[80];

    memcpy(bytes, &maker, sizeof bytes);
    snprintf(text, sizeof text, "activity N: NNNNNNNN-0000-0000-%02x%02x-%02x%02x%02x%02x%02x%02x",
             bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
    etwas_wire_text(&perfetto->packet, PROCESS_LABEL, text);
}

static void write_process(struct etwas_perfetto *perfetto, const struct etwas_perfetto_track *track)
{
    char room[ETWAS_PROCESSES_NAME_BYTES];
    const char *name = etwas_processes_names(&perfetto->processes, track->process, track->first,
                                             room, sizeof room);
    struct etwas_wire *packet = &perfetto->packet;
    size_t began = etwas_perfetto_begin_track(perfetto, track->uuid, 0);
    size_t inner = etwas_wire_begin(packet, DESCRIPTOR_PROCESS);

    etwas_wire_number(packet, PROCESS_PID, track->process);
    if (name != NULL) {
        etwas_perfetto_put_utf8(packet, PROCESS_NAME, name, strlen(name));
    }
    if (track->activity_maker != 0) {
        put_activities(perfetto, track->activity_maker);
    }
    etwas_wire_end(packet, inner);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_write_packet(perfetto);
}

static void write_thread(struct etwas_perfetto *perfetto, const struct etwas_perfetto_track *track)
{
    char room[ETWAS_PROCESSES_NAME_BYTES];
    const char *name = etwas_processes_names(&perfetto->processes, track->process, track->first,
                                             room, sizeof room);
    struct etwas_wire *packet = &perfetto->packet;
    size_t began = etwas_perfetto_begin_track(perfetto, track->uuid, 0);
    size_t inner = etwas_wire_begin(packet, DESCRIPTOR_THREAD);

    etwas_wire_number(packet, THREAD_PID, track->process);
    etwas_wire_number(packet, THREAD_TID, track->thread);
    if (name != NULL && track->thread == track->process) {
        etwas_perfetto_put_utf8(packet, THREAD_NAME, name, strlen(name));
    }
    etwas_wire_end(packet, inner);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_write_packet(perfetto);
}

static void write_nobody(struct etwas_perfetto *perfetto, const struct etwas_perfetto_track *track)
{
    size_t began = etwas_perfetto_begin_track(perfetto, track->uuid, 0);

    etwas_wire_text(&perfetto->packet, DESCRIPTOR_NAME, "events without a process");
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_write_packet(perfetto);
}

void etwas_perfetto_write_tracks(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; i < perfetto->track_count; i++) {
        const struct etwas_perfetto_track *track = &perfetto->tracks[i];

        if (track->process == ETWAS_EVENT_UNKNOWN_ID) {
            write_nobody(perfetto, track);
        } else if (track->thread == ETWAS_EVENT_UNKNOWN_ID) {
            write_process(perfetto, track);
        } else {
            write_thread(perfetto, track);
        }
    }
}
