/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Follows threads from switch to switch. */

#include "kernel/schedule.h"

#include "kernel/schedule_threads.h"

#include <stdlib.h>

enum {
    IDLE = 0, /* the id of every processor's idle thread */
};

/* ---- switches -------------------------------------------------------------------------------- */

static void count_processor_to(const struct etwas_schedule *schedule,
                               struct etwas_schedule_processor *processor, int64_t time_ns,
                               bool known)
{
    uint64_t ns = etwas_kernel_ns(processor->since_ns, time_ns);

    if (!known) {
        processor->unknown_ns += ns;
        if (ns > 0 && schedule->unknown != NULL) {
            schedule->unknown(schedule->context, (uint32_t)(processor - schedule->processors),
                              processor->since_ns, time_ns);
        }
    } else if (processor->running == IDLE) {
        processor->idle_ns += ns;
    } else {
        processor->busy_ns += ns;
    }
    processor->since_ns = time_ns;
}

static void count_processor(const struct etwas_schedule *schedule,
                            struct etwas_schedule_processor *processor, bool known)
{
    count_processor_to(schedule, processor, schedule->end_ns, known);
}

/* Returns whether events were lost since the processor's last switch. */
static bool has_lost(const struct etwas_schedule_processor *processor)
{
    return processor->gap_end_ns > processor->since_ns;
}

struct etwas_schedule_thread *etwas_schedule_runs(struct etwas_schedule *schedule, uint32_t id)
{
    struct etwas_schedule_thread *thread = etwas_schedule_seen(schedule, id);

    if (thread != NULL && thread->state == ETWAS_SCHEDULE_WAITING && thread->switches == 0 &&
        thread->since_ns == schedule->begin_ns && !schedule->begins_late) {
        thread->state = ETWAS_SCHEDULE_RUNNING;
        thread->ran_at_begin = true;
    }
    return thread;
}

/*
 * Counts a processor's time up to its first switch. Returns false if the thread that gives way
 * cannot have run all that time.
 */
static bool begin(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                  uint32_t id, struct etwas_schedule_thread *thread)
{
    processor->seen = true;
    processor->since_ns = schedule->begin_ns;
    processor->running = id;
    if (schedule->begins_late || has_lost(processor)) {
        return false;
    }
    if (thread != NULL) {
        if (thread->since_ns > schedule->begin_ns || thread->switches > 0) {
            return false;
        }
        thread->state = ETWAS_SCHEDULE_RUNNING;
        thread->processor = (uint16_t)(processor - schedule->processors);
        thread->ran_at_begin = true;
    }
    return true;
}

/*
 * Handles a missing switch: since the last one, the states of the thread that should have run and
 * of the one that did are unknown.
 */
static void forget(struct etwas_schedule *schedule,
                   const struct etwas_schedule_processor *processor,
                   struct etwas_schedule_thread *thread)
{
    struct etwas_schedule_thread *other =
        processor->running != IDLE ? etwas_schedule_find(schedule, processor->running) : NULL;

    if (other != NULL && other != thread && other->state == ETWAS_SCHEDULE_RUNNING &&
        other->since_ns == processor->since_ns) {
        other->state = ETWAS_SCHEDULE_UNKNOWN;
    }
    if (thread != NULL) {
        if (thread->state == ETWAS_SCHEDULE_RUNNING) { /* on another processor, it seemed */
            thread->state = ETWAS_SCHEDULE_UNKNOWN;
        }
        etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_UNKNOWN, processor->since_ns);
    }
}

/* Ends a gap that began at from_ns. Time in the gaps of several processors counts once. */
static void end_gap(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                    int64_t from_ns)
{
    from_ns = from_ns > schedule->gap_end_ns ? from_ns : schedule->gap_end_ns;
    schedule->gap_ns += etwas_kernel_ns(from_ns, schedule->end_ns);
    processor->gap_end_ns = schedule->end_ns;
    schedule->gap_end_ns = schedule->end_ns;
}

/*
 * Returns the time of the last event before the loss. It is at or after the processor's last
 * switch, which is such an event.
 */
