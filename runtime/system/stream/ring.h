/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The ring in which the kernel hands over the records of one processor. The kernel writes at its
 * head and never over what we have not handed back; we read from our tail.
 *
 *     begin       finds what is there now
 *     next        … record by record, in the order in which the kernel wrote them
 *     give_back   lets the kernel write over them, but for the one that `next` returned last
 *
 * A record lies until `next` has been called again, and then until give_back. What the kernel could not write it says with the next record for which
 * there is room (PERF_RECORD_LOST); that is counted here and is no record of `next`. What it lost
 * after its last record only the events themselves know (PERF_FORMAT_LOST, cpu_stream.h).
 *
 * A head that is not within the ring, or a record that is not within what there is, is followed no
 * further: the ring is damaged, and has no more records. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_STREAM_RING_H
#define ETWAS_SYSTEM_STREAM_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_RING_LONGEST_RECORD = 65536 /* more than a record's u16 says */
};

struct etwas_ring {
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    uint64_t data_bytes; /* a power of two */
    size_t mapped_bytes; /* 0: nothing is mapped */
    uint64_t head;       /* when it was last looked */
    uint64_t tail;       /* where the record begins that was returned last */
    uint64_t after;      /* where the next one begins */
    uint64_t given;      /* the kernel may write over what is before */
    uint64_t lost;       /* as the records said */
    uint64_t times_full; /* it was given back when a record might have found no room */
    uint64_t full_at;    /* the last time the gap, if there is one, is here or before */
    bool is_damaged;
    /* A record that begins at the end of the ring and goes on at its beginning. */
    uint8_t joined[ETWAS_RING_LONGEST_RECORD] __attribute__((aligned(8)));
};

/*
 * Maps the ring of an event of one processor. `data_bytes`: a power of two, and whole pages. 0, or an
 * errno: EPERM for more than the user may lock (perf_event_mlock_kb), ENOMEM, EINVAL.
 */
int etwas_ring_map(struct etwas_ring *ring, int event, size_t data_bytes);
void etwas_ring_unmap(struct etwas_ring *ring);

/* The same over memory that is there already, which is not unmapped. */
void etwas_ring_over(struct etwas_ring *ring, struct perf_event_mmap_page *page,
                     const uint8_t *data, uint64_t data_bytes);

/* False: the ring is damaged. */
bool etwas_ring_begin(struct etwas_ring *ring);

/* How far the kernel has written by now. Nothing is looked at. */
uint64_t etwas_ring_written(const struct etwas_ring *ring);

/* NULL: there are no more, or the ring is damaged. Aligned to 8 bytes, `size` of them readable. */
const struct perf_event_header *etwas_ring_next(struct etwas_ring *ring);

/* How the record begins behind the one that `next` returned. False: there is none. */
bool etwas_ring_peek(const struct etwas_ring *ring, uint64_t words[2]);

void etwas_ring_give_back(struct etwas_ring *ring);

#endif
