/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_window.h"

#include "buffer/slot.h"

/* Adds a gap, as far as it is within what was requested; an empty interval is none. */
static void coverage_add_gap(struct etwas_coverage *coverage, uint32_t slot, int64_t from,
                             int64_t to)
{
    from = from > coverage->begin ? from : coverage->begin;
    if (to > from) {
        coverage->gaps[coverage->gap_count++] =
            (struct etwas_coverage_gap){.slot = slot, .from = from, .to = to};
    }
}

/* The slot has everything after `from` and until `to`. True: the moment is in there. */
static bool coverage_limit_to(struct etwas_coverage *coverage, int64_t from, int64_t to)
{
    if (coverage->moment < from || coverage->moment > to) {
        return false;
    }
    coverage->from = from > coverage->from ? from : coverage->from;
    coverage->to = to < coverage->to ? to : coverage->to;
    return true;
}

/* One slot. False: what was recorded at the moment is not there. */
static bool coverage_find_slot(struct etwas_coverage *coverage,
                               const struct etwas_covered_buffer *buffers, uint32_t count)
{
    uint32_t slot = buffers[0].slot;
    uint32_t last = ETWAS_NO_BUFFER; /* the kept one before */
    int64_t from = coverage->begin;
    int64_t to = coverage->begin; /* everything after `from` and until here is there */
    bool has_moment = false;

    for (uint32_t index = 0; index < count; index++) {
        const struct etwas_covered_buffer *buffer = &buffers[index];

        if (!buffer->kept) {
            continue;
        }
        if (buffer->previous != ETWAS_NO_BUFFER && buffer->previous != last &&
            buffer->previous_newest > to) {
            has_moment = coverage_limit_to(coverage, from, to) || has_moment;
            coverage_add_gap(coverage, slot, to, buffer->previous_newest);
            from = buffer->previous_newest;
            to = from;
        }
        last = buffer->buffer;
        to = buffer->newest > to ? buffer->newest : to;
    }
    if (buffers[count - 1].kept) {
        to = coverage->until;
    }
    has_moment = coverage_limit_to(coverage, from, to) || has_moment;
    coverage_add_gap(coverage, slot, to, coverage->until);
    return has_moment;
}

void etwas_coverage_find(struct etwas_coverage *coverage,
                         const struct etwas_covered_buffer *buffers, uint32_t count)
{
    bool has_moment = true;

    coverage->from = coverage->begin;
    coverage->to = coverage->until;
    coverage->gap_count = 0;
    for (uint32_t index = 0; index < count;) {
        uint32_t end = index + 1;

        while (end < count && buffers[end].slot == buffers[index].slot) {
            end++;
        }
        has_moment = coverage_find_slot(coverage, &buffers[index], end - index) && has_moment;
        index = end;
    }
    if (!has_moment) {
        coverage->from = coverage->moment;
        coverage->to = coverage->moment;
    }
}
