/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records of all streams in one order of time. The records of each stream are in order already:
 *
 *     begin     finds how far the rings are written
 *     next      returns record by record, the earliest first, up to a time
 *     end       gives back to the kernel what next has returned
 *
 * A record has the time of its own processor. A caller that needs the true order over all
 * processors takes only records that are older than what every processor has surely finished
 * writing, and leaves the others to the next merge.
 */
#ifndef ETWAS_SYSTEM_STREAM_MERGE_H
#define ETWAS_SYSTEM_STREAM_MERGE_H

#include "system/stream/cpu_stream.h"

struct etwas_merged {
    struct etwas_cpu_stream *stream;
    const struct perf_event_header *record; /* NULL: the stream has no more records */
    /* The event that the record belongs to; NULL: none of the stream's, or unknown. */
    const struct etwas_cpu_stream_event *event;
    struct etwas_sample sample; /* decoded; of records that are no samples, the origin alone */
};

struct etwas_merge {
    struct etwas_merged *current; /* the stream whose record was returned last; NULL: none */
    int64_t limit_ns; /* until this time `current` may go on before another stream is looked for */
    uint32_t count;
    /* The caller's array of `count` streams; streams may be added between two merges. */
    struct etwas_merged *streams;
};

void etwas_merge_begin(struct etwas_merge *merge);

/*
 * Returns the next record, valid until the next call. NULL: all that are left are younger than
 * `until_ns`.
 */
const struct etwas_merged *etwas_merge_next(struct etwas_merge *merge, int64_t until_ns);

void etwas_merge_end(struct etwas_merge *merge);

#endif
