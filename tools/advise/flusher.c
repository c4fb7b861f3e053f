/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A model of the buffers of a session with a file and its flusher, as the library has them
 * (docs/internals/design.md, "Locks and waiting"). The disk has a given rate, and the flusher a
 * given delay.
 *
 * Writers wake the flusher when half of the buffers are used, when they begin a new one, and when
 * they find none. Otherwise it wakes up after a pause, which becomes shorter when much was written.
 * A pass takes the buffers that are full when it begins, and frees them in batches as they are
 * written. Then it adds new buffers until half of the minimum is free.
 */

#include "advise/model.h"

#include <stdlib.h>

enum {
    SHORTEST_PAUSE_NS = 1000000,
    LONGEST_PAUSE_NS = 1000000000,
    BUFFERS_GROWN_A_PASS = 16,
    BATCH_BUFFERS = 64,
};

/* The end of the model's time: a disk with rate 0 never finishes. */
#define NEVER_NS (UINT64_MAX / 4)

struct slot {
    bool has_buffer;
    uint32_t used;    /* bytes used of its room */
    uint32_t flushed; /* bytes of these that timed flushes have written */
};

struct flusher {
    const struct etwas_load *load;
    const struct etwas_model_sizes *sizes;
    const struct etwas_flusher_model *model;
    struct etwas_flusher_result *result;
    struct slot *slots;
    uint32_t room;
    uint64_t write_ns; /* time to write a buffer */

    uint32_t allocated;
    uint32_t free;
    uint32_t full;

    bool in_pass;
    bool woken;        /* after the last pass began */
    uint64_t next_ns;  /* time of the next pass, or of the end of the batch */
    uint32_t batch;    /* buffers that become free when it is written */
    uint32_t to_write; /* left in the pass after this batch: full buffers, ... */
    uint32_t to_copy;  /* ... and parts of current buffers */
    uint32_t found;    /* buffers that the pass found */
    uint64_t pause_ns;
    uint64_t flushed_ns;
    bool is_flush; /* the pass is a timed one */
    bool is_dirty; /* events came since the last timed flush */
};

static uint64_t later(uint64_t time_ns, uint64_t by_ns)
{
    return by_ns >= NEVER_NS || time_ns + by_ns >= NEVER_NS ? NEVER_NS : time_ns + by_ns;
}

static void wake(struct flusher *flusher, uint64_t now_ns)
{
    if (!flusher->woken && !flusher->in_pass) {
        uint64_t comes_ns = later(now_ns, flusher->model->late_ns);

        flusher->next_ns = comes_ns < flusher->next_ns ? comes_ns : flusher->next_ns;
    }
    flusher->woken = true;
}

/* Begins the next batch of the pass. Returns false if there is none. */
static bool begin_batch(struct flusher *flusher)
{
    uint32_t whole = flusher->to_write < BATCH_BUFFERS ? flusher->to_write : BATCH_BUFFERS;
    uint32_t copied =
        flusher->to_copy < BATCH_BUFFERS - whole ? flusher->to_copy : BATCH_BUFFERS - whole;
    uint64_t written = (uint64_t)whole + copied;

    if (written == 0) {
        return false;
    }
    flusher->to_write -= whole;
    flusher->to_copy -= copied;
    flusher->batch = whole;
    flusher->next_ns = flusher->write_ns >= NEVER_NS / written
                           ? NEVER_NS
                           : later(flusher->next_ns, written * flusher->write_ns);
    return true;
}

static void keep_buffers_free(struct flusher *flusher)
{
    for (int grown = 0; grown < BUFFERS_GROWN_A_PASS; grown++) {
        if (flusher->free > flusher->sizes->minimum / 2 ||
            flusher->allocated >= flusher->sizes->maximum) {
            return;
        }
        flusher->allocated++;
        flusher->free++;
    }
}

static void choose_pause(struct flusher *flusher)
{
    if (flusher->found != 0 && flusher->found >= flusher->allocated / 4) {
        flusher->pause_ns /= 2;
    } else if (flusher->found == 0) {
        flusher->pause_ns *= 2;
    }
    if (flusher->pause_ns < SHORTEST_PAUSE_NS) {
        flusher->pause_ns = SHORTEST_PAUSE_NS;
    } else if (flusher->pause_ns > LONGEST_PAUSE_NS) {
        flusher->pause_ns = LONGEST_PAUSE_NS;
    }
}

static void end_pass(struct flusher *flusher)
{
    uint64_t pause_ns;

    flusher->in_pass = false;
    if (flusher->is_flush) {
        flusher->is_flush = false;
        flusher->flushed_ns = flusher->next_ns;
    }
    keep_buffers_free(flusher);
    choose_pause(flusher);
    if (flusher->woken) {
        return; /* the next pass begins at once */
    }
    pause_ns = flusher->pause_ns;
    if (flusher->model->flush_timer_ns != 0) {
        uint64_t passed_ns = flusher->next_ns - flusher->flushed_ns;
        uint64_t left_ns = passed_ns < flusher->model->flush_timer_ns
                               ? flusher->model->flush_timer_ns - passed_ns
                               : 0;

        pause_ns = left_ns < pause_ns ? left_ns : pause_ns;
    }
    flusher->next_ns = later(later(flusher->next_ns, pause_ns), flusher->model->late_ns);
}

