/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/steps.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    NS_PER_UNIT = 100, /* of a wall clock's stamps */
    FIRST_ROOM = 64,
};

#define NO_THREAD UINT32_MAX

struct thread {
    uint64_t order; /* of its last record, from 1; 0: the entry is free */
    int64_t raw;    /* its stamp */
    uint64_t back_ns;
    uint32_t number;
};

struct etwas_steps {
    uint64_t order; /* of the last record */
    struct etwas_steps_mark mark;
    uint64_t step_order; /* the record that showed the last step, */
    uint64_t step_ns;    /* which was of so much */
    struct thread *threads;
    size_t count;
    size_t room;                     /* a power of 2; half of it stays free */
    struct etwas_steps_mark *starts; /* by the places of spans */
    size_t start_room;
};

struct etwas_steps *etwas_steps_open(void)
{
    struct etwas_steps *steps = calloc(1, sizeof *steps);

    if (steps != NULL) {
        steps->room = FIRST_ROOM;
        steps->threads = calloc(steps->room, sizeof *steps->threads);
    }
    if (steps != NULL && steps->threads == NULL) {
        free(steps);
        return NULL;
    }
    return steps;
}

void etwas_steps_close(struct etwas_steps *steps)
{
    if (steps != NULL) {
        free(steps->threads);
        free(steps->starts);
        free(steps);
    }
}

static uint64_t sum(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Its entry, or the free one where it would be. */
static struct thread *find_thread(const struct etwas_steps *steps, uint32_t number)
{
    size_t at = (number * UINT32_C(0x9E3779B1)) & (steps->room - 1);

    while (steps->threads[at].order != 0 && steps->threads[at].number != number) {
        at = (at + 1) & (steps->room - 1);
    }
    return &steps->threads[at];
}

static bool make_room(struct etwas_steps *steps)
{
    struct etwas_steps larger = *steps;

    if (steps->count < steps->room / 2) {
        return true;
    }
    larger.room *= 2;
    larger.threads = calloc(larger.room, sizeof *larger.threads);
    if (larger.threads == NULL) {
        return false;
    }
    for (size_t i = 0; i < steps->room; i++) {
        if (steps->threads[i].order != 0) {
            *find_thread(&larger, steps->threads[i].number) = steps->threads[i];
        }
    }
    free(steps->threads);
    *steps = larger;
    return true;
}

/*
 * The step was after the thread's last record. If another thread showed one since, that may have
 * been the same, and what this one has more is added.
 */
static void count(struct etwas_steps *steps, const struct thread *thread, uint64_t back_ns)
{
    bool is_new = thread->order >= steps->step_order;
    uint64_t known_ns = is_new ? 0 : steps->step_ns;

    if (back_ns > known_ns) {
        steps->mark.ns = sum(steps->mark.ns, back_ns - known_ns);
        steps->step_ns = back_ns;
        steps->step_order = is_new ? steps->order : steps->step_order;
    }
}

/* What cannot be remembered is not known from now on. */
static void take_stamp(struct etwas_steps *steps, uint32_t number, int64_t raw)
{
    struct thread *thread;
    uint64_t back_ns;

    if (!make_room(steps)) {
        steps->mark.ns = UINT64_MAX;
        return;
    }
    thread = find_thread(steps, number);
    steps->count += thread->order == 0;
    if (thread->order != 0 && raw < thread->raw &&
        !__builtin_mul_overflow((uint64_t)thread->raw - (uint64_t)raw, NS_PER_UNIT, &back_ns)) {
        thread->back_ns = sum(thread->back_ns, back_ns);
        count(steps, thread, back_ns);
    }
    thread->order = steps->order;
    thread->raw = raw;
    thread->number = number;
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
    if (steps != NULL && span->place >= steps->start_room) {
        size_t room = 2 * ((size_t)span->place + FIRST_ROOM);
        struct etwas_steps_mark *larger = realloc(steps->starts, room * sizeof *larger);

        if (larger == NULL) {
            steps->mark.ns = UINT64_MAX;
            return;
        }
        steps->starts = larger;
        steps->start_room = room;
    }
    if (steps != NULL) {
        steps->starts[span->place] = steps->mark;
    }
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
