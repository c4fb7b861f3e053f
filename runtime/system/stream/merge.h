/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records of all feeds in one order of time. Each feed's are in order already:
 *
 *     begin     looks what there is by now
 *     next      … record by record, the earliest first, up to a time
 *     end       gives back what was taken, as far as next has not
 *
 * A record is seen at its processor's own time: so who wants a true order over all takes none that is
 * younger than what every processor has surely finished writing, and leaves the rest to the next time.
 */
#ifndef ETWAS_SYSTEM_STREAM_MERGE_H
#define ETWAS_SYSTEM_STREAM_MERGE_H

#include "system/stream/cpu_stream.h"

struct etwas_merged {
    struct etwas_cpu_stream *stream;
    const struct perf_event_header *record; /* NULL: the feed has no more */
    const struct etwas_cpu_stream_event
        *event;                 /* whose it is; NULL: none of the feed's, or it cannot be told */
    struct etwas_sample sample; /* decoded; of what is no sample, the origin alone */
};

struct etwas_merge {
    struct etwas_merged *current; /* was returned last; NULL: none */
    int64_t limit_ns;             /* … and may go on so far before another is looked for */
    uint32_t count;
    struct etwas_merged
        *streams; /* of the caller's, so many; a feed may be added when none is merged */
};

void etwas_merge_begin(struct etwas_merge *merge);

/* NULL: there is none that is not younger than `until_ns`. Lies until the next call. */
const struct etwas_merged *etwas_merge_next(struct etwas_merge *merge, int64_t until_ns);

void etwas_merge_end(struct etwas_merge *merge);

#endif
