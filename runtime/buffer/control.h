/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The pool's data of each buffer, besides its owner word: the commit word, its links to the other
 * buffers of its slot, and the values that the flusher publishes about it.
 *
 * The commit word counts what writers of a shared slot have finished in a buffer:
 *
 *     63 abandoned | 62 closed | 61..32 records | 31..0 bytes
 *
 * The thread that takes a buffer out of its slot adds the unused rest to the bytes and sets
 * `closed`. So "closed, and bytes = capacity" means that no writer will touch the buffer any more.
 */
#ifndef ETWAS_BUFFER_CONTROL_H
#define ETWAS_BUFFER_CONTROL_H

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETWAS_COMMIT_ABANDONED (UINT64_C(1) << 63)
#define ETWAS_COMMIT_CLOSED (UINT64_C(1) << 62)
#define ETWAS_COMMIT_ONE_RECORD (UINT64_C(1) << 32)

static inline uint32_t etwas_commit_bytes(uint64_t commit)
{
    return (uint32_t)commit;
}

static inline uint32_t etwas_commit_count(uint64_t commit)
{
    return (uint32_t)(commit >> 32) & 0x3FFFFFFF;
}

/*
 * A1 of publish_shared.c: counts whole records of `rounded` bytes together. Returns
 * ERROR_NOT_ENOUGH_MEMORY if the flusher has abandoned the buffer: then the flusher counts the
 * records lost when it reclaims the buffer.
 */
static inline uint32_t etwas_commit_records(uint64_t *commit, uint32_t records, uint32_t rounded)
{
    ck_pr_fence_release();
    return (ck_pr_faa_64(commit, records * ETWAS_COMMIT_ONE_RECORD + rounded) &
            ETWAS_COMMIT_ABANDONED) == 0
               ? ERROR_SUCCESS
               : ERROR_NOT_ENOUGH_MEMORY;
}

/*
 * The link of a buffer to the one that was current before it. Stored before the buffer becomes
 * current, constant while it is in use. Claims of shared slots store previous_end_units, ADOPT
 * stores the second part.
 */
struct etwas_buffer_link {
    uint32_t previous;           /* the buffer that was current before; ETWAS_NO_BUFFER: none */
    uint32_t previous_end_units; /* where its records end */
    int64_t previous_newest;     /* no record in it has a later stamp */

    uint64_t previous_owner; /* its owner word while it was current */
    uint64_t stored_before;  /* records the slot had stored before this buffer */
    /* records that the slot's claims had replaced by then, this claim included */
    uint64_t overwritten_before;
};
_Static_assert(sizeof(struct etwas_buffer_link) == 40, "copied by sequences, in words");

/* Where and how a buffer ended; stored when another replaces it. */
struct etwas_buffer_end {
    int64_t newest; /* no record is newer */
    uint32_t units;
    uint32_t records; /* rseq slots only; in a shared slot the commit word counts */
};
_Static_assert(sizeof(struct etwas_buffer_end) == 16, "copied by sequences, in words");

struct etwas_buffer_control {
    uint64_t commit; /* shared slots; 0 while an rseq slot has the buffer */
    struct etwas_buffer_link link;
    struct etwas_buffer_end end;

    /*
     * Published by the flusher for statistics and recovery; the flusher itself reads its own
     * entries (collect.h).
     */
    uint32_t reserved;
    /* accounted for so far under the claim written_ticket; see etwas_control_written */
    uint32_t written_units;
    uint32_t reserved_too;
    uint32_t set_aside; /* abandoned: 1 + records found whole */
    uint32_t kept;      /* of these, not yet accounted for */
    uint64_t written_ticket;
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct etwas_buffer_control) == 128, "two cache lines a buffer");
_Static_assert(offsetof(struct etwas_buffer_control, reserved) == 64, "the flusher's line");

/*
 * Publishes that `units` units of an rseq slot's buffer are accounted for under the claim `ticket`.
 * It is never withdrawn: a later claim has another ticket. So a process that dies between
 * accounting for a buffer and releasing it has published it.
 */
static inline void etwas_control_set_written(struct etwas_buffer_control *control, uint64_t ticket,
                                             uint32_t units)
{
    ck_pr_store_32(&control->written_units, units);
    ck_pr_fence_store(); /* a reader never sees an older claim's units under this ticket */
    ck_pr_store_64(&control->written_ticket, ticket);
}

/* Returns the units accounted for under the claim `ticket`; 0: none. */
static inline uint32_t etwas_control_written(const struct etwas_buffer_control *control,
                                             uint64_t ticket)
{
    bool is_its = ck_pr_load_64(&control->written_ticket) == ticket;

    ck_pr_fence_load();
    return is_its ? ck_pr_load_32(&control->written_units) : 0;
}

#endif
