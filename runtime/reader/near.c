/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/near.h"

#include <stdlib.h>

#include "reader/index.h"
#include "reader/knots.h"
#include "reader/source.h"
#include "reader/trace.h"

enum {
    TRIES = 4,        /* to read buffer 0 while it stays the same */
    GROWTH_PARTS = 4, /* of a stretch; it grows by one at least */
    BESIDE = 3,       /* so many knots on each side of an interval tell how good it is */
};

static void clear(struct etwas_knot_list *list)
{
    free(list->knots);
    *list = (struct etwas_knot_list){0};
}

void etwas_near_free(struct etwas_near *near)
{
    clear(&near->first);
    clear(&near->found);
}

/* Does the order of the knot buffers say how old their knots are? */
static bool is_in_order(const struct etwas_trace *trace)
{
    const uint32_t others =
        EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_RELOG_MODE;

    return trace->log.own && trace->log.uniform &&
           (trace->log.fields.start.log_file_mode & others) == 0;
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static bool add_all(struct etwas_knot_list *list, const struct etwas_knot_list *more)
{
    bool complete = true;

    for (size_t i = 0; i < more->count && complete; i++) {
        complete = etwas_knot_list_add(list, &more->knots[i]);
    }
    return complete;
}

static bool make_timeline(struct etwas_trace *trace)
{
    struct etwas_knot_list list = {0};
    struct etwas_timeline *timeline = NULL;

    if (add_all(&list, &trace->near.first) && add_all(&list, &trace->near.found)) {
        timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    free(list.knots);
    if (timeline != NULL) {
        etwas_knots_keep(trace, timeline, false);
    }
    return timeline != NULL;
}

/* The stamp from which on there are knots enough in front. */
static void leave_those_beside(struct etwas_near *near)
{
    size_t at = 0;

    while (at < near->first.count && near->first.knots[at].raw < near->running_from) {
        at++;
    }
    at += BESIDE;
    near->running_from = at < near->first.count ? near->first.knots[at].raw : INT64_MAX;
}

/* A session that makes room there for more has it end in front of them meanwhile. */
static bool read_first(struct etwas_trace *trace)
{
    struct etwas_near *near = &trace->near;
    bool complete = false;
    uint32_t end = etwas_knots_end(trace);

    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t before = end;

        clear(&near->first);
        complete = etwas_knots_add_first(trace, &near->first, &near->running_from);
        end = etwas_knots_end(trace);
        if (end == before || !complete) {
            break;
        }
    }
    leave_those_beside(near);
    return complete;
}

static bool look_through(struct etwas_trace *trace)
{
    struct etwas_timeline *timeline = etwas_knots_read(trace, true);

    if (timeline != NULL) {
        etwas_knots_keep(trace, timeline, true);
    }
    return timeline != NULL;
}

/* What leaves buffer 0 between the two looks lies in the file already when its length is taken. */
bool etwas_near_begin(struct etwas_trace *trace)
{
    bool grows = trace->log.fields.start.end_filetime == 0;
    bool known = true;

    trace->near.is_used =
        trace->log.knots_at != 0 && is_in_order(trace) && (grows || !trace->timeline_complete);
    if (trace->near.is_used) {
        known = read_first(trace) && make_timeline(trace);
    }
    etwas_source_measure(trace);
    if (!trace->near.is_used && trace->log.knots_at != 0 && (grows || !trace->timeline_complete)) {
        known = look_through(trace);
    }
    return known;
}

/* ---- the stretch ----------------------------------------------------------------------------- */

static uint64_t data_begin(const struct etwas_trace *trace)
{
    return trace->log.buffer.buffer_bytes;
}

static bool reaches_end(const struct etwas_trace *trace)
{
    return trace->near.high + sizeof(struct etwas_buffer_beginning) > trace->file_bytes;
}

/* Has the stretch a reading that is not newer than `from`, with others beside it, or is there nothing in front of it? */
static bool reaches_back_to(const struct etwas_trace *trace, int64_t from)
{
    const struct etwas_near *near = &trace->near;

    return near->low <= data_begin(trace) || (near->oldest <= near->newest && near->oldest <= from);
}

/* Has it `offset` and a reading that is not older than `until`, likewise, or is there nothing behind it but buffer 0's? */
static bool reaches_on_to(const struct etwas_trace *trace, uint64_t offset, int64_t until)
{
    const struct etwas_near *near = &trace->near;

    return reaches_end(trace) ||
           (near->high >= offset && near->oldest <= near->newest && near->newest >= until);
}

static void begin_stretch(struct etwas_near *near, uint64_t offset)
{
    clear(&near->found);
    near->low = offset;
    near->high = offset;
    near->oldest = INT64_MAX;
    near->newest = INT64_MIN;
}

/* Takes in the buffer at *offset, which goes on to the next. Where the list was thinned by it, all of it is looked at. */
static bool look(struct etwas_trace *trace, uint64_t *offset)
{
    struct etwas_near *near = &trace->near;
    const struct etwas_knot_list *found = &near->found;
    size_t before = found->count;
    bool complete = etwas_knots_look(trace, &near->found, offset);

    for (size_t i = (found->count < before ? 0 : before) + BESIDE; i + BESIDE < found->count; i++) {
        int64_t raw = found->knots[i].raw;

        near->oldest = raw < near->oldest ? raw : near->oldest;
        near->newest = raw > near->newest ? raw : near->newest;
    }
    return complete;
}

/* Takes in what lies up to `offset`, and up to a reading not older than `until`. */
static bool grow_on(struct etwas_trace *trace, uint64_t offset, int64_t until)
{
    struct etwas_near *near = &trace->near;
    uint64_t least = near->high + (near->high - near->low) / GROWTH_PARTS;

    while (!reaches_end(trace) && (near->high < least || !reaches_on_to(trace, offset, until))) {
        if (!look(trace, &near->high)) {
            return false;
        }
    }
    return true;
}

/* Takes in what lies back to a reading not newer than `from`. */
static bool grow_back(struct etwas_trace *trace, int64_t from)
{
    struct etwas_near *near = &trace->near;
    uint64_t part = (near->high - near->low) / GROWTH_PARTS;
    uint64_t most = near->low > part ? near->low - part : 0;

    while (near->low > data_begin(trace) && (near->low > most || !reaches_back_to(trace, from))) {
        uint64_t offset;

        near->low -= data_begin(trace); /* all buffers have its size */
        offset = near->low;
        if (!look(trace, &offset)) {
            return false;
        }
    }
    return true;
}

/* Is the place so far behind the stretch that this is better begun there? */
static bool is_far(const struct etwas_near *near, uint64_t offset)
{
    return offset > near->high && offset - near->high > near->high - near->low;
}

bool etwas_near_cover(struct etwas_trace *trace, const struct etwas_index_entry *buffer,
                      int64_t from, int64_t until)
{
    struct etwas_near *near = &trace->near;
    uint64_t found;

    if (!near->is_used || from >= near->running_from) {
        return true;
    }
    if (is_far(near, buffer->file_offset)) {
        begin_stretch(near, buffer->file_offset);
    }
    found = near->found.found;
    if ((!reaches_on_to(trace, buffer->file_offset, until) &&
         !grow_on(trace, buffer->file_offset, until)) ||
        (!reaches_back_to(trace, from) && !grow_back(trace, from))) {
        return false;
    }
    return near->found.found == found || make_timeline(trace);
}
