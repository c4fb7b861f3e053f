/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sinks: what a session's drained buffers go to. The log file is one (file/session_file.c), real
 * time with its backlog another (realtime/session_realtime.c).
 *
 * A sink is a table of verbs. A session has a table of sinks (enum etwas_session_sink), with NULL
 * where one is not in use; the drain and the flusher know no more of them than this. They get a
 * batch in the order of that table, and see of each buffer whether one before has kept it.
 *
 * A sink keeps its own accounts. What becomes of a buffer's events is accounted by the drain: kept by
 * any sink they are written, else they are lost for the reason that the batch says. If a sink finds
 * out later that it has not kept them after all, it books that itself.
 */
#ifndef ETWAS_FLUSH_SINK_H
#define ETWAS_FLUSH_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * A drained buffer: `data` are its records, already padded to 8 bytes each.
 *
 * `whole` is given where nobody else reads or writes the buffer they lie in any more: its start, on
 * a page's boundary and as long as the session's buffers, with the data at
 * ETWAS_ETL_BUFFER_HEADER_BYTES. A sink may write its head there; behind the data are zeroes when
 * it is done. NULL: the data can only be copied.
 */
struct etwas_drained {
    uint8_t *whole;
    const void *data;
    uint32_t data_bytes;
    uint32_t records; /* how many the data are */
    uint32_t processor;
    int64_t time_stamp;       /* raw, not less than any record's */
    int64_t newest;           /* the newest record's, or later */
    uint32_t sequence_number; /* 0: the next; else its number in the order of time, from 1 */
    bool kept;                /* by a sink: not lost */
};

enum {
    ETWAS_BATCH_BUFFERS = 64
};

struct etwas_batch {
    struct etwas_drained buffers[ETWAS_BATCH_BUFFERS];
    uint32_t count;
    /* What the sinks say of it. */
    enum etwas_disposition loss; /* of what no sink has kept */
    uint32_t code;               /* of a refusal by the system */
    bool is_full;                /* a sink takes nothing more: the session has to stop */
};

/* All with the session's role held. NULL: a sink to which that means nothing. */
struct etwas_sink {
    /* After so many bytes it wants a flush, asked for or not. 0: never. */
    uint64_t flush_bytes;

    /* A pass begins: books what became of what was taken before. */
    void (*account)(struct etwas_session *session);

    /*
     * How many buffers the next batch may have for it, up to `most`; the others wait in the pool. `last`: the session
     * ends, and they can wait for another batch, but for nothing else: one at least.
     */
    uint32_t (*room)(struct etwas_session *session, uint32_t most, bool last);

    /* Takes a batch, and says in it what is kept. */
    void (*accept)(struct etwas_session *session, struct etwas_batch *batch);

    /*
     * A flush is through: everything stamped up to `bound` has been taken, but for records whose
     * writers were interrupted between reading the clock and committing.
     */
    void (*flushed)(struct etwas_session *session, int64_t bound);

    /* Makes durable what was taken. A Win32 code. */
    uint32_t (*sync)(struct etwas_session *session);

    /* The session has read its clocks; `quiet`: nothing was logged since it did before. */
    void (*read_clocks)(struct etwas_session *session, const struct etwas_clock_reading *reading,
                        bool quiet);

    /* Nothing comes any more. Takes itself out of the session's table. */
    void (*end)(struct etwas_session *session);
};

/* ---- the verbs, of all sinks of a session ---------------------------------------------------- */

void etwas_sinks_account(struct etwas_session *session);

/* The least that one of them has. */
uint32_t etwas_sinks_room(struct etwas_session *session, uint32_t most, bool last);

void etwas_sinks_accept(struct etwas_session *session, struct etwas_batch *batch);
void etwas_sinks_flushed(struct etwas_session *session, int64_t bound);

/* Whether one of them wants a flush when `bytes` were taken since the last. */
bool etwas_sinks_want_flush(const struct etwas_session *session, uint64_t bytes);

/* The first refusal. */
uint32_t etwas_sinks_sync(struct etwas_session *session);

void etwas_sinks_read_clocks(struct etwas_session *session,
                             const struct etwas_clock_reading *reading, bool quiet);

/* The last one first: what it has lost until then stands in the file's header. */
void etwas_sinks_end(struct etwas_session *session);

#endif
