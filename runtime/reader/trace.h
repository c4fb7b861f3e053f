/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The reader's view of one open trace file, and what its parts do for each other:
 *
 *     source      opens and reads the file
 *     file_header buffer 0: what the file says about itself
 *     clock snapshots       its readings of the clocks
 *     near        those that one buffer after the other needs
 *     timeline    what a stamp means between them
 *     walk        buffer by buffer, in the order of their place
 *     index       where every buffer is, and whose
 *     index_file  FILE.index: the headers that the index is made of, kept beside the file
 *     beginning   what a buffer begins with
 *     appended    which of several sessions a buffer is of
 *     missing     which buffers are missing
 *     stream      one processor's buffers in order, one record at a time
 *     tear        where a buffer that was being replaced goes over into an older one
 *     parts       which files belong together
 *     merge       all streams of all files in one time order
 *     again       what several files of one session have, once
 *     line        the time of a stamp by multiplications alone, as far as that goes
 *     deliver     a record as EVENT_RECORD or EVENT_TRACE
 *     damage      what is wrong, told once, with its position
 *     times       stamps and clocks for whoever asks
 *     table       handles
 *
 * The file is hostile: whatever it says is checked before it is used as a size, an offset or a
 * count. The file is read, never mapped, because a file cut under a mapping kills the process.
 *
 * Memory: the index holds 48 bytes a buffer (3.1 MB for 4 GB of 64 KB buffers), and 8 more while
 * sessions are told apart; every processor of the file has one window of at most
 * ETWAS_READER_WINDOW_BYTES, or one decompressed buffer; clock snapshots take 1 MB at most.
 */
#ifndef ETWAS_READER_TRACE_H
#define ETWAS_READER_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "reader/appended.h"
#include "reader/clock_search.h"
#include "reader/file_header.h"

struct etwas_consumer;

enum {
    ETWAS_READER_WINDOW_BYTES = 128 * 1024, /* holds the largest record wherever it begins */
    ETWAS_READER_OPEN_DAMAGES = 8,          /* OpenTrace looks at one buffer: it finds few */
};

/* Decompressed buffers of all streams of a trace together: a small file may promise much more. */
#define ETWAS_READER_DECOMPRESSED_LIMIT_BYTES (UINT64_C(1) << 30)

/* EVENT_TRACE_LOGFILEA and W differ only in what their names and the buffer callback point to. */
union etwas_logfile {
    EVENT_TRACE_LOGFILEA a;
    EVENT_TRACE_LOGFILEW w;
};

/* Connects to a session that another process hosts. ERROR_WMI_INSTANCE_NOT_FOUND: none has this name. */
typedef uint32_t (*etwas_trace_connector)(const etwas_wchar *session_name,
                                          struct etwas_consumer **consumer);

struct etwas_trace {
    int descriptor;     /* -1: a running session */
    char *index_path;   /* FILE.index, which need not be there; NULL: a running session */
    bool by_index_file; /* what is known of the buffers is what it says */
    struct etwas_consumer *consumer; /* of a running session; NULL: not connected, or a file. Set
                                        under the table's lock */
    etwas_wchar *session_name;       /* of a running session; NULL: a file */
    etwas_trace_connector connect;
    const uint8_t *head; /* of a running session, while its header is read */
    uint64_t file_bytes;
    struct etwas_file_header log;
    struct etwas_appended appended; /* its sessions, while buffers are processed */
    uint64_t decompressed_bytes;    /* held by the streams, at most the limit above */

    /*
     * Replaced under the table's lock: of a file by the thread in ProcessTrace, of a running
     * session by whoever asks; NULL until somebody does.
     */
    struct etwas_timeline *timeline;
    struct etwas_clock_search clock_search; /* what it was made of while buffers are processed */
    uint64_t clocks_version; /* of a running session: what the timeline was made of */
    bool timeline_complete;  /* of the whole file, not of buffer 0 alone */

    /* the caller's structure, copied; ours are the names it points to */
    union etwas_logfile logfile;
    bool wide;

    /* Written by the thread in ProcessTrace, word by word with ck_pr_store, read by any. */
    etwas_trace_information information;
    uint32_t section;  /* of the file, that ProcessTrace delivers, */
    uint32_t sections; /* of so many; 0 as 1 */
    bool quiet;        /* what is met now is told and counted by the first section */
    etwas_damage_callback on_damage;
    void *damage_context;
    etwas_damage open_damages[ETWAS_READER_OPEN_DAMAGES];
    size_t open_damage_count;

    /* `processing` and the handle table are under the table's lock; `closing` is stored under it
     * and loaded by the processing thread without. */
    pthread_t processing; /* the thread; 0: none */
    unsigned closing;
};

#endif
