/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool: the buffers of one session and who owns which.
 *
 *     region   [buffer 0][buffer 1] … address space for the maximum; only what is used takes memory
 *     control  what this process alone knows of the pool, the slots' process-local data first; then a block of words, slots, owner words,
 *              the free set, two cache lines a buffer, ages. Kept when the session ends: a writer on
 *              the slow path of an rseq slot may still look at it, and finds out by the gate that
 *              it must not believe it
 *
 * Block and region hold no pointer. They may lie in a file, which then outlives the process. That of a shared
 * session other processes map, too (pool_join.h). They may write anything there at any time: so each word is read
 * once, and checked before it leads anywhere.
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
#include "platform/memory_grant.h"
#include "platform/processor.h"

enum {
    ETWAS_POOL_MAXIMUM_BUFFERS = ETWAS_NO_BUFFER - 1
};

enum etwas_disposition {
    ETWAS_DISPOSITION_WRITTEN,     /* in the file */
    ETWAS_DISPOSITION_OVERWRITTEN, /* buffering mode, circular file: replaced by newer events */
    ETWAS_DISPOSITION_WRITE_ERROR,
    ETWAS_DISPOSITION_FILE_FULL,
    ETWAS_DISPOSITION_ABANDONED,
    ETWAS_DISPOSITION_UNDELIVERED, /* real time: no consumer took it, and it is in no file */
    ETWAS_DISPOSITIONS
};

enum {
    ETWAS_OLDEST_KINDS = 2,    /* CLOSED buffers, and those of shared slots: oldest.c */
    ETWAS_OLDEST_FAN_BITS = 4, /* 16 are below each candidate: two cache lines */
    ETWAS_OLDEST_LEVELS = 5,
};
_Static_assert((int)ETWAS_POOL_MAXIMUM_BUFFERS <= 1 << ETWAS_OLDEST_FAN_BITS * ETWAS_OLDEST_LEVELS,
               "all buffers are below one hint");

/* Where the parts of a block lie in it. */
struct etwas_pool_layout {
    size_t words;
    size_t slots;
    size_t owners;
    size_t free_set;
    size_t buffers;
    size_t ages;
    size_t candidates;
    size_t bytes;
    uint32_t capacity;                          /* of owners, free_set, buffers and ages */
    uint32_t rows;                              /* of slots, that have candidates of each kind */
    uint32_t levels;                            /* of candidates for a kind */
    uint32_t level_at[ETWAS_OLDEST_LEVELS + 1]; /* where each begins, and where the last one ends */
    uint32_t slot_count;
};

/*
 * Of one row of slots in a session with retention classes (quota.h). What is accounted of its events is
 * booked here besides.
 */
struct etwas_pool_class_row {
    uint64_t recent_group[ETWAS_OLDEST_KINDS]; /* as the pool's, which is that of row 0 */
    uint32_t quota;                            /* so many buffers; set with the maximum */
    uint32_t held;       /* that its slots have or had last and nobody has taken since, about */
    uint32_t extra_held; /* of these, by its extra slot beside rseq slots */
    uint64_t accounted[ETWAS_DISPOSITIONS];
    uint64_t accounted_recorded;
    uint64_t replaced_by_others; /* its records that rseq claims of other rows replaced, … */
    uint64_t replaced_of_others; /* … and those of others that its own did */
} __attribute__((aligned(64)));

/* The first part of the block. */
struct etwas_pool_words {
    /* Shared by all who claim and release. */
    uint64_t ticket;          /* of the next claim */
    uint64_t allocated;       /* buffers ever put into use: NumberOfBuffers */
    uint32_t maximum_buffers; /* set by etwas_pool_set_maximum */
    uint32_t free_count;  /* FREE buffers: each is counted before it is FREE, and until after it is
                              claimed. An int32_t, which the flusher corrects */
    uint32_t shared_held; /* buffers of shared slots but guests', about */
    uint64_t recent_group
        [ETWAS_OLDEST_KINDS]; /* the group in which the oldest was found last: oldest.c */
    uint32_t backlog_full; /* real time: nothing is drained until a consumer comes; the flusher's */
    uint32_t
        guest_reserve; /* buffering mode: so many free ones are for guests' slots; the flusher's */

    /* The flusher sleeps on `wake`. Below it, values of it, to wake the flusher once a pass. */
    struct ck_ec32 wake __attribute__((aligned(64)));
    uint32_t pass_began; /* when the flusher's last pass began */
    uint32_t woken;      /* pass_began of the last pass after which somebody has woken it */

    /* Events whose fate is accounted. Changed between settle_begin and settle_end. */
    uint64_t accounted[ETWAS_DISPOSITIONS] __attribute__((aligned(64)));
    uint64_t accounted_recorded; /* so many of these count as recorded too: see settle_recorded */
    uint64_t account_begins;
    uint64_t account_ends;

    struct etwas_pool_class_row rows[ETWAS_CLASS_ROWS]; /* where there are several */
} __attribute__((aligned(64)));

/* A file that holds a pool; as large as needed, zeroed. */
struct etwas_pool_file {
    int descriptor;
    int nodes_error;   /* of placing the region on memory nodes, if that is wished */
    uint64_t block_at; /* both a multiple of the page size */
    uint64_t region_at;
};