static int64_t began_to_lose(const struct etwas_schedule *schedule,
                             const struct etwas_schedule_processor *processor, uint64_t lost_ns)
{
    uint64_t since_ns = etwas_kernel_ns(processor->since_ns, schedule->end_ns);

    lost_ns = lost_ns == 0 ? 1 : lost_ns; /* a loss takes some time */
    return (int64_t)((uint64_t)schedule->end_ns - etwas_schedule_smaller(lost_ns, since_ns));
}

/*
 * Handles a loss that ends now: a switch may be missing, even if the next one fits. Up to the last
 * event before the loss nothing is missing, so the thread ran until then.
 */
static void lose(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                 const struct etwas_kernel_event *event)
{
    int64_t from_ns = began_to_lose(schedule, processor, event->lost_ns);
    struct etwas_schedule_thread *thread =
        processor->running != IDLE ? etwas_schedule_find(schedule, processor->running) : NULL;

    if (processor->seen && !has_lost(processor)) {
        if (thread != NULL && thread->state == ETWAS_SCHEDULE_RUNNING &&
            thread->since_ns == processor->since_ns) {
            etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_UNKNOWN, from_ns);
        }
        count_processor_to(schedule, processor, from_ns, true);
    }
    end_gap(schedule, processor, from_ns);
}

/*
 * Handles the first switch after a loss. If no switch was lost, the thread that gives way has run
 * since. Returns false if it cannot have, so a switch was lost.
 */
static bool ran_since_loss(struct etwas_schedule *schedule,
                           struct etwas_schedule_processor *processor, uint32_t id,
                           struct etwas_schedule_thread *thread)
{
    if (thread != NULL && thread->since_ns > processor->gap_end_ns) {
        return false;
    }
    count_processor_to(schedule, processor, processor->gap_end_ns, false);
    processor->running = id;
    if (thread != NULL) {
        etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_RUNNING, processor->gap_end_ns);
    }
    return true;
}

static void give_way(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                     const struct etwas_kernel_event *event)
{
    struct etwas_schedule_thread *thread =
        event->old_thread != IDLE ? etwas_schedule_seen(schedule, event->old_thread) : NULL;
    bool known = processor->seen ? processor->running == event->old_thread && !has_lost(processor)
                                 : begin(schedule, processor, event->old_thread, thread);

    if (!known) {
        processor->gaps += processor->switches > 0;
        forget(schedule, processor, thread);
        if (has_lost(processor)) {
            known = ran_since_loss(schedule, processor, event->old_thread, thread);
        }
        if (!known && (processor->switches > 0 || !schedule->begins_late)) {
            end_gap(schedule, processor,
                    has_lost(processor) ? processor->gap_end_ns : processor->since_ns);
        }
    }
    if (known && thread == NULL && event->old_thread != IDLE) {
        schedule->other_running_ns += etwas_kernel_ns(processor->since_ns, schedule->end_ns);
    }
    count_processor(schedule, processor, known);
    if (thread != NULL) {
        etwas_schedule_change(schedule, thread,
                              event->old_is_unknown  ? ETWAS_SCHEDULE_UNKNOWN
                              : event->old_has_ended ? ETWAS_SCHEDULE_ENDED
                              : event->old_is_ready  ? ETWAS_SCHEDULE_READY
                                                     : ETWAS_SCHEDULE_WAITING,
                              schedule->end_ns);
        thread->processor = (uint16_t)event->processor;
        thread->preemptions += event->old_is_ready;
    }
}

