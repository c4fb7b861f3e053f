/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/clock_search.h"

#include <stdlib.h>

#include "reader/clock_snapshots.h"
#include "reader/index.h"
#include "reader/trace.h"
#include "reader/trace_file.h"

enum {
    TRIES = 4,        /* to read buffer 0 while it stays the same */
    GROWTH_PARTS = 4, /* of a stretch; it grows by one at least */
    BESIDE = 3,       /* so many clock snapshots on each side of an interval tell how good it is */
};

static void clock_search_clear_list(struct etwas_clock_snapshot_list *list)
{
    free(list->snapshots);
    *list = (struct etwas_clock_snapshot_list){0};
}

void etwas_clock_search_free(struct etwas_clock_search *clock_search)
{
    clock_search_clear_list(&clock_search->first);
    clock_search_clear_list(&clock_search->found);
}

/* Does the order of the clock snapshot buffers say how old their clock snapshots are? */
static bool clock_search_is_in_order(const struct etwas_trace *trace)
{
    const uint32_t others =
        EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_RELOG_MODE;

    return trace->log.own && trace->log.uniform &&
           (trace->log.fields.start.log_file_mode & others) == 0;
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static bool clock_search_add_all(struct etwas_clock_snapshot_list *list,
                                 const struct etwas_clock_snapshot_list *more)
{
    bool complete = true;

    for (size_t i = 0; i < more->count && complete; i++) {
        complete = etwas_clock_snapshot_list_add(list, &more->snapshots[i]);
    }
    return complete;
}

static bool clock_search_make_timeline(struct etwas_trace *trace)
{
    struct etwas_clock_snapshot_list list = {0};
    struct etwas_timeline *timeline = NULL;

    if (clock_search_add_all(&list, &trace->clock_search.first) &&
        clock_search_add_all(&list, &trace->clock_search.found)) {
        timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    free(list.snapshots);
    if (timeline != NULL) {
        etwas_clock_snapshots_set_timeline(trace, timeline, false);
    }
    return timeline != NULL;
}

/* The stamp from which on there are clock snapshots enough in front. */
static void clock_search_skip_neighbours(struct etwas_clock_search *clock_search)
{
    size_t at = 0;

    while (at < clock_search->first.count &&
           clock_search->first.snapshots[at].raw < clock_search->running_from) {
        at++;
    }
    at += BESIDE;
    clock_search->running_from =
        at < clock_search->first.count ? clock_search->first.snapshots[at].raw : INT64_MAX;
}

/* A session that makes room there for more has it end in front of them meanwhile. */
static bool clock_search_read_first_buffer(struct etwas_trace *trace)
{
    struct etwas_clock_search *clock_search = &trace->clock_search;
    bool complete = false;
    uint32_t end = etwas_clock_snapshots_first_buffer_end(trace);

    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t before = end;

        clock_search_clear_list(&clock_search->first);
        complete = etwas_clock_snapshots_add_first_buffer(trace, &clock_search->first,
                                                          &clock_search->running_from);
        end = etwas_clock_snapshots_first_buffer_end(trace);
        if (end == before || !complete) {
            break;
        }
    }
    clock_search_skip_neighbours(clock_search);
    return complete;
}

static bool clock_search_read_whole_file(struct etwas_trace *trace)
{
    struct etwas_timeline *timeline = etwas_clock_snapshots_read_timeline(trace, true);

    if (timeline != NULL) {
        etwas_clock_snapshots_set_timeline(trace, timeline, true);
    }
    return timeline != NULL;
}

/* What leaves buffer 0 between the two looks lies in the file already when its length is taken. */
bool etwas_clock_search_begin(struct etwas_trace *trace)
{
    bool grows = trace->log.fields.start.end_filetime == 0;
    bool known = true;

    trace->clock_search.is_used = trace->log.clock_snapshots_at != 0 &&
                                  clock_search_is_in_order(trace) &&
                                  (grows || !trace->timeline_complete);
    if (trace->clock_search.is_used) {
        known = clock_search_read_first_buffer(trace) && clock_search_make_timeline(trace);
    }
    etwas_trace_file_measure(trace);
    if (!trace->clock_search.is_used && trace->log.clock_snapshots_at != 0 &&
        (grows || !trace->timeline_complete)) {
        known = clock_search_read_whole_file(trace);
    }
    return known;
}

/* ---- the stretch ----------------------------------------------------------------------------- */

static uint64_t clock_search_data_begin(const struct etwas_trace *trace)
{
    return trace->log.buffer.buffer_bytes;
}

static bool clock_search_reaches_end(const struct etwas_trace *trace)
{
    return trace->clock_search.high + sizeof(struct etwas_buffer_beginning) > trace->file_bytes;
}

/* Has the stretch a reading that is not newer than `from`, with others beside it, or is there nothing in front of it? */
static bool clock_search_reaches_back_to(const struct etwas_trace *trace, int64_t from)
{
    const struct etwas_clock_search *clock_search = &trace->clock_search;

    return clock_search->low <= clock_search_data_begin(trace) ||
           (clock_search->oldest <= clock_search->newest && clock_search->oldest <= from);
}

/* Has it `offset` and a reading that is not older than `until`, likewise, or is there nothing behind it but buffer 0's? */
static bool clock_search_reaches_forward_to(const struct etwas_trace *trace, uint64_t offset,
                                            int64_t until)
{
    const struct etwas_clock_search *clock_search = &trace->clock_search;

    return clock_search_reaches_end(trace) ||
           (clock_search->high >= offset && clock_search->oldest <= clock_search->newest &&
            clock_search->newest >= until);
}

static void clock_search_begin_range(struct etwas_clock_search *clock_search, uint64_t offset)
{
    clock_search_clear_list(&clock_search->found);
    clock_search->low = offset;
    clock_search->high = offset;
    clock_search->oldest = INT64_MAX;
    clock_search->newest = INT64_MIN;
}

/* Takes in the buffer at *offset, which goes on to the next. Where the list was thinned by it, all of it is looked at. */
static bool clock_search_scan_buffer(struct etwas_trace *trace, uint64_t *offset)
{
    struct etwas_clock_search *clock_search = &trace->clock_search;
    const struct etwas_clock_snapshot_list *found = &clock_search->found;
    size_t before = found->count;
    bool complete = etwas_clock_snapshots_scan_next(trace, &clock_search->found, offset);

    for (size_t i = (found->count < before ? 0 : before) + BESIDE; i + BESIDE < found->count; i++) {
        int64_t raw = found->snapshots[i].raw;

        clock_search->oldest = raw < clock_search->oldest ? raw : clock_search->oldest;
        clock_search->newest = raw > clock_search->newest ? raw : clock_search->newest;
    }
    return complete;
}

/* Takes in what lies up to `offset`, and up to a reading not older than `until`. */
static bool clock_search_grow_forward(struct etwas_trace *trace, uint64_t offset, int64_t until)
{
    struct etwas_clock_search *clock_search = &trace->clock_search;
    uint64_t least = clock_search->high + (clock_search->high - clock_search->low) / GROWTH_PARTS;

    while (!clock_search_reaches_end(trace) &&
           (clock_search->high < least || !clock_search_reaches_forward_to(trace, offset, until))) {
        if (!clock_search_scan_buffer(trace, &clock_search->high)) {
            return false;
        }
    }
    return true;
}

/* Takes in what lies back to a reading not newer than `from`. */
static bool clock_search_grow_backward(struct etwas_trace *trace, int64_t from)
{
    struct etwas_clock_search *clock_search = &trace->clock_search;
    uint64_t part = (clock_search->high - clock_search->low) / GROWTH_PARTS;
    uint64_t most = clock_search->low > part ? clock_search->low - part : 0;

    while (clock_search->low > clock_search_data_begin(trace) &&
           (clock_search->low > most || !clock_search_reaches_back_to(trace, from))) {
        uint64_t offset;

        clock_search->low -= clock_search_data_begin(trace); /* all buffers have its size */
        offset = clock_search->low;
        if (!clock_search_scan_buffer(trace, &offset)) {
            return false;
        }
    }
    return true;
}

/* Is the place so far behind the stretch that this is better begun there? */
static bool clock_search_is_far(const struct etwas_clock_search *clock_search, uint64_t offset)
{
    return offset > clock_search->high &&
           offset - clock_search->high > clock_search->high - clock_search->low;
}

bool etwas_clock_search_cover(struct etwas_trace *trace, const struct etwas_index_entry *buffer,
                              int64_t from, int64_t until)
{
    struct etwas_clock_search *clock_search = &trace->clock_search;
    uint64_t found;

    if (!clock_search->is_used || from >= clock_search->running_from) {
        return true;
    }
    if (clock_search_is_far(clock_search, buffer->file_offset)) {
        clock_search_begin_range(clock_search, buffer->file_offset);
    }
    found = clock_search->found.found;
    if ((!clock_search_reaches_forward_to(trace, buffer->file_offset, until) &&
         !clock_search_grow_forward(trace, buffer->file_offset, until)) ||
        (!clock_search_reaches_back_to(trace, from) && !clock_search_grow_backward(trace, from))) {
        return false;
    }
    return clock_search->found.found == found || clock_search_make_timeline(trace);
}
