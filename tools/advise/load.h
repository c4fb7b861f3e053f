/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_LOAD_H
#define ETWAS_TOOLS_ADVISE_LOAD_H

/*
 * What a trace puts on a session's buffers: how many bytes come when, to which slot.
 *
 * It is kept as pieces, in the order of time. A piece is one event as long as there is room for so
 * many; from then on events of a slot that come one after the other are joined, so that memory does
 * not grow with the file.
 */

#include "trace/current_event.h"
#include "trace/window.h"

enum {
    ETWAS_LOAD_PIECES = 1 << 22,
    ETWAS_LOAD_PROCESSORS = 65536, /* every value a buffer's 16-bit processor index can have */
    ETWAS_LOAD_BURST_NS = 100000000,
    ETWAS_LOAD_MOST_PROCESSORS = 8192, /* that Linux is built for; Windows has fewer */
};

/* What comes later, 36 years after the first event, comes then. */
#define ETWAS_LOAD_LONGEST_NS (UINT64_C(1) << 60)

struct etwas_load_piece {
    uint64_t time_ns; /* of its first event, since the trace's first one */
    uint32_t bytes;   /* in a buffer: records on multiples of 8 */
    uint16_t slot;
    uint16_t events;
};

/* So much in all, and in the busiest of the intervals of ETWAS_LOAD_BURST_NS. */
struct etwas_load_sum {
    uint64_t events;
    uint64_t bytes;
    uint64_t burst_bytes;
    uint64_t burst_at_ns;
    uint64_t interval;       /* that events come in now */
    uint64_t interval_bytes; /* and its bytes */
};

struct etwas_load_slot {
    uint32_t processor;
    bool is_beside; /* of threads that have no processor's */
    struct etwas_load_sum sum;
};

/* Which events count, by --where, --from and --until. */
struct etwas_load_choice {
    struct etwas_window window; /* resolved */
    struct etwas_where where;
    struct etwas_field_paths paths; /* of its fields */
    struct etwas_all_descriptions descriptions;
    struct etwas_current_event current;
};

struct etwas_load {
    struct etwas_load_piece *pieces;
    size_t count;
    size_t capacity;
    uint32_t joined_bytes; /* pieces have at most so many; 0: each is one event */
    struct etwas_load_slot *slots;
    uint32_t slot_count;
    size_t slot_capacity;
    uint32_t *slot_of; /* of each processor, from 1 */
    struct etwas_load_sum sum;
    uint64_t span_ns;     /* from the first event to the last */
    int64_t first_ns;     /* since 1970 */
    uint32_t largest;     /* record, in bytes */
    uint32_t processors;  /* of the computer */
    bool one_slot;        /* the session had one slot for all processors */
    uint64_t lost_events; /* while it was recorded */
    uint64_t overwritten_events;
    struct etwas_load_choice *choice; /* NULL: all events count */
    uint32_t files;                   /* that were read */
    bool has_classes; /* retention classes: the file has more streams than processors */
    bool is_damaged;  /* one of them, or one could not be read */
    bool out_of_memory;
};

/* An empty one. False without memory. */
bool etwas_load_open(struct etwas_load *load);

/*
 * One more event: no earlier than those before, else it counts as with them. `processor` is below
 * ETWAS_LOAD_PROCESSORS. False without memory.
 */
bool etwas_load_add(struct etwas_load *load, int64_t unix_ns, uint32_t processor, bool is_beside,
                    uint32_t record_bytes);

/*
 * Reads files as one trace, of which the events count that `choice` names; NULL: all. `inputs` has
 * room for `count`. Returns what etwas_input_process does;
 * what is wrong with a file was said.
 */
int etwas_load_read(struct etwas_load *load, struct etwas_load_choice *choice,
                    struct etwas_input *inputs, char *const *paths, uint32_t count);

/* The most bytes that came within any `window_ns`. */
uint64_t etwas_load_most_bytes(const struct etwas_load *load, uint64_t window_ns);

/* Bytes a second over the whole trace, and in the busiest interval of it. */
double etwas_load_rate(const struct etwas_load *load, uint64_t bytes);
double etwas_load_burst_rate(const struct etwas_load *load, const struct etwas_load_sum *sum);

void etwas_load_free(struct etwas_load *load);

#endif
