/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flight recorder's buffers. All processors share them: a slot with a full buffer takes one that
 * was never used, else the one that became full first (runtime/buffer/pool_claim.h). So a recorder
 * with one more buffer holds all that it held without it, and one more full buffer.
 */

#include "advise/model.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    uint32_t current;       /* its buffer; ETWAS_MODEL_NO_BUFFER: it has none yet */
    uint32_t used;          /* bytes used of its room */
    bool lost;              /* events of the slot were overwritten, ... */
    uint64_t lost_until_ns; /* ... and this is the time of the newest */
};

struct buffer {
    uint64_t newest_ns;
    uint32_t events;
    uint16_t slot;
};

/* An overwritten buffer whose newest events may still be in the wanted history. */
struct gone {
    uint64_t newest_ns;
    uint32_t events;
};

struct recorder {
    const struct etwas_load *load;
    uint32_t room;
    uint32_t count;
    uint64_t history_ns;
    struct slot *slots;
    struct buffer *buffers;
    uint32_t allocated;
    uint32_t *full; /* a ring of the full buffers, the oldest first; it has room for all */
    uint32_t first_full;
    uint32_t full_count;
    uint64_t newest_lost_ns; /* time of the newest overwritten event */
    uint64_t covered_to_ns;  /* short_ns is counted up to here */
    struct gone *gone;       /* in the order of overwriting: from first_gone to gone_count */
    size_t first_gone;
    size_t gone_count;
    size_t gone_capacity;
    uint64_t gone_events; /* the sum over `gone` */
    uint64_t most_gone_events;
    bool out_of_memory;
    struct etwas_recorder_result *result;
};

/*
 * Counts up to `now_ns` the time in which the history held, from the newest lost event on, is
 * shorter than wanted.
 */
static void count_short(struct recorder *recorder, uint64_t now_ns)
{
    uint64_t enough_ns = recorder->newest_lost_ns + recorder->history_ns;

    if (recorder->result->overwritten_buffers > 0 && enough_ns > recorder->covered_to_ns) {
        uint64_t end_ns = enough_ns < now_ns ? enough_ns : now_ns;

        recorder->result->short_ns += end_ns - recorder->covered_to_ns;
    }
    recorder->covered_to_ns = now_ns;
}

/*
 * Makes room for one more. Reuses the room of entries that are no longer wanted if they are at
 * least half.
 */
static bool recorder_grow(struct recorder *recorder)
{
    size_t kept = recorder->gone_count - recorder->first_gone;

    if (recorder->gone_count < recorder->gone_capacity) {
        return true;
    }
    if (kept <= recorder->gone_capacity / 2 && kept < recorder->gone_capacity) {
        memmove(recorder->gone, recorder->gone + recorder->first_gone,
                kept * sizeof *recorder->gone);
    } else {
        size_t capacity = 2 * recorder->gone_capacity + 64;
        struct gone *gone = realloc(recorder->gone, capacity * sizeof *gone);

        if (gone == NULL) {
            return false;
        }
        memmove(gone, gone + recorder->first_gone, kept * sizeof *gone);
        recorder->gone = gone;
        recorder->gone_capacity = capacity;
    }
    recorder->first_gone = 0;
    recorder->gone_count = kept;
    return true;
}

/* Finds the moment at which most of the wanted events are missing. */
static void find_most_missing(struct recorder *recorder, const struct buffer *buffer,
                              uint64_t now_ns)
{
    if (!recorder_grow(recorder)) {
        recorder->out_of_memory = true;
        return;
    }
    recorder->gone[recorder->gone_count++] = (struct gone){buffer->newest_ns, buffer->events};
    recorder->gone_events += buffer->events;
    while (recorder->first_gone < recorder->gone_count &&
           now_ns - recorder->gone[recorder->first_gone].newest_ns >= recorder->history_ns) {
        recorder->gone_events -= recorder->gone[recorder->first_gone++].events;
    }
    if (recorder->gone_events > recorder->most_gone_events) {
        recorder->most_gone_events = recorder->gone_events;
        recorder->result->missing_at_ns = now_ns;
    }
}

static void overwrite(struct recorder *recorder, const struct buffer *buffer, uint64_t now_ns)
{
    struct etwas_recorder_result *result = recorder->result;
    struct slot *slot = &recorder->slots[buffer->slot];
    uint64_t held_ns;

    count_short(recorder, now_ns);
    if (result->overwritten_buffers == 0 || buffer->newest_ns > recorder->newest_lost_ns) {
        recorder->newest_lost_ns = buffer->newest_ns;
    }
    if (!slot->lost || buffer->newest_ns > slot->lost_until_ns) {
        slot->lost = true;
        slot->lost_until_ns = buffer->newest_ns;
    }
    held_ns = now_ns - recorder->newest_lost_ns;
    if (result->overwritten_buffers == 0 || held_ns < result->least_ns) {
        result->least_ns = held_ns;
        result->least_at_ns = now_ns;
    }
    find_most_missing(recorder, buffer, now_ns);
    result->overwritten_buffers++;
    result->overwritten_events += buffer->events;
}

