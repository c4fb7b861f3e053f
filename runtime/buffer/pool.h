/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool: the buffers of one session and which slot owns which.
 *
 *     region   [buffer 0][buffer 1] … address space for the maximum; only used buffers take memory
 *     control  this process's own data of the pool, the slots' process-local data first; then a
 *              block of words, slots, owner words, the free set, two cache lines for each buffer,
 *              and ages.
 *              Kept when the session ends: a writer on the slow path of an rseq slot may still read
 *              it, and learns from the gate that it must discard what it has read
 *
 * Block and region hold no pointer. They may lie in a file, which then outlives the process. Other
 * processes map the file of a shared session, too (pool_join.h), and may write anything there at
 * any time: so each word is read once, and checked before it leads anywhere.
 *
 * The states of a buffer are drawn in docs/internals/design.md.
 *
 * Which operations may run together: claim, release and retire, from any number of threads and
 * signal handlers. They are lock-free and do not wait. The only system call is the futex wake of a
 * thread that wants the flusher if no thread has woken it since its last pass. The caller of claim
 * or release keeps the pool alive by being on the slow path of a shared slot of the session, or by
 * holding the session's flusher role. Limits: ETWAS_POOL_MAXIMUM_BUFFERS buffers.
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
    ETWAS_DISPOSITION_UNDELIVERED, /* real time: delivered to no consumer, and in no file */
    ETWAS_DISPOSITIONS
};

enum {
    ETWAS_OLDEST_KINDS = 2,    /* CLOSED buffers, and those of shared slots: oldest.c */
    ETWAS_OLDEST_FAN_BITS = 4, /* 16 are below each candidate: two cache lines */
    ETWAS_OLDEST_LEVELS = 5,
};
_Static_assert((int)ETWAS_POOL_MAXIMUM_BUFFERS <= 1 << ETWAS_OLDEST_FAN_BITS * ETWAS_OLDEST_LEVELS,
               "all buffers are below one hint");

/* The positions of the parts of a block: offsets in bytes. */
struct etwas_pool_layout {
    size_t words;
    size_t slots;
    size_t owners;
    size_t free_set;
    size_t buffers;
    size_t ages;
    size_t candidates;
    size_t bytes;
    /* number of buffers that owners, free_set, buffers and ages have room for */
    uint32_t capacity;
    /* number of class rows, each with candidates of each kind */
    uint32_t rows;
    uint32_t levels;                            /* levels of candidates of a kind */
    uint32_t level_at[ETWAS_OLDEST_LEVELS + 1]; /* where each begins, and where the last one ends */
    uint32_t slot_count;
};

/*
 * The account of one class row in a session with retention classes (quota.h). The accounting of its
 * events is booked here as well.
 */
struct etwas_pool_class_row {
    uint64_t recent_group[ETWAS_OLDEST_KINDS]; /* as the pool's, which is row 0's */
    uint32_t quota;                            /* in buffers; set with the maximum */
    /* buffers that its slots have, or had last and no other slot has claimed since; approximate */
    uint32_t held;
    uint32_t extra_held; /* of these, those of its extra slot beside rseq slots */
    uint64_t accounted[ETWAS_DISPOSITIONS];
    uint64_t accounted_recorded;
    /* records of this row that rseq claims of other rows replaced, … */
    uint64_t replaced_by_others;
    uint64_t replaced_of_others; /* … and records of other rows that this row's claims replaced */
} __attribute__((aligned(64)));

/* The first part of the block. */
struct etwas_pool_words {
    /* Shared by all threads that claim and release. */
    uint64_t ticket;          /* ticket of the next claim */
    uint64_t allocated;       /* buffers ever put into use: NumberOfBuffers */
    uint32_t maximum_buffers; /* set by etwas_pool_set_maximum */
    /*
     * FREE buffers: each is counted before it is FREE, and until after it is claimed. An int32_t,
     * which the flusher corrects.
     */
    uint32_t free_count;
    uint32_t shared_held; /* buffers of shared slots, without guests'; approximate */
    uint64_t recent_group
        [ETWAS_OLDEST_KINDS]; /* the group in which the oldest was found last: oldest.c */
    /* real time: nothing is drained until a consumer comes; stored by the flusher */
    uint32_t backlog_full;
    /* buffering mode: free buffers that are kept for guests' slots; stored by the flusher */
    uint32_t guest_reserve;

