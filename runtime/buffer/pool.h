/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool: the buffers of one session and who owns which.
 *
 *     region   [buffer 0][buffer 1] … address space for the maximum; only what is used takes memory
 *     control  one cache line a buffer, one owner word a buffer, one lane a slot
 *
 * The life of a buffer:
 *
 *     free ──claim──▶ held by one writer ──install──▶ current in a slot ──switch──▶ closed
 *      ▲                    │ (another was faster)                                    │
 *      └────────────────────┴──────────── release ◀── flusher wrote it ◀──────────────┤
 *                                                                                     │
 *     buffering mode: closed and complete ──claim (the oldest)──▶ held by one writer ◀┘
 *
 * The commit word counts what writers have finished in a buffer:
 *
 *     63 abandoned | 62 closed | 61..32 records | 31..0 bytes
 *
 * Whoever takes a buffer out of its slot adds the unused rest to the bytes and sets `closed`; so
 * "closed, and bytes = capacity" says that nobody will touch the buffer any more, whoever asks.
 *
 * Which operations may run together: claim, release and retire, from any number of threads and
 * signal handlers (lock-free, no waiting, no system call but one futex wake per low-water
 * crossing). Whoever calls claim or release keeps the pool alive by being a visitor of a slot of
 * the session, or by holding the session's flusher role. Limits: ETWAS_POOL_MAXIMUM_BUFFERS
 * buffers.
 */
#ifndef ETWAS_BUFFER_POOL_H
#define ETWAS_BUFFER_POOL_H

#include <ck_ec.h>
#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

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

struct etwas_buffer_control {
    uint64_t commit;

    /* Stored by whoever claimed the buffer before it installs it; constant while it is in use. */
    int64_t previous_newest;     /* no record in the previous buffer is newer */
    uint32_t previous;           /* the buffer that was current before, ETWAS_NO_BUFFER: none */
    uint32_t previous_end_units; /* where its records end */
    uint32_t slot;

    uint32_t next_free; /* in the free list; by compare-exchange of its head */

    /* The flusher's notes (collect.c); others only read them for the statistics. */
    uint32_t next_pending;
    uint32_t end_units;
    int64_t newest;
    uint32_t set_aside; /* abandoned: 1 + records found whole */
    uint32_t kept;      /* of these, not yet written or given up */
    uint64_t seen_ns;   /* when it was first found closed but not complete; 0: never */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct etwas_buffer_control) == 64, "one cache line a buffer");

/* A slot's own counter, so that processors that lose events do not fight for a line. */
struct etwas_pool_lane {
    uint64_t lost_no_buffer;
} __attribute__((aligned(64)));

enum etwas_outcome {
    ETWAS_OUTCOME_WRITTEN,     /* in the file */
    ETWAS_OUTCOME_OVERWRITTEN, /* buffering mode: replaced by newer events */
    ETWAS_OUTCOME_WRITE_ERROR,
    ETWAS_OUTCOME_FILE_FULL,
    ETWAS_OUTCOME_ABANDONED,
    ETWAS_OUTCOMES
};

struct etwas_pool {
    /* Constant while the session runs. */
    struct etwas_memory memory;
    struct etwas_buffer_control *buffers;
    uint64_t *owners;
    struct etwas_pool_lane *lanes;
    uint32_t lane_count;
    uint32_t buffer_bytes;
    uint32_t maximum_buffers;
    uint32_t reserve; /* free buffers the flusher keeps by taking new ones into use */
    bool circular;    /* buffering mode */

    /* Shared by all who claim and release. */
    uint64_t free_head __attribute__((aligned(64))); /* tag in the high half, index in the low */
    uint32_t free_count;
    uint32_t allocated; /* buffers ever put into use: NumberOfBuffers */
    uint64_t ticket;    /* of the next installation */

    /* The flusher sleeps on `wake`; `wake_wanted` keeps it to one increment per pass. */
    struct ck_ec32 wake __attribute__((aligned(64)));
    uint32_t wake_wanted;

    /* Events whose fate is settled. Changed between settle_begin and settle_end. */
    uint64_t settled[ETWAS_OUTCOMES] __attribute__((aligned(64)));
    uint64_t settles_begun;
    uint64_t settles_ended;
};

struct etwas_pool_options {
    uint32_t buffer_bytes; /* a multiple of the page size, at most 16 MiB */
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t slots;
    bool circular;
};

/* NULL when there is not enough memory. The minimum is touched: using it costs no page fault. */
struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options);
void etwas_pool_destroy(struct etwas_pool *pool);

/*
 * A buffer of one's own: zeroed but for its first 72 bytes, commit word 0. A free one; else a new
 * one below the maximum; else, in buffering mode, the oldest that is closed and complete. False:
 * none.
 */
bool etwas_pool_claim(struct etwas_pool *pool, uint32_t *buffer);

/* Gives back a claimed buffer of which `used_units` were written (ETWAS_FIRST_UNIT: none). */
void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units);

/*
 * Takes a new buffer into use and has its memory provided. For the flusher; false at the maximum.
 */
bool etwas_pool_grow(struct etwas_pool *pool);

/*
 * Says that `buffer`, claimed by the caller, is about to become current. After the slot word is
 * read.
 */
void etwas_pool_hold(struct etwas_pool *pool, uint32_t buffer);

/* After taking `buffer` out of its slot: adds the unused rest to its commit word. Exactly once. */
void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units);

/*
 * Whether no writer can still touch any buffer. For the owner of the role, once every slot is shut.
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
    return ck_pr_load_32(&pool->allocated) / 2;
}

static inline uint8_t *etwas_pool_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return pool->memory.region + (size_t)buffer * pool->buffer_bytes;
}

/* Wakes the flusher unless somebody has since its last pass. Async-signal-safe. */
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

/* ---- pinning, for snapshots: the flusher's role only ---- */

/* The state of an owner word, and the ticket of the installation it belongs to. */
enum etwas_owner_state {
    ETWAS_OWNER_FREE,
    ETWAS_OWNER_USED,
    ETWAS_OWNER_PINNED
};

static inline enum etwas_owner_state etwas_owner_state(uint64_t owner)
{
    return (enum etwas_owner_state)(owner & 3);
}

static inline uint64_t etwas_owner_ticket(uint64_t owner)
{
    return owner >> 2;
}

/*
 * Keeps the buffer installed with `ticket` from being claimed. False when it has been already, or
 * nothing is committed in it yet. `ticket` was loaded from the owner word before.
 */
bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t ticket);
void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t ticket);

/* ---- statistics ---- */

struct etwas_pool_counts {
    uint64_t in_memory; /* recorded, in buffers not yet written */
    uint64_t lost_no_buffer;
    uint64_t settled[ETWAS_OUTCOMES];
    uint32_t allocated;
    uint32_t free;
};

/*
 * Consistent at one moment between the call and the return, unless a writer is stopped in the
 * middle of a settlement: for that it waits a tenth of a second and counts what it sees.
 */
void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts);

#endif