/* Returns the index of a buffer to write into; ETWAS_MODEL_NO_BUFFER if all are current. */
static uint32_t claim(struct recorder *recorder, uint64_t now_ns)
{
    if (recorder->allocated < recorder->count) {
        return recorder->allocated++;
    }
    if (recorder->full_count > 0) {
        uint32_t index = recorder->full[recorder->first_full];

        recorder->first_full = (recorder->first_full + 1) % recorder->count;
        recorder->full_count--;
        overwrite(recorder, &recorder->buffers[index], now_ns);
        return index;
    }
    return ETWAS_MODEL_NO_BUFFER;
}

static void set_full(struct recorder *recorder, uint32_t buffer)
{
    recorder->full[(recorder->first_full + recorder->full_count) % recorder->count] = buffer;
    recorder->full_count++;
}

static void switch_buffer(struct recorder *recorder, const struct etwas_load_piece *piece)
{
    struct slot *slot = &recorder->slots[piece->slot];
    uint32_t next = claim(recorder, piece->time_ns);

    if (next == ETWAS_MODEL_NO_BUFFER) {
        /* There are fewer buffers than slots, which no session allows: the slot reuses its own. */
        next = slot->current != ETWAS_MODEL_NO_BUFFER ? slot->current : 0;
        overwrite(recorder, &recorder->buffers[next], piece->time_ns);
    } else if (slot->current != ETWAS_MODEL_NO_BUFFER) {
        set_full(recorder, slot->current);
    }
    recorder->buffers[next] = (struct buffer){.slot = piece->slot};
    slot->current = next;
    slot->used = 0;
}

static void take_piece(struct recorder *recorder, const struct etwas_load_piece *piece)
{
    struct slot *slot = &recorder->slots[piece->slot];
    uint32_t bytes = piece->bytes;

    /* A joined piece is split over two buffers. */
    if (recorder->load->joined_bytes != 0 && slot->current != ETWAS_MODEL_NO_BUFFER) {
        uint32_t left = recorder->room - slot->used;
        uint32_t part = bytes < left ? bytes : left;

        slot->used += part;
        bytes -= part;
    }
    while (bytes > 0 &&
           (slot->current == ETWAS_MODEL_NO_BUFFER || slot->used + bytes > recorder->room)) {
        uint32_t part = bytes < recorder->room ? bytes : recorder->room;

        switch_buffer(recorder, piece);
        slot->used = part;
        bytes -= part;
    }
    slot->used += bytes;
    recorder->buffers[slot->current].events += piece->events;
    recorder->buffers[slot->current].newest_ns = piece->time_ns;
}

static bool recorder_begin(struct recorder *recorder)
{
    recorder->slots = calloc((size_t)recorder->load->slot_count + 1, sizeof *recorder->slots);
    recorder->buffers = calloc((size_t)recorder->count + 1, sizeof *recorder->buffers);
    recorder->full = calloc((size_t)recorder->count + 1, sizeof *recorder->full);
    for (uint32_t i = 0; recorder->slots != NULL && i < recorder->load->slot_count; i++) {
        recorder->slots[i].current = ETWAS_MODEL_NO_BUFFER;
    }
    return recorder->slots != NULL && recorder->buffers != NULL && recorder->full != NULL;
}

static void recorder_end(struct recorder *recorder)
{
    free(recorder->slots);
    free(recorder->buffers);
    free(recorder->full);
    free(recorder->gone);
}

/* Counts exactly what is missing of the wanted history at that moment. */
static void count_missing(const struct recorder *recorder, struct etwas_recorder_result *result)
{
    const struct etwas_load *load = recorder->load;
    uint64_t now_ns = result->missing_at_ns;

    for (size_t i = 0; i < load->count && load->pieces[i].time_ns <= now_ns; i++) {
        const struct etwas_load_piece *piece = &load->pieces[i];
        const struct slot *slot = &recorder->slots[piece->slot];

        if (now_ns - piece->time_ns < recorder->history_ns) {
            result->wanted_events += piece->events;
            if (slot->lost && piece->time_ns <= slot->lost_until_ns) {
                result->missing_events += piece->events;
            }
        }
    }
}

static bool run_until(struct recorder *recorder, uint64_t until_ns)
{
    if (!recorder_begin(recorder)) {
        return false;
    }
    for (size_t i = 0; i < recorder->load->count; i++) {
        if (recorder->load->pieces[i].time_ns > until_ns) {
            break;
        }
        take_piece(recorder, &recorder->load->pieces[i]);
    }
    return !recorder->out_of_memory;
}

bool etwas_recorder_run(const struct etwas_load *load, const struct etwas_model_sizes *sizes,
                        uint64_t history_ns, struct etwas_recorder_result *result)
{
    struct etwas_recorder_result unused = {0};
    struct recorder recorder = {
        .load = load,
        .room = etwas_model_room(sizes),
        .count = sizes->minimum,
        .history_ns = history_ns,
        .result = result,
    };
    struct recorder again = recorder;
    bool done;

    *result = (struct etwas_recorder_result){0};
    done = run_until(&recorder, UINT64_MAX);
    count_short(&recorder, load->span_ns);
    result->end_ns = load->span_ns - recorder.newest_lost_ns;
    recorder_end(&recorder);
    if (!done || recorder.most_gone_events == 0) {
        return done;
    }
    again.result = &unused;
    done = run_until(&again, result->missing_at_ns);
    if (done) {
        count_missing(&again, result);
    }
    recorder_end(&again);
    return done;
}
