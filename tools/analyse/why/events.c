/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Applies the kernel's events to threads and to the chosen instances on them.
 */

#include "analyse/why/why.h"

#include "math/array.h"

#include <stdlib.h>
#include <string.h>

struct etwas_why_thread *etwas_why_thread(struct etwas_why *why, uint32_t number)
{
    if (!etwas_array_reach(&why->threads, &why->thread_capacity, number, sizeof *why->threads)) {
        why->out_of_memory = true;
        return NULL;
    }
    return &why->threads[number];
}

/*
 * Returns the thread of an event: the one that it states, or the one that runs on its processor.
 * Returns NULL if it is not known.
 */
static const struct etwas_schedule_thread *owner(const struct etwas_why *why,
                                                 const struct etwas_kernel_event *event)
{
    const struct etwas_schedule_processor *processor = &why->schedule.processors[event->processor];
    uint32_t thread = event->thread != ETWAS_KERNEL_NOBODY ? event->thread
                      : processor->seen                    ? processor->running
                                                           : 0;

    return thread != 0 ? etwas_schedule_find(&why->schedule, thread) : NULL;
}

/* Returns the time from initial_time, a time of the file's clock, to time_ns. */
static uint64_t took_ns(const struct etwas_input *input, int64_t initial_time, int64_t time_ns)
{
    etwas_clock_time began = {time_ns, 0};

    if (etwas_trace_convert_time(input->trace, initial_time, ETWAS_CLOCK_QPC, &began) !=
        ERROR_SUCCESS) {
        return 0;
    }
    return etwas_kernel_ns(began.value, time_ns);
}

struct etwas_why_chosen *etwas_why_next_chosen(const struct etwas_why *why, uint32_t number,
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

static void take_of_thread(struct etwas_why *why, const struct etwas_input *input,
                           const EVENT_RECORD *record, const struct etwas_kernel_event *event,
                           int64_t time_ns, uint32_t number)
{
    struct etwas_why_thread *thread = etwas_why_thread(why, number);
    struct etwas_why_chosen *chosen = NULL;
    uint64_t took;

    if (thread == NULL) {
        return;
    }
    switch (event->kind) {
    case ETWAS_KERNEL_FAULT:
        thread->faults++;
        while ((chosen = etwas_why_next_chosen(why, number, chosen)) != NULL) {
            chosen->faults[event->fault - ETWAS_KERNEL_FIRST_FAULT]++;
        }
        break;
    case ETWAS_KERNEL_HARD_FAULT:
        took = took_ns(input, event->initial_time, time_ns);
        thread->hard_fault_ns += took;
        while ((chosen = etwas_why_next_chosen(why, number, chosen)) != NULL) {
            etwas_why_settle_fault(why, chosen, input->number, event->file,
                                   (int64_t)((uint64_t)time_ns - took));
        }
        break;
    case ETWAS_KERNEL_INTERRUPT:
        thread->interrupt_ns += took_ns(input, event->initial_time, time_ns);
        break;
    case ETWAS_KERNEL_DISK:
        took = took_ns(input, event->initial_time, time_ns);
        etwas_why_take_request(why, event, number, (int64_t)((uint64_t)time_ns - took), took);
        break;
    case ETWAS_KERNEL_STACK:
        etwas_why_take_stack(why, input, record, event, number);
        break;
    default:
        etwas_why_do(why, input, event, time_ns, number);
        break;
    }
}

void etwas_why_kernel(struct etwas_why *why, const struct etwas_input *input,
                      const EVENT_RECORD *record, struct etwas_kernel_event *event, int64_t time_ns)
{
    const struct etwas_schedule_thread *thread;

    etwas_schedule_time(&why->schedule, time_ns);
    if (event->kind <= ETWAS_KERNEL_LOSS) {
        etwas_input_measure_loss(input, event);
        etwas_schedule_add_record(&why->schedule, event);
        return;
    }
    thread = owner(why, event);
    if (thread != NULL) {
        take_of_thread(why, input, record, event, time_ns,
                       (uint32_t)(thread - why->schedule.threads));
    }
}
