/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/merge.h"

enum {
    GIVEN_SHARES = 16, /* a ring is given back in this many parts */
};

static bool decode_merged(struct etwas_merged *merged)
{
    struct etwas_sample_origin *origin = &merged->sample.origin;

    if (!etwas_sample_origin(merged->record, origin)) {
        return false;
    }
    merged->event = etwas_cpu_stream_event_of(merged->stream, origin->event);
    if (merged->event == NULL ||
        (merged->record->type == PERF_RECORD_SAMPLE &&
         !etwas_sample_decode(merged->record, merged->event->sample_type, &merged->sample))) {
        return false;
    }
    origin->time_ns += merged->stream->ahead_ns; /* from here on a time of this process's clock */
    return true;
}

/*
 * An invalid record gets the time of the one before it, so that it delays nothing. The kernel keeps
 * writing while many records are read, so the ring is given back meanwhile.
 */
static void advance(struct etwas_merged *merged)
{
    struct etwas_ring *ring = &merged->stream->ring;
    int64_t before_ns = merged->sample.origin.time_ns;

    merged->record = etwas_ring_next(ring);
    if (ring->tail - ring->given >= ring->data_bytes / GIVEN_SHARES) {
        etwas_ring_give_back(ring);
    }
    if (merged->record != NULL && !decode_merged(merged)) {
        merged->event = NULL;
        merged->sample.origin.time_ns = before_ns;
    }
}

void etwas_merge_begin(struct etwas_merge *merge)
{
    merge->current = NULL;
    for (uint32_t index = 0; index < merge->count; index++) {
        struct etwas_merged *merged = &merge->streams[index];

        (void)etwas_ring_begin(&merged->stream->ring); /* a damaged ring has no records */
        if (merged->record == NULL) {
            advance(merged);
        }
    }
}

/* Finds the stream with the earliest record, and the time up to which it stays the earliest. */
static struct etwas_merged *find_earliest(struct etwas_merge *merge, int64_t until_ns)
{
    struct etwas_merged *earliest = NULL;

    merge->limit_ns = until_ns;
    for (uint32_t index = 0; index < merge->count; index++) {
        struct etwas_merged *merged = &merge->streams[index];

        if (merged->record == NULL) {
            continue;
        }
        if (earliest == NULL || merged->sample.origin.time_ns < earliest->sample.origin.time_ns) {
            if (earliest != NULL && earliest->sample.origin.time_ns < merge->limit_ns) {
                merge->limit_ns = earliest->sample.origin.time_ns;
            }
            earliest = merged;
        } else if (merged->sample.origin.time_ns < merge->limit_ns) {
            merge->limit_ns = merged->sample.origin.time_ns;
        }
    }
    return earliest != NULL && earliest->sample.origin.time_ns <= until_ns ? earliest : NULL;
}

const struct etwas_merged *etwas_merge_next(struct etwas_merge *merge, int64_t until_ns)
{
    if (merge->current != NULL) {
        advance(merge->current);
        if (merge->current->record != NULL &&
            merge->current->sample.origin.time_ns <= merge->limit_ns) {
            return merge->current;
        }
    }
    merge->current = find_earliest(merge, until_ns);
    return merge->current;
}

void etwas_merge_end(struct etwas_merge *merge)
{
    for (uint32_t index = 0; index < merge->count; index++) {
        etwas_ring_give_back(&merge->streams[index].stream->ring);
    }
}
