/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The data buffers of a file in the order of their place, found by their headers alone. What has no usable header is
 * reported and passed over. One read of 72 bytes a buffer, or 168 where its first record is looked at as well.
 */
#ifndef ETWAS_READER_WALK_H
#define ETWAS_READER_WALK_H

#include "reader/index.h"
#include "reader/knots.h"

struct etwas_walk {
    struct etwas_trace *trace;
    uint64_t offset;               /* where the next buffer is looked for */
    uint64_t until;                /* it begins before that */
    struct etwas_index_file *file; /* FILE.index, which is read or written; NULL: neither */
    bool looks_at_records; /* the buffers' first ones are read, where all buffers have one size */
    bool
        grows; /* what is cut or unusable at the file's end is not there yet, and is not reported */
    int64_t
        known_until; /* of a file that grows: buffers that were collected until then are there to their ends */
    uint64_t
        hole; /* where a stretch began that matters only if a buffer comes behind it; UINT64_MAX: there is none */
    uint64_t unusable; /* buffers, or stretches of the file, without a usable header */

    /* Of the buffer that was found: */
    struct etwas_buffer_beginning beginning;
    bool has_record;  /* the beginning has its first record, or what is there of it */
    bool is_doubtful; /* its two ends of data contradict each other, which is to be reported */
};

/* From the first data buffer to the end of the file as it is now. */
void etwas_walk_begin(struct etwas_walk *walk, struct etwas_trace *trace);

/* Goes to the next buffer. False: there is none. */
bool etwas_walk_next(struct etwas_walk *walk, struct etwas_index_entry *entry);

#endif
