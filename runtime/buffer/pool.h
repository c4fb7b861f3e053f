/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool: the buffers of one session and who owns which.
 *
 *     region   [buffer 0][buffer 1] … address space for the maximum; only what is used takes memory
 *     control  owner words, the free set, two cache lines a buffer, one lane a slot. Kept when the
 *              session ends: a writer on the slow path of a slot with restartable sequences may
 *              still look at it, and finds out by the gate that it must not believe it
 *
 * The life of a buffer in a shared slot:
 *
 *     FREE ──claim──▶ HELD by one writer ──install──▶ current ──switch──▶ full, HELD
 *      ▲                │ (another was faster)                             │
 *      └────────────────┴──────── release ◀── flusher wrote it ◀───────────┤
 *                                                                          │
 *     buffering mode: full and complete ──claim (the oldest)──▶ HELD ◀─────┘
 *
 * and in a slot with restartable sequences (switch_sequence.c):
 *
 *     FREE ──CLAIM──▶ HELD, the slot's spare ──ADOPT──▶ current ──ADOPT of the next──▶ full, HELD
 *      ▲                                                                               │
 *      └──────────── release ◀── flusher wrote it ◀────────────────────────────────────┤
 *                                                                                      │
 *     buffering mode: CLOSED ──CLAIM (the oldest)──▶ HELD                              │
 *                       ▲──────────────────────────── CLOSE ◀──────────────────────────┘
 *
 * The commit word counts what writers of a shared slot have finished in a buffer:
 *
 *     63 abandoned | 62 closed | 61..32 records | 31..0 bytes
 *
 * Whoever takes a buffer out of its slot adds the unused rest to the bytes and sets `closed`; so
 * "closed, and bytes = capacity" says that nobody will touch the buffer any more, whoever asks.
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
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/free_set.h"
#include "buffer/owner.h"
#include "buffer/slot.h"
#include "platform/memory.h"

enum {
    ETWAS_POOL_MAXIMUM_BUFFERS = ETWAS_NO_BUFFER - 1
};

#define ETWAS_COMMIT_ABANDONED (UINT64_C(1) << 63)
#define ETWAS_COMMIT_CLOSED (UINT64_C(1) << 62)
#define ETWAS_COMMIT_ONE_RECORD (UINT64_C(1) << 32)

static inline uint32_t etwas_commit_bytes(uint64_t commit)
{
    return (uint32_t)commit;
}

static inline uint32_t etwas_commit_records(uint64_t commit)
{
    return (uint32_t)(commit >> 32) & 0x3FFFFFFF;
}

/*
 * Stored before the buffer becomes current, constant while it is in use. A shared slot's claimer
 * stores what the second part asks for, a sequence the third.
 */
struct etwas_buffer_link {
    uint32_t previous; /* the buffer that was current before, ETWAS_NO_BUFFER: none */

    uint32_t previous_end_units; /* where its records end */
    int64_t previous_newest;     /* no record in it is newer */

    uint64_t previous_owner;     /* its owner word while it was current */
    uint64_t stored_before;      /* records the slot had stored before this buffer */
    uint64_t overwritten_before; /* records that its claims had replaced by then, this one's too */
};
_Static_assert(sizeof(struct etwas_buffer_link) == 40, "copied by sequences, in words");

/* Where and how a buffer ended: stored when another takes its place. */
struct etwas_buffer_end {
    int64_t newest; /* no record is newer */
    uint32_t units;
    uint32_t records; /* sequences only; in a shared slot the commit word counts */
};
_Static_assert(sizeof(struct etwas_buffer_end) == 16, "copied by sequences, in words");

struct etwas_buffer_control {
    uint64_t commit; /* shared slots; 0 in a life with sequences */
    struct etwas_buffer_link link;
    struct etwas_buffer_end end;

    /* The flusher's notes (collect.c); others only read them for the statistics. */
    uint32_t next_pending;
    uint32_t written_units;   /* by a flush, while the buffer was current; 0: none */
    uint32_t written_records; /* likewise */
    uint32_t set_aside;       /* abandoned: 1 + records found whole */
    uint32_t kept;            /* of these, not yet written or given up */
    uint64_t seen_ns;         /* when it was first found closed but not complete; 0: never */
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct etwas_buffer_control) == 128, "two cache lines a buffer");
_Static_assert(offsetof(struct etwas_buffer_control, next_pending) == 64, "the flusher's line");

