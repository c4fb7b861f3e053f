/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The reader's view of one open trace file, and what its parts do for each other:
 *
 *     source      opens and reads the file
 *     file_header buffer 0: what the file says about itself
 *     knots       its readings of the clocks
 *     timeline    what a stamp means between them
 *     index       where every buffer is, and whose
 *     appended    which of several sessions a buffer is of
 *     sequence    which buffers are missing
 *     stream      one processor's buffers in order, one record at a time
 *     tear        where a buffer that was being replaced goes over into an older one
 *     parts       which files belong together
 *     merge       all streams of all files in one time order
 *     deliver     a record as EVENT_RECORD or EVENT_TRACE
 *     damage      what is wrong, told once, with its place
 *     times       stamps and clocks for whoever asks
 *     table       handles
 *
 * The file is hostile: whatever it says is checked before it is used as a size, an offset or a
 * count. The file is read, never mapped, because a file cut under a mapping kills the process.
 *
 * Memory: the index holds 40 bytes a buffer (2.6 MB for 4 GB of 64 KB buffers); every processor of
 * the file has one window of at most ETWAS_READER_WINDOW_BYTES, or one decompressed buffer; knots
 * take 1 MB at most.
 */
#ifndef ETWAS_READER_TRACE_H
#define ETWAS_READER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "etl/clock_convert.h"
#include "etl/clock_record.h"
#include "etl/layout.h"
#include "etl/totals.h"
#include "reader/timeline.h"

struct etwas_consumer;

enum {
    ETWAS_READER_WINDOW_BYTES = 128 * 1024, /* holds the largest record wherever it begins */
    ETWAS_READER_OPEN_DAMAGES = 8,          /* OpenTrace looks at one buffer: it finds few */
};

/* Decompressed buffers of all streams of a trace together: a small file may promise much more. */
#define ETWAS_READER_DECOMPRESSED_LIMIT_BYTES (UINT64_C(1) << 30)

/* A buffer, as the index knows it. */
struct etwas_buffer_place {
    uint64_t file_offset;
    int64_t sequence;
    uint32_t buffer_bytes; /* in the file, as its header says */
    uint32_t file_bytes;   /* of these, how many the file has: fewer in a buffer that is cut */
    uint32_t data_end;     /* Offset: uncompressed, from the buffer's start */
    uint16_t processor;
    uint16_t logger_id;
    bool compressed;
    uint32_t session; /* of an appended file: which of its sessions, from 0 */
};
_Static_assert(sizeof(struct etwas_buffer_place) == 40, "the index is as small as it says");

/* What buffer 0 says, in the 64-bit form whatever form the file has. */
struct etwas_file_header {
    struct etwas_etl_log_header64 fields;
    struct etwas_buffer_place buffer; /* buffer 0 */
    struct etwas_etl_clock clock;
    struct etwas_timeline_base base; /* the same for a timeline */
    uint32_t knots_at;               /* the first knot in buffer 0; 0: it has none */
    int64_t first_raw;               /* stamp of the header event: T0 */
    uint64_t clock_frequency_hz;
    uint32_t session_buffer_bytes; /* the largest a buffer's data may be */
    bool uniform;                  /* every buffer has buffer.buffer_bytes */
    bool calibrated;               /* clock is from a calibration */
    bool kernel;                   /* a session of the kernel provider */
    bool own;                      /* written by etwas: buffer 0 has records of our class */
    bool replaces;      /* a circular file without an end: buffers may be half replaced, or are
                            replaced while they are read */
    bool without_times; /* known to record no processor times */
    bool may_step_back; /* stamps may, inside a buffer: the wall clock was set back */
    struct etwas_etl_totals totals;     /* zeroes in a file that has none */
    struct etwas_etl_clock_trust trust; /* likewise; its texts end with 0 */
    etwas_wchar *names;                 /* one allocation: session, 0, file, 0 */
    etwas_wchar *log_file_name;         /* inside names */
};

/* EVENT_TRACE_LOGFILEA and W differ only in what their names and the buffer callback point to. */
union etwas_logfile {
    EVENT_TRACE_LOGFILEA a;
    EVENT_TRACE_LOGFILEW w;
};

struct etwas_trace {
    int descriptor;                  /* -1: a running session */
    struct etwas_consumer *consumer; /* of a running session; NULL: not connected, or a file. Set
                                        under the table's lock */
    etwas_wchar *session_name;       /* of a running session; NULL: a file */
    const uint8_t *head;             /* of a running session, while its header is read */
    uint64_t file_bytes;
    struct etwas_file_header log;
    uint64_t decompressed_bytes; /* held by the streams, at most the limit above */

