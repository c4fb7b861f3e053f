/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that several files of one run contain: snapshots of one flight recorder overlap, and a
 * file may be given twice. Two records are the same if their session, stream, stamp, place in the
 * buffer and bytes are the same, because buffers are written to each file as they are. The files of
 * one session are on one time line, so the same record has the same key, and it is enough to
 * remember the records that were delivered with the current key.
 */
#ifndef ETWAS_READER_DUPLICATES_H
#define ETWAS_READER_DUPLICATES_H

#include "reader/stream.h"

/* A record that was delivered. */
struct etwas_duplicates_record {
    uint64_t key;   /* the group's key number when it was delivered */
    uint64_t hash;  /* of the record's bytes */
    uint32_t place; /* offset in its buffer */
    uint32_t size;
    size_t file; /* its number in the run */
};

/*
 * A group: the streams of one processor in the files of one session. Zeroed, nothing was delivered.
 */
struct etwas_duplicates {
    int64_t raw;                             /* the key that the streams have reached */
    uint64_t key;                            /* number of that key, from 1 */
    struct etwas_duplicates_record *records; /* a hash table; an entry of an older key is free */
    size_t room;                             /* a power of 2; 0: none yet */
    size_t count;                            /* records of the current key */
    bool out_of_memory;
};

/*
 * Groups the streams, each of one file and one processor, that may have records in common. The
 * caller frees *groups with etwas_duplicates_free. Returns false without memory.
 */
bool etwas_duplicates_find_groups(struct etwas_stream **streams, size_t count,
                                  struct etwas_duplicates **groups, size_t *group_count);

void etwas_duplicates_free(struct etwas_duplicates *groups, size_t count);

/*
 * Returns whether the stream's record was already delivered from another file. If it was not, the
 * record is remembered.
 */
bool etwas_duplicates_is_delivered(struct etwas_stream *stream);

#endif
