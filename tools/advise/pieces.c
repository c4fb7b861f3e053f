/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The pieces of a load, and totals of them. */

#include "advise/load.h"

#include "math/array.h"

#include <stdlib.h>

enum {
    FIRST_PIECES = 1 << 16,
    FIRST_JOINED_BYTES = 256,
    RECORD_ALIGNMENT = 8,
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool can_join(const struct etwas_load *load, const struct etwas_load_piece *to,
                     const struct etwas_load_piece *piece)
{
    return to->bytes + piece->bytes <= load->joined_bytes &&
           to->events + piece->events <= UINT16_MAX;
}

/*
 * Joins each piece to the previous one of its slot if that has room. The joined piece has the
 * earlier time, so the load arrives no later than it did.
 */
static bool join_pieces(struct etwas_load *load)
{
    size_t *last = calloc((size_t)load->slot_count + 1, sizeof *last); /* per slot, from 1 */
    size_t kept = 0;

    if (last == NULL) {
        return false;
    }
    for (size_t i = 0; i < load->count; i++) {
        const struct etwas_load_piece piece = load->pieces[i];
        size_t at = last[piece.slot];

        if (at != 0 && can_join(load, &load->pieces[at - 1], &piece)) {
            load->pieces[at - 1].bytes += piece.bytes;
            load->pieces[at - 1].events = (uint16_t)(load->pieces[at - 1].events + piece.events);
        } else {
            load->pieces[kept++] = piece;
            last[piece.slot] = kept;
        }
    }
    load->count = kept;
    free(last);
    return true;
}

static bool pieces_grow(struct etwas_load *load)
{
    if (load->count < load->capacity) {
        return true;
    }
    if (load->capacity < ETWAS_LOAD_PIECES) {
        size_t capacity = load->capacity == 0 ? FIRST_PIECES : 2 * load->capacity;
        struct etwas_load_piece *pieces = realloc(load->pieces, capacity * sizeof *pieces);

        if (pieces == NULL) {
            return false;
        }
        load->pieces = pieces;
        load->capacity = capacity;
        return true;
    }
    while (load->count > ETWAS_LOAD_PIECES / 4 * 3 && load->joined_bytes < UINT32_MAX / 4) {
        load->joined_bytes = load->joined_bytes == 0 ? FIRST_JOINED_BYTES : 2 * load->joined_bytes;
        if (!join_pieces(load)) {
            return false;
        }
    }
    return load->count < load->capacity;
}

/*
 * Returns the slot of a processor's events, from 1, which is added if it is new; 0 without memory.
 */
static uint32_t slot_of(struct etwas_load *load, uint32_t processor, bool is_beside)
{
    if (load->slot_of[processor] != 0) {
        return load->slot_of[processor];
    }
    if (!etwas_array_reserve(&load->slots, &load->slot_capacity, load->slot_count + 1,
                             sizeof *load->slots)) {
        return 0;
    }
    load->slots[load->slot_count++] = (struct etwas_load_slot){
        .processor = processor,
        .is_beside = is_beside,
    };
    load->slot_of[processor] = load->slot_count;
    return load->slot_count;
}

static void add_event(struct etwas_load_sum *sum, uint64_t time_ns, uint32_t bytes)
{
    uint64_t interval = time_ns / ETWAS_LOAD_BURST_NS;

    if (interval != sum->interval) {
        sum->interval = interval;
        sum->interval_bytes = 0;
    }
    sum->interval_bytes += bytes;
    if (sum->interval_bytes > sum->burst_bytes) {
        sum->burst_bytes = sum->interval_bytes;
        sum->burst_at_ns = interval * ETWAS_LOAD_BURST_NS;
    }
    sum->events++;
    sum->bytes += bytes;
}

/*
 * Returns the time since the first event. A damaged file may have any time; it never goes back
 * here.
 */
static uint64_t time_of(struct etwas_load *load, int64_t unix_ns)
{
    int64_t since;

    if (load->sum.events == 0) {
        load->first_ns = unix_ns;
    }
    if (!__builtin_sub_overflow(unix_ns, load->first_ns, &since) && since > 0 &&
        (uint64_t)since > load->span_ns) {
        load->span_ns =
            (uint64_t)since < ETWAS_LOAD_LONGEST_NS ? (uint64_t)since : ETWAS_LOAD_LONGEST_NS;
    }
    return load->span_ns;
}

bool etwas_load_open(struct etwas_load *load)
{
    *load = (struct etwas_load){0};
    load->slot_of = calloc(ETWAS_LOAD_PROCESSORS, sizeof *load->slot_of);
    return load->slot_of != NULL;
}

bool etwas_load_add(struct etwas_load *load, int64_t unix_ns, uint32_t processor, bool is_beside,
                    uint32_t record_bytes)
{
    uint32_t bytes = (record_bytes + RECORD_ALIGNMENT - 1u) & ~(RECORD_ALIGNMENT - 1u);
    uint32_t slot = slot_of(load, processor, is_beside);
    uint64_t time_ns;

    if (slot == 0 || !pieces_grow(load)) {
        return false;
    }
    bytes = bytes == 0 ? RECORD_ALIGNMENT : bytes;
    time_ns = time_of(load, unix_ns);
    load->largest = bytes > load->largest ? bytes : load->largest;
    load->pieces[load->count++] = (struct etwas_load_piece){
        .time_ns = time_ns, .bytes = bytes, .slot = (uint16_t)(slot - 1), .events = 1};
    add_event(&load->sum, time_ns, bytes);
    add_event(&load->slots[slot - 1].sum, time_ns, bytes);
    return true;
}

/* ---- rates ----------------------------------------------------------------------------------- */

uint64_t etwas_load_most_bytes(const struct etwas_load *load, uint64_t window_ns)
{
    uint64_t most = 0;
    uint64_t bytes = 0;
    size_t first = 0;

    for (size_t i = 0; i < load->count; i++) {
        bytes += load->pieces[i].bytes;
        while (load->pieces[i].time_ns - load->pieces[first].time_ns > window_ns) {
            bytes -= load->pieces[first++].bytes;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

double etwas_load_rate(const struct etwas_load *load, uint64_t bytes)
{
    return load->span_ns > 0 ? (double)bytes / ((double)load->span_ns / 1e9) : 0;
}

double etwas_load_burst_rate(const struct etwas_load *load, const struct etwas_load_sum *sum)
{
    uint64_t ns = load->span_ns < ETWAS_LOAD_BURST_NS ? load->span_ns : ETWAS_LOAD_BURST_NS;

    return ns > 0 ? (double)sum->burst_bytes / ((double)ns / 1e9) : 0;
}

void etwas_load_free(struct etwas_load *load)
{
    free(load->pieces);
    free(load->slots);
    free(load->slot_of);
    memset(load, 0, sizeof *load);
}
