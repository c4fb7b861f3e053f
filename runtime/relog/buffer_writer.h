/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Puts records into buffers, which are written one after the other. Each processor has one buffer
 * that is filled, and a full one gets the next number. Buffer 0 is written by relog_output.c
 * (first_buffer.h).
 */
#ifndef ETWAS_RELOG_BUFFER_WRITER_H
#define ETWAS_RELOG_BUFFER_WRITER_H

#include "etl/layout.h"
#include "relog/record_sort.h"

enum {
    ETWAS_RELOG_PROCESSORS = ETWAS_ETL_PROCESSOR_INDEX_MASK + 1,
};

/* The buffer that is filled for one processor. */
struct etwas_relog_buffer {
    struct etwas_etl_buffer_header header; /* offset: how far it is filled; 0: it is empty */
    int64_t key;                           /* key of its last record */
    uint64_t gaps; /* how many of the writer's gaps the processor's buffers have marked */
    uint8_t *content;
};

struct etwas_relog_writer {
    int descriptor;
    uint32_t buffer_bytes;
    /*
     * the output is in etwas' own form, where a buffer whose stamps decrease counts as damaged:
     * another one begins then
     */
    bool own;
    uint64_t gaps;       /* gaps until now: places where something was missing */
    uint32_t buffers;    /* in the file, including buffer 0 */
    uint32_t processors; /* greater than the number of any processor with a record */
    int64_t newest;      /* newest stamp of all records */
    uint64_t end;        /* end of the file */
    uint64_t last_at;    /* position of the last buffer */
    struct etwas_etl_buffer_header last;
    uint8_t *compressed; /* room for one compressed buffer; NULL: buffers are not compressed */
    void *memory;        /* memory of the compressor */
    struct etwas_relog_buffer *of[ETWAS_RELOG_PROCESSORS];
};

/*
 * Opens a writer. The caller sets descriptor, which stays its own, buffer_bytes and own; everything
 * else is 0. Room is left for buffer 0. Returns ERROR_SUCCESS or ERROR_NOT_ENOUGH_MEMORY; in both
 * cases etwas_relog_writer_free is called in the end.
 */
uint32_t etwas_relog_writer_open(struct etwas_relog_writer *writer, bool compressed);

/*
 * Adds a record that fits in a buffer, with its stamp if it has one. An entry without bytes is a
 * gap: the buffer of each processor that has the next record is marked. Returns a Win32 code if the
 * disk refuses.
 */
uint32_t etwas_relog_writer_add(struct etwas_relog_writer *writer,
                                const struct etwas_relog_entry *entry, const void *record,
                                const int64_t *stamp);

/* Writes the filled part of a processor's buffer, if it has any. */
uint32_t etwas_relog_writer_close_buffer(struct etwas_relog_writer *writer, uint32_t processor);

/* Does the same for all processors, and marks the last buffer in the file. */
uint32_t etwas_relog_writer_end(struct etwas_relog_writer *writer);

void etwas_relog_writer_free(struct etwas_relog_writer *writer);

/* Writes at a position. Returns a Win32 code. */
uint32_t etwas_relog_write_at(int descriptor, const void *bytes, size_t count, uint64_t position);

#endif