    /*
     * The flusher sleeps on `wake`. The next two are values of it, so that the flusher is woken
     * once in each pass.
     */
    struct ck_ec32 wake __attribute__((aligned(64)));
    uint32_t pass_began; /* when the flusher's last pass began */
    uint32_t woken;      /* pass_began of the last pass since which a thread has woken it */

    /* Events that are accounted for. Changed between account_begin and account_end. */
    uint64_t accounted[ETWAS_DISPOSITIONS] __attribute__((aligned(64)));
    /* of these, those that count as recorded too: see etwas_pool_account_recorded */
    uint64_t accounted_recorded;
    uint64_t account_begins;
    uint64_t account_ends;

    struct etwas_pool_class_row rows[ETWAS_CLASS_ROWS]; /* of a session with several */
} __attribute__((aligned(64)));

/* A file that holds a pool; as large as needed, zeroed. */
struct etwas_pool_file {
    int descriptor;
    /* errno of placing the region on memory nodes, if that was requested; 0: no error */
    int nodes_error;
    uint64_t block_at; /* both a multiple of the page size */
    uint64_t region_at;
};

/* Whether a guest's slot is in use. */
enum etwas_guest_slot_state {
    ETWAS_GUEST_NONE,
    ETWAS_GUEST_LIVES, /* its guest lives, as far as is known */
    ETWAS_GUEST_DIED,  /* its guest has died: the flusher has to repair its slot */
};

/*
 * Damage that the host of a shared session has found, and that no well-behaved writer causes: it
 * costs records. A slot in which something is impossible is quarantined: its gate is closed, its
 * buffers stay as they are, and its processor's events go to the extra slot.
 */
struct etwas_pool_damage {
    uint64_t slots;
    /* buffers with impossible records; these and the ones after them are left out */
    uint64_t buffers;
    uint64_t stored; /* records that quarantined slots had stored, as far as they were drained */
    uint8_t is_quarantined[ETWAS_MOST_PROCESSORS + 1 + ETWAS_GUEST_SLOTS];
};

struct etwas_pool {
    /*
     * Constant while the process runs: a writer may follow these pointers after the session's end.
     */
    struct etwas_pool_words *words;
    struct etwas_slot *slots; /* of all processors, and the extra ones */
    uint64_t *owners;
    uint64_t *free_set;
    struct etwas_buffer_control *buffers;
    uint64_t *ages;       /* age of each buffer: pool_claim.h */
    uint64_t *candidates; /* oldest.c */
    struct etwas_pool_layout layout;
    size_t address_bytes; /* address space from the block on, in which the region may lie */

    /* Constant while the session runs. */
    /* where the session's slot 0 is: 0, or the extra slot's index if that is the only one */
    uint32_t first_slot;
    uint32_t slot_count;
    /* of these, the first ones; after them come guests' slots that had no guest yet */
    uint32_t used_slots;
    /* number of rseq slots, which come first: all except the extra ones and guests', or none */
    uint32_t rseq_slots;
    uint32_t guest_slots; /* number of guests' slots, which come last */
    uint8_t
        guests[ETWAS_GUEST_SLOTS]; /* enum etwas_guest_slot_state of each of these: pool_join.h */
    /*
     * class rows: one of no retention class, and one of each class; 0 and 1: there are no classes
     */
    uint32_t rows;
    uint32_t row_slots;                      /* slots of each row, without its extra slot */
    uint32_t row_least;                      /* buffers that each row has for itself */
    uint32_t row_percents[ETWAS_CLASS_ROWS]; /* its part of the others; row 0 has the rest */
    uint32_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t region_buffers; /* buffers that have address space: no maximum is greater */
    uint32_t reserve;        /* free buffers that the flusher keeps by taking new ones into use */
    /* buffering mode: the most buffers that the extra slot takes from the others */
    uint32_t extra_buffers;
    /* memory nodes on which the buffers lie; 0 and 1: placement does not matter */
    uint32_t nodes;
    uint32_t stripe_shift; /* 1 << stripe_shift buffers lie on each node in turn */
    bool buffering;        /* buffering mode: a flight recorder */
    bool is_shared;        /* with other processes */
    bool is_leaked;        /* stays as it is for ever */
    struct etwas_memory memory;
    struct etwas_pool_file file; /* the file, if the pool is in one */
    struct etwas_memory_grant grant;

