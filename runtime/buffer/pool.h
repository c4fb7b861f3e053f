/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool: the buffers of one session and who owns which.
 *
 *     region   [buffer 0][buffer 1] … address space for the maximum; only what is used takes memory
 *     control  owner words, the free set, two cache lines a buffer, one a slot. Kept when the
 *              session ends: a writer on the slow path of an rseq slot may still look at it, and
 *              finds out by the gate that it must not believe it
 *
 * The states of a buffer are drawn in docs/design.md.
 *
 * Which operations may run together: claim, release and retire, from any number of threads and
 * signal handlers (lock-free, no waiting, no system call but a futex wake, by who finds the flusher
 * wanted and not yet woken since its last pass). Whoever calls claim or release keeps the pool
 * alive by being a visitor of a shared slot of the session, or by holding the session's flusher
 * role. Limits: ETWAS_POOL_MAXIMUM_BUFFERS buffers.
 */
#ifndef ETWAS_BUFFER_POOL_H
#define ETWAS_BUFFER_POOL_H

#include <ck_ec.h>
#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/control.h"
#include "buffer/owner.h"
#include "buffer/slot.h"
#include "platform/memory.h"

enum {
    ETWAS_POOL_MAXIMUM_BUFFERS = ETWAS_NO_BUFFER - 1
};

/* A slot's own counters, so that processors that lose events do not fight for a line. */
struct etwas_slot_counters {
    uint64_t lost_no_buffer;
    uint64_t lost_backlog_full;
    uint64_t restarts; /* of sequences */
} __attribute__((aligned(64)));

enum etwas_outcome {
    ETWAS_OUTCOME_WRITTEN,     /* in the file */
    ETWAS_OUTCOME_OVERWRITTEN, /* buffering mode, circular file: replaced by newer events */
    ETWAS_OUTCOME_WRITE_ERROR,
    ETWAS_OUTCOME_FILE_FULL,
    ETWAS_OUTCOME_ABANDONED,
    ETWAS_OUTCOME_UNDELIVERED, /* real time: no consumer took it, and it is in no file */
    ETWAS_OUTCOMES
};

struct etwas_pool {
    /* Constant while the process runs: a writer may follow them after the session's end. */
    uint64_t *owners;
    uint64_t *free_set;
    struct etwas_buffer_control *buffers;
    struct etwas_slot_counters *counters;
    size_t control_bytes;
    uint32_t capacity; /* of owners, free_set and buffers */

    /* Constant while the session runs. */
    uint32_t session;    /* its entry in the table */
    uint32_t first_slot; /* row of the session's slot 0: 0, or the extra row where it is the only */
    uint32_t slot_count;
    uint32_t rseq_slots; /* of these: the first ones, all but the last, or none */
    uint32_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t region_buffers; /* that have address space: no maximum is greater */
    uint32_t reserve;        /* free buffers the flusher keeps by taking new ones into use */
    uint32_t extra_buffers;  /* buffering mode: the extra slot takes no more from the others */
    bool buffering;          /* buffering mode: a flight recorder */
    struct etwas_memory memory;

    /* Shared by all who claim and release. */
    uint64_t ticket __attribute__((aligned(64))); /* of the next claim */
    uint64_t allocated;                           /* buffers ever put into use: NumberOfBuffers */
    uint64_t closed_hand;                         /* where the oldest CLOSED one is: oldest.c */
    uint64_t complete_hand;                       /* and the oldest of shared slots */
    uint32_t maximum_buffers;                     /* set by etwas_pool_set_maximum */
    uint32_t free_count;   /* FREE buffers: each is counted before it is FREE, and until after it is
                              claimed. An int32_t, which the flusher corrects */
    uint32_t shared_held;  /* buffers of shared slots, about */
    uint32_t backlog_full; /* real time: nothing is drained until a consumer comes; the flusher's */

    /* The flusher sleeps on `wake`. Below it, values of it, to wake the flusher once a pass. */
    struct ck_ec32 wake __attribute__((aligned(64)));
    uint32_t pass_began; /* when the flusher's last pass began */
    uint32_t woken;      /* pass_began of the last pass after which somebody has woken it */

