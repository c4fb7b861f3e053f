/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/steps.h"

#include "math/array.h"
#include "math/hash_index.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    NS_PER_UNIT = 100, /* in a stamp of the wall clock */
};

#define NO_THREAD UINT32_MAX

struct thread {
    uint64_t order; /* number of its last record, from 1; 0: it had none */
    int64_t raw;    /* stamp of that record */
    uint64_t back_ns;
    uint32_t number;
};

struct etwas_steps {
    uint64_t order; /* number of the last record */
    struct etwas_steps_mark mark;
    uint64_t step_order; /* the record that showed the last step, */
    uint64_t step_ns;    /* and the size of that step */
    struct thread *threads;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;  /* index of the threads, by number */
    struct etwas_steps_mark *starts; /* indexed by the places of spans */
    size_t start_room;
};

struct etwas_steps *etwas_steps_open(void)
{
    return calloc(1, sizeof(struct etwas_steps));
}

void etwas_steps_close(struct etwas_steps *steps)
{
    if (steps != NULL) {
        free(steps->threads);
        etwas_hash_index_clear(&steps->places);
        free(steps->starts);
        free(steps);
    }
}

static uint64_t sum(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Returns a thread's entry, which is added if it is new; NULL without memory. */
static struct thread *find_thread(struct etwas_steps *steps, uint32_t thread)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&steps->places, thread, &place);

    while (number != 0 && steps->threads[number - 1].number != thread) {
        number = etwas_hash_index_next(&steps->places, &place);
    }
    if (number != 0) {
        return &steps->threads[number - 1];
    }
    if (!etwas_array_reserve(&steps->threads, &steps->capacity, steps->count + 1,
                             sizeof *steps->threads) ||
        !etwas_hash_index_add(&steps->places, thread, steps->count + 1)) {
        return NULL;
    }
    steps->threads[steps->count] = (struct thread){.number = thread};
    return &steps->threads[steps->count++];
}

/*
 * The step happened after the thread's last record. Another thread may have shown the same step
 * since then; in that case only the excess is added.
 */
static void count_step(struct etwas_steps *steps, const struct thread *thread, uint64_t back_ns)
{
    bool is_new = thread->order >= steps->step_order;
    uint64_t known_ns = is_new ? 0 : steps->step_ns;

    if (back_ns > known_ns) {
        steps->mark.ns = sum(steps->mark.ns, back_ns - known_ns);
        steps->step_ns = back_ns;
        steps->step_order = is_new ? steps->order : steps->step_order;
    }
}

/* Without memory, steps are not known from now on. */
static void take_stamp(struct etwas_steps *steps, uint32_t number, int64_t raw)
{
    struct thread *thread = find_thread(steps, number);
    uint64_t back_ns;

    if (thread == NULL) {
        steps->mark.ns = UINT64_MAX;
        return;
    }
    if (thread->order != 0 && raw < thread->raw &&
        !__builtin_mul_overflow((uint64_t)thread->raw - (uint64_t)raw, NS_PER_UNIT, &back_ns)) {
        thread->back_ns = sum(thread->back_ns, back_ns);
        count_step(steps, thread, back_ns);
    }
    thread->order = steps->order;
    thread->raw = raw;
    steps->mark.thread_ns = thread->back_ns;
}

struct etwas_steps_mark etwas_steps_add_record(struct etwas_steps *steps,
                                               const EVENT_RECORD *record)
{
    if (steps == NULL) {
        return (struct etwas_steps_mark){.thread = NO_THREAD};
    }
    steps->order++;
    steps->mark.thread = record->EventHeader.ThreadId;
    steps->mark.thread_ns = 0;
    if (steps->mark.thread != NO_THREAD) {
        take_stamp(steps, steps->mark.thread, record->EventHeader.TimeStamp.QuadPart);
    }
    return steps->mark;
}

/* ---- spans ----------------------------------------------------------------------------------- */

void etwas_steps_begin(struct etwas_steps *steps, const etwas_span *span)
{
    if (steps == NULL) {
        return;
    }
    if (!etwas_array_reserve(&steps->starts, &steps->start_room, (size_t)span->place + 1,
                             sizeof *steps->starts)) {
        steps->mark.ns = UINT64_MAX;
        return;
    }
    steps->starts[span->place] = steps->mark;
}

uint64_t etwas_steps_between(const struct etwas_steps_mark *from, const struct etwas_steps_mark *to)
{
    uint64_t all_ns = to->ns == UINT64_MAX ? UINT64_MAX : to->ns - from->ns;
    uint64_t own_ns = from->thread == to->thread ? to->thread_ns - from->thread_ns : 0;

    return own_ns > all_ns ? own_ns : all_ns;
}

uint64_t etwas_steps_since(const struct etwas_steps *steps, const etwas_span *span,
                           const struct etwas_steps_mark *to)
{
    return steps != NULL && span->place < steps->start_room
               ? etwas_steps_between(&steps->starts[span->place], to)
               : 0;
}
