/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records into buffers, one after the other in the file: each processor has one that is filled, and a
 * full one gets the next number. Buffer 0 is written by another (first_buffer.h).
 */
#ifndef ETWAS_RELOG_BUFFER_WRITER_H
#define ETWAS_RELOG_BUFFER_WRITER_H

#include "etl/layout.h"
#include "relog/record_sort.h"

enum {
    ETWAS_RELOG_PROCESSORS = ETWAS_ETL_PROCESSOR_INDEX_MASK + 1,
};

/* What is filled for one processor. */
struct etwas_relog_buffer {
    struct etwas_etl_buffer_header
        header;    /* offset: how far it is filled; 0: nothing is in it yet */
    int64_t key;   /* of its last record */
    uint64_t gaps; /* of the pack, of which the processor's buffers say */
    uint8_t *content;
};

struct etwas_relog_writer {
    int descriptor;
    uint32_t buffer_bytes;
    bool own;            /* a buffer whose stamps go back is damaged: so another one begins */
    uint64_t gaps;       /* so often something was missing until now */
    uint32_t buffers;    /* in the file, with buffer 0 */
    uint32_t processors; /* exceeds all that had a record */
    int64_t newest;      /* stamp of all */
    uint64_t end;        /* of the file */
    uint64_t last_at;    /* the last buffer */
    struct etwas_etl_buffer_header last;
    uint8_t *compressed; /* room for one buffer's records; NULL: they are not compressed */
    void *memory;        /* of the compressor */
    struct etwas_relog_buffer *of[ETWAS_RELOG_PROCESSORS];
};

/*
 * `writer` says descriptor, which stays the caller's, buffer_bytes and own; all else is 0. Room is left for
 * buffer 0. To be ended with etwas_relog_writer_free, also where it fails: ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_relog_writer_open(struct etwas_relog_writer *writer, bool compressed);

/*
 * Adds a record that fits in a buffer, with its stamp if it has one; an entry without bytes says that something is
 * missing before what follows: the buffer of each processor that has the next record is marked. Codes of a disk that
 * refuses.
 */
uint32_t etwas_relog_writer_add(struct etwas_relog_writer *writer,
                                const struct etwas_relog_entry *entry, const void *record,
                                const int64_t *stamp);

/* Writes what is filled of a processor's buffer, if anything is. */
uint32_t etwas_relog_writer_close_buffer(struct etwas_relog_writer *writer, uint32_t processor);

/* The same of all, and marks the last one in the file. */
uint32_t etwas_relog_writer_end(struct etwas_relog_writer *writer);

void etwas_relog_writer_free(struct etwas_relog_writer *writer);

/* Writes at a position. */
uint32_t etwas_relog_write_at(int descriptor, const void *bytes, size_t count, uint64_t position);

#endif