    /* The host's own account, which no guest can change; the words have a copy, for recovery. */
    uint64_t accounted[ETWAS_DISPOSITIONS];
    uint64_t accounted_recorded;
    uint64_t account_begins;
    uint64_t account_ends;

    struct etwas_pool_damage damage;
};

struct etwas_pool_options {
    uint32_t session;      /* index of its entry in the table, which keeps the control */
    uint32_t buffer_bytes; /* a multiple of the page size, at most 16 MiB */
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    /* the most that the maximum may become; less than the maximum, or 0: it cannot grow */
    uint32_t capacity;
    uint32_t first_slot; /* etwas_slot_count for a session with one slot, otherwise 0 */
    uint32_t slots;
    /*
     * number of slots with restartable sequences: all except one of each row and the guests', or 0
     */
    uint32_t rseq_slots;
    uint32_t guest_slots; /* number of guests' slots */
    uint32_t rows;        /* class rows; 0 and 1: without retention classes */
    uint32_t row_least;
    uint32_t row_percents[ETWAS_CLASS_ROWS]; /* from row 1 on; their sum is at most 100 */
    bool buffering;
    bool is_shared;   /* other processes map it: it is in a file */
    bool large_pages; /* huge pages where the system grants them */
    /* ETWAS_MEMORY_* that are requested; the pool's `grant` says which were granted */
    uint32_t memory;
    const struct etwas_pool_file *file; /* NULL: the pool lies in memory of this process */
};

/*
 * Returns how many buffers lie on one memory node before those of the next, as a power of 2. Each
 * node gets some of the minimum, and a huge page lies in one stripe if it can. The stripes are not
 * so small that the mapping falls into more pieces than a process may have.
 */
uint32_t etwas_pool_stripe_shift(const struct etwas_pool_options *options);

/*
 * Computes the space that a pool with these options takes in a file, and the positions of the parts
 * of its block. Returns false if there is not enough memory.
 */
bool etwas_pool_measure(const struct etwas_pool_options *options, struct etwas_pool_layout *block,
                        size_t *region_bytes);

/* Returns the layout of the block of a pool with this many buffers, class rows and slots. */
struct etwas_pool_layout etwas_pool_lay_out(uint32_t capacity, uint32_t rows, uint32_t slots);

static inline size_t etwas_pool_candidate_bytes(const struct etwas_pool_layout *layout)
{
    return (size_t)ETWAS_OLDEST_KINDS * layout->rows * layout->level_at[layout->levels] *
           sizeof(uint64_t);
}

/* Sets the pool's pointers to the parts of its block, according to its layout. */
void etwas_pool_set_pointers(struct etwas_pool *pool, void *block);

/*
 * Creates a pool. Returns NULL if there is not enough memory. Explicit huge pages are allocated by
 * then; nothing else is touched.
 */
struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options);

/*
 * Touches the minimum, so that using it costs no page fault, and applies the other requests for its
 * memory. That takes some time, and a fork may come meanwhile. Call it once, before the gates open.
 * Returns false if there is not enough memory.
 */
bool etwas_pool_prefault(struct etwas_pool *pool);
void etwas_pool_destroy(struct etwas_pool *pool);

/*
 * Called in a fork's child: replaces the pool by zeroes, which its writers then find.
 * Async-signal-safe.
 */
void etwas_pool_forget(const struct etwas_pool *pool);

/* Returns the size of the control, including the pool's own page. */
size_t etwas_pool_control_bytes(const struct etwas_pool *pool);

/* Leaves the pool as it is for ever, because it may still have a writer. */
void etwas_pool_leak(struct etwas_pool *pool);

/*
 * Return the buffers in use, and the maximum: never more than exist, whatever another process has
 * written there.
 */
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

/* Whether `buffer` is the index of a buffer, which ETWAS_NO_BUFFER is not. */
static inline bool etwas_pool_has_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return buffer < ck_pr_load_32(&pool->region_buffers);
}

/* Whether records may end there: from the first unit to the last one of a buffer. */
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

/*
 * Returns the number of slots that may contain anything. Raised with the role held, read by any
 * thread.
 */
static inline uint32_t etwas_pool_used_slots(const struct etwas_pool *pool)
{
    return ck_pr_load_32(&pool->used_slots);
}

