/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts what was not shipped of a file and where that begins, and checks whether the file has an
 * event that the servers have.
 */

#include "ship/read/count.h"
#include "ship/read/partition_day.h"
#include "ship/read/rows.h"

/* ---- the rest -------------------------------------------------------------------------------- */

static int64_t wall_clock(const struct etwas_ship_file *file, int64_t raw)
{
    int64_t unix_ns = 0;
    uint64_t error_ns;

    (void)etwas_ship_wall_clock(file->trace, raw, &unix_ns, &error_ns);
    return unix_ns;
}

bool etwas_ship_unshipped_count(struct etwas_ship_file *file,
                                const struct etwas_ship_position *from,
                                struct etwas_ship_unshipped *rest)
{
    struct etwas_ship_counts counts;
    bool is_counted = etwas_ship_count(file, from, &counts);

    *rest = (struct etwas_ship_unshipped){
        .session = etwas_ship_file_session(file, counts.session),
        .part = file->facts.part,
        .from = *from,
        .events = counts.events,
        .bytes = counts.bytes,
        .first_buffer = counts.first_buffer,
        .day = etwas_ship_partition_day_of(file, etwas_ship_file_start_ns(file)),
    };
    if (counts.events > 0) {
        rest->first_ns = wall_clock(file, counts.first_raw);
        rest->last_ns = wall_clock(file, counts.last_raw);
        rest->day = etwas_ship_partition_day_of(file, rest->first_ns);
    }
    etwas_ship_counts_free(&counts);
    return is_counted;
}

bool etwas_ship_unshipped_row(const struct etwas_ship_unshipped *rest,
                              struct etwas_columns *buffers)
{
    const struct etwas_ship_buffer_row row = {
        .state = ETWAS_SHIP_STATE_GONE,
        .cpu = ETWAS_SHIP_UNKNOWN_CPU,
        .buffer = rest->first_buffer,
        .first = rest->first_ns,
        .last = rest->last_ns,
        .events = rest->events,
        .bytes = rest->bytes,
        .offset = rest->from.offset,
    };

    etwas_ship_put_buffer(buffers, "", "", rest->session, rest->part, rest->day, &row);
    return !buffers->failed;
}

/* ---- a place --------------------------------------------------------------------------------- */

struct search {
    uint64_t number;
    uint64_t offset;
    bool is_found;
};

static uint32_t look_at_buffer(const etwas_trace_buffer *buffer, void *context)
{
    struct search *search = context;

    if (buffer->session == 0 && buffer->number == search->number) {
        search->offset = buffer->file_offset;
        search->is_found = true;
    }
    return search->is_found ? ETWAS_BUFFER_STOP : ETWAS_BUFFER_PASS;
}

static void ignore_record(EVENT_RECORD *record, void *context)
{
    (void)record, (void)context;
}

bool etwas_ship_find_buffer(struct etwas_ship_file *file, uint64_t buffer,
                            struct etwas_ship_position *place)
{
    struct search search = {.number = buffer};
    const struct etwas_ship_reader reader = {look_at_buffer, NULL, ignore_record, &search};

    if (!etwas_ship_file_read(file, 0, UINT64_MAX, &reader)) {
        return false;
    }
    *place = (struct etwas_ship_position){search.offset, 0};
    return search.is_found || etwas_ship_file_fail(file, "it has no buffer of that number");
}

/* ---- an event -------------------------------------------------------------------------------- */

struct look {
    struct etwas_ship_file *file;
    const struct etwas_ship_event *event;
    etwas_decoder *decoder; /* unless `is_own`: a description is not an event */
    uint32_t pos;           /* of the next event in its buffer */
    bool is_there;
    int64_t raw;
    bool is_it;
};

static uint32_t begin_buffer(const etwas_trace_buffer *buffer, void *context)
{
    const struct look *look = context;

    return buffer->session == 0 && buffer->number == look->event->buffer ? ETWAS_BUFFER_READ
                                                                         : ETWAS_BUFFER_PASS;
}

static void look_at_record(EVENT_RECORD *record, void *context)
{
    struct look *look = context;

    if (look->decoder != NULL && etwas_decoder_learn(look->decoder, record) != ERROR_NOT_FOUND) {
        return;
    }
    if (look->pos++ == look->event->pos) {
        look->is_there = true;
        look->raw = record->EventHeader.TimeStamp.QuadPart;
    }
}

/*
 * Called at the end of the buffer, when the trace knows the clock readings on both sides of the
 * event.
 */
static uint32_t compare_times(const etwas_trace_buffer *buffer, void *context)
{
    struct look *look = context;
    int64_t unix_ns;
    int64_t apart;
    uint64_t error_ns;

    (void)buffer;
    look->is_it = look->is_there && look->event->error_ns != UINT32_MAX &&
                  etwas_ship_wall_clock(look->file->trace, look->raw, &unix_ns, &error_ns) &&
                  error_ns < UINT32_MAX &&
                  !__builtin_sub_overflow(unix_ns, look->event->unix_ns, &apart) &&
                  apart >= -(int64_t)(error_ns + look->event->error_ns) &&
                  apart <= (int64_t)(error_ns + look->event->error_ns);
    return ETWAS_BUFFER_STOP;
}

bool etwas_ship_has_event(struct etwas_ship_file *file, const struct etwas_ship_event *event)
{
    struct look look = {.file = file, .event = event};
    const struct etwas_ship_reader reader = {begin_buffer, compare_times, look_at_record, &look};
    bool is_it = (file->is_own || etwas_decoder_open(&look.decoder) == ERROR_SUCCESS) &&
                 etwas_ship_file_read(file, 0, UINT64_MAX, &reader) && look.is_it;

    etwas_decoder_close(look.decoder);
    return is_it;
}
