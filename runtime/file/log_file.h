/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A log file that is being written: buffer 0 with the log file header, and data buffers after it,
 * all of one size, or compressed (log_pack.c). Ending it rewrites some of it. If the process dies
 * at any moment, the file can be read up to its last whole buffer.
 *
 * It is sequential, circular or appended to, and its space may be reserved when it is created, as
 * the mode bits say. A new-file set consists of several of these, one after the other
 * (session_file.h).
 *
 * The functions are not thread-safe: the owner of the session's role calls them.
 */
#ifndef ETWAS_FILE_LOG_FILE_H
#define ETWAS_FILE_LOG_FILE_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_reading.h"
#include "flush/sink.h"

struct etwas_log_file;

/*
 * What a session has lost since it began, and out of how many events; and what ends with the file.
 */
struct etwas_log_file_totals {
    uint64_t events_lost;
    uint64_t buffers_lost;
    uint64_t events_attempted;   /* all that writers tried to record; 0: not given */
    uint64_t events_overwritten; /* except events replaced in this file */
    uint32_t ends;               /* ETWAS_ETL_ENDS_*; 0 unless the file is ended */
    uint32_t unattached_total;   /* as in etwas_session_counts, … */
    uint32_t unattached_code;    /* … likewise */
};

struct etwas_log_file_options {
    const char *path;
    const etwas_wchar *session_name; /* terminated, as recorded in the header */
    const etwas_wchar *file_name;    /* likewise */
    uint32_t buffer_bytes;
    uint32_t processors; /* the most streams */
    /* the header's number at the end, unless a later stream has a buffer; 0: as above */
    uint32_t least_processors;
    uint32_t rows;   /* class rows of streams: the retention classes, and one; 0: no classes */
    bool one_stream; /* one stream in each row */
    uint32_t protocol;
    uint32_t sequences;       /* why RSEQ was not chosen */
    uint32_t clock;           /* ETWAS_CLOCK_KIND_* */
    uint32_t requested_clock; /* the clock that the session requested; 0: this one */
    uint32_t log_file_mode; /* CIRCULAR, APPEND, PREALLOCATE and COMPRESSED say how it is written */
    uint64_t maximum_bytes; /* 0: no limit */
    uint32_t maximum_file_size; /* the same for the header: MB, or KB by the mode */
    uint16_t logger_id;
    bool process_times;  /* records carry processor times */
    bool is_private;     /* only its owner may read it */
    bool replaces_whole; /* a file at `path` stays until etwas_log_file_replace */
    /* not 0: the session takes stacks (metadata.h); atomic; NULL: it never does */
    const uint32_t *takes_stacks;
    uint32_t part;                             /* number in a new-file set, from 1; 0: none */
    struct etwas_clock_reading started;        /* when the session started */
    const struct etwas_clock_reading *opened;  /* the clocks now; NULL: `started` */
    const struct etwas_clock_history *history; /* clock readings in between; NULL: none */
    struct etwas_log_file_totals before;       /* what the session had lost when this file began */
    const void *first; /* a copied buffer 0 without clock snapshots; NULL: a new one is built */
    uint32_t first_bytes;
    /* when it ended; NULL: when etwas_log_file_end is called */
    const struct etwas_clock_reading *ended;
    struct etwas_log_file *after; /* the previous part, to be closed later; or NULL */
};

/*
 * Creates the file, or opens it to be appended to, and writes buffer 0. Returns a Win32 code: those
 * of etwas_file_create and etwas_log_append_check, ERROR_BAD_PATHNAME for names too long for buffer
 * 0, ERROR_INVALID_PARAMETER for a circular file without room for two data buffers,
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT, ERROR_NOT_ENOUGH_MEMORY. On failure nothing is left open, a
 * file that had to be created for this is removed, and one that was to be appended to is as it was.
 */
uint32_t etwas_log_file_create(const struct etwas_log_file_options *options,
                               struct etwas_log_file **file);

