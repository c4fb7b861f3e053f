/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Groups threads by process, in the order in which they are shown.
 */

#include "analyse/cpu/cpu.h"

#include "analyse/choice.h"
#include "event/event.h"

#include <stdlib.h>

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* More running time first, then more switches. */
static int compare_running(const struct etwas_schedule_thread *left,
                           const struct etwas_schedule_thread *right)
{
    int order =
        compare_numbers(right->ns[ETWAS_SCHEDULE_RUNNING], left->ns[ETWAS_SCHEDULE_RUNNING]);

    return order != 0 ? order : compare_numbers(right->switches, left->switches);
}

/*
 * Sorts by process, threads without one last; then by running time, then by first appearance.
 */
static int compare_threads(const void *left, const void *right)
{
    const struct etwas_schedule_thread *first = *(const struct etwas_schedule_thread *const *)left;
    const struct etwas_schedule_thread *second =
        *(const struct etwas_schedule_thread *const *)right;
    int order = compare_numbers(second->has_process, first->has_process);

    if (order == 0 && first->has_process) {
        order = compare_numbers(first->process, second->process);
        order = order != 0 ? order : compare_numbers(first->life, second->life);
    }
    if (order == 0) {
        order = compare_running(first, second);
    }
    return order != 0 ? order : compare_numbers((uintptr_t)first, (uintptr_t)second);
}

static int compare_groups(const void *left, const void *right)
{
    const struct etwas_cpu_group *first = left;
    const struct etwas_cpu_group *second = right;
    int order = compare_running(&first->sum, &second->sum);

    order = order != 0 ? order : compare_numbers(first->sum.process, second->sum.process);
    return order != 0 ? order : compare_numbers(first->sum.life, second->sum.life);
}

static bool is_shown(const struct etwas_schedule_thread *thread)
{
    return thread->switches > 0 || thread->ran_at_begin || thread->ran_at_end ||
           thread->ns[ETWAS_SCHEDULE_RUNNING] > 0;
}

static void add_thread_times(struct etwas_schedule_thread *sum,
                             const struct etwas_schedule_thread *thread)
{
    for (int i = 0; i < ETWAS_SCHEDULE_STATES; i++) {
        sum->ns[i] += thread->ns[i];
    }
    sum->switches += thread->switches;
    sum->preemptions += thread->preemptions;
}

static bool is_of(const struct etwas_cpu_group *group, const struct etwas_schedule_thread *thread)
{
    return group->sum.has_process == thread->has_process &&
           (!thread->has_process ||
            (group->sum.process == thread->process && group->sum.life == thread->life));
}

/* Returns the name of the thread's process, or NULL if it is not known. */
static const char *name_of(const struct etwas_cpu *cpu, const struct etwas_schedule_thread *thread)
{
    return thread->has_process && thread->life != ETWAS_PROCESSES_NONE
               ? cpu->processes.lives[thread->life].name
               : NULL;
}

/* Makes a group of each process. The threads are sorted. */
static void make_groups(const struct etwas_cpu *cpu, struct etwas_cpu_groups *groups)
{
    for (uint32_t i = 0; i < groups->thread_count; i++) {
        const struct etwas_schedule_thread *thread = groups->threads[i];
        struct etwas_cpu_group *group =
            groups->count > 0 ? &groups->groups[groups->count - 1] : NULL;

        if (group == NULL || !is_of(group, thread)) {
            group = &groups->groups[groups->count++];
            group->threads = &groups->threads[i];
            group->sum.has_process = thread->has_process;
            group->sum.process = thread->process;
            group->sum.life = thread->life;
            group->name = name_of(cpu, thread);
        }
        group->count++;
        add_thread_times(&group->sum, thread);
    }
}

static bool is_left_out(const struct etwas_cpu *cpu, const struct etwas_schedule_thread *thread,
                        struct etwas_where *where)
{
    return where != NULL && etwas_where_is_given(where) &&
           !etwas_choice_has_thread(where,
                                    thread->has_process ? thread->process : ETWAS_EVENT_UNKNOWN_ID,
                                    thread->thread, name_of(cpu, thread));
}

bool etwas_cpu_group(const struct etwas_cpu *cpu, struct etwas_where *where,
                     struct etwas_cpu_groups *groups)
{
    const struct etwas_schedule *schedule = &cpu->schedule;

    *groups = (struct etwas_cpu_groups){
        .groups = calloc((size_t)schedule->thread_count + 1, sizeof *groups->groups),
        .threads = calloc((size_t)schedule->thread_count + 1,
                          sizeof(const struct etwas_schedule_thread *)),
    };
    if (groups->groups == NULL || groups->threads == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < schedule->thread_count; i++) {
        struct etwas_schedule_thread *thread = &schedule->threads[i];

        thread->life = etwas_processes_life(&cpu->processes, thread->process, thread->last_ns);
        if (!is_shown(thread)) {
            groups->idle_threads++;
        } else if (is_left_out(cpu, thread, where)) {
            groups->left_out++;
        } else {
            groups->threads[groups->thread_count++] = thread;
        }
        groups->at_begin += thread->ran_at_begin;
        groups->at_end += thread->ran_at_end;
    }
    qsort(groups->threads, groups->thread_count, sizeof(struct etwas_schedule_thread *),
          compare_threads);
    make_groups(cpu, groups);
    qsort(groups->groups, groups->count, sizeof *groups->groups, compare_groups);
    return true;
}

void etwas_cpu_ungroup(struct etwas_cpu_groups *groups)
{
    free(groups->groups);
    free((void *)groups->threads);
    *groups = (struct etwas_cpu_groups){.groups = NULL};
}
