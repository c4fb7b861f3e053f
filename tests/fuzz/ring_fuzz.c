/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A ring of the kernel's that says anything: u64 where it is read from, u64 how much the kernel has
 * written more, and the ring's bytes. Each record lies in the ring or is a joined copy, and the
 * ring has an end.
 */
#include <stdlib.h>
#include <string.h>

#include "system/stream/ring.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    RING_BYTES = 4096,
};

static void look_at(const struct perf_event_header *record)
{
    volatile uint8_t sum = 0;

    MUST((uintptr_t)record % 8 == 0 && record->size >= sizeof *record);
    for (uint32_t index = 0; index < record->size; index++) {
        sum = (uint8_t)(sum + ((const uint8_t *)record)[index]);
    }
}

static void read_ring(struct etwas_ring *ring)
{
    const struct perf_event_header *record;
    uint64_t bytes = 0;
    uint64_t words[2];

    if (!etwas_ring_begin(ring)) {
        MUST(ring->is_damaged && etwas_ring_next(ring) == NULL);
        return;
    }
    while ((record = etwas_ring_next(ring)) != NULL) {
        look_at(record);
        bytes += record->size;
        MUST(bytes <= RING_BYTES);
        (void)etwas_ring_peek(ring, words);
    }
    etwas_ring_give_back(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_event_mmap_page *page = calloc(1, sizeof *page);
    uint8_t *bytes = calloc(1, RING_BYTES);
    struct etwas_ring *ring = malloc(sizeof *ring);
    uint64_t places[2];

    MUST(page != NULL && bytes != NULL && ring != NULL);
    if (size >= sizeof places) {
        size_t left = size - sizeof places;

        memcpy(places, data, sizeof places);
        memcpy(bytes, data + sizeof places, left < RING_BYTES ? left : RING_BYTES);
        page->data_tail = places[0];
        page->data_head = places[0];
        etwas_ring_over(ring, page, bytes, RING_BYTES);
        page->data_head = places[0] + places[1];
        read_ring(ring);
        /* And what it says the next time. */
        page->data_head += places[1] % RING_BYTES;
        read_ring(ring);
    }
    free(ring);
    free(bytes);
    free(page);
    return 0;
}
