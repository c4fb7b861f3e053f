/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/trace.h"

#include <stdlib.h>

#include "reader/clock_snapshots.h"
#include "reader/index.h"

enum {
    TRIES = 4,        /* attempts to read buffer 0 unchanged */
    GROWTH_PARTS = 4, /* a range grows by at least one of this many parts of its length */
    BESIDE = 3,       /* clock snapshots needed on each side of an interval to know its error */
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

/* Returns whether the buffers of clock snapshots lie in time order. */
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

/* Moves running_from to the stamp that has enough clock snapshots in front of it. */
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

/*
 * Reads the clock snapshots of buffer 0. While the session makes room for more of them, the
 * buffer's end changes; then it is read again.
 */
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

/*
 * Buffer 0 is read before the file is measured, so a clock snapshot that leaves buffer 0 in between
 * lies within the measured length.
 */
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

/* ---- the scanned range ----------------------------------------------------------------------- */

static uint64_t clock_search_data_begin(const struct etwas_trace *trace)
{
    return trace->log.buffer.buffer_bytes;
}

static bool clock_search_reaches_end(const struct etwas_trace *trace)
{
    return trace->clock_search.high + sizeof(struct etwas_buffer_beginning) > trace->file_bytes;
}

/*
 * Returns whether the range has a clock snapshot that is not newer than `from`, with neighbours, or
 * begins at the first data buffer.
 */
static bool clock_search_reaches_back_to(const struct etwas_trace *trace, int64_t from)
{
    const struct etwas_clock_search *clock_search = &trace->clock_search;

    return clock_search->low <= clock_search_data_begin(trace) ||
           (clock_search->oldest <= clock_search->newest && clock_search->oldest <= from);
}

/*
 * Returns whether the range includes `offset` and a clock snapshot that is not older than `until`,
 * with neighbours, or ends at the file's end, where buffer 0 continues.
 */
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

/*
 * Adds the buffer at *offset, which moves to the next one. If the list was thinned meanwhile, all
 * of it is scanned again. Returns false without memory.
 */
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

/*
 * Extends the range up to `offset` and to a clock snapshot not older than `until`. Returns false
 * without memory.
 */
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

/*
 * Extends the range back to a clock snapshot not newer than `from`. Returns false without memory.
 */
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

/* Returns whether the place is so far behind the range that a new range there is better. */
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
