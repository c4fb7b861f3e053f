/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real-time delivery as the session sees it: drained buffers go to every connected consumer, or
 * into the backlog while there is none. reader/consumer.h is the other end.
 *
 *     drain ──deliver──▶ queue of consumer 1 ──next──▶ ProcessTrace
 *                   ├──▶ queue of consumer 2 ──next──▶ ProcessTrace
 *                   └──▶ backlog, while there is no consumer; the consumer that connects first
 *                        reads it, before its queue (R171)
 *
 * A buffer is copied once, and the consumers share the copy. Neither a writer nor a delivery waits
 * for a consumer. A consumer that does not read in time loses buffers, and gets a notice of that
 * (R175).
 *
 * The buffers of one processor come in time order; those of different processors do not. So a
 * consumer holds records until it gets a time bound: after it no record comes that is stamped up to
 * the bound, unless its writer was interrupted between reading the clock and committing.
 *
 * The session and each consumer hold a reference; the last one frees the delivery. Thread-safe; not
 * for signal handlers.
 */
#ifndef ETWAS_REALTIME_REALTIME_H
#define ETWAS_REALTIME_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_reading.h"
#include "etl/layout.h"
#include "reader/consumer.h"
#include "session/session.h"

struct etwas_consumer;
struct etwas_realtime;

/* Sets the length of a buffer in its header to `end` bytes. */
static inline void etwas_realtime_set_end(struct etwas_etl_buffer_header *header, uint32_t end)
{
    header->buffer_bytes = end;
    header->saved_offset = end;
    header->current_offset = end;
    header->offset = end;
}

struct etwas_realtime_options {
    /* header buffer of the session, which is copied: what consumers know of the session */
    const uint8_t *head;
    uint32_t head_bytes;
    uint64_t queue_bytes;       /* limit of what a consumer leaves unread */
    uint64_t backlog_bytes;     /* limit of the backlog, while there is no consumer */
    const char *backlog_folder; /* NULL: $TMPDIR, else /var/tmp */
};

/*
 * The functions down to etwas_realtime_end are called with the session's role held.
 *
 * Opens a delivery. Returns a Win32 code: ERROR_NOT_ENOUGH_MEMORY, or the reason why there can be
 * no backlog file.
 */
uint32_t etwas_realtime_open(const struct etwas_realtime_options *options,
                             struct etwas_realtime **realtime);

/*
 * Delivers a buffer: its header, which gets its sequence number here, and the records behind it.
 * `records` is how many of them are stored nowhere else, for the accounts. Returns false if neither
 * a consumer nor the backlog took it; the caller counts a lost buffer.
 */
bool etwas_realtime_deliver(struct etwas_realtime *realtime,
                            const struct etwas_etl_buffer_header *header, const void *data,
                            uint32_t records);

/* Sets the time bound of the consumers: everything stamped up to it has been delivered. */
void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp);

/* Copies the session's clock readings until now, for the consumers. */
void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_history *clocks);

/* The session records stacks from now on until its end: consumers get the images of the process. */
void etwas_realtime_enable_stacks(struct etwas_realtime *realtime);

/* Events were lost before they got here: the consumers get a notice with the next buffer. */
void etwas_realtime_notify_lost_events(struct etwas_realtime *realtime);

/*
 * Returns for how many buffers of `bytes` there is room, up to `most`: all of them while there is a
 * consumer, else what fits in the backlog.
 */
uint32_t etwas_realtime_free_buffers(struct etwas_realtime *realtime, uint32_t most,
                                     uint32_t bytes);

/*
 * Returns how many records were lost since the last call: no consumer got them, and they are stored
 * nowhere else. *buffers receives how many buffers a consumer, or the backlog, did not get since
 * the delivery was opened.
 */
uint64_t etwas_realtime_collect_lost(struct etwas_realtime *realtime, uint64_t *buffers);

/*
 * The session has ended: consumers read what they have, then the end. A backlog that no consumer
 * will read is discarded, and its records are counted lost.
 */
void etwas_realtime_end(struct etwas_realtime *realtime);

/*
 * Takes and drops a reference, which only keeps the memory. Taking one needs another reference, or
 * a lock under which the delivery cannot end.
 */
void etwas_realtime_reference(struct etwas_realtime *realtime);
void etwas_realtime_unreference(struct etwas_realtime *realtime);

/*
 * A fork takes all locks before it. In the child every session has ended and the backlogs'
 * descriptors are closed; its copies of consumers find the end.
 */
void etwas_realtime_before_fork(void);
void etwas_realtime_after_fork(bool is_child);

/*
 * Connects a consumer. It gets everything that is delivered from now on, and before that the
 * backlog, if there is one that no consumer reads yet. Returns a Win32 code:
 * ERROR_NOT_ENOUGH_MEMORY, or ERROR_WMI_INSTANCE_NOT_FOUND when the session has ended.
 */
uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **consumer);

/*
 * Real time as a sink of a session (flush/sink.h), begun with the session or by an update. All
 * functions but those that connect are called with the session's role held.
 */

/*
 * Begins real time. Returns a Win32 code: ERROR_NOT_ENOUGH_MEMORY, or the reason why there can be
 * no backlog file.
 */
uint32_t etwas_session_realtime_begin(struct etwas_session *session);

/* Ends real time: consumers read what they have, then the end. */
void etwas_session_realtime_end(struct etwas_session *session);

/*
 * Connects a consumer to the running real-time session called `name`. Win32 codes:
 * ERROR_WMI_INSTANCE_NOT_FOUND if there is none (R173), ERROR_ALREADY_INITIALIZED if it belongs to
 * another copy of the library in the process, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer);

/* Does the same for the session of a key. */
uint32_t etwas_session_realtime_connect_key(struct etwas_session_key key,
                                            struct etwas_consumer **consumer);

#endif
