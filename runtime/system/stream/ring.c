/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/ring.h"

#include <ck_pr.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel's report of a loss; the id of the sample follows. */
struct lost_record {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
};

void etwas_ring_over(struct etwas_ring *ring, struct perf_event_mmap_page *page,
                     const uint8_t *data, uint64_t data_bytes)
{
    ring->page = page;
    ring->data = data;
    ring->data_bytes = data_bytes;
    ring->mapped_bytes = 0;
    ring->tail = page->data_tail;
    ring->head = ring->tail;
    ring->after = ring->tail;
    ring->given = ring->tail;
    ring->lost = 0;
    ring->times_full = 0;
    ring->full_at = ring->tail;
    ring->is_damaged = false;
}

int etwas_ring_map(struct etwas_ring *ring, int event, size_t data_bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *mapped =
        mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);

    if (mapped == MAP_FAILED) {
        return errno;
    }
    etwas_ring_over(ring, mapped, (const uint8_t *)mapped + page_bytes, data_bytes);
    ring->mapped_bytes = page_bytes + data_bytes;
    return 0;
}

void etwas_ring_unmap(struct etwas_ring *ring)
{
    if (ring->mapped_bytes != 0) {
        (void)munmap(ring->page, ring->mapped_bytes);
        ring->mapped_bytes = 0;
    }
    ring->head = ring->tail;
    ring->after = ring->tail;
    ring->page = NULL;
}

uint64_t etwas_ring_written(const struct etwas_ring *ring)
{
    return ck_pr_load_64((const uint64_t *)(const void *)&ring->page->data_head);
}

static const struct perf_event_header *damaged(struct etwas_ring *ring)
{
    ring->is_damaged = true;
    ring->head = ring->tail;
    ring->after = ring->tail;
    return NULL;
}

bool etwas_ring_begin(struct etwas_ring *ring)
{
    if (!ring->is_damaged) {
        ring->head = etwas_ring_written(ring);
        /* Pairs with the kernel's barrier between the records and the head. */
        ck_pr_fence_acquire();
        ring->is_damaged = ring->head - ring->tail > ring->data_bytes;
    }
    if (ring->is_damaged) {
        (void)damaged(ring);
    }
    return !ring->is_damaged;
}

/* Returns the record at the tail, in one piece; NULL: it is invalid. */
static const struct perf_event_header *next_record(struct etwas_ring *ring)
{
    uint64_t at = ring->tail & (ring->data_bytes - 1);
    uint64_t to_end = ring->data_bytes - at;
    const struct perf_event_header *record = (const void *)(ring->data + at);
    uint32_t size;

    /* Records are multiples of 8 bytes, so a header is always in one piece. */
    if (ring->tail % 8 != 0 || ring->head - ring->tail < sizeof *record) {
        return damaged(ring);
    }
    size = record->size;
    if (size < sizeof *record || size % 8 != 0 || size > ring->head - ring->tail) {
        return damaged(ring);
    }
    if (size > to_end) {
        memcpy(ring->joined, record, to_end);
        memcpy(ring->joined + to_end, ring->data, size - to_end);
        record = (const void *)ring->joined;
    }
    ring->after = ring->tail + size;
    return record;
}

const struct perf_event_header *etwas_ring_next(struct etwas_ring *ring)
{
    while ((ring->tail = ring->after) != ring->head) {
        const struct perf_event_header *record = next_record(ring);
        const struct lost_record *lost = (const void *)record;

        if (record == NULL || record->type != PERF_RECORD_LOST) {
            return record;
        }
        if (record->size < sizeof *lost) {
            return damaged(ring);
        }
        ring->lost += lost->lost;
    }
    return NULL;
}

bool etwas_ring_peek(const struct etwas_ring *ring, uint64_t words[2])
{
    if (ring->head - ring->after < 2 * sizeof *words) {
        return false;
    }
    for (uint64_t word = 0; word < 2; word++) {
        uint64_t at = (ring->after + word * sizeof *words) & (ring->data_bytes - 1);

        memcpy(&words[word], ring->data + at, sizeof *words);
    }
    return true;
}

void etwas_ring_give_back(struct etwas_ring *ring)
{
    uint64_t *tail = (void *)&ring->page->data_tail;
    uint64_t before = ring->given;
    uint64_t written;

    /* All reads come before the kernel writes there. */
    ck_pr_fence_memory();
    ring->given = ring->tail;
    ck_pr_store_64(tail, ring->given);
    /*
     * Checked after the tail was stored, against the previous tail. So a record that found no room
     * in between is noticed.
     */
    ck_pr_fence_memory();
    written = etwas_ring_written(ring);
    if (written - before + ETWAS_RING_LONGEST_RECORD > ring->data_bytes) {
        ring->times_full++;
        ring->full_at = written;
    }
}
