/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Rounds with readers: what is written, by classic and modern providers, is accounted for by
 * number. live.c runs them, live_writers.c writes, live_readers.c reads.
 */
#ifndef ETWAS_SOAK_LIVE_H
#define ETWAS_SOAK_LIVE_H

#include <etwas/evntcons.h>

#include "soak.h"

enum {
    LIVE_WRITERS = 3,
    LIVE_READERS = 3,
    LIVE_MOST_EVENTS = 1 << 14 /* of a writer */
};

/*
 * Neither sanitizer lets go of its own locks in a child of many threads, and AddressSanitizer takes
 * the stack of a thread that ends in the middle of a function for damaged.
 */
#if defined(__SANITIZE_THREAD__)
#define LIVE_MAY_FORK false
#elif defined(__SANITIZE_ADDRESS__)
#define LIVE_MAY_FORK false
#define LIVE_MAY_CANCEL false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LIVE_MAY_FORK false
#elif __has_feature(address_sanitizer)
#define LIVE_MAY_FORK false
#define LIVE_MAY_CANCEL false
#endif
#endif
#ifndef LIVE_MAY_FORK
#define LIVE_MAY_FORK true
#endif
#ifndef LIVE_MAY_CANCEL
#define LIVE_MAY_CANCEL true
#endif

enum live_fate {
    LIVE_NOT_WRITTEN,
    LIVE_RECORDED,
    LIVE_LOST
};

struct live {
    etwas_trace_handle session;
    struct soak_random random; /* the controller's */
    const char *where;
    const char *name;
    char file[SOAK_PATH_BYTES]; /* of the session, "": none; of a snapshot */
    REGHANDLE provider;         /* a modern one of this session alone */
    etwas_guid provider_guid;
    uint32_t tag; /* in each event */
    uint32_t writer_count;
    uint32_t reader_count;
    uint32_t events; /* that each writer writes */
    uint32_t end;    /* not 0: writers and readers shall come to an end */

    struct live_writer {
        struct live *live;
        pthread_t thread;
        uint32_t index;
        struct soak_random random;
        uint8_t fate[LIVE_MOST_EVENTS]; /* enum live_fate */
        uint8_t seen[LIVE_MOST_EVENTS]; /* by any reader; in any file */
    } writers[LIVE_WRITERS];

    struct live_reader {
        struct live *live;
        pthread_t thread;
        struct soak_random random;
        etwas_trace_handle trace;
        uint32_t visit;       /* which one this is */
        uint32_t events_left; /* the buffer callback wants no more after so many */
        uint64_t events;      /* of this visit */
        uint32_t last_visit[LIVE_WRITERS][LIVE_MOST_EVENTS]; /* that saw the event */
    } readers[LIVE_READERS + 1]; /* the last one reads to the end, and files */
};

/* ---- live_writers.c -------------------------------------------------------------------------- */

/* The thread of a writer; may be cancelled. */
void *live_write(void *writer);

/* Which event this is; false: none of writers. Faults for one that is not as it was written. */
bool live_identify(struct live *live, const EVENT_RECORD *record, uint32_t *writer,
                   uint32_t *number);

/* ---- live_readers.c -------------------------------------------------------------------------- */

/* The thread of a reader that comes and goes until the end. */
void *live_come_and_go(void *reader);

/* Reads to the session's end, or a file. */
void live_open(struct live_reader *reader, const char *file);
void *live_process(void *reader);

/* Every event of a file, each once; returns how many. */
uint64_t live_read_file(struct live *live, const char *file);

/* ---- live.c ---------------------------------------------------------------------------------- */

void soak_live_round(uint64_t seed, uint32_t controller, uint32_t round, const char *folder);

/* How many rounds and events there were, by kind. */
void soak_print_live(void);

#endif
