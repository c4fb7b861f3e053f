/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * FILE.index: the beginnings of a file's buffers, side by side, so that who reads a span of time need not
 * fetch one from each place of a large file. Layout: docs/file-format.md.
 *
 * It stands for the file where the walk over the buffers looks at their headers, and for nothing else: what
 * is made of a header is checked as if the file had said it, and a place that it does not have is read from
 * the file. It is as hostile as the file.
 *
 * Memory: 11 KB, however large the file is.
 */
#ifndef ETWAS_READER_INDEX_FILE_H
#define ETWAS_READER_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/clock_snapshots.h"

#define ETWAS_INDEX_FILE_MAGIC "ETWASIDX"

enum {
    ETWAS_INDEX_FILE_VERSION = 1,
    ETWAS_INDEX_FILE_CHUNK = 64, /* records */
};

struct etwas_index_file_header {
    char magic[8];
    uint32_t version;
    uint32_t record_bytes;
    uint64_t file_bytes;     /* of the trace file, */
    uint64_t modified_ns;    /* when it was last written, */
    uint64_t first_checksum; /* and of its buffer 0 */
    uint64_t count;          /* of records, which follow */
    uint64_t checksum;       /* of all records, ^ that of the header up to here */
};
_Static_assert(sizeof(struct etwas_index_file_header) == 56, "the file's layout");

struct etwas_index_file_record {
    uint64_t offset; /* of a buffer: from one record to the next they grow */
    struct etwas_buffer_beginning beginning;
};
_Static_assert(sizeof(struct etwas_index_file_record) == 176, "the file's layout");

/* One that is read, or written, from its first record to its last. */
struct etwas_index_file {
    int descriptor;
    bool writes;
    int error; /* errno of what could not be written; 0: none */
    struct etwas_index_file_header header;
    uint64_t at;     /* the records before chunk[0] */
    uint32_t held;   /* in `chunk`, */
    uint32_t passed; /* of these, behind the walk already */
    struct etwas_index_file_record chunk[ETWAS_INDEX_FILE_CHUNK];
};

/*
 * Adds to a checksum, which begins with 0. Of whole words; a last one is filled with zeroes. For each word the step
 * from one sum to the next is one to one, so no change of a single word goes unseen. It is no defence
 * against who means harm.
 */
uint64_t etwas_index_file_checksum(uint64_t sum, const void *bytes, size_t size);

/*
 * etwas_index_build, by FILE.index where there is one that fits and only a `part` of the file is wanted: who reads all
 * of a file, or one that may grow, goes by the file alone. Sets trace->by_index_file.
 */
uint32_t etwas_index_file_build(struct etwas_trace *trace, struct etwas_index *index, bool part);

/* What the file begins with at `offset`, which is never lower than it was before. False: it is not there. */
bool etwas_index_file_find(struct etwas_index_file *file, uint64_t offset,
                           struct etwas_buffer_beginning *beginning);

/* Begins to write one. What cannot be written is told by the end. */
bool etwas_index_file_begin(struct etwas_index_file *file, struct etwas_trace *trace,
                            int descriptor);
void etwas_index_file_add(struct etwas_index_file *file, uint64_t offset,
                          const struct etwas_buffer_beginning *beginning);

/* A Win32 code. */
uint32_t etwas_index_file_end(struct etwas_index_file *file);

#endif
