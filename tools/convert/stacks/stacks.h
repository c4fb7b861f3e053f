/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_STACKS_H
#define ETWAS_TOOLS_CONVERT_STACKS_H

/*
 * The call stacks of traces, which the targets `folded`, `speedscope` and `pprof` show: each that
 * is different once, thread by thread, with what it weighs. They are of the first of these kinds
 * that the traces have any of: samples of the kernel, calls that heaptrace saw, any other events
 * with a stack.
 *
 * Memory is bounded: by the functions and stacks that are told apart, and by what addresses and the
 * heap take (analyse/hot/hot.h, analyse/heap/heap.h). What is beyond that is one stack, of which
 * nothing is known.
 */

#include "analyse/heap/heap.h"
#include "analyse/hot/hot.h"
#include "convert/bytes.h"
#include "convert/convert.h"

enum {
    ETWAS_STACKS = 1 << 20,
    ETWAS_STACKS_FRAMES = 1 << 25, /* of all */
    ETWAS_STACKS_DEPTH = 16384,    /* no stack has more, of 4 bytes a frame */
    ETWAS_STACKS_VALUES = 4,
    ETWAS_STACKS_SPANS = 1 << 22,
    ETWAS_STACKS_NAME_BYTES = 1 << 16, /* of a function's, as files say it: longer ones are cut */
};

enum etwas_stacks_kind {
    ETWAS_STACKS_SAMPLES, /* how many, and nanoseconds */
    ETWAS_STACKS_HEAP,    /* allocations, their bytes, and what of both is never freed */
    ETWAS_STACKS_EVENTS,  /* how many */
    ETWAS_STACKS_KINDS,
};

struct etwas_stack {
    uint32_t kind;
    uint32_t process; /* ETWAS_EVENT_UNKNOWN_ID: not known; likewise the thread */
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
    uint64_t number; /* as they began */
    uint32_t name;   /* a function's number */
};

struct etwas_stacks {
    bool wants_spans;
    struct etwas_stacks_span *spans;
    uint32_t span_count;
    size_t span_capacity;
    uint64_t spans_left_out;    /* too many, not of one thread, or not inside of each other */
    struct etwas_hot functions; /* its table of functions alone */
    struct etwas_stack *stacks;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    uint32_t *frames; /* of all stacks */
    size_t frame_count;
    size_t frame_capacity;
    uint64_t seen[ETWAS_STACKS_KINDS]; /* stacks with all that are alike */
    uint64_t beyond;                   /* stacks more than are told apart */
    enum etwas_stacks_kind kind;       /* of which all shown ones are */
    bool has_times;                    /* of samples: it is known how far they are apart */
    bool out_of_memory;
};

/* ---- table.c ---- */

/*
 * Adds what a stack weighs, of such functions, outermost first: numbers below the table's count, or
 * UINT32_MAX of one that is not told apart.
 */
void etwas_stacks_add(struct etwas_stacks *stacks, const struct etwas_stack *stack,
                      const uint32_t *frames);

/* The number of a function; UINT32_MAX of NULL. */
uint32_t etwas_stacks_number(const struct etwas_stacks *stacks,
                             const struct etwas_hot_function *function);

void etwas_stacks_clear(struct etwas_stacks *stacks);

/* ---- gather.c ---- */

/* All stacks of the files. Returns what the program exits with. */
int etwas_stacks_gather(struct etwas_convert *convert, struct etwas_stacks *stacks);

/* ---- spans.c ---- */

/* Learns of the convert's event. */
void etwas_stacks_take_span(struct etwas_stacks *stacks, const struct etwas_convert *convert);

/*
 * Sorts them by thread and start, those around others first. What began inside of another one of
 * its thread and ended behind it is left out.
 */
void etwas_stacks_nest_spans(struct etwas_stacks *stacks);

static inline bool etwas_stacks_is_inside(const struct etwas_stacks_span *inner,
                                          const struct etwas_stacks_span *outer)
{
    return inner->process == outer->process && inner->thread == outer->thread &&
           inner->start_ns < outer->end_ns;
}

/* ---- names.c ---- */

/* What the values of stacks of a kind are. */
struct etwas_stacks_value {
    const char *name;
    const char *unit; /* of pprof and speedscope */
};

/* So many of them. */
uint32_t etwas_stacks_values(const struct etwas_stacks *stacks,
                             const struct etwas_stacks_value **values);

/* Which of them a stack weighs where it can have one weight. */
uint32_t etwas_stacks_weight(const struct etwas_stacks *stacks);

/*
 * What a function is called: UTF-8, any characters. What has no name is called by its image,
 * [libc.so.6].
 */
const char *etwas_stacks_function(const struct etwas_stacks *stacks, uint32_t number, char *room,
                                  size_t room_bytes);

#endif
