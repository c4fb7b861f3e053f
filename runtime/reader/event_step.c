/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/event_step.h"

#include "reader/trace.h"

int64_t etwas_event_step_filetime_slow(struct etwas_stream *stream, int64_t raw)
{
    if (etwas_time_segment_find(&stream->segment, stream->timeline, stream->clock, raw)) {
        return etwas_time_segment_filetime(&stream->segment, raw);
    }
    return stream->timeline != NULL ? etwas_timeline_filetime(stream->timeline, raw)
                                    : etwas_etl_clock_to_filetime(stream->clock, raw);
}

int64_t etwas_event_step_unix_ns_slow(struct etwas_stream *stream, int64_t raw)
{
    if (etwas_time_segment_find(&stream->segment, stream->timeline, stream->clock, raw)) {
        return etwas_time_segment_unix_ns(&stream->segment, raw);
    }
    return stream->timeline != NULL ? etwas_timeline_unix_ns(stream->timeline, raw)
                                    : etwas_etl_clock_to_unix_ns(stream->clock, raw);
}

bool etwas_event_step_end_buffer(struct etwas_stream *stream)
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
