/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The data buffers of a file in the order of their positions, found by their headers alone. A
 * position without a usable header is reported and skipped. The walk takes one read of 72 bytes a
 * buffer, or of 168 if the first record is read as well.
 */
#ifndef ETWAS_READER_BUFFER_WALK_H
#define ETWAS_READER_BUFFER_WALK_H

#include "reader/clock_snapshots.h"
#include "reader/index.h"

struct etwas_buffer_walk {
    struct etwas_trace *trace;
    uint64_t offset;               /* where the next buffer is searched */
    uint64_t until;                /* the next buffer begins before this offset */
    struct etwas_index_file *file; /* FILE.index, which is read or written; NULL: none */
    /* reads the first record of each buffer, in a file whose buffers have one size */
    bool reads_records;

    /*
     * The file grows: a truncated or unusable buffer at its end may not be written yet, so it is
     * not reported. A hole is not reported either when a buffer after it appears, because the walk
     * visits the hole again. Positions up to `sure` were visited again.
     */
    bool grows;
    uint64_t sure;
    int64_t known_until; /* everything collected until this stamp is in the file */

    uint64_t hole;     /* begin of a hole that is reported if a buffer follows; UINT64_MAX: none */
    uint64_t unusable; /* buffers, or stretches of the file, without a usable header */

    /* The buffer that was found: */
    struct etwas_buffer_beginning beginning;
    bool has_record;  /* `beginning` has the buffer's first record, as far as it is there */
    bool is_doubtful; /* its two ends of data differ, which the caller reports */
};

/* Prepares a walk from the first data buffer to the present end of the file. */
void etwas_buffer_walk_begin(struct etwas_buffer_walk *walk, struct etwas_trace *trace);

/* Goes to the next buffer. Returns false if there is none. */
bool etwas_buffer_walk_next(struct etwas_buffer_walk *walk, struct etwas_index_entry *entry);

/* The first records of a buffer, without reading more of it. */

enum {
    /* more than a header, since a compressed match may reach beyond it */
    ETWAS_BUFFER_BEGINNING_BYTES = 1024,
};

/* Reads the first bytes of the buffer's records, decompressed. Returns how many the file has. */
size_t etwas_buffer_beginning_read(struct etwas_trace *trace, const struct etwas_index_entry *entry,
                                   uint8_t bytes[ETWAS_BUFFER_BEGINNING_BYTES]);

/* Returns the kind of the buffer, an ETWAS_BUFFER_*, by its first record. */
uint32_t etwas_buffer_beginning_kind(struct etwas_trace *trace,
                                     const struct etwas_index_entry *entry);

#endif