    /*
     * Replaced under the table's lock: of a file by the thread in ProcessTrace, of a running
     * session by whoever asks; NULL until somebody does.
     */
    struct etwas_timeline *timeline;
    uint64_t clocks_seen;   /* of a running session: what the timeline was made of */
    bool timeline_complete; /* of the whole file, not of buffer 0 alone */

    /* the caller's structure, copied; ours are the names it points to */
    union etwas_logfile logfile;
    bool wide;

    /* Written by the thread in ProcessTrace, word by word with ck_pr_store, read by any. */
    etwas_trace_information information;
    etwas_damage_callback on_damage;
    void *damage_context;
    etwas_damage open_damages[ETWAS_READER_OPEN_DAMAGES];
    size_t open_damage_count;

    /* `processing` and the handle table are under the table's lock; `closing` is stored under it
     * and loaded by the processing thread without. */
    bool processing;
    unsigned closing;
};

/* ---- source ---------------------------------------------------------------------------------- */

/* Opens a file for reading. A Win32 code. */
uint32_t etwas_source_open(const char *path, int *descriptor, uint64_t *file_bytes);

/* Reads up to `bytes` at `offset`, less only at the end of the file or where the system fails. */
size_t etwas_source_read(struct etwas_trace *trace, uint64_t offset, void *target, size_t bytes);

/* The first offset >= `offset` that is not in a hole of the file; the file's end if all is. */
uint64_t etwas_source_next_data(const struct etwas_trace *trace, uint64_t offset);

/* ---- file header ----------------------------------------------------------------------------- */

/* Reads buffer 0 into trace->log. ERROR_FILE_CORRUPT if this is not a trace that can be read. */
uint32_t etwas_file_header_read(struct etwas_trace *trace);

/* Checks a buffer header against the `available` bytes of the file from its start. False: unusable,
 * nothing filled. *doubtful: usable, but its two ends of data contradict each other. */
bool etwas_buffer_place_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                              uint64_t available, uint32_t largest_data_bytes,
                              struct etwas_buffer_place *place, bool *doubtful);

/* ---- damage and information ------------------------------------------------------------------ */

/* Tells the caller's callback, or keeps it for ProcessTrace when OpenTrace finds it. */
void etwas_trace_report(struct etwas_trace *trace, etwas_damage_kind kind, uint64_t file_offset,
                        uint64_t bytes_skipped);

/* Starts the counts of a run of ProcessTrace, and tells what OpenTrace found. */
void etwas_trace_begin_information(struct etwas_trace *trace);

/* Adds to a word of trace->information, which other threads may read meanwhile. */
void etwas_trace_count(uint64_t *word, uint64_t more);

/* ---- handles --------------------------------------------------------------------------------- */

/* A handle for the trace, INVALID_PROCESSTRACE_HANDLE when the table is full. */
etwas_trace_handle etwas_trace_table_add(struct etwas_trace *trace);

/* Marks every trace as being processed, all or none. A Win32 code. */
uint32_t etwas_trace_table_acquire(const etwas_trace_handle *handles, uint32_t count,
                                   struct etwas_trace **traces);

/* Ends the processing; frees those that were closed meanwhile. */
void etwas_trace_table_release(const etwas_trace_handle *handles, uint32_t count);

/*
 * With the table locked: gives a trace its consumer, and what its session says about itself. One
 * that comes after CloseTrace is stopped at once.
 */
void etwas_trace_table_connect(struct etwas_trace *trace, struct etwas_consumer *consumer,
                               const etwas_trace_information *information);

/* Takes it away: afterwards nobody stops it any more. NULL: there is none. */
struct etwas_consumer *etwas_trace_table_disconnect(struct etwas_trace *trace);

/* With the table locked. NULL: not the handle of an open trace. */
struct etwas_trace *etwas_trace_table_find(etwas_trace_handle handle);

/* A fork waits until nobody changes the table: its child can use it, and every trace in it. */
void etwas_trace_table_lock(void);
void etwas_trace_table_unlock(void);

/* The header's public form, with the names that lie in `log`. */
void etwas_trace_fill_header(const struct etwas_file_header *log, TRACE_LOGFILE_HEADER *header);

/* Frees a trace that is in no table. */
void etwas_trace_free(struct etwas_trace *trace);

#endif