/* Returns whether the host has quarantined the slot of a shared session. The host calls it. */
static inline bool etwas_pool_is_quarantined(const struct etwas_pool *pool, uint32_t slot)
{
    return pool->is_shared && ck_pr_load_8(&pool->damage.is_quarantined[slot]) != 0;
}

/* Returns the session's slot with this index. */
static inline struct etwas_slot *etwas_pool_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return &pool->slots[pool->first_slot + slot];
}

/* Fills in the process-local data of a slot before its gate is opened. */
void etwas_pool_set_slot_local(const struct etwas_pool *pool, uint32_t slot, uint32_t kind);

/* Returns the address space of a region that contains every buffer that a slot word can name. */
static inline size_t etwas_pool_addressable_bytes(uint32_t buffers, uint32_t buffer_bytes)
{
    return ((size_t)etwas_slot_mask(buffers) + 1) * buffer_bytes;
}

/*
 * Returns the capacity to request so that the maximum can be raised, by UPDATE or, for a flight
 * recorder, by its windows' needs (file/recorder.c), within the machine's memory. A recorder's
 * capacity is a multiple of two buffers for each slot at least, including the slots of absent
 * processors.
 */
uint32_t etwas_pool_capacity_for(uint32_t maximum, uint32_t buffer_bytes);

static inline uint32_t etwas_pool_capacity_of(const struct etwas_pool_options *options)
{
    uint32_t slots = options->slots - options->guest_slots;
    bool counts_slots = options->buffering && options->maximum_buffers < 2 * slots;

    return etwas_pool_capacity_for(counts_slots ? 2 * slots : options->maximum_buffers,
                                   options->buffer_bytes);
}

/*
 * Changes how many buffers may come into use, and returns the value in force: `maximum`, limited to
 * the range from the session's minimum, or the need of its class rows, to the pool's capacity
 * (R68). Writers write meanwhile. Buffers in use stay, also above the maximum; then nothing grows
 * until it is raised (R70, R71). Role held.
 *
 * Ordering: none is needed. Whichever maximum a writer reads, it is within the region and the
 * bookkeeping: the buffer it takes exists. `allocated` is exchanged from the value that was
 * compared with the maximum, so a writer that had read the old one takes at most one buffer beyond
 * a lower new one. A writer that reads the old one while it is raised loses its event as if it had
 * come before.
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

/*
 * Whether the buffer is one of those that `shared_held` counts; guests' buffers are found by
 * scanning.
 */
static inline bool etwas_pool_is_of_extra_slot(const struct etwas_pool *pool, uint64_t owner)
{
    return etwas_pool_is_of_shared_slot(pool, owner) &&
           !etwas_pool_is_guest_slot(pool, etwas_owner_slot(owner));
}

static inline uint8_t *etwas_pool_buffer(const struct etwas_pool *pool, uint32_t buffer)
{
    return pool->memory.region + (size_t)buffer * pool->buffer_bytes;
}

/*
 * Marks a buffer that no slot has for AddressSanitizer. In a shared pool another process may have
 * it, so it stays as it is.
 */
static inline void etwas_pool_poison(const struct etwas_pool *pool, uint32_t buffer)
{
    if (!pool->is_shared) {
        ETWAS_POISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    }
}

/*
 * Returns the place where the buffer itself repeats the claim by which it became current (owner.h).
 */
static inline uint64_t *etwas_pool_repeated_owner(const struct etwas_pool *pool, uint32_t buffer)
{
    return (uint64_t *)(void *)etwas_pool_buffer(pool, buffer);
}

/*
 * The flusher begins a pass: a thread that wants the flusher from here on wakes it again. Returns
 * the value to wait with after the pass.
 */
uint32_t etwas_pool_begin_pass(struct etwas_pool *pool);

/*
 * Wakes the flusher, unless a thread has done so since its last pass began. A wake counts only when
 * its thread has returned from the system call: a thread that is delayed before it keeps no other
 * from waking. Async-signal-safe.
 */
void etwas_pool_wake_flusher(struct etwas_pool *pool);

/* ---- pinning, for snapshots: the flusher's role only ---- */

/*
 * Keeps a buffer under the claim `owner` from being claimed: a CLOSED one, or one of a shared slot.
 * Returns false if it has been claimed already, or nothing is committed in it yet. `owner` was
 * loaded before.
 */
bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);
void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner);

#endif