/* Who has a guest's slot. */
enum etwas_guest_slot_state {
    ETWAS_GUEST_NONE,
    ETWAS_GUEST_LIVES, /* as far as is known */
    ETWAS_GUEST_DIED,  /* what it left is still to be put right */
};

/*
 * What the host of a shared session has found that no writer of ours leaves: whoever did it, it costs records. A slot
 * in which something is so is quarantined: its gate is closed, its buffers stay as they are, and its processor's
 * events go to the extra slot.
 */
struct etwas_pool_damage {
    uint64_t slots;
    uint64_t buffers; /* with records that are none, which are left out with those behind them */
    uint64_t stored;  /* by quarantined slots, as far as it was drained */
    uint8_t is_quarantined[ETWAS_MOST_PROCESSORS + 1 + ETWAS_GUEST_SLOTS];
};

struct etwas_pool {
    /* Constant while the process runs: a writer may follow them after the session's end. */
    struct etwas_pool_words *words;
    struct etwas_slot *slots; /* of all processors, and the extra one */
    uint64_t *owners;
    uint64_t *free_set;
    struct etwas_buffer_control *buffers;
    uint64_t *ages;       /* of each buffer: oldest.h */
    uint64_t *candidates; /* oldest.c */
    struct etwas_pool_layout layout;
    size_t address_bytes; /* of address space, from the block on: a region may lie in it */

    /* Constant while the session runs. */
    uint32_t first_slot; /* where the session's slot 0 is: 0, or the extra one if it is the only */
    uint32_t slot_count;
    uint32_t
        used_slots; /* of these the first ones: behind them are guests' that had no guest yet */
    uint32_t rseq_slots;  /* the first ones, all but the extra ones and guests', or none */
    uint32_t guest_slots; /* the last ones */
    uint8_t guests[ETWAS_GUEST_SLOTS]; /* who has each of these: reap.h */
    uint32_t rows;      /* of slots: of no retention class, and of each; 0 and 1: there are none */
    uint32_t row_slots; /* of each row, without its extra slot */
    uint32_t row_least; /* buffers that are each row's own */
    uint32_t row_percents[ETWAS_CLASS_ROWS]; /* its quota of the others; of row 0: what is left */
    uint32_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t region_buffers; /* that have address space: no maximum is greater */
    uint32_t reserve;        /* free buffers the flusher keeps by taking new ones into use */
    uint32_t extra_buffers;  /* buffering mode: the extra slot takes no more from the others */
    uint32_t nodes;          /* memory nodes on which the buffers lie; 0 and 1: nobody looks */
    uint32_t stripe_shift;   /* of these, 1 << stripe_shift buffers on each in turn */
    bool buffering;          /* buffering mode: a flight recorder */
    bool is_shared;          /* with other processes */
    bool is_leaked;          /* for ever as it is */
    struct etwas_memory memory;
    struct etwas_pool_file file; /* of a pool that is in one */
    struct etwas_memory_grant grant;

    /* The host's own account, which it believes; the words have a copy, for recovery. */
    uint64_t accounted[ETWAS_DISPOSITIONS];
    uint64_t accounted_recorded;
    uint64_t account_begins;
    uint64_t account_ends;

    struct etwas_pool_damage damage;
};

struct etwas_pool_options {
    uint32_t session;      /* its entry in the table, which keeps the bookkeeping */
    uint32_t buffer_bytes; /* a multiple of the page size, at most 16 MiB */
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t capacity;   /* the most the maximum may become; less than it, or 0: it stays */
    uint32_t first_slot; /* etwas_slot_count for a session with one slot, else 0 */
    uint32_t slots;
    uint32_t
        rseq_slots; /* how many of the slots have restartable sequences: all but one of each row and the guests', or 0 */
    uint32_t guest_slots; /* how many of the slots are guests' */
    uint32_t rows;        /* 0 and 1: without retention classes */
    uint32_t row_least;
    uint32_t row_percents[ETWAS_CLASS_ROWS]; /* from row 1 on, together at most 100 */
    bool buffering;
    bool is_shared;   /* with other processes: it is in a file */
    bool large_pages; /* huge pages where the system grants them */
    uint32_t memory;  /* ETWAS_MEMORY_*: wishes, of which the pool's `grant` tells */
    const struct etwas_pool_file *file; /* NULL: in memory of the process's own */
};

/*
 * How many buffers lie on one memory node before those of the next, as a power of 2: so many that each node has some
 * of the minimum, and a huge page lies in one stripe if it can; and not so few that the mapping falls into
 * more pieces than a process may have.
 */
uint32_t etwas_pool_stripe_shift(const struct etwas_pool_options *options);

/*
 * What a pool with these options takes of a file, and where the parts of its block lie. False when there is not
 * enough memory.
 */
bool etwas_pool_measure(const struct etwas_pool_options *options, struct etwas_pool_layout *block,
                        size_t *region_bytes);

/* How the block of a pool with so many buffers, rows and slots is laid out. */
struct etwas_pool_layout etwas_pool_lay_out(uint32_t capacity, uint32_t rows, uint32_t slots);

