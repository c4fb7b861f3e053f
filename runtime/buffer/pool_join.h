/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool of another process's session as a guest has it: block and region of its file in one
 * piece, in address space that is kept for the entry and never unmapped. Two threads on one
 * processor take turns, whatever process they belong to, and slots hold only indices. So a guest's
 * writers work like the host's.
 *
 * A guest leaves when the session's gates are closed. Its mapping is then replaced by zeroes:
 *
 *     the gates are closed; no thread of this process is on the slow path       (G1)
 *     everything reserved in the guest's own slot is committed
 *     own fence of sequences: a sequence that found a gate open has committed, or will abort
 *     zeroes replace the file
 *
 * So a writer that is suspended between finding a slot and its sequence finds gate 0 there and
 * returns that the session does not run. If the gates were open, or without the fence, a writer
 * that had passed the gate would commit into the zeroes and report success. The next session in
 * that space has another gate: a random one.
 */
#ifndef ETWAS_BUFFER_POOL_JOIN_H
#define ETWAS_BUFFER_POOL_JOIN_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/collect.h"
#include "buffer/pool.h"

/* A pool as its host describes it to a guest, which has checked all of it. */
struct etwas_pool_outline {
    int descriptor;
    uint64_t block_at;               /* in the file, a multiple of the page size */
    uint64_t bytes;                  /* of block and region, to the end of the region */
    uint64_t region_at;              /* in the block */
    struct etwas_pool_layout layout; /* etwas_pool_lay_out's */
    uint32_t slot_count;
    uint32_t rseq_slots;
    uint32_t guest_slot; /* index of this guest's own slot among all slots */
    uint32_t kind;       /* kind of the rseq slots … */
    uint32_t extra_kind; /* … and of the others */
    uint32_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t region_buffers;
    uint32_t extra_buffers;
    uint32_t nodes;
    uint32_t stripe_shift;
    bool buffering;
};

/*
 * Attaches a pool to a guest's entry (ETWAS_SESSION_ENTRIES and later) that has none. Returns false
 * if there is not enough memory. One thread at a time; attachments have been prepared
 * (etwas_slots_prepare).
 */
bool etwas_pool_join(uint32_t entry, const struct etwas_pool_outline *outline);

/*
 * Detaches the pool. Returns false, with nothing changed, if a gate is open, if a thread of this
 * process is on the slow path or has not committed everything it reserved in the guest's slot, or
 * if the system refuses the fence. The caller may then try again at any time.
 */
bool etwas_pool_leave(uint32_t entry);

/* Closes the gates of a pool with a dead host. */
void etwas_pool_close_gates(uint32_t entry);

/* Called in a fork's child: drops the pools that the parent has joined. Async-signal-safe. */
void etwas_guest_pools_forget(void);

/* ---- threads on the slow path ---------------------------------------------------------------- */

/*
 * Number of threads of this process on the slow path; above it, from bit 32 on, how often this
 * process has become the child of a fork.
 */
extern struct etwas_guest_inside {
    uint64_t word;
} __attribute__((aligned(64))) etwas_guests_inside[ETWAS_GUEST_SESSIONS]
    __attribute__((visibility("hidden")));

/*
 * Returns the counter of the attachment's threads. NULL: the session is hosted by this process,
 * whose slots count their own slow-path writers.
 */
static inline uint64_t *etwas_guest_inside(const struct etwas_attachment *attachment)
{
    ptrdiff_t guest = attachment - etwas_attachment_of(ETWAS_SESSION_ENTRIES);

    return guest >= 0 && guest < ETWAS_GUEST_SESSIONS ? &etwas_guests_inside[guest].word : NULL;
}

/*
 * Counts a writer in before it reads the gate and then the pool. G1, full fence: pairs with that of
 * etwas_pool_leave. So a writer that enters sees the guest that leaves, or is seen by it. Returns
 * the argument for etwas_guest_exit.
 */
static inline uint64_t etwas_guest_enter(uint64_t *inside)
{
    uint64_t before = 0;

    if (inside != NULL) {
        before = ck_pr_faa_64(inside, 1);
        ck_pr_fence_memory();
    }
    return before;
}

/*
 * Counts a writer out. In the child of a fork that happened meanwhile the counter is a new one, and
 * stays as it is.
 */
static inline void etwas_guest_exit(uint64_t *inside, uint64_t entered)
{
    uint64_t word;

    if (inside == NULL) {
        return;
    }
    ck_pr_fence_release();
    word = ck_pr_load_64(inside);
    while (word >> 32 == entered >> 32 && !ck_pr_cas_64_value(inside, word, word - 1, &word)) {
    }
}

/*
 * The slots of a shared session's guests: which guest has which, and how the slot of a dead guest
 * is repaired.
 *
 * A thread that is killed in a sequence leaves nothing half done. In a shared slot it may, and a
 * dead writer could not be distinguished from a slow one; so each guest has its own shared slot.
 * REAP repairs it when no thread of the guest's process can be inside any more:
 *
 *     the process died with                         result
 *     a slow-path writer counted in                 counted out
 *     a claimed buffer, not installed               released
 *     an installed one, the one before not retired  both are complete: no writer is left
 *     a place reserved, its size not stored         it is zeroes: skipped
 *     a place reserved, its size stored             skipped
 *     a record finished, not committed              recorded, though its caller never learnt it
 *
 * So the records of a buffer are moved together, its commit word is set to their number, and the
 * slot can be used by another guest. Nothing here waits.
 *
 *     NONE ──claim──▶ LIVES ──died──▶ DIED ──reap──▶ NONE
 */

/*
 * For the host thread that accepts guests, one at a time. `claim` reserves a slot that no guest
 * has, before the guest learns of it; *number receives its number. It returns false if all are in
 * use or the session is not shared. `died` reports that the guest's process is dead, or has never
 * joined; the flusher repairs the slot soon.
 */
bool etwas_guest_slot_claim(struct etwas_pool *pool, uint32_t *number);
void etwas_guest_slot_died(struct etwas_pool *pool, uint32_t number);

/* REAP of all guests' slots whose guests have died. Role held. */
void etwas_collector_reap(struct etwas_collector *collector);

#endif
