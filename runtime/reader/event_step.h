/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What ProcessTrace does with the earliest stream, be it of a file or of a running session.
 */
#ifndef ETWAS_READER_EVENT_STEP_H
#define ETWAS_READER_EVENT_STEP_H

#include "reader/damage.h"
#include "reader/duplicates.h"
#include "reader/stream.h"

/* Which events the caller wants, by their FILETIME. */
struct etwas_span {
    int64_t start_filetime;
    int64_t end_filetime;
};

/* Those below where the stream's line ends: by the line from there, or as it takes more. */
int64_t etwas_event_step_filetime_slow(struct etwas_stream *stream, int64_t raw);
int64_t etwas_event_step_unix_ns_slow(struct etwas_stream *stream, int64_t raw);

/* The time of a stamp of the stream's, as callbacks get it. */
static inline int64_t etwas_event_step_filetime(struct etwas_stream *stream, int64_t raw)
{
    return etwas_time_segment_contains(&stream->segment, raw)
               ? etwas_time_segment_filetime(&stream->segment, raw)
               : etwas_event_step_filetime_slow(stream, raw);
}

/* The same in nanoseconds since 1970. */
static inline int64_t etwas_event_step_unix_ns(struct etwas_stream *stream, int64_t raw)
{
    return etwas_time_segment_contains(&stream->segment, raw)
               ? etwas_time_segment_unix_ns(&stream->segment, raw)
               : etwas_event_step_unix_ns_slow(stream, raw);
}

/*
 * Takes the key of the stream's record. It never goes back in a stream, so that one damaged stamp
 * cannot hold up or hurry the other streams.
 */
static inline void etwas_event_step_update_key(struct etwas_stream *stream, bool is_first)
{
    if (stream->state == ETWAS_STREAM_RECORD &&
        (is_first || stream->record.stamp > stream->key_raw)) {
        stream->key_raw = stream->record.stamp;
        stream->key_filetime = etwas_event_step_filetime(stream, stream->key_raw);
    }
}

/* Gives the stream's record, of this time, to the trace's event callback (deliver.c). */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime);

/*
 * The same if the caller wants it and another file did not have it, and counts it. The wanted span holds for every event, the header event too. Mostly
 * the key is the record's.
 */
static inline void etwas_event_step_deliver(struct etwas_stream *stream,
                                            const struct etwas_span *span)
{
    int64_t filetime = stream->record.stamp == stream->key_raw
                           ? stream->key_filetime
                           : etwas_event_step_filetime(stream, stream->record.stamp);

    if (filetime < span->start_filetime || filetime > span->end_filetime) {
        return;
    }
    if (stream->duplicates != NULL && etwas_duplicates_is_delivered(stream)) {
        etwas_trace_count(&stream->trace->information.repeated_events, 1);
        return;
    }
    if (stream->buffer != &stream->trace->log.buffer) {
        etwas_trace_count(&stream->trace->information.events, 1);
    }
    etwas_deliver(stream, filetime);
}

/* Tells the buffer callback that a buffer ends. False: it wants no more. */
bool etwas_event_step_end_buffer(struct etwas_stream *stream);

#endif