    /* Events whose fate is settled. Changed between settle_begin and settle_end. */
    uint64_t settled[ETWAS_OUTCOMES] __attribute__((aligned(64)));
    uint64_t settled_recorded; /* so many of these count as recorded too: see settle_recorded */
    uint64_t shut_stored;      /* what rseq slots had stored before they were shut */
    uint64_t shut_overwritten; /* and replaced */
    uint64_t settles_begun;
    uint64_t settles_ended;
};

struct etwas_pool_options {
    uint32_t session;      /* its entry in the table, which keeps the bookkeeping */
    uint32_t buffer_bytes; /* a multiple of the page size, at most 16 MiB */
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t capacity;   /* the most the maximum may become; less than it, or 0: it stays */
    uint32_t first_slot; /* row of slot 0: etwas_slot_count for a session with one slot, else 0 */
    uint32_t slots;
    uint32_t rseq_slots; /* how many of the slots have restartable sequences: slots - 1, or 0 */
    bool buffering;
    bool large_pages; /* huge pages where the system grants them */
};

/* NULL when there is not enough memory. The minimum is touched: using it costs no page fault. */
struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options);
void etwas_pool_destroy(struct etwas_pool *pool);

/* In a fork's child: its writers find zeroes where the pool was. Async-signal-safe. */
static inline void etwas_pool_forget(const struct etwas_pool *pool)
{
    etwas_memory_forget(&pool->memory);
}

/* Leaves the pool as it is for ever, because a writer may still be in it. */
void etwas_pool_leak(struct etwas_pool *pool);

static inline bool etwas_pool_is_rseq_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return slot < pool->rseq_slots;
}

/* Where the session's slot of this index is. */
static inline struct etwas_slot *etwas_pool_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return etwas_slot_of(pool->session, pool->first_slot + slot);
}

/* The capacity to ask for, so that UPDATE can raise `maximum`: within what the machine has. */
uint32_t etwas_pool_capacity_for(uint32_t maximum, uint32_t buffer_bytes);

/*
 * Changes how many buffers may come into use, and returns what is in force: `maximum`, brought
 * between the session's minimum and the pool's capacity (R68). Writers write meanwhile. Buffers in
 * use stay, also above the maximum; then nothing grows until it is raised (R70, R71). For the owner
 * of the role.
 *
 * Ordering: none is needed. Whichever maximum a writer reads, it is within the region and the
 * bookkeeping: the buffer he takes exists. `allocated` is exchanged from the value that was compared
 * with the maximum, so who had read the old one takes at most one buffer beyond a lower new one.
 * Who reads the old one while it is raised loses his event as if he had come before.
 */
uint32_t etwas_pool_set_maximum(struct etwas_pool *pool, uint32_t maximum);

/* Whether everything ever reserved in the buffer is committed, and nothing more can be. */
static inline bool etwas_pool_is_complete(const struct etwas_pool *pool, uint64_t commit)
{
    return (commit & ETWAS_COMMIT_CLOSED) != 0 &&
           etwas_commit_bytes(commit) == pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
}

static inline bool etwas_pool_is_of_shared_slot(const struct etwas_pool *pool, uint64_t owner)
{
    return etwas_owner_state(owner) != ETWAS_OWNER_FREE &&
           !etwas_pool_is_rseq_slot(pool, etwas_owner_slot(owner));
}

static inline uint8_t *etwas_pool_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return pool->memory.region + (size_t)buffer * pool->buffer_bytes;
}

/*
 * The flusher begins a pass: whoever wants it from here on wakes it anew. Returns what to wait with
 * after the pass.
 */
uint32_t etwas_pool_begin_pass(struct etwas_pool *pool);

/*
 * Wakes the flusher, unless somebody has since its last pass began. He counts only once he is back
 * from the system call: a thread that is held before it keeps nobody else from waking.
 * Async-signal-safe.
 */
void etwas_pool_wake_flusher(struct etwas_pool *pool);

/* ---- pinning, for snapshots: the flusher's role only ---- */

/*
 * Keeps a buffer under the claim `owner` from being claimed: a CLOSED one, or one of a shared slot.
 * False when it has been claimed already, or nothing is committed in it yet. `owner` was loaded
 * before.
 */
bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);
void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);

#endif
