/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The ring through which the kernel delivers the records of one processor. The kernel writes at its
 * head and never overwrites what has not been given back; records are read at its tail.
 *
 *     begin       finds how far the kernel has written
 *     next        returns record by record, in the order in which the kernel wrote them
 *     give_back   lets the kernel write over them, except for the one that `next` returned last
 *
 * A record is valid until give_back after the next `next`. The kernel reports what it could not
 * write with the next record that finds room (PERF_RECORD_LOST); these are counted here and not
 * returned by `next`. Losses after the last record are known only to the events (PERF_FORMAT_LOST,
 * cpu_stream.h).
 *
 * If the head is not within the ring, or a record is not within what was written, the ring is
 * damaged and has no more records. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_STREAM_RING_H
#define ETWAS_SYSTEM_STREAM_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_RING_LONGEST_RECORD = 65536 /* more than the u16 of a record's header can say */
};

struct etwas_ring {
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    uint64_t data_bytes; /* a power of two */
    size_t mapped_bytes; /* 0: nothing is mapped */
    uint64_t head;       /* where the kernel wrote next, at the last begin */
    uint64_t tail;       /* where the record begins that `next` returned last */
    uint64_t after;      /* where the next record begins */
    uint64_t given;      /* the kernel may write over what is before this */
    uint64_t lost;       /* as PERF_RECORD_LOST said */
    /* How often it was given back when a record may have found no room. */
    uint64_t times_full;
    uint64_t full_at; /* the gap of the last such time, if any, is here or before */
    bool is_damaged;
    /* A record that wraps around the end of the ring, in one piece. */
    uint8_t joined[ETWAS_RING_LONGEST_RECORD] __attribute__((aligned(8)));
};

/*
 * Maps the ring of an event of one processor. `data_bytes` is a power of two and a multiple of the
 * page size. Returns 0, or an errno: EPERM if the user may not lock so much (perf_event_mlock_kb),
 * ENOMEM, EINVAL.
 */
int etwas_ring_map(struct etwas_ring *ring, int event, size_t data_bytes);
void etwas_ring_unmap(struct etwas_ring *ring);

/* Uses memory that exists already, and is not unmapped. */
void etwas_ring_over(struct etwas_ring *ring, struct perf_event_mmap_page *page,
                     const uint8_t *data, uint64_t data_bytes);

/* Returns false if the ring is damaged. */
bool etwas_ring_begin(struct etwas_ring *ring);

/* Returns how far the kernel has written by now. Reads no record. */
uint64_t etwas_ring_written(const struct etwas_ring *ring);

/*
 * Returns the next record, aligned to 8 bytes, with `size` readable bytes. NULL: there is none, or
 * the ring is damaged.
 */
const struct perf_event_header *etwas_ring_next(struct etwas_ring *ring);

/*
 * Returns the first two words of the record after the one that `next` returned. Returns false if
 * there is none.
 */
bool etwas_ring_peek(const struct etwas_ring *ring, uint64_t words[2]);

void etwas_ring_give_back(struct etwas_ring *ring);

#endif
