/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real-time delivery, as its session sees it: drained buffers go to every consumer that is
 * connected, or into the backlog while there is none. consumer.h is the other end.
 *
 *     drain ──deliver──▶ queue of consumer 1 ──next──▶ ProcessTrace
 *                   ├──▶ queue of consumer 2 ──next──▶ ProcessTrace
 *                   └──▶ backlog, while there is no consumer; whoever connects first reads it,
 *                        before its queue (R171)
 *
 * A buffer is copied once, and the consumers share the copy. Neither a writer nor a delivery waits
 * for a consumer. What a consumer does not read in time it does not get, and it is told so (R175).
 *
 * Each processor's buffers come in the order of time, and different processors' do not. So a
 * consumer keeps records until it is told a bound: no record with a stamp up to the bound comes any
 * more, unless its writer was interrupted between reading the clock and committing.
 *
 * The session and each consumer hold a reference; the last one frees it. Thread-safe; not for
 * signal handlers.
 */
#ifndef ETWAS_REALTIME_REALTIME_H
#define ETWAS_REALTIME_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_history.h"
#include "etl/layout.h"

struct etwas_realtime;

/* Has a buffer's header say that the buffer is `end` bytes long. */
static inline void etwas_realtime_set_end(struct etwas_etl_buffer_header *header, uint32_t end)
{
    header->buffer_bytes = end;
    header->saved_offset = end;
    header->current_offset = end;
    header->offset = end;
}

struct etwas_realtime_options {
    const uint8_t
        *head; /* buffer 0 of a log file of the session, copied: what consumers know of it */
    uint32_t head_bytes;
    uint64_t queue_bytes;       /* what a consumer may leave unread */
    uint64_t backlog_bytes;     /* the same for all, while there is no consumer */
    const char *backlog_folder; /* NULL: $TMPDIR, else /var/tmp */
};

/*
 * Down to etwas_realtime_end: whoever has the session's role calls.
 *
 * A Win32 code: ERROR_NOT_ENOUGH_MEMORY, or why there can be no backlog file.
 */
uint32_t etwas_realtime_open(const struct etwas_realtime_options *options,
                             struct etwas_realtime **realtime);

/*
 * Hands over a buffer: its header, whose sequence number is given here, and the records behind it.
 * `records`: how many of them are nowhere else, for the accounts. False: nobody took it, and it is
 * counted as a lost buffer.
 */
bool etwas_realtime_deliver(struct etwas_realtime *realtime,
                            const struct etwas_etl_buffer_header *header, const void *data,
                            uint32_t records);

/* Tells the consumers a bound: everything stamped up to it has been delivered. */
void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp);

/* What the session has read of its clocks until now: copied, for whoever consumes. */
void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_history *clocks);

/* The session takes stacks, for good: its consumers are told the images of the process. */
void etwas_realtime_enable_stacks(struct etwas_realtime *realtime);

/* Events were lost before they got here: the consumers are told with the next buffer. */
void etwas_realtime_notify_lost_events(struct etwas_realtime *realtime);

/*
 * For how many buffers of `bytes` there is room, up to `most`: all while there is a consumer, else
 * what fits in the backlog.
 */
uint32_t etwas_realtime_free_buffers(struct etwas_realtime *realtime, uint32_t most,
                                     uint32_t bytes);

/*
 * How many records were lost since the last call: no consumer got them, and they are nowhere else.
 * *buffers: how many buffers a consumer, or the backlog, did not get since this was opened.
 */
uint64_t etwas_realtime_collect_lost(struct etwas_realtime *realtime, uint64_t *buffers);

/*
 * The session has ended: consumers read what they have, then the end. What is in the backlog and
 * will be read by nobody is given up: lost.
 */
void etwas_realtime_end(struct etwas_realtime *realtime);

/* Keeps it from being freed, and no more. Holding is for whoever knows that it still is. */
void etwas_realtime_reference(struct etwas_realtime *realtime);
void etwas_realtime_unreference(struct etwas_realtime *realtime);

/*
 * A fork waits until nobody changes anything. In the child every session has ended, and the
 * backlogs' descriptors are closed; its copies of consumers find their end.
 */
void etwas_realtime_before_fork(void);
void etwas_realtime_after_fork(bool is_child);

#endif
