/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The internals of a log file, which log_open.c creates and log_file.c uses. Only the files log_*.c
 * and tests include it.
 */
#ifndef ETWAS_FILE_LOG_FILE_INTERNAL_H
#define ETWAS_FILE_LOG_FILE_INTERNAL_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etl/layout.h"
#include "file/direct_write.h"
#include "file/log_audit.h"
#include "file/log_clock_snapshots.h"
#include "file/log_file.h"
#include "file/log_header.h"
#include "file/log_losses.h"
#include "file/log_metadata.h"

struct etwas_log_file_options;

/*
 * The buffers of a compressed log file. Each has a size of its own and directly follows the
 * previous one, so the file has no entries: the next one goes to its end. Buffer 0 is as in other
 * files, as long as the session's buffers.
 *
 * No buffer is longer than the session's, because one that does not get smaller is stored
 * uncompressed. So a file is full when less than a session's buffer is left of its size. Until then
 * the next buffer fits, however badly it compresses.
 */

/* Zeroed: the file is not compressed. */
struct etwas_log_pack {
    uint64_t end;         /* end of the last buffer; 0: the file is not compressed */
    uint64_t last;        /* where that one begins; 0: it has to be searched for */
    uint64_t limit_bytes; /* size limit of the file; 0: none */
    uint8_t *packed;      /* compressed buffers that are written together */
    uint32_t packed_bytes;
    void *memory; /* the compressor's memory */
};

/*
 * Allocates memory when the file is opened, so that none is needed while it is written. Returns
 * false if there is none.
 */
bool etwas_log_pack_begin(struct etwas_log_file *file, uint64_t limit_bytes);

/* Frees the memory; the file is still a compressed one. */
void etwas_log_pack_free(struct etwas_log_file *file);

/* Sets the end of the file, after a buffer that begins at `last`. */
void etwas_log_pack_set_end(struct etwas_log_file *file, uint64_t end, uint64_t last);

/* Does what etwas_log_write_buffers does. */
void etwas_log_pack_write(struct etwas_log_file *file, const struct etwas_drained *buffers,
                          uint32_t count, struct etwas_log_write *result);

/* Adds to the flags of the last buffer, if there is one. Returns false if the system refused. */
bool etwas_log_pack_mark_last(struct etwas_log_file *file, uint16_t flags);

/* Does what etwas_log_patch_number_backwards does. */
bool etwas_log_pack_number_backwards(struct etwas_log_file *file);

/*
 * The cursor of a log file that is being written: the entry to which the next data buffer goes, and
 * what it replaces. The file is a table of buffers of one size; its entry 0 is buffer 0.
 *
 * Data buffer k (from 0) goes to entry 1 + k; in a circular file of n entries for data to 1 + k mod
 * n, where it replaces the oldest. The cursor of a circular file remembers how many records lie in
 * each entry, so that overwritten events are counted exactly.
 */

struct etwas_log_cursor {
    uint32_t limit;    /* entries for data; 0: no limit */
    uint64_t written;  /* data buffers so far; in an appended file, earlier ones too */
    uint32_t *records; /* circular: records in each entry; NULL: a file that does not wrap */
};

/* Begins a cursor. Returns false if there is no memory. `limit` is not 0 for a circular file. */
bool etwas_log_cursor_begin(struct etwas_log_cursor *cursor, uint32_t limit, bool circular);
void etwas_log_cursor_end(struct etwas_log_cursor *cursor);

/* The entry of the next data buffer. */
uint32_t etwas_log_cursor_next(const struct etwas_log_cursor *cursor);

/* How many of `wanted` buffers fit contiguously from the next entry on. 0: the file is full. */
uint32_t etwas_log_cursor_room(const struct etwas_log_cursor *cursor, uint32_t wanted);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_cursor_used(const struct etwas_log_cursor *cursor);

/* Whether the next data buffer takes the entry of an older one. */
bool etwas_log_cursor_replaces(const struct etwas_log_cursor *cursor);

/* Counts the next data buffer as written; returns how many records the one it replaced had. */
uint32_t etwas_log_cursor_advance(struct etwas_log_cursor *cursor, uint32_t records);