/* A slot's own counters, so that processors that lose events do not fight for a line. */
struct etwas_pool_lane {
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
    /* Constant for the life of the process: a writer may follow them after the session's end. */
    uint64_t *owners;
    uint64_t *free_set;
    struct etwas_buffer_control *buffers;
    struct etwas_pool_lane *lanes;
    size_t control_bytes;
    uint32_t capacity; /* of owners, free_set and buffers */

    /* Constant while the session runs. */
    uint32_t session;    /* its place */
    uint32_t first_slot; /* row of the session's slot 0: 0, or the extra row where it is the only */
    uint32_t lane_count; /* slots */
    uint32_t sequences; /* slots with restartable sequences: the first ones, all but one, or none */
    uint32_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t region_buffers; /* that have address space: no maximum is greater */
    uint32_t reserve;        /* free buffers the flusher keeps by taking new ones into use */
    uint32_t extra_buffers;  /* buffering mode: the extra slot takes no more from the others */
    bool circular;           /* buffering mode */
    struct etwas_memory memory;

    /* Shared by all who claim and release. */
    uint64_t ticket __attribute__((aligned(64))); /* of the next claim */
    uint64_t allocated;                           /* buffers ever put into use: NumberOfBuffers */
    uint64_t closed_hand;                         /* where the oldest CLOSED one is: oldest.c */
    uint64_t complete_hand;                       /* and the oldest of shared slots */
    uint32_t maximum_buffers;                     /* set by etwas_pool_set_maximum */
    uint32_t free_count;   /* an int32_t: no buffer is FREE before it is counted, nor counted out
                            before it is claimed; the flusher corrects what went wrong */
    uint32_t shared_held;  /* buffers of shared slots, about */
    uint32_t backlog_full; /* real time: nothing is drained until a consumer comes; the flusher's */

    /* The flusher sleeps on `wake`. Below it, values of it, to wake the flusher once a pass. */
    struct ck_ec32 wake __attribute__((aligned(64)));
    uint32_t pass_began; /* when the flusher's last pass began */
    uint32_t woken;      /* pass_began of the last pass after which somebody has woken it */

    /* Events whose fate is settled. Changed between settle_begin and settle_end. */
    uint64_t settled[ETWAS_OUTCOMES] __attribute__((aligned(64)));
    uint64_t settled_recorded; /* so many of these count as recorded too: see settle_recorded */
    uint64_t shut_stored;      /* what sequences had stored in slots that are shut */
    uint64_t shut_overwritten; /* and replaced */
    uint64_t settles_begun;
    uint64_t settles_ended;
};

struct etwas_pool_options {
    uint32_t session;      /* its place in the table: bookkeeping is kept a place */
    uint32_t buffer_bytes; /* a multiple of the page size, at most 16 MiB */
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t capacity;   /* the most the maximum may become; less than it, or 0: it stays */
    uint32_t first_slot; /* row of slot 0: etwas_slot_count for a session with one slot, else 0 */
    uint32_t slots;
    uint32_t sequences; /* how many of the slots have restartable sequences: slots - 1, or 0 */
    bool circular;
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

static inline bool etwas_pool_has_sequences(const struct etwas_pool *pool, uint32_t slot)
{
    return slot < pool->sequences;
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
 * Ordering: none is needed. Every maximum ever in force is within the region, whose size is
 * constant, and the bookkeeping; so who grows by a maximum that has just been replaced takes a
 * buffer that exists. `allocated` changes by exchanges from the count that was compared: each
 * writer or flusher that had read the old maximum takes at most one buffer beyond a lower one,
 * once. And who finds nothing free and reads a maximum that is just being raised loses his event
 * before the raise.
 */
uint32_t etwas_pool_set_maximum(struct etwas_pool *pool, uint32_t maximum);

/*
 * A sequence was interrupted. The pool may be of a session that came after: then the count is a
 * little wrong, nothing else. In a fork's child, whose slots are wiped, there is none.
 */
static inline void etwas_pool_count_restart(struct etwas_pool *pool, uint32_t slot)
{
    if (pool != NULL) {
        ck_pr_inc_64(&pool->lanes[slot].restarts);
    }
}

/*
 * ---- claiming: shared slots --------------------------------------------------------------------
 */

/*
 * A buffer of one's own for `slot`, a shared one: zeroed but for its first 72 bytes, commit word 0.
 * A free one; else a new one below the maximum; else, in buffering mode, the oldest that is closed
 * and complete. False: there is none of these, and *buffer is ETWAS_NO_BUFFER.
 */
bool etwas_pool_claim(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer);

/*
 * Says that `buffer`, claimed by the caller, is about to become current. After the slot word is
 * read.
 */
void etwas_pool_hold(struct etwas_pool *pool, uint32_t slot, uint32_t buffer);

/* Gives back a held buffer of which `used_units` were written (ETWAS_FIRST_UNIT: none). */
void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units);

/* After taking `buffer` out of its slot: adds the unused rest to its commit word. Exactly once. */
void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units);

