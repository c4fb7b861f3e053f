/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session that a row logs into, and the account of it at its end. A row whose events were not
 * all recorded, or not by the protocol in its name, has measured something else.
 */
#ifndef ETWAS_BENCH_SESSION_H
#define ETWAS_BENCH_SESSION_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_BUFFER_KB = 64,
    BENCH_BUFFER_HEADER_BYTES = 72,   /* before the first record of a buffer */
    BENCH_MESSAGE_HEADER_BYTES = 40,  /* with GUID, time stamp and ids */
    BENCH_EVENT_HEADER_BYTES = 48,    /* before the payload in a record of TraceEvent */
    BENCH_INSTANCE_HEADER_BYTES = 72, /* likewise, of TraceEventInstance */
    BENCH_COUNTERS_BYTES = 168,       /* a thread's counters, with their header */
    BENCH_MODERN_HEADER_BYTES = 80,   /* likewise, of EventWrite */
    /*
     * Likewise, of TraceLoggingWrite in call.c, with items for the names of the provider and the
     * event.
     */
    BENCH_TRACELOGGING_HEADER_BYTES = 80 + 24 + 32,
};

/* A zeroed request: a log file, QPC, 64 KB buffers, a flusher thread, the best protocol. */
struct bench_session_request {
    const char *name; /* NULL: "etwas_bench" */
    bool buffering;   /* a flight recorder: no log file */
    bool one_slot;    /* for all processors; then the protocol is shared */
    bool process_times;
    bool crash_safe; /* in a memfd, which leaves nothing behind */
    bool is_shared;  /* with other processes */
    bool classes;    /* with retention classes, one of which takes the rows' events */
    uint32_t protocol;
    uint32_t clock;
    uint32_t buffer_kb;
    uint32_t buffers;            /* at least; in a flight recorder, exactly */
    bool no_flusher;             /* the row calls etwas_flush */
    const uint32_t *flusher_cpu; /* NULL: as the caller */
};

struct bench_session {
    etwas_trace_handle handle;
    uint32_t protocol; /* as requested */
};

/* The prefix of a reason for which a row is skipped, not failed. */
#define BENCH_SKIPPED "skipped: "

/* Returns "rseq" or "shared". */
const char *bench_protocol_name(uint32_t protocol);

/* Chooses a path in $ETWAS_BENCH_FOLDER, or in memory, so that the disk is not measured. */
void bench_choose_log_file(char *path, size_t size);

/*
 * Removes the name of a file, so that nothing stays behind if this process is killed. `path` then
 * leads to the file until the returned descriptor is closed. Returns -1 if the file cannot be
 * opened.
 */
int bench_take_name(char *path, size_t size);

/* Starts a session, whose log file has no name. Returns NULL, or why it cannot. */
const char *bench_session_start(struct bench_session *session,
                                const struct bench_session_request *request);

/*
 * Stops the session. Returns NULL, or what is wrong with the account of the events `attempted`.
 * `counts` may be NULL.
 */
const char *bench_session_stop(struct bench_session *session, uint64_t attempted,
                               etwas_session_counts *counts);

extern const etwas_guid bench_class_guid;

/* Makes an instance of the class that all rows log. Returns false on failure. */
bool bench_make_instance(EVENT_INSTANCE_INFO *instance);

/* Fills in `header` for an event with `payload_bytes` behind it. */
void bench_prepare_instance_header(EVENT_INSTANCE_HEADER *header, uint32_t payload_bytes);

/*
 * Prints the row as skipped if `reason` begins with BENCH_SKIPPED, otherwise as failed. Returns
 * whether it failed.
 */
bool bench_row_refused(const char *row, const char *reason);

/* Stores the processors that this process may run on, at most `most`. Returns their number. */
uint32_t bench_processors(uint32_t *processors, uint32_t most);

/*
 * Returns the first of them, on which flushers run while bench_pin_last keeps the caller on the
 * last.
 */
uint32_t bench_first_processor(void);

/* Keeps the calling thread on one processor. */
bool bench_pin(uint32_t processor);
void bench_pin_last(void);

#endif
