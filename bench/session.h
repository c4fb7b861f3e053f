/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session a row logs into, and the account it must give at its end: a row whose events were not
 * all recorded, or not by the protocol its name says, has measured something else.
 */
#ifndef ETWAS_BENCH_SESSION_H
#define ETWAS_BENCH_SESSION_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_BUFFER_KB = 64,
    BENCH_BUFFER_HEADER_BYTES = 72,   /* of each buffer, before its first record */
    BENCH_MESSAGE_HEADER_BYTES = 40,  /* with GUID, time stamp and ids */
    BENCH_EVENT_HEADER_BYTES = 48,    /* what precedes the payload of TraceEvent's record */
    BENCH_INSTANCE_HEADER_BYTES = 72, /* of TraceEventInstance's */
    BENCH_COUNTERS_BYTES = 168,       /* a thread's counters, with their header */
    BENCH_MODERN_HEADER_BYTES = 80,   /* and of EventWrite's */
    /* And of TraceLoggingWrite's in call.c: with items for the provider's and the event's names. */
    BENCH_TRACELOGGING_HEADER_BYTES = 80 + 24 + 32,
};

/* A zeroed request: a log file, QPC, 64 KB buffers, a flusher thread, the best protocol. */
struct bench_session_request {
    const char *name; /* NULL: that of the only session */
    bool buffering;   /* a flight recorder: no log file */
    bool one_slot;    /* for all processors; then the protocol is shared */
    bool process_times;
    bool crash_safe; /* in a memfd, which leaves nothing behind */
    bool is_shared;  /* with other processes */
    bool classes;    /* with a retention class that information, which is what rows log, is in */
    uint32_t protocol;
    uint32_t clock;
    uint32_t buffer_kb;
    uint32_t buffers;            /* at least; a flight recorder has just as many */
    bool no_flusher;             /* the row calls etwas_flush */
    const uint32_t *flusher_cpu; /* NULL: as the caller */
};

struct bench_session {
    etwas_trace_handle handle;
    uint32_t protocol; /* as asked for */
};

/* What begins a reason for which a row is skipped, not failed. */
#define BENCH_SKIPPED "skipped: "

/* "rseq", "shared" */
const char *bench_protocol_name(uint32_t protocol);

/* In $ETWAS_BENCH_FOLDER, or in memory, so that the disk is not what is measured. */
void bench_choose_log_file(char *path, size_t size);

/*
 * Takes away the name of a file, so that nothing stays behind if this process is killed. `path`
 * leads to it until the descriptor that is returned is closed. -1: it cannot be opened.
 */
int bench_take_name(char *path, size_t size);

/* NULL, or why not. The log file has no name. */
const char *bench_session_start(struct bench_session *session,
                                const struct bench_session_request *request);

/*
 * Stops the session. NULL, or what is wrong with the account of the events `attempted`. `counts`
 * may be NULL.
 */
const char *bench_session_stop(struct bench_session *session, uint64_t attempted,
                               etwas_session_counts *counts);

extern const etwas_guid bench_class_guid;

/* An instance of the one class that all rows log. False: cannot be had. */
bool bench_make_instance(EVENT_INSTANCE_INFO *instance);

/* Fills in `header` for an event with `payload_bytes` behind it. */
void bench_prepare_instance_header(EVENT_INSTANCE_HEADER *header, uint32_t payload_bytes);

/* Prints the row as failed, or as skipped if `reason` begins so. Whether it was failed. */
bool bench_row_refused(const char *row, const char *reason);

/* The processors this process may run on. Their number, at most `most`. */
uint32_t bench_processors(uint32_t *processors, uint32_t most);

/* The first of them: where flushers go while bench_pin_last keeps the caller on the last. */
uint32_t bench_first_processor(void);

/* Keeps the calling thread on one processor. */
bool bench_pin(uint32_t processor);
void bench_pin_last(void);

#endif
