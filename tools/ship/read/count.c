/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/read/count.h"

#include <stdlib.h>

enum {
    MOST_SESSIONS = 65536, /* that are distinguished in an appended file */
};

struct counting {
    const struct etwas_ship_position *from;
    struct etwas_ship_counts *counts;
    etwas_decoder *decoder; /* unless `is_own`: a description is not an event */
    uint32_t session;
    uint32_t pos; /* of the next event in its buffer */
    uint32_t skip;
    bool failed;
};

static bool make_room(struct counting *counting, uint32_t session)
{
    struct etwas_ship_counts *counts = counting->counts;

    while (counts->sessions <= session && counts->sessions < MOST_SESSIONS) {
        uint64_t *more = realloc(counts->by_session, (counts->sessions + 1) * sizeof *more);

        if (more == NULL) {
            return false;
        }
        counts->by_session = more;
        counts->by_session[counts->sessions++] = 0;
    }
    counting->session = session < counts->sessions ? session : counts->sessions - 1;
    return true;
}

static uint32_t begin_buffer(const etwas_trace_buffer *buffer, void *context)
{
    struct counting *counting = context;
    struct etwas_ship_counts *counts = counting->counts;

    if (!make_room(counting, buffer->session)) {
        counting->failed = true;
        return ETWAS_BUFFER_STOP;
    }
    if (counts->buffers == 0) {
        counts->session = buffer->session;
        counts->first_buffer = buffer->number;
    }
    counts->first_buffer =
        buffer->number < counts->first_buffer ? buffer->number : counts->first_buffer;
    counts->buffers++;
    counts->bytes += buffer->file_bytes;
    counting->pos = 0;
    counting->skip = buffer->file_offset == counting->from->offset ? counting->from->pos : 0;
    return buffer->kind == ETWAS_BUFFER_EVENTS ? ETWAS_BUFFER_READ : ETWAS_BUFFER_PASS;
}

static void take_record(EVENT_RECORD *record, void *context)
{
    struct counting *counting = context;
    struct etwas_ship_counts *counts = counting->counts;
    int64_t raw = record->EventHeader.TimeStamp.QuadPart;

    if ((counting->decoder != NULL &&
         etwas_decoder_learn(counting->decoder, record) != ERROR_NOT_FOUND) ||
        counting->pos++ < counting->skip) {
        return;
    }
    counts->first_raw = counts->events == 0 || raw < counts->first_raw ? raw : counts->first_raw;
    counts->last_raw = counts->events == 0 || raw > counts->last_raw ? raw : counts->last_raw;
    counts->events++;
    counts->by_session[counting->session]++;
}

bool etwas_ship_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      struct etwas_ship_counts *counts)
{
    struct counting counting = {.from = from, .counts = counts};
    const struct etwas_ship_reader reader = {begin_buffer, NULL, take_record, &counting};
    bool is_read;

    *counts = (struct etwas_ship_counts){.events = 0};
    counting.failed = !file->is_own && etwas_decoder_open(&counting.decoder) != ERROR_SUCCESS;
    is_read = counting.failed || etwas_ship_file_read(file, from->offset, UINT64_MAX, &reader);
    etwas_decoder_close(counting.decoder);
    return is_read && (!counting.failed ||
                       etwas_ship_file_fail(file, "there is no memory to count what it has"));
}

void etwas_ship_counts_free(struct etwas_ship_counts *counts)
{
    free(counts->by_session);
}