static inline size_t etwas_pool_candidate_bytes(const struct etwas_pool_layout *layout)
{
    return (size_t)ETWAS_OLDEST_KINDS * layout->rows * layout->level_at[layout->levels] *
           sizeof(uint64_t);
}

/* Where the parts of its block are, which is laid out as its layout says. */
void etwas_pool_set_pointers(struct etwas_pool *pool, void *block);

/* NULL when there is not enough memory. Explicit huge pages are there then; nothing else is touched. */
struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options);

/*
 * Touches the minimum, so that using it costs no page fault, and does what else is wished: that takes its time, and a fork may
 * come meanwhile. Once, before anybody logs. False: there is not enough memory.
 */
bool etwas_pool_prefault(struct etwas_pool *pool);
void etwas_pool_destroy(struct etwas_pool *pool);

/* In a fork's child: its writers find zeroes where the pool was. Async-signal-safe. */
void etwas_pool_forget(const struct etwas_pool *pool);

/* Bytes of the control, the pool's own page included. */
size_t etwas_pool_control_bytes(const struct etwas_pool *pool);

/* Leaves the pool as it is for ever, because a writer may still be in it. */
void etwas_pool_leak(struct etwas_pool *pool);

/* So many buffers are in use, and so many may be: never more than there are, whatever somebody wrote there. */
static inline uint32_t etwas_pool_allocated(const struct etwas_pool *pool)
{
    uint64_t allocated = ck_pr_load_64(&pool->words->allocated);
    uint32_t most = ck_pr_load_32(&pool->region_buffers);

    return allocated < most ? (uint32_t)allocated : most;
}

static inline uint32_t etwas_pool_maximum(const struct etwas_pool *pool)
{
    uint32_t maximum = ck_pr_load_32(&pool->words->maximum_buffers);
    uint32_t most = ck_pr_load_32(&pool->region_buffers);

    return maximum < most ? maximum : most;
}

/* Whether it is a buffer, which ETWAS_NO_BUFFER is not. */
static inline bool etwas_pool_has_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return buffer < ck_pr_load_32(&pool->region_buffers);
}

/* Where records may end in a buffer: from the first unit to its last. */
static inline bool etwas_pool_is_end(const struct etwas_pool *pool, uint32_t units)
{
    return units >= ETWAS_FIRST_UNIT && units <= pool->buffer_bytes / ETWAS_UNIT_BYTES;
}

static inline bool etwas_pool_is_rseq_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return slot < pool->rseq_slots;
}

static inline bool etwas_pool_is_guest_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return slot >= pool->slot_count - pool->guest_slots;
}

/* Of the slots that may hold anything. Raised with the role held, read by anybody. */
static inline uint32_t etwas_pool_used_slots(const struct etwas_pool *pool)
{
    return ck_pr_load_32(&pool->used_slots);
}

/* Of a slot of a shared session, for its host. */
static inline bool etwas_pool_is_quarantined(const struct etwas_pool *pool, uint32_t slot)
{
    return pool->is_shared && ck_pr_load_8(&pool->damage.is_quarantined[slot]) != 0;
}

/* Where the session's slot of this index is. */
static inline struct etwas_slot *etwas_pool_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return &pool->slots[pool->first_slot + slot];
}

/* What writers go by in a slot, before its gate is open. */
void etwas_pool_set_slot_local(const struct etwas_pool *pool, uint32_t slot, uint32_t kind);

/* Address space of a region that every word's buffer is in. */
static inline size_t etwas_pool_addressable_bytes(uint32_t buffers, uint32_t buffer_bytes)
{
    return ((size_t)etwas_slot_mask(buffers) + 1) * buffer_bytes;
}

/* The capacity to ask for, so that UPDATE can raise `maximum`: within what the machine has. */
uint32_t etwas_pool_capacity_for(uint32_t maximum, uint32_t buffer_bytes);

/*
 * Changes how many buffers may come into use, and returns what is in force: `maximum`, brought
 * between the session's minimum, or what its rows need, and the pool's capacity (R68). Writers write meanwhile. Buffers in
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

/* Of those the words count: what guests' slots have is found by looking. */
static inline bool etwas_pool_is_of_extra_slot(const struct etwas_pool *pool, uint64_t owner)
{
    return etwas_pool_is_of_shared_slot(pool, owner) &&
           !etwas_pool_is_guest_slot(pool, etwas_owner_slot(owner));
}

static inline uint8_t *etwas_pool_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return pool->memory.region + (size_t)buffer * pool->buffer_bytes;
}

/* A buffer that nobody has, for AddressSanitizer. Of a shared pool it sees not who has one. */
static inline void etwas_pool_poison(const struct etwas_pool *pool, uint32_t buffer)
{
    if (!pool->is_shared) {
        ETWAS_POISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    }
}

/* Where a buffer says itself by which claim it became current (owner.h). */
static inline uint64_t *etwas_pool_repeated_owner(const struct etwas_pool *pool, uint32_t buffer)
{
    return (uint64_t *)(void *)etwas_pool_buffer(pool, buffer);
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
