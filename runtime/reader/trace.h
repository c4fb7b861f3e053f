/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The reader's view of one open trace, and what the parts of the reader do:
 *
 *     trace_file        opens and reads the file
 *     file_header       buffer 0: what the file says about itself
 *     clock_snapshots   the clock snapshots of a file
 *     clock_search      the clock snapshots that one buffer after the other needs
 *     timeline          conversion of stamps between clock snapshots
 *     buffer_walk       the buffers in the order of their positions
 *     index             all buffers, with their processors
 *     index_file        FILE.index: the headers that the index is made of, stored beside the file
 *     buffer_beginning  the first records of a buffer
 *     appended          which of several sessions a buffer belongs to
 *     missing_buffers   which buffers are missing
 *     stream            the buffers of one processor in order, one record at a time
 *     torn_buffer       where a half replaced buffer ends and an older one begins
 *     file_set          which files belong together
 *     merge_heap        all streams of all files in one time order
 *     duplicates        records that several files of one session have
 *     event_time        the time of a stamp; of many, by multiplications alone
 *     event_step        one step of the earliest stream
 *     process_files     all files of one ProcessTrace, until their end or a callback's
 *     deliver           a record as EVENT_RECORD or EVENT_TRACE
 *     damage            damage, reported once with its position
 *     trace_times       stamps and clocks for callers of the public functions
 *     trace_table       handles
 *
 * The file is hostile: whatever it says is checked before it is used as a size, an offset or a
 * count. The file is read, never mapped, because a file that is cut under a mapping kills the
 * process.
 *
 * Memory: the index holds 48 bytes a buffer (3.1 MB for 4 GB of 64 KB buffers), and 8 more while
 * sessions are distinguished. Every processor of the file has one window of at most
 * ETWAS_READER_WINDOW_BYTES, or one decompressed buffer. Clock snapshots take 1 MB at most.
 */
#ifndef ETWAS_READER_TRACE_H
#define ETWAS_READER_TRACE_H

#include <ck_pr.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "reader/file_header.h"
#include "reader/timeline.h"

struct etwas_consumer;
struct etwas_index_entry;
struct etwas_trace;

/*
 * Finds the clock snapshots that the stamps of one buffer after the other need, without reading all
 * of the file: it may be large, and may be opened each second while it grows.
 *
 * Buffer 0 has the newest, without a gap from `running_from` on. Older ones lie in buffers of their
 * own, in time order. What was recorded between two of them is written in front of the second, or
 * later:
 *
 *     file         │ 0 │ data s1 data, data s2 data … data s3 data, data │
 *     snapshots      └──────┘└───────────┘└─────────────┘└── buffer 0 ───┘
 *
 * So a range of the file is scanned for buffers of clock snapshots. It begins around the first
 * place that needs it and grows to both sides as far as the stamps do. It grows by a part of its
 * length at least, so that a hostile file cannot have a timeline made for each of its buffers.
 */

struct etwas_clock_search {
    /* the trace's timeline is made of what was found so far */
    bool is_used;
    struct etwas_clock_snapshot_list first; /* clock snapshots of buffer 0 */
    int64_t running_from;                   /* buffer 0 is complete from this stamp on */
    struct etwas_clock_snapshot_list found; /* clock snapshots of the scanned range */
    uint64_t low;                           /* where the range begins */
    uint64_t high;                          /* where the range ends; both 0: there is none */
    int64_t oldest;                         /* oldest stamp found, except at the ends of a buffer */
    int64_t newest; /* newest stamp found, likewise; below `oldest`: none was found */
};

/*
 * Reads buffer 0 as it is now and gives the trace a timeline, then measures the file. If the clock
 * snapshots of the file are not in time order, the whole file is scanned at once. Returns false
 * without memory.
 */
bool etwas_clock_search_begin(struct etwas_trace *trace);

/*
 * Extends the timeline by what the stamps from `from` to `until` in this buffer need. Returns false
 * without memory.
 */
bool etwas_clock_search_cover(struct etwas_trace *trace, const struct etwas_index_entry *buffer,
                              int64_t from, int64_t until);

void etwas_clock_search_free(struct etwas_clock_search *clock_search);

/* The sessions of an appended file, which follow each other. Finds which one a position is in. */

struct etwas_appended {
    uint64_t *begins;    /* file offset of each session's first buffer; freed with free() */
    size_t count;        /* 0: the file has one session */
    uint64_t file_bytes; /* length of the file when it was scanned */
};

/*
 * Scans a file that sessions may have been appended to, unless it was scanned and has not grown
 * since. Returns false without memory.
 */
bool etwas_appended_find(struct etwas_trace *trace);

