/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What ProcessTrace does with the earliest stream, be it of a file or of a running session.
 */
#ifndef ETWAS_READER_STEP_H
#define ETWAS_READER_STEP_H

#include "reader/stream.h"

/* Which events the caller wants, by their FILETIME. */
struct etwas_span {
    int64_t start_filetime;
    int64_t end_filetime;
};

/* The time of a stamp of the stream's, as callbacks get it. */
int64_t etwas_step_filetime(struct etwas_stream *stream, int64_t raw);

/* The same in nanoseconds since 1970, by the timeline if there is one; *near as it has it. */
int64_t etwas_step_unix_ns(const struct etwas_timeline *timeline,
                           const struct etwas_etl_clock *clock, int64_t raw, size_t *near);

/*
 * Takes the key of the stream's record. It never goes back in a stream, so that one damaged stamp
 * cannot hold up or hurry the other streams.
 */
void etwas_step_update_key(struct etwas_stream *stream, bool is_first);

/* Gives the stream's record, of this time, to the trace's event callback (deliver.c). */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime);

/* The same if the caller wants it, and counts it. */
void etwas_step_deliver(struct etwas_stream *stream, const struct etwas_span *span);

/* Tells the buffer callback that a buffer ends. False: it wants no more. */
bool etwas_step_end_buffer(struct etwas_stream *stream);

#endif