static void come(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                 const struct etwas_kernel_event *event)
{
    struct etwas_schedule_thread *thread =
        event->thread != IDLE ? etwas_schedule_seen(schedule, event->thread) : NULL;

    processor->running = event->thread;
    processor->switches++;
    if (thread != NULL) {
        if (thread->state == ETWAS_SCHEDULE_RUNNING) { /* elsewhere; its switch is missing */
            thread->state = ETWAS_SCHEDULE_UNKNOWN;
        }
        etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_RUNNING, schedule->end_ns);
        thread->processor = (uint16_t)event->processor;
        thread->switches++;
    } else if (event->thread != IDLE) {
        schedule->other_switches++;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * Continues the running thread as another one: it executes another program, and was not the first
 * thread of its process.
 */
static void go_on(struct etwas_schedule *schedule, struct etwas_schedule_processor *processor,
                  struct etwas_schedule_thread *thread)
{
    struct etwas_schedule_thread *before =
        processor->running != IDLE ? etwas_schedule_find(schedule, processor->running) : NULL;

    if (before == NULL || before == thread || !before->ends ||
        before->state != ETWAS_SCHEDULE_RUNNING) {
        return;
    }
    count_processor(schedule, processor, !has_lost(processor));
    etwas_schedule_change(schedule, before, ETWAS_SCHEDULE_ENDED, schedule->end_ns);
    etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_RUNNING, schedule->end_ns);
    thread->processor = before->processor;
    processor->running = thread->thread;
}

void etwas_schedule_exec(struct etwas_schedule *schedule, uint32_t id, uint32_t processor_index)
{
    struct etwas_schedule_thread *before = etwas_schedule_find(schedule, id);
    struct etwas_schedule_processor *processor =
        processor_index < ETWAS_SCHEDULE_PROCESSORS ? &schedule->processors[processor_index] : NULL;
    struct etwas_schedule_thread *after;
    struct etwas_schedule_thread kept;
    size_t number;

    if (before == NULL || before->ends || before->state == ETWAS_SCHEDULE_ENDED) {
        return;
    }
    if (processor != NULL && !processor->seen) {
        (void)begin(schedule, processor, id, before);
    }
    if (processor != NULL && processor->running == id) {
        bool is_known = !has_lost(processor) || ran_since_loss(schedule, processor, id, before);

        count_processor(schedule, processor, is_known && before->state == ETWAS_SCHEDULE_RUNNING);
    }
    kept = *before;
    number = (size_t)(before - schedule->threads);
    after = etwas_schedule_add_thread(schedule, id);
    if (after == NULL) {
        return;
    }
    before = &schedule->threads[number];
    etwas_schedule_change(schedule, before, ETWAS_SCHEDULE_ENDED, schedule->end_ns);
    before->last_ns = schedule->end_ns - (schedule->end_ns > INT64_MIN);
    after->process = kept.process;
    after->has_process = kept.has_process;
    after->state = kept.state;
    after->processor = kept.processor;
}

static void set_process(struct etwas_schedule_thread *thread, uint32_t process)
{
    thread->process = process;
    thread->has_process = true;
}

static void start_thread(struct etwas_schedule *schedule,
                         struct etwas_schedule_processor *processor,
                         const struct etwas_kernel_event *event)
{
    struct etwas_schedule_thread *thread = etwas_schedule_find(schedule, event->thread);

    if (thread == NULL || thread->ends || thread->state == ETWAS_SCHEDULE_ENDED) {
        if (thread != NULL) {
            etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_ENDED, schedule->end_ns);
        }
        thread = etwas_schedule_add_thread(schedule, event->thread);
        if (thread != NULL) {
            thread->state = ETWAS_SCHEDULE_WAITING;
        }
    }
    if (thread != NULL) {
        set_process(thread, event->process);
        if (event->logger == event->thread) {
            go_on(schedule, processor, thread);
        }
    }
}

/* In a trace of a single process, no switch shows that a thread ends. */
static void end_thread(struct etwas_schedule *schedule, struct etwas_schedule_thread *thread)
{
    struct etwas_schedule_processor *processor = &schedule->processors[thread->processor];
    const struct etwas_kernel_event end = {.kind = ETWAS_KERNEL_SWITCH,
                                           .processor = thread->processor,
                                           .old_thread = thread->thread,
                                           .old_has_ended = true};

    thread->ends = true;
    if (!schedule->is_own) {
        return;
    }
    if (thread->state == ETWAS_SCHEDULE_RUNNING && processor->running == thread->thread) {
        give_way(schedule, processor, &end);
        processor->running = IDLE;
    } else {
        etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_ENDED, schedule->end_ns);
    }
}

