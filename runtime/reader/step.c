/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/step.h"

#include "reader/damage.h"
#include "reader/trace.h"

int64_t etwas_step_filetime(struct etwas_stream *stream, int64_t raw)
{
    return stream->timeline != NULL
               ? etwas_timeline_filetime(stream->timeline, raw, &stream->near_knot)
               : etwas_etl_clock_to_filetime(stream->clock, raw);
}

int64_t etwas_step_unix_ns(const struct etwas_timeline *timeline,
                           const struct etwas_etl_clock *clock, int64_t raw, size_t *near)
{
    return timeline != NULL ? etwas_timeline_unix_ns(timeline, raw, near)
                            : etwas_etl_clock_to_unix_ns(clock, raw);
}

void etwas_step_update_key(struct etwas_stream *stream, bool is_first)
{
    if (stream->state != ETWAS_STREAM_RECORD) {
        return;
    }
    if (is_first || stream->record.stamp > stream->key_raw) {
        stream->key_raw = stream->record.stamp;
        stream->key_filetime = etwas_step_filetime(stream, stream->key_raw);
    }
}

/* The wanted span holds for every event, the header event too. Mostly the key is the record's. */
void etwas_step_deliver(struct etwas_stream *stream, const struct etwas_span *span)
{
    int64_t filetime = stream->record.stamp == stream->key_raw
                           ? stream->key_filetime
                           : etwas_step_filetime(stream, stream->record.stamp);

    if (filetime < span->start_filetime || filetime > span->end_filetime) {
        return;
    }
    if (stream->buffer != &stream->trace->log.buffer) {
        etwas_trace_count(&stream->trace->information.events, 1);
    }
    etwas_deliver(stream, filetime);
}

bool etwas_step_end_buffer(struct etwas_stream *stream)
{
    union etwas_logfile *logfile = &stream->trace->logfile;
    bool compressed = stream->buffer->compressed;

    logfile->w.BuffersRead++;
    logfile->w.BufferSize =
        compressed ? stream->trace->log.session_buffer_bytes : stream->buffer->buffer_bytes;
    logfile->w.Filled = stream->buffer->data_end;
    if (logfile->w.BufferCallback == NULL) {
        return true;
    }
    return stream->trace->wide ? logfile->w.BufferCallback(&logfile->w) != 0
                               : logfile->a.BufferCallback(&logfile->a) != 0;
}