/* Marks the entry as empty; returns how many records a circular file had in it. */
uint32_t etwas_log_cursor_clear(struct etwas_log_cursor *cursor, uint32_t entry);

/* ---- the log file ---------------------------------------------------------------------------- */

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
    bool has_space; /* space was reserved at the start: the length says nothing until the end */
    uint32_t part;
    enum etwas_log_file_stage stage;
    struct etwas_log_file *earlier; /* the previous part, if it is not closed yet */
    struct etwas_log_cursor cursor;
    uint64_t numbered_before; /* in a file appended to: data buffers of earlier sessions */
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
    uint8_t *scratch; /* a buffer for what has to be copied or built before it is written */
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
 * Padding after a buffer's records, a multiple of 8 bytes, and zeroes again. A process that reads
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
 * Makes the scratch buffer a data buffer of `bytes` bytes without records, with this `number`, from
 * 1.
 */
void etwas_log_make_empty(struct etwas_log_file *file, uint32_t bytes, uint64_t number,
                          int64_t time_stamp, uint32_t processor);

/* Does what etwas_log_file_write does, but may replace the event metadata of a circular file. */
void etwas_log_write_buffers(struct etwas_log_file *file, const struct etwas_drained *buffers,
                             uint32_t count, struct etwas_log_write *result);

/* Whether the file's parts are consistent. For ETWAS_INVARIANT, after each change. */
bool etwas_log_file_is_valid(const struct etwas_log_file *file);

/* Frees everything but the descriptor. */
void etwas_log_free(struct etwas_log_file *file);

/*
 * Checks whether a session may append to an existing file (R95), and reads what it needs to
 * continue. Treats the file as hostile input and changes nothing.
 */

struct etwas_log_append {
    struct etwas_log_header header; /* the file's own, all of buffer 0; the caller frees it */
    uint32_t buffers;               /* whole buffers, buffer 0 included */
    uint64_t end;                   /* end of the last one */
    uint64_t last;                  /* where the last data buffer begins; 0: there is none */
    uint16_t last_flags;            /* its flags; 0: there is none */
};

/*
 * Checks a file whose session ended, or one that was broken off. The length of the latter says how
 * much there is; a partial buffer, or reserved space, is not counted.
 *
 * ERROR_INVALID_PARAMETER: a trace file with another buffer size, clock, number of processors or
 * unit of processor times, with 32-bit pointers, compressed if the session is not or the other way
 * round, circular, a snapshot, or part of a set. ERROR_FILE_CORRUPT: no trace file, or a damaged
 * one. ERROR_NOT_ENOUGH_MEMORY. On failure there is nothing to free.
 */
uint32_t etwas_log_append_check(int descriptor, uint64_t file_bytes,
                                const struct etwas_log_file_options *options,
                                struct etwas_log_append *append);

/*
 * Small changes to a log file's content: sequence numbers and the mark of the last buffer. Each
 * writes a few bytes of a buffer's header, through the page cache.
 */

/* Writes `length` bytes at `position`. Returns false if the system refused. */
bool etwas_log_patch(int descriptor, const void *bytes, size_t length, uint64_t position);

/* Sets the flags, or the number, of the buffer that begins there. */
bool etwas_log_patch_flags(int descriptor, uint64_t buffer_at, uint16_t flags);
bool etwas_log_patch_number(int descriptor, uint64_t buffer_at, int64_t sequence_number);

/*
 * Numbers the data buffers of a circular file, which are in the entries 1 to `count`: the oldest is
 * in entry `first` and gets number 1, the next one 2, and so on around the file. Returns false if
 * the system refused; the others keep their numbers. It goes from the oldest to the newest, so that
 * wherever it was broken off, the reader can find which buffers have a new number
 * (reader/missing_buffers.c).
 */
bool etwas_log_patch_number_round(int descriptor, uint32_t buffer_bytes, uint32_t count,
                                  uint32_t first);

/*
 * Numbers them from the last entry, which gets 1, to the first. Returns false if the system refused
 * some.
 */
bool etwas_log_patch_number_backwards(int descriptor, uint32_t buffer_bytes, uint32_t count);

#endif
