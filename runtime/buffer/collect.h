/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Collecting: the flusher's end of the slots of a session that writes to a file.
 *
 * FLUSH of the protocols: nothing is taken away from a running writer in an rseq slot. Its current
 * buffer stays where it is; of what is committed in it a flush collects the part not collected
 * before, and later, when the buffer is full, only the rest is left.
 *
 * Full buffers need no queue: each names the one that was current before it, so the flusher follows
 * the links from a slot's current buffer back to the one that was current when it last looked. It
 * keeps what it found in one list a slot, oldest first, until everything reserved in a buffer is
 * committed.
 *
 * A writer that stops between reserving and committing holds up its slot's list. A timeout after the
 * buffer was gathered it is abandoned: the records before the hole are taken, the others are lost, and the
 * buffer is set aside until its last writer is through. Buffers with holes that lie behind one another are
 * waited for together.
 *
 * Lists and entries are this process's own. What the mapping of a shared session says is looked at once, and if
 * it cannot be so, the slot is quarantined (pool.h): nothing is gathered from it any more. What its list has is taken.
 *
 * Everything here belongs to the flusher's role: one thread at a time, under the session's role
 * lock. Nothing waits.
 */
#ifndef ETWAS_BUFFER_COLLECT_H
#define ETWAS_BUFFER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"

/* One a slot. Zeroed by etwas_collector_reset. */
struct etwas_collector_list {
    uint32_t last_current; /* the slot's buffer at the last look, ETWAS_NO_BUFFER: none */
    uint32_t head;         /* oldest buffer not yet taken */
    uint32_t tail;
    uint64_t part; /* rseq slots: the word up to which the current buffer is collected; 0: no */
    uint64_t collected; /* rseq slots: records, of all buffers */
};

/* One a buffer. */
struct etwas_collector_buffer {
    uint32_t next;            /* in its slot's list */
    uint32_t end_units;       /* of one that is in a list: where its records end … */
    int64_t newest;           /* … and the newest stamp there can be */
    uint32_t written_units;   /* by a flush, while the buffer was current; 0: none */
    uint32_t written_records; /* likewise */
    uint32_t set_aside;       /* abandoned: 1 + records found whole */
    bool is_kept;             /* these are not yet written or given up */
    bool is_listed;           /* in its slot's list */
    uint64_t gathered_ns;     /* when it was gathered: its writers are waited for from then on */
};

struct etwas_collector {
    struct etwas_pool *pool;
    struct etwas_collector_list *lists;
    struct etwas_collector_buffer *entries;
    uint32_t slot_count;
    uint32_t set_aside_count; /* abandoned buffers whose writers are not through */
    uint64_t now_ns;          /* when the drain's pass began, by etwas_monotonic_ns */
    bool fenced; /* the gates are closed, and no sequence that saw them open can commit any more */
};

/* What the flusher writes: one buffer's whole records. */
struct etwas_collected {
    uint32_t buffer;
    uint32_t slot;
    uint32_t begin_units; /* where its records begin: behind what was written before */
    uint32_t end_units;   /* where the whole records end */
    uint32_t records;     /* how many they are */
    int64_t newest;       /* none of them is newer */
    bool abandoned;
    bool part; /* the buffer is still current: there will be more in it */
};

void etwas_collector_reset(struct etwas_collector *collector);

/* What happens to a slot's current buffer when the flusher looks. */
enum etwas_collector_scope {
    ETWAS_COLLECT_FULL, /* it stays: only those before it are collected */
    ETWAS_COLLECT_USED, /* it is collected if it holds anything; in a shared slot the next writer
                           fetches another */
    ETWAS_COLLECT_SHUT, /* it is collected or freed: after this nobody can reserve in the slot */
};

/* Follows the links of one slot and puts what it finds onto the slot's list. */
void etwas_collector_gather(struct etwas_collector *collector, uint32_t slot,
                            enum etwas_collector_scope scope);

/* Shuts a slot and collects nothing: for the end of a session in buffering mode. */
void etwas_collector_shut(struct etwas_collector *collector, uint32_t slot);

/*
 * Takes the oldest buffer of a slot's list. False: there is none, or its writers are not through
 * and it was gathered less than `timeout_ns` ago.
 */
bool etwas_collector_pop(struct etwas_collector *collector, uint32_t slot, uint64_t timeout_ns,
                         struct etwas_collected *collected);

/* Settles the fate of a taken buffer's records and gives the buffer back, or sets it aside. */
void etwas_collector_account(struct etwas_collector *collector,
                             const struct etwas_collected *collected,
                             enum etwas_disposition disposition);

/* Gives back the abandoned buffers whose writers are through. */
void etwas_collector_reclaim(struct etwas_collector *collector);

/* Whether a slot's list still holds buffers. */
bool etwas_collector_has_pending(const struct etwas_collector *collector);

/*
 * The whole records at the start of a buffer: fills in end_units, records and newest for `buffer`.
 * Stops at the first marker that is not final, and at `limit_units`.
 */
void etwas_collect_prefix(const struct etwas_pool *pool, uint32_t limit_units,
                          struct etwas_collected *collected);

#endif