/* The result of one call. */
struct etwas_log_write {
    uint32_t written;       /* buffers in the file, from the first on */
    uint32_t code;          /* why not all; ERROR_SUCCESS: it is full; else the system refused */
    uint64_t replaced;      /* events that are no longer in the file */
    uint32_t metadata;      /* buffers with event metadata, written in addition (log_metadata.h) */
    uint32_t metadata_code; /* why not all of them */
};

/*
 * Writes up to ETWAS_BATCH_BUFFERS buffers; the header of a whole one is written into its memory.
 * Sequence numbers are assigned here, without gaps, unless the buffers have their own. After a
 * refusal the file is cut to its last whole buffer. In a circular file or in reserved space, the
 * entry is emptied if it was written in part. Codes of a refusal: ERROR_DISK_FULL,
 * ERROR_WRITE_FAULT.
 */
struct etwas_log_write etwas_log_file_write(struct etwas_log_file *file,
                                            const struct etwas_drained *buffers, uint32_t count);

/* What was written, but is not in the file. */
struct etwas_log_lost {
    uint32_t buffers; /* buffers with events */
    /* buffers of any kind that were cut off at the end; the others were replaced by empty ones */
    uint32_t cut;
    uint64_t records;
};

/*
 * Makes everything written durable, and updates the counts in the header. ERROR_DISK_FULL,
 * ERROR_WRITE_FAULT: the next call tries again, and *lost says what the system has dropped
 * (log_audit.h).
 */
uint32_t etwas_log_file_sync(struct etwas_log_file *file,
                             const struct etwas_log_file_totals *totals,
                             struct etwas_log_lost *lost);

/* Makes durable what was written, and leaves the counts in the header as they are. */
uint32_t etwas_log_file_store(struct etwas_log_file *file, struct etwas_log_lost *lost);

/*
 * Numbers the data buffers from the last one in the file to the first, for a file that was written
 * newest buffer first. Returns false if the system refused.
 */
bool etwas_log_file_number_backwards(struct etwas_log_file *file);

/* Buffers in the file, buffer 0 included. */
uint32_t etwas_log_file_buffers(const struct etwas_log_file *file);

/* The file's length up to the end of the last buffer. */
uint64_t etwas_log_file_bytes(const struct etwas_log_file *file);

/* Whether no further buffer fits. */
bool etwas_log_file_is_full(const struct etwas_log_file *file);

/* The file's number in a new-file set. */
uint32_t etwas_log_file_part(const struct etwas_log_file *file);

/*
 * Ends the file: sets its length, numbers the buffers of a circular one, marks the last buffer, and
 * completes the header. It accepts no more buffers; it may be ended again, with other counts.
 * Returns false if the system refused any of this; what is in the file can still be read.
 */
bool etwas_log_file_end(struct etwas_log_file *file, const struct etwas_log_file_totals *totals);

/* Whether the file was ended, and nothing was refused the last time. */
bool etwas_log_file_is_ended(const struct etwas_log_file *file);

/* The totals it was ended with. */
struct etwas_log_file_totals etwas_log_file_last_totals(const struct etwas_log_file *file);

/*
 * If the options have replaces_whole, replaces the file that was at `path` by this file, which has
 * ended and was stored. Otherwise does nothing. Returns false if the system refused.
 */
bool etwas_log_file_replace(struct etwas_log_file *file);

/*
 * Closes a file that has ended and was stored. Removes a file that still has its temporary name.
 * Frees `file`. Returns false if the system refused.
 */
bool etwas_log_file_close(struct etwas_log_file *file);

/* Ends and stores the file, whatever is lost. Returns false if either was refused. */
bool etwas_log_file_finish(struct etwas_log_file *file, const struct etwas_log_file_totals *totals);

/*
 * The earlier parts that are not closed yet form a chain. `oldest` returns NULL if there are no
 * more than `keep`; `drop` removes the oldest from the chain.
 */
struct etwas_log_file *etwas_log_file_oldest_earlier(const struct etwas_log_file *file,
                                                     uint32_t keep);
void etwas_log_file_drop_oldest_earlier(struct etwas_log_file *file);

/*
 * In a fork's child: closes its copies of the descriptors, also those of earlier parts, and leaves
 * the files to the parent.
 */
void etwas_log_file_forget(struct etwas_log_file *file);

#endif
