/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's events for `etwas why`: what they mean for the threads, and for who has chosen instances.
 */

#include "why/why.h"

#include <stdlib.h>
#include <string.h>

struct etwas_why_thread *etwas_why_thread(struct etwas_why *why, uint32_t number)
{
    if (number >= why->thread_capacity) {
        uint32_t capacity = 2 * number + 64;
        struct etwas_why_thread *larger = realloc(why->threads, capacity * sizeof *larger);

        if (larger == NULL) {
            why->out_of_memory = true;
            return NULL;
        }
        memset(larger + why->thread_capacity, 0,
               (capacity - why->thread_capacity) * sizeof *larger);
        why->threads = larger;
        why->thread_capacity = capacity;
    }
    return &why->threads[number];
}

/* Who an event is of: as it says, or who runs on its processor. NULL: nobody that is known. */
static const struct etwas_schedule_thread *owner(const struct etwas_why *why,
                                                 const struct etwas_kernel_event *event)
{
    const struct etwas_schedule_processor *processor = &why->schedule.processors[event->processor];
    uint32_t thread = event->thread != ETWAS_KERNEL_NOBODY ? event->thread
                      : processor->seen                    ? processor->running
                                                           : 0;

    return thread != 0 ? etwas_schedule_find(&why->schedule, thread) : NULL;
}

/* How long something took that began then, by the file's clock. */
static uint64_t took_ns(const struct etwas_input *input, int64_t initial_time, int64_t time_ns)
{
    etwas_clock_time began = {time_ns, 0};

    if (etwas_trace_convert_time(input->trace, initial_time, ETWAS_CLOCK_QPC, &began) !=
        ERROR_SUCCESS) {
        return 0;
    }
    return etwas_kernel_ns(began.value, time_ns);
}

/* The chosen instances that a thread has: the next behind one; NULL: the first. */
static struct etwas_why_chosen *next_of(const struct etwas_why *why, uint32_t number,
                                        struct etwas_why_chosen *chosen)
{
    chosen = chosen == NULL ? why->chosen : chosen + 1;
    for (; chosen < why->chosen + why->chosen_count; chosen++) {
        if (chosen->is_open && chosen->on == number) {
            return chosen;
        }
    }
    return NULL;
}

static void take_stack(struct etwas_why *why, const struct etwas_input *input,
                       const struct etwas_kernel_event *event, uint32_t number)
{
    struct etwas_why_chosen *chosen = NULL;
    etwas_clock_time stack = {0, 0};

    if (etwas_trace_convert_time(input->trace, event->initial_time, ETWAS_CLOCK_QPC, &stack) ==
        ERROR_SUCCESS) {
        while ((chosen = next_of(why, number, chosen)) != NULL) {
            etwas_why_keep_stack(chosen, input, event, stack.value);
        }
    }
}

static void take_of_thread(struct etwas_why *why, const struct etwas_input *input,
                           const struct etwas_kernel_event *event, int64_t time_ns, uint32_t number)
{
    struct etwas_why_thread *thread = etwas_why_thread(why, number);
    struct etwas_why_chosen *chosen = NULL;

    if (thread == NULL) {
        return;
    }
    switch (event->kind) {
    case ETWAS_KERNEL_CALL_ENTER:
        why->has_calls = true;
        thread->is_in_call = true;
        thread->call = event->call;
        break;
    case ETWAS_KERNEL_CALL_EXIT:
        thread->is_in_call = false;
        break;
    case ETWAS_KERNEL_FAULT:
        thread->faults++;
        while ((chosen = next_of(why, number, chosen)) != NULL) {
            chosen->faults[event->fault - ETWAS_KERNEL_FIRST_FAULT]++;
        }
        break;
    case ETWAS_KERNEL_HARD_FAULT:
        thread->hard_fault_ns += took_ns(input, event->initial_time, time_ns);
        break;
    case ETWAS_KERNEL_INTERRUPT:
        thread->interrupt_ns += took_ns(input, event->initial_time, time_ns);
        break;
    case ETWAS_KERNEL_STACK:
        take_stack(why, input, event, number);
        break;
    default:
        break;
    }
}

void etwas_why_kernel(struct etwas_why *why, const struct etwas_input *input,
                      const struct etwas_kernel_event *event, int64_t time_ns)
{
    const struct etwas_schedule_thread *thread;

    etwas_schedule_time(&why->schedule, time_ns);
    if (event->kind <= ETWAS_KERNEL_LOSS) {
        etwas_schedule_take(&why->schedule, event);
        return;
    }
    thread = owner(why, event);
    if (thread != NULL) {
        take_of_thread(why, input, event, time_ns, (uint32_t)(thread - why->schedule.threads));
    }
}