uint32_t etwas_appended_session(const struct etwas_trace *trace, uint64_t offset);

/* ---- the trace ------------------------------------------------------------------------------- */

enum {
    ETWAS_READER_WINDOW_BYTES = 128 * 1024, /* holds the largest record wherever it begins */
    ETWAS_READER_OPEN_DAMAGES = 8,          /* OpenTrace reads one buffer and finds few */
};

/*
 * Limit of the decompressed buffers of all streams of a trace together, because a small file may
 * promise to decompress to much more.
 */
#define ETWAS_READER_DECOMPRESSED_LIMIT_BYTES (UINT64_C(1) << 30)

/* EVENT_TRACE_LOGFILEA and W differ only in what their names and the buffer callback point to. */
union etwas_logfile {
    EVENT_TRACE_LOGFILEA a;
    EVENT_TRACE_LOGFILEW w;
};

/*
 * Connects to a session in real time, of this process or of another. ERROR_WMI_INSTANCE_NOT_FOUND:
 * there is none of this name.
 */
typedef uint32_t (*etwas_trace_connector)(const etwas_wchar *session_name,
                                          struct etwas_consumer **consumer);

struct etwas_trace {
    int descriptor;     /* -1: a running session */
    char *index_path;   /* path of FILE.index, which need not exist; NULL: a running session */
    bool by_index_file; /* the index of the buffers was built from FILE.index */
    /* of a running session, set under the table's lock; NULL: not connected, or a file */
    struct etwas_consumer *consumer;
    etwas_wchar *session_name; /* of a running session; NULL: a file */
    etwas_trace_connector connect;
    const uint8_t *head; /* header of a running session, while it is read */
    uint64_t file_bytes;
    struct etwas_file_header log;
    struct etwas_appended appended; /* its sessions, for etwas_trace_process_buffers */
    uint64_t decompressed_bytes;    /* held by the streams, at most the limit above */

    /*
     * Replaced under the table's lock: that of a file by the thread in ProcessTrace, that of a
     * running session by any thread that requests a time. NULL until then.
     */
    struct etwas_timeline *timeline;
    /* what the timeline was made of in etwas_trace_process_buffers */
    struct etwas_clock_search clock_search;
    /* of a running session: version of the readings that the timeline was made of */
    uint64_t clocks_version;
    bool timeline_complete; /* the timeline is of the whole file, not of buffer 0 alone */

    /* a copy of the caller's structure; the trace owns the names */
    union etwas_logfile logfile;
    bool wide;

    /* Written by the thread in ProcessTrace, word by word with ck_pr_store, read by any. */
    etwas_trace_information information;
    uint32_t section;  /* the section of the file that ProcessTrace delivers */
    uint32_t sections; /* number of sections; 0 means 1 */
    /* damage is neither reported nor counted, because the trace of the first section does */
    bool quiet;
    etwas_damage_callback on_damage;
    void *damage_context;
    etwas_damage open_damages[ETWAS_READER_OPEN_DAMAGES];
    size_t open_damage_count;

    /* `processing` and the handle table are under the table's lock; `closing` is stored under it
     * and loaded by the processing thread without. */
    pthread_t processing; /* the thread; 0: none */
    unsigned closing;
};

/* Pairs with the store in CloseTrace, which publishes nothing else. */
static inline bool etwas_trace_is_closing(const struct etwas_trace *trace)
{
    return ck_pr_load_uint(&trace->closing) != 0;
}

/* OpenTrace, except for where sessions are found. */

/*
 * Opens a trace. `logfile` is the caller's EVENT_TRACE_LOGFILEW, or A, as `wide` says. Returns
 * INVALID_PROCESSTRACE_HANDLE with the reason in the thread's last error.
 */
etwas_trace_handle etwas_open_trace(void *logfile, bool wide, etwas_trace_connector connect);

/* The file itself: opening, and reading at a position. */

/* Opens a file for reading. A Win32 code. */
uint32_t etwas_trace_file_open(const char *path, int *descriptor, uint64_t *file_bytes);

/* Takes the present length of the file, to which a session may have written, also for buffer 0. */
void etwas_trace_file_measure(struct etwas_trace *trace);

/*
 * Reads up to `bytes` at `offset`. Returns how many were read: fewer only at the end of the file or
 * where the system fails.
 */
size_t etwas_trace_file_read(struct etwas_trace *trace, uint64_t offset, void *target,
                             size_t bytes);

/*
 * Returns the first offset >= `offset` that is not in a hole of the file; the file's end if there
 * is none.
 */
uint64_t etwas_trace_file_next_data(const struct etwas_trace *trace, uint64_t offset);

#endif
