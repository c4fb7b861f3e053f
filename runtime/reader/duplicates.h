/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that several files of a run have: snapshots of one recorder overlap, and a file may be given twice. A record is
 * the same if its session, its stream, its stamp, its place in the buffer and its bytes are: buffers are written as they
 * are. The files of one session are on one line, so what is the same has the same key, and it is enough to remember what
 * was delivered of the key that the streams have come to.
 */
#ifndef ETWAS_READER_DUPLICATES_H
#define ETWAS_READER_DUPLICATES_H

#include "reader/stream.h"

/* A record that was delivered. */
struct etwas_duplicates_record {
    uint64_t key;   /* of the group, by which it is of now */
    uint64_t hash;  /* of its bytes */
    uint32_t place; /* in its buffer */
    uint32_t size;
    size_t file; /* its number in the run */
};

/* The streams of one processor in files of one session. Zeroed: nothing was delivered. */
struct etwas_duplicates {
    int64_t raw;                             /* the key that they have come to, */
    uint64_t key;                            /* which is the so manieth */
    struct etwas_duplicates_record *records; /* a table by hashes; of other keys: free */
    size_t room;                             /* a power of 2; 0: none yet */
    size_t count;                            /* of this key */
    bool out_of_memory;
};

/*
 * Finds which of these streams, each of a file and a processor, may have records in common, and gives them a group.
 * *groups are the caller's to free. False: no memory.
 */
bool etwas_duplicates_find_groups(struct etwas_stream **streams, size_t count,
                                  struct etwas_duplicates **groups, size_t *group_count);

void etwas_duplicates_free(struct etwas_duplicates *groups, size_t count);

/* Was the stream's record delivered of another file? If not it is noted. */
bool etwas_duplicates_is_delivered(struct etwas_stream *stream);

#endif
