/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * FILE.index: copies of the beginnings of a file's buffers, side by side, so that a reader of a
 * time span need not read each from its position in a large file. The layout is in
 * docs/reference/file-format.md.
 *
 * It replaces the file only where the buffer walk reads headers. A header from it is checked like
 * one from the file, and a missing one is read from the file. It is as hostile as the file.
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
    uint64_t file_bytes;     /* of the trace file */
    uint64_t modified_ns;    /* when the trace file was last written */
    uint64_t first_checksum; /* checksum of the trace file's buffer 0 */
    uint64_t count;          /* number of records, which follow */
    uint64_t checksum;       /* checksum of all records, XOR that of the header up to here */
};
_Static_assert(sizeof(struct etwas_index_file_header) == 56, "the file's layout");

struct etwas_index_file_record {
    uint64_t offset; /* of a buffer; grows from record to record */
    struct etwas_buffer_beginning beginning;
};
_Static_assert(sizeof(struct etwas_index_file_record) == 176, "the file's layout");

/* An index file that is read or written, from its first record to its last. */
struct etwas_index_file {
    int descriptor;
    bool writes;
    int error; /* errno of the first failed write; 0: none */
    struct etwas_index_file_header header;
    uint64_t at;     /* number of records before chunk[0] */
    uint32_t held;   /* number of records in `chunk` */
    uint32_t passed; /* number of records in `chunk` that the walk has passed */
    struct etwas_index_file_record chunk[ETWAS_INDEX_FILE_CHUNK];
};

/*
 * Adds bytes to a checksum, which begins with 0. It takes whole words and fills the last one with
 * zeroes. The step from one sum to the next is one to one, so no change of a single word goes
 * unnoticed. The checksum is no defence against an attacker.
 */
uint64_t etwas_index_file_checksum(uint64_t sum, const void *bytes, size_t size);

/*
 * Builds the index, from FILE.index if there is one that fits and only a `part` of the file is
 * requested. The whole of a file, or a file that may grow, is read from the file alone. Sets
 * trace->by_index_file.
 */
uint32_t etwas_index_file_build(struct etwas_trace *trace, struct etwas_index *index, bool part);

/*
 * Finds the beginning of the buffer at `offset`, which never decreases from call to call. Returns
 * false if the index file does not have it.
 */
bool etwas_index_file_find(struct etwas_index_file *file, uint64_t offset,
                           struct etwas_buffer_beginning *beginning);

/*
 * Begins an index file. Returns false if the trace file cannot be read. Failed writes are reported
 * by etwas_index_file_end.
 */
bool etwas_index_file_begin(struct etwas_index_file *file, struct etwas_trace *trace,
                            int descriptor);
void etwas_index_file_add(struct etwas_index_file *file, uint64_t offset,
                          const struct etwas_buffer_beginning *beginning);

/* Completes the file. Returns a Win32 code. */
uint32_t etwas_index_file_end(struct etwas_index_file *file);

#endif
