/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Collecting: how the flusher takes buffers out of the slots of a session that writes to a file.
 *
 * FLUSH of the protocols: in an rseq slot nothing is taken away from a running writer. Its current
 * buffer stays where it is. A flush collects the records that are committed in it and were not
 * collected before; when the buffer is full, only the rest is left to collect.
 *
 * Full buffers need no queue: each names the buffer that was current before it. The flusher follows
 * these links from a slot's current buffer back to the one that was current at its last pass. It
 * keeps the buffers that it finds in one list for each slot, oldest first, until everything
 * reserved in a buffer is committed.
 *
 * A writer that stops between reserving and committing delays its slot's list. When a timeout has
 * passed since the buffer was gathered, the buffer is abandoned: the records before the hole are
 * collected, the others are lost, and the buffer is set aside until its last writer has left it.
 * Consecutive buffers with holes share one timeout.
 *
 * Lists and entries are memory of this process alone. Every word in the mapping of a shared session
 * is checked once, and an impossible word quarantines its slot (pool.h): nothing more is gathered
 * from it. Buffers that are in its list are still collected.
 *
 * All functions belong to the flusher's role: one thread at a time, under the session's role lock.
 * None of them waits.
 */
#ifndef ETWAS_BUFFER_COLLECT_H
#define ETWAS_BUFFER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"

/* The buffers gathered from one slot and not yet collected. Set by etwas_collector_reset. */
struct etwas_collector_list {
    uint32_t last_current; /* the slot's current buffer at the last pass; ETWAS_NO_BUFFER: none */
    uint32_t head;         /* oldest buffer not yet collected */
    uint32_t tail;
    /* rseq slots: the slot word up to which the current buffer is to be collected; 0: none */
    uint64_t part;
    uint64_t collected; /* rseq slots: records collected so far, from all buffers */
};

/* The collector's state of one buffer. */
struct etwas_collector_buffer {
    uint32_t next;            /* in its slot's list */
    uint32_t end_units;       /* if in a list: where its records end … */
    int64_t newest;           /* … and a stamp that none of them exceeds */
    uint32_t written_units;   /* written by a flush while the buffer was current; 0: nothing */
    uint32_t written_records; /* records written by a flush while the buffer was current */
    uint32_t set_aside;       /* abandoned: 1 + records found whole */
    bool is_kept;             /* set aside: the whole records are not yet accounted for */
    bool is_listed;           /* in its slot's list */
    uint64_t gathered_ns;     /* when it was gathered: its writers' timeout begins here */
};

struct etwas_collector {
    struct etwas_pool *pool;
    struct etwas_collector_list *lists;
    struct etwas_collector_buffer *entries;
    uint32_t slot_count;
    uint32_t set_aside_count; /* abandoned buffers that still have a writer */
    uint64_t now_ns;          /* etwas_monotonic_ns at the start of the drain's pass */
    bool fenced; /* the gates are closed, and no sequence that saw them open can commit any more */
};

/* One collected buffer: the whole records that the flusher hands to the sinks. */
struct etwas_collected {
    uint32_t buffer;
    uint32_t slot;
    uint32_t begin_units; /* where its records begin: after those that a flush has written */
    uint32_t end_units;   /* where the whole records end */
    uint32_t records;     /* number of records */
    int64_t newest;       /* no record has a later stamp */
    bool abandoned;
    bool part; /* the buffer is still current: more records may follow */
};

void etwas_collector_reset(struct etwas_collector *collector);

/* How a pass handles a slot's current buffer. */
enum etwas_collector_scope {
    ETWAS_COLLECT_FULL, /* nothing: only the buffers before it are collected */
    /* collects it if it holds records; the next writer of a shared slot fetches another */
    ETWAS_COLLECT_USED,
    ETWAS_COLLECT_SHUT, /* collects or frees it, and no thread can reserve in the slot any more */
};

/*
 * Follows the links of one slot and appends the buffers that it finds to the slot's list. Role
 * held; never waits.
 */
void etwas_collector_gather(struct etwas_collector *collector, uint32_t slot,
                            enum etwas_collector_scope scope);

/* Shuts a slot without collecting: for the end of a session in buffering mode. Role held. */
void etwas_collector_shut(struct etwas_collector *collector, uint32_t slot);

/*
 * Takes the oldest buffer off a slot's list, or the part of the current buffer that a flush wants.
 * Returns false if there is none, or if its writers have not committed and it was gathered less
 * than `timeout_ns` ago. The caller must pass the result to etwas_collector_account.
 */
bool etwas_collector_pop(struct etwas_collector *collector, uint32_t slot, uint64_t timeout_ns,
                         struct etwas_collected *collected);

/*
 * Accounts for the records of a collected buffer under `disposition`, and releases the buffer or,
 * if it was abandoned, leaves it set aside.
 */
void etwas_collector_account(struct etwas_collector *collector,
                             const struct etwas_collected *collected,
                             enum etwas_disposition disposition);

/*
 * Releases the abandoned buffers that no longer have a writer, and counts the records that were
 * lost in them.
 */
void etwas_collector_reclaim(struct etwas_collector *collector);

/* Whether a slot's list still holds buffers. */
bool etwas_collector_has_pending(const struct etwas_collector *collector);

/*
 * Walks over the whole records at the start of `collected->buffer` and fills in end_units, records
 * and newest. Stops at the first marker that is not final, and at `limit_units`.
 */
void etwas_collect_prefix(const struct etwas_pool *pool, uint32_t limit_units,
                          struct etwas_collected *collected);

#endif
