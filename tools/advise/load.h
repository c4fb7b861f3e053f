/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_LOAD_H
#define ETWAS_TOOLS_ADVISE_LOAD_H

/*
 * The load of a trace on a session's buffers: how many bytes arrive at which slot when.
 *
 * It is a list of pieces in time order. A piece is one event while there is room for so many. From
 * then on, successive events of a slot are joined, so that memory does not grow with the file.
 */

#include "trace/current_event.h"
#include "trace/window.h"

enum {
    ETWAS_LOAD_PIECES = 1 << 22,
    ETWAS_LOAD_PROCESSORS = 65536, /* all values of a buffer's 16-bit processor index */
    ETWAS_LOAD_BURST_NS = 100000000,
    ETWAS_LOAD_MOST_PROCESSORS = 8192, /* supported by Linux; Windows has fewer */
};

/* Times later than this, 36 years after the first event, are limited to it. */
#define ETWAS_LOAD_LONGEST_NS (UINT64_C(1) << 60)

struct etwas_load_piece {
    uint64_t time_ns; /* time of its first event, since the trace's first one */
    uint32_t bytes;   /* size in a buffer, where records are aligned to 8 */
    uint16_t slot;
    uint16_t events;
};

/* Totals, and those of the busiest interval of ETWAS_LOAD_BURST_NS. */
struct etwas_load_sum {
    uint64_t events;
    uint64_t bytes;
    uint64_t burst_bytes;
    uint64_t burst_at_ns;
    uint64_t interval;       /* the current interval, */
    uint64_t interval_bytes; /* and its bytes */
};

struct etwas_load_slot {
    uint32_t processor;
    bool is_beside; /* the slot of threads without a processor's slot */
    struct etwas_load_sum sum;
};

/* The selection of events by --where, --from and --until. */
struct etwas_load_choice {
    struct etwas_window window; /* resolved */
    struct etwas_where where;
    struct etwas_field_paths paths; /* fields in `where` */
    struct etwas_all_descriptions descriptions;
    struct etwas_current_event current;
};

struct etwas_load {
    struct etwas_load_piece *pieces;
    size_t count;
    size_t capacity;
    uint32_t joined_bytes; /* largest size of joined pieces; 0: each piece is one event */
    struct etwas_load_slot *slots;
    uint32_t slot_count;
    size_t slot_capacity;
    uint32_t *slot_of; /* slot of each processor, from 1 */
    struct etwas_load_sum sum;
    uint64_t span_ns;     /* from the first to the last event */
    int64_t first_ns;     /* since 1970 */
    uint32_t largest;     /* largest record, in bytes */
    uint32_t processors;  /* processors of the recording computer */
    bool one_slot;        /* the session had one slot for all processors */
    uint64_t lost_events; /* lost while the trace was recorded */
    uint64_t overwritten_events;
    struct etwas_load_choice *choice; /* NULL: all events count */
    uint32_t files;                   /* number of files that were read */
    bool has_classes; /* retention classes: the file has more streams than processors */
    bool is_damaged;  /* a file is damaged, or could not be read */
    bool out_of_memory;
};

/* Makes an empty load. Returns false without memory. */
bool etwas_load_open(struct etwas_load *load);

/*
 * Adds an event. An earlier time than that of the events before is raised to it. `processor` must
 * be below ETWAS_LOAD_PROCESSORS. Returns false without memory.
 */
bool etwas_load_add(struct etwas_load *load, int64_t unix_ns, uint32_t processor, bool is_beside,
                    uint32_t record_bytes);

/*
 * Reads files as one trace, with the events that `choice` selects; NULL selects all. `inputs` must
 * have room for `count`. Returns as etwas_input_process does; errors in files are reported.
 */
int etwas_load_read(struct etwas_load *load, struct etwas_load_choice *choice,
                    struct etwas_input *inputs, char *const *paths, uint32_t count);

/* Returns the most bytes in any interval of `window_ns`. */
uint64_t etwas_load_most_bytes(const struct etwas_load *load, uint64_t window_ns);

/* Return bytes per second over the whole trace, and in its busiest interval. */
double etwas_load_rate(const struct etwas_load *load, uint64_t bytes);
double etwas_load_burst_rate(const struct etwas_load *load, const struct etwas_load_sum *sum);

void etwas_load_free(struct etwas_load *load);

#endif
