/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds the clock snapshots that the stamps of one buffer after the other need, without reading all
 * of the file: it may be large, and may be opened each second while it grows.
 *
 * Buffer 0 has the newest, without a gap from `running_from` on. Older ones lie in buffers of their
 * own, in time order. What was recorded between two of them is written in front of the second, or
 * later:
 *
 *     file         │ 0 │ data s1 data, data s2 data … data s3 data, data │
 *     snapshots      └──────┘└───────────┘└─────────────┘└── buffer 0 ───┘
 *
 * So a range of the file is scanned for buffers of clock snapshots. It begins around the first
 * place that needs it and grows to both sides as far as the stamps do. It grows by a part of its
 * length at least, so that a hostile file cannot have a timeline made for each of its buffers.
 */
#ifndef ETWAS_READER_CLOCK_SEARCH_H
#define ETWAS_READER_CLOCK_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/timeline.h"

struct etwas_index_entry;
struct etwas_trace;

struct etwas_clock_search {
    /* the trace's timeline is made of what was found so far */
    bool is_used;
    struct etwas_clock_snapshot_list first; /* clock snapshots of buffer 0 */
    int64_t running_from;                   /* buffer 0 is complete from this stamp on */
    struct etwas_clock_snapshot_list found; /* clock snapshots of the scanned range */
    uint64_t low;                           /* where the range begins */
    uint64_t high;                          /* where the range ends; both 0: there is none */
    int64_t oldest;                         /* oldest stamp found, except at the ends of a buffer */
    int64_t newest; /* newest stamp found, likewise; below `oldest`: none was found */
};

/*
 * Reads buffer 0 as it is now and gives the trace a timeline, then measures the file. If the clock
 * snapshots of the file are not in time order, the whole file is scanned at once. Returns false
 * without memory.
 */
bool etwas_clock_search_begin(struct etwas_trace *trace);

/*
 * Extends the timeline by what the stamps from `from` to `until` in this buffer need. Returns false
 * without memory.
 */
bool etwas_clock_search_cover(struct etwas_trace *trace, const struct etwas_index_entry *buffer,
                              int64_t from, int64_t until);

void etwas_clock_search_free(struct etwas_clock_search *clock_search);

#endif
