/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The data buffers of a file in the order of their place, found by their headers alone. What has no usable header is
 * reported and passed over. One read of 72 bytes a buffer, or 168 where its first record is looked at as well.
 */
#ifndef ETWAS_READER_BUFFER_WALK_H
#define ETWAS_READER_BUFFER_WALK_H

#include "reader/clock_snapshots.h"
#include "reader/index.h"

struct etwas_buffer_walk {
    struct etwas_trace *trace;
    uint64_t offset;               /* where the next buffer is looked for */
    uint64_t until;                /* it begins before that */
    struct etwas_index_file *file; /* FILE.index, which is read or written; NULL: neither */
    bool reads_records;            /* first ones are read, where all buffers have one size */

    /*
     * What is cut or unusable at the end of a file that grows is not there yet, and is not reported. Neither is what was
     * not there when the walk came by, and is now that something behind it is: up to `sure` the walk came by again.
     */
    bool grows;
    uint64_t sure;
    int64_t known_until; /* all that was collected until then is there */

    uint64_t hole;     /* a stretch that is reported if a buffer follows; UINT64_MAX: none */
    uint64_t unusable; /* buffers, or stretches of the file, without a usable header */

    /* Of the buffer that was found: */
    struct etwas_buffer_beginning beginning;
    bool has_record;  /* the beginning has its first record, or what is there of it */
    bool is_doubtful; /* its two ends of data contradict each other, which is to be reported */
};

/* From the first data buffer to the end of the file as it is now. */
void etwas_buffer_walk_begin(struct etwas_buffer_walk *walk, struct etwas_trace *trace);

/* Goes to the next buffer. False: there is none. */
bool etwas_buffer_walk_next(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry);

#endif