static void ready(struct etwas_schedule *schedule, uint32_t id)
{
    struct etwas_schedule_thread *thread = etwas_schedule_seen(schedule, id);

    schedule->has_ready_events = true;
    if (thread != NULL && thread->state != ETWAS_SCHEDULE_RUNNING &&
        thread->state != ETWAS_SCHEDULE_READY) {
        etwas_schedule_change(schedule, thread, ETWAS_SCHEDULE_READY, schedule->end_ns);
    }
}

void etwas_schedule_time(struct etwas_schedule *schedule, int64_t time_ns)
{
    if (!schedule->began) {
        schedule->began = true;
        schedule->begin_ns = time_ns;
        schedule->end_ns = time_ns;
        schedule->gap_end_ns = time_ns;
    }
    if (time_ns > schedule->end_ns) {
        schedule->end_ns = time_ns;
    }
}

void etwas_schedule_add_record(struct etwas_schedule *schedule,
                               const struct etwas_kernel_event *event)
{
    struct etwas_schedule_processor *processor = &schedule->processors[event->processor];
    struct etwas_schedule_thread *thread;

    schedule->event = event;
    switch (event->kind) {
    case ETWAS_KERNEL_SWITCH:
        give_way(schedule, processor, event);
        come(schedule, processor, event);
        break;
    case ETWAS_KERNEL_READY:
        ready(schedule, event->thread);
        break;
    case ETWAS_KERNEL_THREAD_START:
        start_thread(schedule, processor, event);
        break;
    case ETWAS_KERNEL_THREAD_END:
    case ETWAS_KERNEL_THREAD_HERE:
        thread = event->thread != IDLE ? etwas_schedule_seen(schedule, event->thread) : NULL;
        if (thread != NULL) {
            set_process(thread, event->process);
            thread->ends = false;
            if (event->kind == ETWAS_KERNEL_THREAD_END) {
                end_thread(schedule, thread);
            }
        }
        break;
    case ETWAS_KERNEL_OWN:
        schedule->is_own = true;
        schedule->own_process = event->process;
        break;
    case ETWAS_KERNEL_LOSS:
        lose(schedule, processor, event);
        break;
    default: /* not related to scheduling */
        break;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool has_switched(const struct etwas_schedule_thread *thread)
{
    return thread->switches > 0 || thread->ran_at_begin;
}

void etwas_schedule_finish(struct etwas_schedule *schedule)
{
    schedule->event = NULL;
    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        struct etwas_schedule_processor *processor = &schedule->processors[i];
        bool known = !schedule->ends_early && !has_lost(processor);
        struct etwas_schedule_thread *thread;

        if (!processor->seen) {
            continue;
        }
        thread =
            processor->running != IDLE ? etwas_schedule_find(schedule, processor->running) : NULL;
        if (thread != NULL) {
            thread->ran_at_end = known;
        } else if (processor->running != IDLE && known) {
            schedule->other_running_ns += etwas_kernel_ns(processor->since_ns, schedule->end_ns);
        }
        count_processor(schedule, processor, known);
    }
    for (uint32_t i = 0; i < schedule->thread_count; i++) {
        struct etwas_schedule_thread *thread = &schedule->threads[i];

        bool is_known = !schedule->ends_early && !(schedule->is_own && !has_switched(thread));

        if (!is_known && thread->state != ETWAS_SCHEDULE_ENDED) {
            thread->state = ETWAS_SCHEDULE_UNKNOWN;
        }
        etwas_schedule_change(schedule, thread, thread->state, schedule->end_ns);
    }
}

bool etwas_schedule_open(struct etwas_schedule *schedule)
{
    *schedule = (struct etwas_schedule){.processors = NULL};
    schedule->processors = calloc(ETWAS_SCHEDULE_PROCESSORS, sizeof *schedule->processors);
    return schedule->processors != NULL;
}

void etwas_schedule_close(struct etwas_schedule *schedule)
{
    free(schedule->processors);
    free(schedule->threads);
    etwas_hash_index_clear(&schedule->places);
    *schedule = (struct etwas_schedule){.processors = NULL};
}