/* Parts of current buffers are copied, and stay in their buffers. */
static uint32_t parts_to_flush(struct flusher *flusher)
{
    uint32_t parts = 0;

    if (flusher->model->flush_timer_ns == 0 ||
        flusher->next_ns - flusher->flushed_ns < flusher->model->flush_timer_ns) {
        return 0;
    }
    flusher->is_flush = true;
    for (uint32_t i = 0; flusher->is_dirty && i < flusher->load->slot_count; i++) {
        parts += flusher->slots[i].used > flusher->slots[i].flushed ? 1 : 0;
        flusher->slots[i].flushed = flusher->slots[i].used;
    }
    flusher->is_dirty = false;
    return parts;
}

static void begin_pass(struct flusher *flusher)
{
    flusher->result->passes++;
    flusher->in_pass = true;
    flusher->woken = false;
    flusher->found = flusher->full;
    flusher->to_write = flusher->full;
    flusher->full = 0;
    flusher->to_copy = parts_to_flush(flusher);
    if (!begin_batch(flusher)) {
        end_pass(flusher);
    }
}

/* Advances to `now_ns`. Once the pause is at its longest, idle passes are skipped together. */
static void advance(struct flusher *flusher, uint64_t now_ns)
{
    while (flusher->next_ns <= now_ns) {
        if (flusher->in_pass) {
            flusher->free += flusher->batch;
            if (!begin_batch(flusher)) {
                end_pass(flusher);
            }
        } else if (flusher->full == 0 && !flusher->is_dirty &&
                   flusher->pause_ns == LONGEST_PAUSE_NS) {
            uint64_t period_ns = LONGEST_PAUSE_NS + flusher->model->late_ns;

            flusher->next_ns += (now_ns - flusher->next_ns) / period_ns * period_ns + period_ns;
            flusher->flushed_ns = now_ns;
            flusher->woken = false;
        } else {
            begin_pass(flusher);
        }
    }
}

/* Gives a slot another buffer. Returns false if there is none. */
static bool switch_buffer(struct flusher *flusher, struct slot *slot, uint64_t now_ns)
{
    uint32_t in_use;

    if (flusher->free > 0) {
        flusher->free--;
    } else if (flusher->allocated < flusher->sizes->maximum) {
        flusher->allocated++;
        wake(flusher, now_ns);
    } else {
        wake(flusher, now_ns);
        return false;
    }
    in_use = flusher->allocated - flusher->free;
    if (in_use > flusher->result->most_in_use) {
        flusher->result->most_in_use = in_use;
    }
    flusher->full += slot->has_buffer ? 1 : 0;
    slot->has_buffer = true;
    slot->used = 0;
    slot->flushed = 0;
    if (flusher->free <= flusher->allocated / 2) {
        wake(flusher, now_ns);
    }
    return true;
}

static void take_piece(struct flusher *flusher, const struct etwas_load_piece *piece)
{
    struct slot *slot = &flusher->slots[piece->slot];
    uint32_t bytes = piece->bytes;

    advance(flusher, piece->time_ns);
    flusher->is_dirty = flusher->model->flush_timer_ns != 0;
    /* A joined piece is split over two buffers. */
    if (flusher->load->joined_bytes != 0 && slot->has_buffer) {
        uint32_t left = flusher->room - slot->used;
        uint32_t part = bytes < left ? bytes : left;

        slot->used += part;
        bytes -= part;
    }
    while (bytes > 0 && (!slot->has_buffer || slot->used + bytes > flusher->room)) {
        uint32_t part = bytes < flusher->room ? bytes : flusher->room;

        if (!switch_buffer(flusher, slot, piece->time_ns)) {
            if (flusher->result->lost_events == 0) {
                flusher->result->first_lost_at_ns = piece->time_ns;
            }
            flusher->result->lost_events += piece->events;
            return;
        }
        slot->used = part;
        bytes -= part;
    }
    slot->used += bytes;
}

bool etwas_flusher_run(const struct etwas_load *load, const struct etwas_model_sizes *sizes,
                       const struct etwas_flusher_model *model, struct etwas_flusher_result *result)
{
    double write_ns = sizes->buffer_kb * 1024.0 / (double)model->write_rate * 1e9;
    struct flusher flusher = {
        .load = load,
        .sizes = sizes,
        .model = model,
        .result = result,
        .slots = calloc((size_t)load->slot_count + 1, sizeof *flusher.slots),
        .room = etwas_model_room(sizes),
        .write_ns = write_ns < (double)NEVER_NS ? (uint64_t)write_ns : NEVER_NS,
        .allocated = sizes->minimum,
        .free = sizes->minimum,
        .pause_ns = SHORTEST_PAUSE_NS,
    };

    *result = (struct etwas_flusher_result){0};
    if (flusher.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < load->count; i++) {
        take_piece(&flusher, &load->pieces[i]);
    }
    free(flusher.slots);
    return true;
}
