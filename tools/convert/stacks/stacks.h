/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_STACKS_H
#define ETWAS_TOOLS_CONVERT_STACKS_H

/*
 * The call stacks of traces, for the targets `folded`, `speedscope` and `pprof`. Each distinct
 * stack of a thread is stored once, with its total weight. All stacks are of one kind, the first of
 * these that the traces have: the kernel's samples, calls recorded by heaptrace, other events with
 * a stack.
 *
 * Memory is bounded by the limits on distinct functions and stacks, and by those on addresses and
 * the heap (analyse/hot/hot.h, analyse/heap/heap.h). Stacks beyond the limits are merged into one
 * unknown stack.
 */

#include "analyse/heap/heap.h"
#include "analyse/hot/hot.h"
#include "convert/bytes.h"
#include "convert/convert.h"

enum {
    ETWAS_STACKS = 1 << 20,
    ETWAS_STACKS_FRAMES = 1 << 25, /* limit of frames of all stacks */
    ETWAS_STACKS_DEPTH = 16384,    /* limit of frames of one stack; 4 bytes each */
    ETWAS_STACKS_VALUES = 4,
    ETWAS_STACKS_SPANS = 1 << 22,
    ETWAS_STACKS_NAME_BYTES = 1 << 16, /* limit of function names; longer ones are cut */
};

enum etwas_stacks_kind {
    ETWAS_STACKS_SAMPLES, /* count, nanoseconds */
    ETWAS_STACKS_HEAP,    /* allocations, their bytes, and how many of both are never freed */
    ETWAS_STACKS_EVENTS,  /* count */
    ETWAS_STACKS_KINDS,
};

struct etwas_stack {
    uint32_t kind;
    uint32_t process; /* ETWAS_EVENT_UNKNOWN_ID: unknown; likewise the thread */
    uint32_t thread;
    uint32_t frame_count;
    size_t frames_at; /* in etwas_stacks.frames: numbers of functions, outermost first */
    uint64_t values[ETWAS_STACKS_VALUES];
};

/* An instance or activity that began and ended on one thread. */
struct etwas_stacks_span {
    uint32_t process;
    uint32_t thread;
    int64_t start_ns; /* since 1970 */
    int64_t end_ns;
    uint64_t number; /* in the order of their beginnings */
    uint32_t name;   /* a function's number */
};

struct etwas_stacks {
    bool wants_spans;
    struct etwas_stacks_span *spans;
    uint32_t span_count;
    size_t span_capacity;
    uint64_t spans_left_out;    /* too many, not on one thread, or not nested */
    struct etwas_hot functions; /* only its table of functions is used */
    struct etwas_stack *stacks;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    uint32_t *frames; /* of all stacks */
    size_t frame_count;
    size_t frame_capacity;
    uint64_t seen[ETWAS_STACKS_KINDS]; /* number of stacks, including equal ones */
    uint64_t beyond;                   /* number of stacks beyond the limits */
    enum etwas_stacks_kind kind;       /* the kind that is written */
    bool has_times;                    /* the sampling interval is known */
    bool out_of_memory;
};

/* ---- table.c ---- */

/*
 * Adds the weight of a stack. `frames` are numbers of functions, outermost first: below the table's
 * count, or UINT32_MAX for functions beyond the limits.
 */
void etwas_stacks_add(struct etwas_stacks *stacks, const struct etwas_stack *stack,
                      const uint32_t *frames);

/* Returns the number of a function; UINT32_MAX for NULL. */
uint32_t etwas_stacks_number(const struct etwas_stacks *stacks,
                             const struct etwas_hot_function *function);

void etwas_stacks_clear(struct etwas_stacks *stacks);

/* ---- gather.c ---- */

/* Gathers all stacks of the files. Returns the exit status. */
int etwas_stacks_gather(struct etwas_convert *convert, struct etwas_stacks *stacks);

/* ---- spans.c ---- */

/* Adds the span that the current event ends, if any. */
void etwas_stacks_take_span(struct etwas_stacks *stacks, const struct etwas_convert *convert);

/*
 * Sorts the spans by thread and start, outer ones first. Spans that begin inside another one of
 * their thread and end after it are left out.
 */
void etwas_stacks_nest_spans(struct etwas_stacks *stacks);

static inline bool etwas_stacks_is_inside(const struct etwas_stacks_span *inner,
                                          const struct etwas_stacks_span *outer)
{
    return inner->process == outer->process && inner->thread == outer->thread &&
           inner->start_ns < outer->end_ns;
}

/* ---- names.c ---- */

/* One of the values that stacks of a kind have. */
struct etwas_stacks_value {
    const char *name;
    const char *unit; /* for pprof and speedscope */
};

/* Returns how many values the stacks have. */
uint32_t etwas_stacks_values(const struct etwas_stacks *stacks,
                             const struct etwas_stacks_value **values);

/* Returns the index of the value that is the weight in formats with a single one. */
uint32_t etwas_stacks_weight(const struct etwas_stacks *stacks);

/*
 * Returns the name of a function: UTF-8, any characters. A function without a name is called by its
 * image: [libc.so.6].
 */
const char *etwas_stacks_function(const struct etwas_stacks *stacks, uint32_t number, char *room,
                                  size_t room_bytes);

#endif
