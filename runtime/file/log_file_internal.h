/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The internals of a log file, which log_open.c creates and log_file.c works with. Only the files
 * log_*.c include it.
 */
#ifndef ETWAS_FILE_LOG_FILE_INTERNAL_H
#define ETWAS_FILE_LOG_FILE_INTERNAL_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "etl/layout.h"
#include "file/direct_write.h"
#include "file/log_audit.h"
#include "file/log_clock_snapshots.h"
#include "file/log_cursor.h"
#include "file/log_file.h"
#include "file/log_header.h"
#include "file/log_losses.h"
#include "file/log_metadata.h"
#include "file/log_pack.h"

/*
 * The stages of a log file, from its creation until it is closed:
 *
 *     WRITING ──end──▶ ENDING ──nothing was refused──▶ ENDED ──end──▶ ENDING
 *
 *     WRITING   accepts buffers and clock readings; its last clock snapshot is not there
 *     ENDING    accepts nothing more; a part of its end was refused, and it has to be ended again
 *     ENDED     is complete. It may be ended again, with other counts
 */
enum etwas_log_file_stage {
    ETWAS_LOG_FILE_WRITING,
    ETWAS_LOG_FILE_ENDING,
    ETWAS_LOG_FILE_ENDED,
};

struct etwas_log_file {
    int descriptor;
    char *temporary_path; /* its name until it replaces the file at … */
    char *final_path;     /* … this path; both NULL: it has its final name */
    uint32_t buffer_bytes;
    uint16_t logger_id;
    uint32_t processors;                     /* what the header says at the end; 0: unchanged */
    const uint32_t *takes_stacks;            /* as in its options */
    const struct etwas_clock_reading *ended; /* likewise */
    bool has_space; /* space was reserved at the start: the length says nothing while it runs */
    uint32_t part;
    enum etwas_log_file_stage stage;
    struct etwas_log_file *earlier; /* the part before, if it is not closed yet */
    struct etwas_log_cursor cursor;
    uint64_t numbered_before; /* data buffers of the sessions before, in a file appended to */
    uint64_t synced;          /* data buffers that are durable, and counted in the header */
    uint64_t overwritten_events;
    uint64_t overwritten_buffers;
    struct etwas_log_file_totals before;
    struct etwas_log_file_totals counted; /* in the header */
    uint64_t dropped_bytes;               /* up to here pages were dropped from the cache */
    struct etwas_log_pack pack;
    struct etwas_direct_write direct;
    struct etwas_log_audit audit;
    struct etwas_log_header header;
    struct etwas_log_clock_snapshots clock_snapshots;
    const struct etwas_loss_table *losses; /* the session's; NULL: there is nothing to add */
    uint32_t losses_bytes;                 /* in buffer 0 */
    struct etwas_log_metadata metadata;
    uint8_t *scratch; /* a buffer of its own, for what cannot be written from where it lies */
};

static inline uint64_t etwas_log_position(const struct etwas_log_file *file, uint32_t entry)
{
    return (uint64_t)entry * file->buffer_bytes;
}

static inline bool etwas_log_is_packed(const struct etwas_log_file *file)
{
    return file->pack.end != 0;
}

/* The position of the next data buffer. */
static inline uint64_t etwas_log_next(const struct etwas_log_file *file)
{
    return etwas_log_is_packed(file)
               ? file->pack.end
               : etwas_log_position(file, etwas_log_cursor_next(&file->cursor));
}

/* The end of the last buffer. */
static inline uint64_t etwas_log_end(const struct etwas_log_file *file)
{
    return etwas_log_is_packed(file)
               ? file->pack.end
               : etwas_log_position(file, etwas_log_cursor_used(&file->cursor));
}

/*
 * Padding behind a buffer's records, a multiple of 8 bytes, and zeroes again. A process that reads
 * the buffer from outside, also after this process was killed here, finds one or the other in its
 * first word, never a mixture: that word is stored first and cleared last.
 */
static inline void etwas_log_pad(const struct etwas_log_file *file, uint8_t *buffer,
                                 uint32_t used_bytes)
{
    uint64_t *first = (uint64_t *)(void *)(buffer + used_bytes);

    if (used_bytes < file->buffer_bytes) {
        ck_pr_store_64(first, UINT64_MAX);
        ck_pr_fence_release();
        memset(first + 1, ETWAS_ETL_PADDING_BYTE, file->buffer_bytes - used_bytes - sizeof *first);
    }
}

static inline void etwas_log_unpad(const struct etwas_log_file *file, uint8_t *buffer,
                                   uint32_t used_bytes)
{
    uint64_t *first = (uint64_t *)(void *)(buffer + used_bytes);

    if (used_bytes < file->buffer_bytes) {
        memset(first + 1, 0, file->buffer_bytes - used_bytes - sizeof *first);
        ck_pr_fence_release();
        ck_pr_store_64(first, 0);
    }
}

/* Writes all of buffer 0 through the scratch buffer. */
bool etwas_log_write_header(struct etwas_log_file *file, int *error);

/*
 * Makes the scratch buffer one of `bytes` bytes without records, as data buffer `number`, from 1.
 */
void etwas_log_make_empty(struct etwas_log_file *file, uint32_t bytes, uint64_t number,
                          int64_t time_stamp, uint32_t processor);

/*
 * etwas_log_file_write for buffers that take no entry from the event metadata of a circular file.
 */
void etwas_log_write_buffers(struct etwas_log_file *file, const struct etwas_drained *buffers,
                             uint32_t count, struct etwas_log_write *result);

/* Whether the file's parts are consistent. For ETWAS_INVARIANT, after each change. */
bool etwas_log_file_is_valid(const struct etwas_log_file *file);

/* Frees everything but the descriptor. */
void etwas_log_free(struct etwas_log_file *file);

#endif
