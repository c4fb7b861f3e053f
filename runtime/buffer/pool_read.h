/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reading a pool from outside, trusting nothing in it: for a reader that holds no lock and no role,
 * while writers and the flusher go on, or have died in the middle of any step. The pool may belong
 * to a session of this process, or be words that were copied from somewhere.
 *
 *     list      the buffers that a slot has, in the order of their claims: within a slot that is
 *               the order of time
 *     inspect   finds how much there is in one of them
 *     records   copies it, and counts the whole records in the copy
 *
 * A buffer is read between two loads of its owner word. If both name the same claim, the data read
 * in between are those that the writers of that claim have committed, if the buffer itself names no
 * other:
 *
 *     current in its slot      up to where the slot's word says
 *     rseq slot, and full      up to its `end`. It is full if the slot's `next_buffer` does not
 *                              name it: the next buffer is claimed and was not current yet, and
 *                              there is only one
 *     shared slot              all records with a final marker; records that their writers have not
 *                              finished are left out. A buffer that is not current and in which
 *                              nothing is committed was never current, or is being cleared
 *     shared slot, PINNED, and claimed after its current buffer
 *                              is skipped: its claimer is about to clear it. A buffer pinned for a
 *                              snapshot or a window was current before another became so
 *
 * Every index, offset and size is compared with the bounds given, and every loop has an end.
 * Nothing here allocates, locks, waits or makes a system call: it is async-signal-safe.
 */
#ifndef ETWAS_BUFFER_POOL_READ_H
#define ETWAS_BUFFER_POOL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/control.h"
#include "buffer/owner.h"
#include "buffer/slot.h"

/*
 * The words of a pool. All of it is readable as far as the counts say; its content may be anything.
 */
struct etwas_pool_view {
    const struct etwas_slot *slots; /* the session's slot 0 and the later ones */
    size_t slot_stride;             /* bytes from one to the next, a multiple of 8 */
    uint32_t slot_count;            /* at most ETWAS_OWNER_SLOTS */
    uint32_t rseq_slots;            /* of these: the first ones */
    const struct etwas_buffer_control *controls;
    size_t control_stride;
    const uint64_t *owners;
    /*
     * The same words at a later time: for a pool in use `owners` itself, for copied words a copy
     * that was made after all the others.
     */
    const uint64_t *owners_after;
    const uint8_t *region;
    uint32_t buffer_bytes; /* a multiple of 8, more than a buffer's header */
    uint32_t buffer_count; /* those in use */
    uint32_t capacity; /* of owners, controls and region: not less than buffer_count, and more where
                              the pool may grow meanwhile */
};

/*
 * Returns the view of a pool of this process as it is now; the pool may grow afterwards. Its
 * session has not ended.
 */
struct etwas_pool_view etwas_pool_view_of(const struct etwas_pool *pool);

/* ---- which there are ------------------------------------------------------------------------- */

struct etwas_held_buffer {
    uint64_t owner;
    uint32_t buffer;
};

/*
 * Lists the buffers that are not free, sorted by ticket. `list` has room for buffer_count. Returns
 * their number.
 */
uint32_t etwas_pool_read_list(const struct etwas_pool_view *view, struct etwas_held_buffer *list);

/* ---- one of them ----------------------------------------------------------------------------- */

enum etwas_pool_found {
    ETWAS_POOL_FOUND_NOTHING, /* it is free, or claimed and not written to yet */
    ETWAS_POOL_FOUND_RECORDS,
    /*
     * another claim has taken it, or is about to: its records are in the session's accounts, and
     * not here
     */
    ETWAS_POOL_FOUND_CHANGED,
    ETWAS_POOL_FOUND_DAMAGED, /* its words, its slot's or its records are impossible */
};

struct etwas_found_buffer {
    uint64_t owner; /* the claim it was found under */
    uint32_t buffer;
    uint32_t slot;
    uint32_t limit_units; /* no record of it ends after this */
    /*
     * Records that the words say are in it. If the buffer CHANGED: those that it had, as far as
     * they could be read.
     */
    uint32_t committed;
    bool is_current;
    bool is_abandoned; /* shared slots: the flusher abandoned it */

    /*
     * Records before it are not wanted. etwas_pool_read_inspect stores ETWAS_FIRST_UNIT; the caller
     * may raise it before etwas_pool_read_records, which counts from there on.
     */
    uint32_t begin_units;
    uint32_t end_units; /* where whole records end */
    uint32_t records;   /* whole ones between begin_units and end_units */
    uint32_t before;    /* whole ones before begin_units */
    int64_t newest;     /* no counted record has a later stamp; INT64_MIN: none has a stamp */
};

/*
 * Fills in *found, except the members that etwas_pool_read_records finds. `held` is an entry of the
 * list.
 */
enum etwas_pool_found etwas_pool_read_inspect(const struct etwas_pool_view *view,
                                              const struct etwas_held_buffer *held,
                                              struct etwas_found_buffer *found);

/*
 * Copies the records of a buffer in which etwas_pool_read_inspect has found some, and walks over
 * the copy. `to` has room for a buffer without its header and is aligned to 8 bytes. Returns
 * DAMAGED if a record in it is impossible, or begin_units is inside one. The records before it are
 * whole, copied and counted, unless it is before begin_units. A record of the right size and with
 * wrong content is left out, and those after it are kept. Records that are committed and not
 * counted are such ones, or follow one that is unfinished or damaged: committed - before - records,
 * if that is not negative.
 */
enum etwas_pool_found etwas_pool_read_records(const struct etwas_pool_view *view,
                                              struct etwas_found_buffer *found, void *to);

/* Whether the buffer is still under that claim. */
bool etwas_pool_read_is_unchanged(const struct etwas_pool_view *view,
                                  const struct etwas_found_buffer *found);

/*
 * For a copy of a shared slot's records, `units` long, that was made while writers went on: calls
 * `is_zero` for each unit of zeroes in front of a record, with its distance from the first record.
 * Where it returns false, because there is something now, the copy is marked: what follows is
 * unknown. `is_zero` reads later than everything was copied.
 */
void etwas_pool_read_zeroes_again(uint8_t *records, uint32_t units,
                                  bool (*is_zero)(void *context, uint32_t unit), void *context);

#endif
