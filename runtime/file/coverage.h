/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a snapshot has of each slot's time, from how its buffers follow each other: since when every slot
 * has everything, until when, and what is missing.
 */
#ifndef ETWAS_FILE_COVERAGE_H
#define ETWAS_FILE_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

/* A buffer that is in the snapshot, or belongs there and is overwritten. */
struct etwas_covered_buffer {
    uint32_t slot;
    uint32_t buffer;
    bool kept;
    /* Of one that is kept. */
    int64_t newest;          /* no record in it is newer */
    uint32_t previous;       /* the slot's buffer before it, ETWAS_NO_BUFFER: none */
    int64_t previous_newest; /* no record of those before it is newer */
};

/* Recorded in the slot after `from` and until `to`, and not there. */
struct etwas_coverage_gap {
    uint32_t slot;
    int64_t from;
    int64_t to;
};

struct etwas_coverage {
    /* What was asked for. */
    int64_t begin; /* what is not newer is not wanted, and never missing */
    int64_t moment;
    int64_t until;

    /* Around the moment all slots have everything after `from` and until `to`; both the moment: none. */
    int64_t from;
    int64_t to;
    uint32_t gap_count;
    struct etwas_coverage_gap *gaps; /* room for two more than there are buffers */
};

/*
 * Fills in the second part. The buffers of one slot are in the order of time, with nothing of other
 * slots in between; the newest kept one of a slot, unless one behind it is not kept, has all until
 * `until`.
 */
void etwas_coverage_find(struct etwas_coverage *coverage,
                         const struct etwas_covered_buffer *buffers, uint32_t count);

#endif