/*
 * ---- claiming: what both protocols need --------------------------------------------------------
 */

/*
 * A buffer that is free, and its owner word. Its bit is taken: who does not claim it puts it back.
 */
bool etwas_pool_find_free(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/*
 * How many buffers are free, about. Too few, even below 0, when the flusher corrected the count
 * between a claim and its counting: until its next pass.
 */
static inline int32_t etwas_pool_free_about(const struct etwas_pool *pool)
{
    return (int32_t)ck_pr_load_32(&pool->free_count);
}

/*
 * A flight recorder in which nothing seems to be free, nor to come into use: it overwrites without
 * looking for either.
 */
static inline bool etwas_pool_has_wrapped(const struct etwas_pool *pool)
{
    return pool->circular && etwas_pool_free_about(pool) <= 0 &&
           ck_pr_load_64(&pool->allocated) >= ck_pr_load_32(&pool->maximum_buffers);
}

/*
 * A FREE buffer whatever its bit says, and its owner word. Its bit may be missing because who took
 * it sleeps, or who brought the buffer into use has not come to hold or offer it. For who would
 * lose an event otherwise: one pass over the owner words, if the count says that there is one.
 */
bool etwas_pool_find_hidden(const struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* One more buffer from the region, counted as free. False: the maximum is reached. */
bool etwas_pool_take_new(struct etwas_pool *pool, uint32_t *buffer);

/*
 * ---- claiming: what a flight recorder overwrites (oldest.c) ------------------------------------
 *
 * Each finds the oldest buffer of its kind, and its owner word. Constant work but for the buffers
 * it passes that are not of its kind.
 */

/* A CLOSED one. */
bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* One of a shared slot that is closed and complete. */
bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

static inline bool etwas_pool_is_of_shared_slot(const struct etwas_pool *pool, uint64_t owner)
{
    return etwas_owner_state(owner) != ETWAS_OWNER_FREE &&
           !etwas_pool_has_sequences(pool, etwas_owner_slot(owner));
}

/* After a claim of a free buffer. */
static inline void etwas_pool_took_free(struct etwas_pool *pool)
{
    ck_pr_dec_32(&pool->free_count);
}

/*
 * After a buffer has become current, and the one before it can be collected: wakes the flusher when
 * few are free. Not before: its pass could come too early for that one, and the next wake too late.
 */
void etwas_pool_wake_if_few(struct etwas_pool *pool);

/*
 * ---- the flusher's ------------------------------------------------------------------------------
 */

/*
 * Takes a new buffer into use and has its memory provided. For the flusher; false at the maximum.
 */
bool etwas_pool_grow(struct etwas_pool *pool);

/* Finds free buffers whose bits were lost, and counts anew unless somebody counts meanwhile. */
void etwas_pool_mend_free_set(struct etwas_pool *pool);

/*
 * Whether no writer of a shared slot can still touch any buffer. For the owner of the role, once
 * every slot is shut.
 */
bool etwas_pool_is_quiet(const struct etwas_pool *pool);

/* Whether everything ever reserved in the buffer is committed, and nothing more can be. */
static inline bool etwas_pool_is_complete(const struct etwas_pool *pool, uint64_t commit)
{
    return (commit & ETWAS_COMMIT_CLOSED) != 0 &&
           etwas_commit_bytes(commit) == pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
}

/*
 * Free buffers at which the flusher is woken: half of what is in use, so that it has time for the
 * rest.
 */
static inline uint32_t etwas_pool_low_water(const struct etwas_pool *pool)
{
    return (uint32_t)ck_pr_load_64(&pool->allocated) / 2;
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
 * Wakes the flusher unless somebody has, and has come back from it, since its last pass began: who
 * is held while he wakes it keeps nobody else from that. Async-signal-safe.
 */
void etwas_pool_wake_flusher(struct etwas_pool *pool);

/*
 * Between these two, events move from a buffer's commit word into `settled`; a reader of the
 * statistics that meets such a moment looks again, so that no event is counted twice or not at all.
 */
static inline void etwas_pool_settle_begin(struct etwas_pool *pool)
{
    ck_pr_inc_64(&pool->settles_begun);
    ck_pr_fence_memory();
}

static inline void etwas_pool_settle_end(struct etwas_pool *pool)
{
    ck_pr_fence_memory();
    ck_pr_inc_64(&pool->settles_ended);
}

static inline void etwas_pool_settle(struct etwas_pool *pool, enum etwas_outcome outcome,
                                     uint64_t events)
{
    ck_pr_add_64(&pool->settled[outcome], events);
}

/*
 * The same for events that count as recorded already, and stay so when they are written: what
 * sequences stored, and what was settled as written before.
 */
static inline void etwas_pool_settle_recorded(struct etwas_pool *pool, enum etwas_outcome outcome,
                                              uint64_t events)
{
    if (outcome != ETWAS_OUTCOME_WRITTEN) {
        etwas_pool_settle(pool, outcome, events);
        ck_pr_add_64(&pool->settled_recorded, events);
    }
}

/*
 * Events that were settled as written, and are so no more: a circular file replaced them, no
 * consumer came for them, or the system found out late that it could not keep them.
 */
static inline void etwas_pool_rebook_written(struct etwas_pool *pool, enum etwas_outcome outcome,
                                             uint64_t events)
{
    if (events != 0) {
        etwas_pool_settle_begin(pool);
        etwas_pool_settle_recorded(pool, outcome, events);
        etwas_pool_settle_end(pool);
    }
}

/*
 * Where a writer that finds no buffer counts its event lost, and what it returns (R76, R170). A
 * change of backlog_full is seen soon: relaxed.
 */
static inline uint64_t *etwas_pool_loss(struct etwas_pool *pool, uint32_t slot, uint32_t *code)
{
    struct etwas_pool_lane *lane = &pool->lanes[slot];
    bool backlog_full = ck_pr_load_32(&pool->backlog_full) != 0;

    *code = backlog_full ? ERROR_LOG_FILE_FULL : ERROR_NOT_ENOUGH_MEMORY;
    return backlog_full ? &lane->lost_backlog_full : &lane->lost_no_buffer;
}

/* ---- pinning, for snapshots: the flusher's role only ---- */

/*
 * Keeps a buffer in the life `owner` from being claimed: a CLOSED one, or one of a shared slot.
 * False when it has been claimed already, or nothing is committed in it yet. `owner` was loaded
 * before.
 */
bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);
void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);

/* ---- statistics ---- */

struct etwas_pool_counts {
    uint64_t recorded; /* in the file, or in buffers not yet written */
    uint64_t overwritten;
    uint64_t lost_no_buffer;
    uint64_t lost_backlog_full;
    uint64_t settled[ETWAS_OUTCOMES];
    uint64_t committed_rseq; /* ever, whatever became of them */
    uint64_t committed_shared;
    uint64_t restarts;
    uint32_t allocated;
    uint32_t free;
};

/*
 * Consistent at one moment between the call and the return, unless a thread is stopped in the
 * middle of a settlement, or there is no moment without one: for the one it waits some seconds, for
 * the other it tries some hundred times and a tenth of a second at least, and then it counts what
 * it sees.
 */
void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts);

#endif
