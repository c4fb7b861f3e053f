/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The threads of a schedule: finds them by id, and counts their time in each state. */

#include "kernel/schedule_threads.h"

#include "math/array.h"

#include <string.h>

/* ---- threads by id --------------------------------------------------------------------------- */

/* Returns the number of an id's last thread, from 1; 0 if there is none. */
static uint32_t schedule_number(const struct etwas_schedule *schedule, uint32_t thread,
                                struct etwas_hash_place *place)
{
    uint32_t number = etwas_hash_index_first(&schedule->places, thread, place);

    while (number != 0 && schedule->threads[number - 1].thread != thread) {
        number = etwas_hash_index_next(&schedule->places, place);
    }
    return number;
}

struct etwas_schedule_thread *etwas_schedule_find(const struct etwas_schedule *schedule,
                                                  uint32_t thread)
{
    struct etwas_hash_place place;
    uint32_t number = schedule_number(schedule, thread, &place);

    return number > 0 ? &schedule->threads[number - 1] : NULL;
}

struct etwas_schedule_thread *etwas_schedule_add_thread(struct etwas_schedule *schedule,
                                                        uint32_t thread)
{
    uint32_t number = schedule->thread_count + 1;
    struct etwas_hash_place place;

    if (number > ETWAS_SCHEDULE_THREADS) {
        return NULL;
    }
    if (!etwas_array_reserve(&schedule->threads, &schedule->thread_capacity, number,
                             sizeof *schedule->threads)) {
        schedule->out_of_memory = true;
        return NULL;
    }
    if (schedule_number(schedule, thread, &place) != 0) {
        etwas_hash_index_replace(&schedule->places, &place, number);
    } else if (!etwas_hash_index_add(&schedule->places, thread, number)) {
        schedule->out_of_memory = true;
        return NULL;
    }
    schedule->thread_count = number;
    schedule->threads[number - 1] = (struct etwas_schedule_thread){.thread = thread,
                                                                   .since_ns = schedule->end_ns,
                                                                   .last_ns = schedule->end_ns,
                                                                   .gap_ns = schedule->gap_ns};
    return &schedule->threads[number - 1];
}

/* ---- states ---------------------------------------------------------------------------------- */

/*
 * A thread that was ready on a processor while a switch was missing there may have run and waited
 * since. A thread that waited while a switch was missing on any processor may have been woken and
 * have run there.
 */
uint64_t etwas_schedule_doubtful_ns(const struct etwas_schedule *schedule,
                                    const struct etwas_schedule_thread *thread, int64_t time_ns)
{
    uint64_t ns = etwas_kernel_ns(thread->since_ns, time_ns);

    if (thread->state == ETWAS_SCHEDULE_READY) {
        return schedule->processors[thread->processor].gap_end_ns > thread->since_ns ? ns : 0;
    }
    if (thread->state != ETWAS_SCHEDULE_WAITING) {
        return 0;
    }
    ns = etwas_schedule_smaller(ns, etwas_kernel_ns(thread->since_ns, schedule->gap_end_ns));
    return etwas_schedule_smaller(ns, schedule->gap_ns - thread->gap_ns);
}

void etwas_schedule_account(const struct etwas_schedule *schedule,
                            const struct etwas_schedule_thread *thread, int64_t time_ns,
                            uint64_t ns[ETWAS_SCHEDULE_STATES])
{
    uint64_t doubtful_ns = etwas_schedule_doubtful_ns(schedule, thread, time_ns);

    memcpy(ns, thread->ns, sizeof thread->ns);
    ns[thread->state] += etwas_kernel_ns(thread->since_ns, time_ns) - doubtful_ns;
    ns[ETWAS_SCHEDULE_UNKNOWN] += doubtful_ns;
}

/* Reports the doubtful part of an interval last, wherever it was. */
static void report_thread(const struct etwas_schedule *schedule,
                          const struct etwas_schedule_thread *thread, int64_t time_ns)
{
    int64_t certain_ns =
        (int64_t)((uint64_t)time_ns - etwas_schedule_doubtful_ns(schedule, thread, time_ns));

    if (certain_ns > thread->since_ns) {
        schedule->interval(schedule->context, thread, thread->state, thread->since_ns, certain_ns,
                           schedule->event);
    }
    if (time_ns > certain_ns) {
        schedule->interval(schedule->context, thread, ETWAS_SCHEDULE_UNKNOWN, certain_ns, time_ns,
                           schedule->event);
    }
}

void etwas_schedule_change(const struct etwas_schedule *schedule,
                           struct etwas_schedule_thread *thread, enum etwas_schedule_state state,
                           int64_t time_ns)
{
    uint64_t ns[ETWAS_SCHEDULE_STATES];

    if (time_ns > thread->since_ns) {
        etwas_schedule_account(schedule, thread, time_ns, ns);
        memcpy(thread->ns, ns, sizeof thread->ns);
        if (schedule->interval != NULL) {
            report_thread(schedule, thread, time_ns);
        }
        thread->since_ns = time_ns;
        thread->gap_ns = schedule->gap_ns;
        thread->last_ns = thread->state != ETWAS_SCHEDULE_ENDED ? time_ns : thread->last_ns;
    }
    thread->state = state;
}

struct etwas_schedule_thread *etwas_schedule_seen(struct etwas_schedule *schedule, uint32_t id)
{
    struct etwas_schedule_thread *thread = etwas_schedule_find(schedule, id);

    if (thread == NULL || thread->state == ETWAS_SCHEDULE_ENDED) {
        bool was_there = thread == NULL && !schedule->begins_late;

        thread = etwas_schedule_add_thread(schedule, id);
        if (thread != NULL && was_there) {
            thread->since_ns = schedule->begin_ns;
            thread->gap_ns = 0;
            thread->state = ETWAS_SCHEDULE_WAITING;
        }
    }
    return thread;
}
