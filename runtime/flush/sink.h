/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sinks: the destinations of a session's drained buffers. The log file is one
 * (file/session_file.c), real time with its backlog another (realtime/session_realtime.c).
 *
 * A sink is a table of functions. A session has a table of sinks (enum etwas_session_sink), with
 * NULL for a sink that is not in use; the drain and the flusher know nothing else about them. The
 * sinks get a batch in the order of that table. For each buffer they see whether an earlier sink
 * has kept it.
 *
 * The drain accounts for a buffer's events: they are written if any sink has kept them, else lost
 * for the reason stored in the batch. A sink keeps its own counts. If it finds out later that it
 * has lost what it had kept, it accounts for that itself.
 */
#ifndef ETWAS_FLUSH_SINK_H
#define ETWAS_FLUSH_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * A drained buffer: `data` are its records, each padded to 8 bytes.
 *
 * `whole` is the start of the buffer that contains them, if no other thread accesses it any more:
 * on a page boundary, as long as the session's buffers, with the data at
 * ETWAS_ETL_BUFFER_HEADER_BYTES. A sink may write its header there; when it is done, zeroes follow
 * the data. NULL: the data can only be copied.
 */
struct etwas_drained {
    uint8_t *whole;
    const void *data;
    uint32_t data_bytes;
    uint32_t records; /* number of records in the data */
    uint32_t processor;
    int64_t time_stamp;       /* raw, not less than any record's */
    int64_t newest;           /* the newest record's, or later */
    uint32_t sequence_number; /* 0: the next number; else its number in the order of time, from 1 */
    bool kept;                /* a sink has kept it: it is not lost */
};

enum {
    ETWAS_BATCH_BUFFERS = 64
};

struct etwas_batch {
    struct etwas_drained buffers[ETWAS_BATCH_BUFFERS];
    uint32_t count;
    /* Set by the sinks. */
    enum etwas_disposition loss; /* disposition of what no sink has kept */
    uint32_t code;               /* Win32 code of a refusal by the system */
    bool is_full;                /* a sink accepts nothing more: the session has to stop */
};

/*
 * All functions are called with the session's role held. NULL: the sink does not need the function.
 */
struct etwas_sink {
    /* The sink wants a flush after this many bytes, requested or not. 0: never. */
    uint64_t flush_bytes;

    /* A pass begins: accounts for what the sink accepted before. */
    void (*account)(struct etwas_session *session);

    /*
     * Returns how many buffers the next batch may have for this sink, up to `most`; the others wait
     * in the pool. `last`: the session ends; buffers can wait for another batch but not for room,
     * so the result is at least one.
     */
    uint32_t (*room)(struct etwas_session *session, uint32_t most, bool last);

    /* Accepts a batch, and marks the buffers that are kept. */
    void (*accept)(struct etwas_session *session, struct etwas_batch *batch);

    /*
     * A flush is complete: everything stamped up to `bound` has been accepted, except records whose
     * writers were interrupted between reading the clock and committing.
     */
    void (*flushed)(struct etwas_session *session, int64_t bound);

    /* Makes durable what was accepted. Returns a Win32 code. */
    uint32_t (*sync)(struct etwas_session *session);

    /* The session has read its clocks. `quiet`: nothing was logged since the previous reading. */
    void (*read_clocks)(struct etwas_session *session, const struct etwas_clock_reading *reading,
                        bool quiet);

    /* The session ends: the sink removes itself from the session's table. */
    void (*end)(struct etwas_session *session);
};

/* ---- calls to all sinks of a session --------------------------------------------------------- */

void etwas_sinks_account(struct etwas_session *session);

/* Returns the least room of all sinks. */
uint32_t etwas_sinks_room(struct etwas_session *session, uint32_t most, bool last);

void etwas_sinks_accept(struct etwas_session *session, struct etwas_batch *batch);
void etwas_sinks_flushed(struct etwas_session *session, int64_t bound);

/* Whether a sink wants a flush after `bytes` were accepted since the last one. */
bool etwas_sinks_want_flush(const struct etwas_session *session, uint64_t bytes);

/* Syncs all sinks and returns the first refusal. */
uint32_t etwas_sinks_sync(struct etwas_session *session);

void etwas_sinks_read_clocks(struct etwas_session *session,
                             const struct etwas_clock_reading *reading, bool quiet);

/*
 * Ends all sinks in reverse order, so that losses of later ones are counted in the file's header.
 */
void etwas_sinks_end(struct etwas_session *session);

#endif
