/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where instances spend their time. An instance gets the times that its thread counts from when it
 * comes there until it moves to another thread, or ends.
 */

#include "analyse/why/why.h"

#include "math/array.h"

#include <stdlib.h>
#include <string.h>

static struct etwas_why_open *open_at(struct etwas_why *why, uint32_t place)
{
    if (!etwas_array_reach(&why->open, &why->open_capacity, place, sizeof *why->open)) {
        why->out_of_memory = true;
        return NULL;
    }
    return &why->open[place];
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static uint64_t no_more_than(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Attributes the times of a thread to the span from now on, if the thread is known. */
static void come(struct etwas_why *why, struct etwas_why_open *open, uint32_t thread_id,
                 int64_t time_ns)
{
    const struct etwas_schedule_thread *thread = NULL;
    const struct etwas_why_thread *counts;

    open->thread = thread_id;
    open->on = ETWAS_KERNEL_NOBODY;
    memset(open->ns, 0, sizeof open->ns);
    open->counts = (struct etwas_why_thread){.interrupt_ns = 0};
    if (why->schedule.began && thread_id != ETWAS_KERNEL_NOBODY && thread_id != 0) {
        thread = etwas_schedule_runs(&why->schedule, thread_id);
    }
    if (thread != NULL) {
        open->on = (uint32_t)(thread - why->schedule.threads);
        etwas_schedule_account(&why->schedule, thread, time_ns, open->ns);
        counts = etwas_why_thread(why, open->on);
        open->counts = counts != NULL ? *counts : open->counts;
    }
    if (open->chosen != NULL) {
        open->chosen->on = open->on;
        open->chosen->from_ns = time_ns;
        open->chosen->threads++;
        open->chosen->is_open = true;
    }
}

/*
 * Returns the thread that the instance is on. If the kernel's events began after the START, it is
 * found only now, and all that it counted so far is the instance's.
 */
static const struct etwas_schedule_thread *thread_of(const struct etwas_why *why,
                                                     const struct etwas_why_open *open)
{
    if (open->on != ETWAS_KERNEL_NOBODY) {
        return &why->schedule.threads[open->on];
    }
    return open->thread != ETWAS_KERNEL_NOBODY ? etwas_schedule_find(&why->schedule, open->thread)
                                               : NULL;
}

static void leave(struct etwas_why *why, struct etwas_why_open *open, int64_t time_ns)
{
    const struct etwas_schedule_thread *thread = thread_of(why, open);
    int64_t known_ns = time_ns < why->kernel_end_ns ? time_ns : why->kernel_end_ns;
    uint64_t ns[ETWAS_SCHEDULE_STATES];
    const struct etwas_why_thread *counts;
    int64_t certain_ns;

    if (thread == NULL) {
        return;
    }
    etwas_schedule_account(&why->schedule, thread, known_ns, ns);
    open->times.running_ns += since(ns[ETWAS_SCHEDULE_RUNNING], open->ns[ETWAS_SCHEDULE_RUNNING]);
    open->times.ready_ns += since(ns[ETWAS_SCHEDULE_READY], open->ns[ETWAS_SCHEDULE_READY]);
    open->times.blocked_ns += since(ns[ETWAS_SCHEDULE_WAITING], open->ns[ETWAS_SCHEDULE_WAITING]);
    counts = etwas_why_thread(why, (uint32_t)(thread - why->schedule.threads));
    if (counts != NULL) {
        open->times.interrupt_ns += since(counts->interrupt_ns, open->counts.interrupt_ns);
        open->times.hard_fault_ns += since(counts->hard_fault_ns, open->counts.hard_fault_ns);
        open->times.faults += since(counts->faults, open->counts.faults);
    }
    if (open->chosen == NULL) {
        return;
    }
    if (known_ns > thread->since_ns) {
        certain_ns = (int64_t)((uint64_t)known_ns -
                               etwas_schedule_doubtful_ns(&why->schedule, thread, known_ns));
        etwas_why_attribute(why, open->chosen, thread, thread->state, thread->since_ns, certain_ns,
                            NULL);
        etwas_why_attribute(why, open->chosen, thread, ETWAS_SCHEDULE_UNKNOWN, certain_ns, known_ns,
                            NULL);
    }
    etwas_why_settle(why, open->chosen, NULL, false);
}

/* Limits the parts to the duration. The rest is unknown. */
static void settle(struct etwas_why_times *times, uint64_t duration_ns)
{
    uint64_t left = duration_ns;

    times->running_ns = no_more_than(times->running_ns, left);
    left -= times->running_ns;
    times->ready_ns = no_more_than(times->ready_ns, left);
    left -= times->ready_ns;
    times->blocked_ns = no_more_than(times->blocked_ns, left);
    times->unknown_ns = left - times->blocked_ns;
    times->interrupt_ns = no_more_than(times->interrupt_ns, times->running_ns);
    times->hard_fault_ns = no_more_than(times->hard_fault_ns, duration_ns);
}

static void add_times(struct etwas_why_times *sum, const struct etwas_why_times *times)
{
    sum->running_ns += times->running_ns;
    sum->ready_ns += times->ready_ns;
    sum->blocked_ns += times->blocked_ns;
    sum->unknown_ns += times->unknown_ns;
    sum->interrupt_ns += times->interrupt_ns;
    sum->hard_fault_ns += times->hard_fault_ns;
    sum->faults += times->faults;
}

/* Stores the parent, its parent and so on, as long as they are open. */
static void name_parents(const struct etwas_why *why, const etwas_span *span,
                         struct etwas_why_chosen *chosen)
{
    uint64_t number = span->parent;
    uint32_t place = span->parent_place;

    while (number != 0 && place < why->open_capacity && why->open[place].number == number &&
           chosen->parent_count < ETWAS_WHY_PARENTS) {
        const struct etwas_why_open *parent = &why->open[place];

        chosen->parents[chosen->parent_count++] =
            (struct etwas_why_name){parent->class_index, parent->activity, parent->instance};
        number = parent->parent_number;
        place = parent->parent_place;
    }
}

void etwas_why_start(struct etwas_why *why, const struct etwas_input *input,
                     const EVENT_RECORD *record, const etwas_span *span, uint32_t class_index)
{
    struct etwas_why_open *open = open_at(why, span->place);
    struct etwas_why_chosen *chosen;

    if (open == NULL) {
        return;
    }
    if (open->chosen != NULL) {
        open->chosen->is_open = false; /* replaced by a second START */
    }
    chosen = why->follows ? etwas_why_chosen(why, span->number) : NULL;
    *open = (struct etwas_why_open){
        .number = span->number,
        .class_index = class_index,
        .parent_number = span->parent,
        .parent_place = span->parent_place,
        .activity = span->activity,
        .instance = span->instance,
        .began_inside = etwas_window_holds(&why->window, input, record),
        .is_asked_for =
            etwas_condition_holds_for(&why->where, &why->current, input, record,
                                      etwas_descriptions_of(&why->descriptions, input), NULL),
        .chosen = chosen,
    };
    if (chosen != NULL) {
        chosen->name = (struct etwas_why_name){class_index, span->activity, span->instance};
        chosen->process = span->process;
        chosen->thread = span->thread;
        chosen->start_unix_ns = etwas_input_unix_ns(input, record);
        chosen->start = etwas_moment_of(input, record);
        name_parents(why, span, chosen);
    }
    if (why->follows) {
        come(why, open, span->thread, span->start);
    }
    if (chosen != NULL) {
        chosen->number = open->on;
        chosen->began_ns = span->start;
    }
}

void etwas_why_move(struct etwas_why *why, const etwas_span *span, uint32_t thread, int64_t time_ns)
{
    struct etwas_why_open *open = open_at(why, span->place);

    if (why->follows && open != NULL && open->number == span->number && open->thread != thread) {
        leave(why, open, time_ns);
        come(why, open, thread, time_ns);
    }
}

/* Adds an instance to its class. */
static void count_class(struct etwas_why *why, const struct etwas_why_open *open,
                        uint64_t duration_ns)
{
    struct etwas_why_class *its_class;

    why->counted += open->own.by == ETWAS_WHY_BY_COUNTERS;
    if (open->class_index == UINT32_MAX) {
        return;
    }
    its_class = &why->classes[open->class_index];
    its_class->count++;
    its_class->duration_ns += duration_ns;
    its_class->longest_ns =
        duration_ns > its_class->longest_ns ? duration_ns : its_class->longest_ns;
    add_times(&its_class->times, &open->times);
    its_class->counted += open->own.by == ETWAS_WHY_BY_COUNTERS;
}

void etwas_why_end(struct etwas_why *why, const struct etwas_input *input,
                   const EVENT_RECORD *record, const etwas_span *span, int64_t time_ns)
{
    struct etwas_why_open *open = open_at(why, span->place);
    uint64_t duration_ns = etwas_kernel_ns(span->start, time_ns);
    etwas_clock_time duration = {(int64_t)duration_ns, UINT64_MAX};
    struct etwas_moment end;
    bool is_inside;

    if (open == NULL || open->number != span->number) {
        return;
    }
    is_inside =
        open->began_inside && etwas_window_holds(&why->window, input, record) &&
        (open->is_asked_for ||
         etwas_condition_holds_for(&why->where, &why->current, input, record,
                                   etwas_descriptions_of(&why->descriptions, input), &duration));
    if (!why->follows) {
        if (is_inside) {
            etwas_why_choose(why, span, open->class_index, duration_ns);
        }
        return;
    }
    leave(why, open, time_ns);
    settle(&open->times, duration_ns);
    etwas_why_use_counters(&open->own, &open->times, duration_ns);
    if (open->chosen != NULL) {
        open->chosen->times = open->times;
        open->chosen->own = open->own;
        if (open->own.by == ETWAS_WHY_BY_COUNTERS) {
            open->chosen->preemptions = open->own.used.values[ETWAS_WHY_INVOLUNTARY];
        }
        end = etwas_moment_of(input, record);
        open->chosen->error_ns = etwas_moment_error_ns(&open->chosen->start, &end);
        open->chosen->duration_ns = duration_ns;
        open->chosen->is_open = false;
        open->chosen = NULL;
    }
    if (is_inside) {
        count_class(why, open, duration_ns);
    }
}
