/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Why a chosen instance did not run: which threads had the processor that it waited for. What it
 * was blocked on is in blocks.c.
 */

#include "analyse/why/why.h"

#include <stdlib.h>

/* ---- processors ------------------------------------------------------------------------------ */

static void note_run(struct etwas_why *why, const struct etwas_schedule_thread *thread,
                     int64_t from_ns, int64_t to_ns)
{
    struct etwas_why_runs **runs = &why->runs[thread->processor];

    if (*runs == NULL) {
        *runs = calloc(1, sizeof **runs);
    }
    if (*runs == NULL) {
        why->out_of_memory = true;
        return;
    }
    (*runs)->runs[(*runs)->count++ % ETWAS_WHY_RUNS] =
        (struct etwas_why_run){(uint32_t)(thread - why->schedule.threads), from_ns, to_ns};
}

static void add_holder(struct etwas_why_chosen *chosen, uint32_t number, uint64_t ns)
{
    uint32_t i = 0;

    while (i < chosen->holder_count && chosen->holders[i].number != number) {
        i++;
    }
    if (i == ETWAS_WHY_HOLDERS) {
        chosen->nobody_ns += ns;
        return;
    }
    if (i == chosen->holder_count) {
        chosen->holders[chosen->holder_count++] = (struct etwas_why_holder){number, 0};
    }
    chosen->holders[i].ns += ns;
}

/*
 * Adds the threads that ran meanwhile on the processor that the instance finally got, as far back
 * as they are known.
 */
static void add_holders(const struct etwas_why *why, struct etwas_why_chosen *chosen,
                        uint32_t processor, int64_t from_ns, int64_t to_ns)
{
    const struct etwas_why_runs *runs = why->runs[processor];
    uint64_t left = etwas_kernel_ns(from_ns, to_ns);
    uint64_t count = runs != NULL ? runs->count : 0;

    for (uint64_t i = 1; i <= count && i <= ETWAS_WHY_RUNS; i++) {
        const struct etwas_why_run *run = &runs->runs[(count - i) % ETWAS_WHY_RUNS];
        int64_t first = run->from_ns > from_ns ? run->from_ns : from_ns;
        int64_t last = run->to_ns < to_ns ? run->to_ns : to_ns;

        if (run->to_ns <= from_ns) {
            break;
        }
        if (last > first && etwas_kernel_ns(first, last) <= left) {
            add_holder(chosen, run->number, etwas_kernel_ns(first, last));
            left -= etwas_kernel_ns(first, last);
        }
    }
    chosen->nobody_ns += left;
}

/* ---- intervals ------------------------------------------------------------------------------- */

void etwas_why_attribute(struct etwas_why *why, struct etwas_why_chosen *chosen,
                         const struct etwas_schedule_thread *thread,
                         enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                         const struct etwas_kernel_event *event)
{
    from_ns = from_ns > chosen->from_ns ? from_ns : chosen->from_ns;
    if (to_ns <= from_ns) {
        return;
    }
    if (state == ETWAS_SCHEDULE_READY) {
        if (event != NULL && event->kind == ETWAS_KERNEL_SWITCH &&
            event->thread == thread->thread) {
            add_holders(why, chosen, event->processor, from_ns, to_ns);
        } else {
            chosen->nobody_ns += etwas_kernel_ns(from_ns, to_ns);
        }
    } else if (state == ETWAS_SCHEDULE_WAITING) {
        etwas_why_block(why, chosen, thread, from_ns, to_ns, event);
    } else if (state == ETWAS_SCHEDULE_RUNNING) {
        chosen->preemptions +=
            event != NULL && event->kind == ETWAS_KERNEL_SWITCH && event->old_is_ready;
    } else if (state == ETWAS_SCHEDULE_UNKNOWN && why->schedule.gap_ns > thread->gap_ns) {
        chosen->lost_ns += etwas_kernel_ns(from_ns, to_ns);
    }
}

void etwas_why_interval(void *context, const struct etwas_schedule_thread *thread,
                        enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                        const struct etwas_kernel_event *event)
{
    struct etwas_why *why = context;
    uint32_t number = (uint32_t)(thread - why->schedule.threads);

    if (state == ETWAS_SCHEDULE_RUNNING) {
        note_run(why, thread, from_ns, to_ns);
    }
    for (uint32_t i = 0; i < why->chosen_count; i++) {
        if (why->chosen[i].is_open && why->chosen[i].on == number) {
            etwas_why_attribute(why, &why->chosen[i], thread, state, from_ns, to_ns, event);
        }
    }
}
