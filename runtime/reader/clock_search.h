/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Of a file's readings of the clocks those that the stamps of one buffer after the other need, without looking at all
 * of the file: it may be large, and be opened each second while it grows.
 *
 * Buffer 0 has the newest, without a gap from `running_from` on. Older ones lie in clock snapshot buffers, whose order in the
 * file is that of time; what was recorded between two of them is written in front of the second, or later:
 *
 *     file      │ 0 │ data k1 data, data k2 data … data k3 data, data │
 *     readings    └──────┘└───────────┘└─────────────┘└── buffer 0 ───┘
 *
 * So a stretch of the file is looked at for clock snapshot buffers that begins around the first place that needs it, and grows
 * to both sides as far as the stamps do. Where it grows it does so by a part of its length at least, so that a hostile
 * file cannot have a timeline made for each of its buffers.
 */
#ifndef ETWAS_READER_CLOCK_SEARCH_H
#define ETWAS_READER_CLOCK_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/timeline.h"

struct etwas_index_entry;
struct etwas_trace;

struct etwas_clock_search {
    bool is_used;                           /* the trace's timeline is what has been found so far */
    struct etwas_clock_snapshot_list first; /* of buffer 0, */
    int64_t running_from;                   /* and what it has all of from here on */
    struct etwas_clock_snapshot_list found; /* of the clock snapshot buffers in the stretch, */
    uint64_t low;                           /* which begins here, */
    uint64_t high;                          /* and ends here; both 0: there is none */
    int64_t oldest; /* of those found, but for the ends of a clock snapshot buffer; */
    int64_t newest; /* < oldest: there are none */
};

/*
 * Looks at buffer 0 as it is now, and gives the trace a timeline; then at how long the file is. Where the order of a
 * file's clock snapshots is not that of time, all of it is looked through at once. False: no memory.
 */
bool etwas_clock_search_begin(struct etwas_trace *trace);

/* Makes known what the stamps from `from` to `until` in this buffer need. False: no memory. */
bool etwas_clock_search_cover(struct etwas_trace *trace, const struct etwas_index_entry *buffer,
                              int64_t from, int64_t until);

void etwas_clock_search_free(struct etwas_clock_search *clock_search);

#endif
