/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas why` as tables and sentences.
 */

#include "show/why.h"

#include "print/human.h"
#include "print/table.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOLDERS = 8, /* threads that had the processor and are named */
    BLOCKS = 8,  /* kinds of waits that are shown */
};

static void put_ns(struct etwas_output *output, uint64_t ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_ns(text, (double)ns));
}

static double percent(uint64_t part, uint64_t all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

/* Writes "Order 17" or "shop/Order GUID". */
static void put_name(struct etwas_output *output, const struct etwas_why *why,
                     const struct etwas_why_name *name)
{
    static const etwas_guid none;

    etwas_text_plain(output, name->class_index != UINT32_MAX ? why->classes[name->class_index].name
                                                             : "one more class");
    etwas_output_char(output, ' ');
    if (memcmp(&name->activity, &none, sizeof none) == 0) {
        etwas_output_unsigned(output, name->instance);
    } else {
        etwas_text_guid(output, &name->activity);
    }
}

/* Writes "thread 22 (process 20 shop)". */
static void put_thread(struct etwas_output *output, const struct etwas_why *why, uint32_t id,
                       uint32_t number)
{
    const struct etwas_schedule_thread *thread = number < why->schedule.thread_count
                                                     ? &why->schedule.threads[number]
                                                     : etwas_schedule_find(&why->schedule, id);
    const char *name;

    etwas_output_format(output, "thread %" PRIu32, id);
    if (thread != NULL && thread->has_process) {
        name = etwas_processes_name(&why->processes, thread->process, thread->last_ns);
        etwas_output_format(output, " (process %" PRIu32, thread->process);
        if (name != NULL) {
            etwas_output_char(output, ' ');
            etwas_text_plain(output, name);
        }
        etwas_output_char(output, ')');
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int compare_classes(const void *left, const void *right)
{
    const struct etwas_why_class *first = *(const struct etwas_why_class *const *)left;
    const struct etwas_why_class *second = *(const struct etwas_why_class *const *)right;

    if (first->duration_ns != second->duration_ns) {
        return first->duration_ns < second->duration_ns ? 1 : -1;
    }
    return first < second ? -1 : 1;
}

/* Columns of both tables: shares of the duration, and page faults. */
#define TIMES_TITLES "running", "ready", "blocked", "unknown", "page faults"

static void add_times(struct etwas_table *table, const struct etwas_why_times *times,
                      uint64_t duration_ns)
{
    const uint64_t parts[] = {times->running_ns, times->ready_ns, times->blocked_ns,
                              times->unknown_ns};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        etwas_table_format(table, "%.1f%%", percent(parts[i], duration_ns));
    }
    etwas_table_count(table, times->faults);
}

static void put_classes(struct etwas_output *output, const struct etwas_why *why)
{
    static const char *const titles[] = {"class", "count", "mean", "longest", TIMES_TITLES};
    const struct etwas_why_class **sorted =
        calloc((size_t)why->class_count + 1, sizeof(const struct etwas_why_class *));
    struct etwas_table table;

    for (uint32_t i = 0; sorted != NULL && i < why->class_count; i++) {
        sorted[i] = &why->classes[i];
    }
    if (sorted != NULL) {
        qsort(sorted, why->class_count, sizeof(const struct etwas_why_class *), compare_classes);
    }
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x1FE);
    for (uint32_t i = 0; sorted != NULL && i < why->class_count; i++) {
        const struct etwas_why_class *its = sorted[i];

        if (etwas_why_shows(why, its)) {
            etwas_table_text(&table, its->name);
            etwas_table_count(&table, its->count);
            etwas_table_ns(&table, (double)its->duration_ns / (double)its->count);
            etwas_table_ns(&table, (double)its->longest_ns);
            add_times(&table, &its->times, its->duration_ns);
        }
    }
    free((void *)sorted);
    etwas_table_print(&table, output);
}

static void put_slowest(struct etwas_output *output, const struct etwas_why *why)
{
    static const char *const titles[] = {"the slowest", "duration", TIMES_TITLES};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x7E);
    for (uint32_t i = 0; i < why->chosen_count; i++) {
        const struct etwas_why_chosen *chosen = &why->chosen[i];

        put_name(etwas_table_cell(&table), why, &chosen->name);
        etwas_table_next(&table);
        etwas_table_ns(&table, (double)chosen->duration_ns);
        add_times(&table, &chosen->times, chosen->duration_ns);
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* Writes "  8.10 ms (66 %) ". */
static void put_share(struct etwas_output *output, uint64_t ns, uint64_t duration_ns)
{
    etwas_output_text(output, "  ");
    put_ns(output, ns);
    etwas_output_format(output, " (%.0f %%) ", percent(ns, duration_ns));
}

static void put_running(struct etwas_output *output, const struct etwas_why_chosen *chosen)
{
    bool first = true;

    put_share(output, chosen->times.running_ns, chosen->duration_ns);
    etwas_output_text(output, "it ran");
    if (chosen->times.interrupt_ns > 0) {
        etwas_output_text(output, ", ");
        put_ns(output, chosen->times.interrupt_ns);
        etwas_output_text(output, " of that in interrupts");
    }
    for (uint8_t i = 0; i < ETWAS_KERNEL_FAULT_TYPES; i++) {
        if (chosen->faults[i] > 0) {
            etwas_output_format(output, "%s%" PRIu64 " %s", first ? ", with page faults: " : ", ",
                                chosen->faults[i],
                                etwas_kernel_fault_name(ETWAS_KERNEL_FIRST_FAULT + i));
            first = false;
        }
    }
    if (chosen->times.hard_fault_ns > 0) {
        etwas_output_text(output, "; hard faults took ");
        put_ns(output, chosen->times.hard_fault_ns);
    }
    etwas_output_text(output, ".\n");
}

/* Writes "3 times". */
static void put_times_of(struct etwas_output *output, uint64_t times)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s time%s", etwas_human_count(text, times), times == 1 ? "" : "s");
}

/* Writes how long the instance ran by the counters, as far as they are known. */
static void put_counted_running(struct etwas_output *output, const struct etwas_why_chosen *chosen)
{
    const uint64_t *values = chosen->own.used.values;

    put_share(output, chosen->times.running_ns, chosen->duration_ns);
    etwas_output_text(output, "it ran");
    if (chosen->times.faults > 0) {
        etwas_output_format(output,
                            ", with page faults: %" PRIu64 " without a disk, %" PRIu64
                            " that had to wait for one",
                            values[ETWAS_WHY_MINOR_FAULTS], values[ETWAS_WHY_MAJOR_FAULTS]);
    }
    etwas_output_text(output, ".\n");
}

/* Writes how often the processor changed, unless the times are from switches. */
static void put_processor_changes(struct etwas_output *output,
                                  const struct etwas_why_chosen *chosen)
{
    if (chosen->own.by != ETWAS_WHY_BY_SWITCHES && chosen->own.processor_changes > 0) {
        etwas_output_text(output, "  It changed processor ");
        put_times_of(output, chosen->own.processor_changes);
        etwas_output_text(output, " at least.\n");
    }
}

static int compare_holders(const void *left, const void *right)
{
    const struct etwas_why_holder *first = left;
    const struct etwas_why_holder *second = right;

    return first->ns < second->ns ? 1 : first->ns > second->ns ? -1 : 0;
}

/* Writes the threads that had the processor longest, and the others together. */
static void put_holders(struct etwas_output *output, const struct etwas_why *why,
                        struct etwas_why_chosen *chosen)
{
    uint64_t more_ns = 0;

    qsort(chosen->holders, chosen->holder_count, sizeof *chosen->holders, compare_holders);
    for (uint32_t i = 0; i < chosen->holder_count; i++) {
        if (i < HOLDERS) {
            etwas_output_text(output, "      ");
            put_ns(output, chosen->holders[i].ns);
            etwas_output_text(output, " while ");
            put_thread(output, why, why->schedule.threads[chosen->holders[i].number].thread,
                       chosen->holders[i].number);
            etwas_output_text(output, " ran\n");
        } else {
            more_ns += chosen->holders[i].ns;
        }
    }
    if (more_ns > 0) {
        etwas_output_text(output, "      ");
        put_ns(output, more_ns);
        etwas_output_format(output, " while one of %" PRIu32 " more ran\n",
                            chosen->holder_count - HOLDERS);
    }
}

static void put_ready(struct etwas_output *output, const struct etwas_why *why,
                      struct etwas_why_chosen *chosen)
{
    if (chosen->times.ready_ns == 0) {
        return;
    }
    put_share(output, chosen->times.ready_ns, chosen->duration_ns);
    etwas_output_text(output, "it was ready and had no processor");
    if (chosen->preemptions > 0) {
        etwas_output_text(output, "; it was preempted ");
        put_times_of(output, chosen->preemptions);
    }
    etwas_output_text(output, ".\n");
    put_holders(output, why, chosen);
    if (chosen->nobody_ns > 0) {
        etwas_output_text(output, "      ");
        put_ns(output, chosen->nobody_ns);
        etwas_output_text(output, why->schedule.is_own
                                      ? " while other processes ran, or nobody\n"
                                      : " while nobody ran, or it is not known who\n");
    }
}

static int compare_blocks(const void *left, const void *right)
{
    const struct etwas_why_block *first = left;
    const struct etwas_why_block *second = right;

    return first->ns < second->ns ? 1 : first->ns > second->ns ? -1 : 0;
}

/* If no wakeups were recorded at all, etwas_why_print_missing says so once. */
static void put_waker(struct etwas_output *output, const struct etwas_why *why,
                      const struct etwas_why_block *block)
{
    if (block->waker == ETWAS_WHY_WAKER_THREAD) {
        etwas_output_text(output, ", until woken by ");
        put_thread(output, why, block->thread, block->number);
    } else if (block->waker == ETWAS_WHY_WAKER_INTERRUPT) {
        etwas_output_text(output, ", until woken in an interrupt");
    } else if (why->schedule.has_ready_events && block->call != ETWAS_WHY_ANY_CALL) {
        etwas_output_text(output, ", who woke it is not known");
    }
}

static void put_block(struct etwas_output *output, const struct etwas_why *why,
                      const struct etwas_why_block *block)
{
    etwas_output_text(output, "      ");
    put_ns(output, block->ns);
    etwas_why_print_what(output, why, block);
    put_waker(output, why, block);
    etwas_output_text(output, ", ");
    put_times_of(output, block->times);
    if (block->times > 1) {
        etwas_output_text(output, ", the longest ");
        put_ns(output, block->longest_ns);
    }
    for (uint32_t i = 0; i < block->frame_count; i++) {
        etwas_output_text(output, i == 0 ? "\n          at " : "\n             ");
        etwas_why_print_frame(output, ETWAS_TEXT_PLAIN, why, block, i);
    }
    etwas_output_char(output, '\n');
}

static void put_blocked(struct etwas_output *output, const struct etwas_why *why,
                        struct etwas_why_chosen *chosen)
{
    uint64_t more_ns = 0;

    if (chosen->times.blocked_ns == 0) {
        return;
    }
    put_share(output, chosen->times.blocked_ns, chosen->duration_ns);
    if (chosen->own.by == ETWAS_WHY_BY_COUNTERS) {
        etwas_output_text(output, "it was blocked, ");
        put_times_of(output, chosen->own.used.values[ETWAS_WHY_VOLUNTARY]);
        etwas_output_text(output, "; on what is not known.\n");
        return;
    }
    etwas_output_text(output, why->schedule.is_own
                                  ? "it was blocked, or had been woken and had no processor: of "
                                    "one process nothing tells these apart:\n"
                                  : "it was blocked:\n");
    qsort(chosen->blocks, chosen->block_count, sizeof *chosen->blocks, compare_blocks);
    for (uint32_t i = 0; i < chosen->block_count; i++) {
        if (i < BLOCKS) {
            put_block(output, why, &chosen->blocks[i]);
        } else {
            more_ns += chosen->blocks[i].ns;
        }
    }
    if (more_ns > 0) {
        etwas_output_text(output, "      ");
        put_ns(output, more_ns);
        etwas_output_format(output, " in %" PRIu32 " more ways\n", chosen->block_count - BLOCKS);
    }
}

/* Writes the clock error of a duration if it is not 0, or that it is not known. */
static void put_error(struct etwas_output *output, uint64_t error_ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (error_ns == UINT64_MAX) {
        etwas_output_text(output, ", as far as its clock can be believed,");
    } else if (error_ns > 0) {
        etwas_output_format(output, ", give or take %s,", etwas_human_ns(text, (double)error_ns));
    }
}

static void explain(struct etwas_output *output, const struct etwas_why *why,
                    struct etwas_why_chosen *chosen)
{
    etwas_output_char(output, '\n');
    put_name(output, why, &chosen->name);
    etwas_output_text(output, " took ");
    put_ns(output, chosen->duration_ns);
    put_error(output, chosen->error_ns);
    etwas_output_text(output, " from ");
    etwas_text_time_ns(output, chosen->start_unix_ns);
    etwas_output_text(output, " on ");
    put_thread(output, why, chosen->thread, chosen->number);
    if (chosen->threads > 1) {
        etwas_output_format(output, ", and then on %" PRIu32 " more", chosen->threads - 1);
    }
    for (uint32_t i = 0; i < chosen->parent_count; i++) {
        etwas_output_text(output, i == 0 ? ", a part of " : " of ");
        put_name(output, why, &chosen->parents[i]);
    }
    etwas_output_text(output, ".\n");
    if (chosen->own.by == ETWAS_WHY_BY_COUNTERS) {
        etwas_output_text(output,
                          "  By the counters of the thread itself, since there is no context "
                          "switch of it:\n");
        put_counted_running(output, chosen);
    } else {
        put_running(output, chosen);
    }
    put_ready(output, why, chosen);
    put_blocked(output, why, chosen);
    etwas_why_print_requests(output, chosen);
    put_processor_changes(output, chosen);
    if (!why->schedule.is_own) {
        etwas_why_print_missing(output, why, chosen);
    }
    if (chosen->times.unknown_ns > 0) {
        put_share(output, chosen->times.unknown_ns, chosen->duration_ns);
        etwas_output_text(output, "is not known");
        if (chosen->lost_ns > 0) {
            etwas_output_text(output, ": the kernel's events were lost in ");
            put_ns(output, chosen->lost_ns);
            etwas_output_text(output, " of this time");
        }
        etwas_output_text(output, ".\n");
    }
}

/* ---- the whole output ------------------------------------------------------------------------ */

static void put_note(struct etwas_output *output, uint64_t count, const char *text)
{
    char number[ETWAS_HUMAN_CHARACTERS];

    if (count > 0) {
        etwas_output_format(output, "%s %s\n", etwas_human_count(number, count), text);
    }
}

static void put_rung(struct etwas_output *output, const struct etwas_why *why)
{
    if (why->rung == ETWAS_KERNEL_RUNG_PROCESS) {
        etwas_output_format(output, "The kernel's events are of process %" PRIu32 " alone.\n",
                            why->rung_process);
    } else if (why->rung == ETWAS_KERNEL_RUNG_FOUND) {
        etwas_output_format(output,
                            "The kernel refused its events (%s): of process %" PRIu32
                            " is told what there was at the beginning and in the end.\n",
                            strerror((int)why->rung_error), why->rung_process);
    }
}

static void put_notes(struct etwas_output *output, const struct etwas_why *why)
{
    if (!why->has_kernel_events) {
        etwas_output_text(output,
                          "There are no context switches of the kernel: where the time went ");
        etwas_output_text(output, why->counted > 0
                                      ? "is by the threads' own counters, of what has "
                                        "them.\n"
                                      : "is not known. 'etwas record "
                                        "--kernel process,thread,cswitch,dispatcher,systemcall' "
                                        "records them.\n");
    }
    put_rung(output, why);
    put_note(output, etwas_spans_count(why->spans, ETWAS_SPANS_OPEN), "did not end");
    put_note(output, etwas_spans_count(why->spans, ETWAS_SPANS_UNMATCHED),
             "ended and did not start");
    put_note(output, etwas_spans_count(why->spans, ETWAS_SPANS_REPLACED), "started a second time");
    put_note(output, etwas_spans_count(why->spans, ETWAS_SPANS_LEFT_OUT),
             "are left out, since too many were open");
    put_note(output, why->other_classes, "are of more classes than are told apart");
}

void etwas_why_text(struct etwas_output *output, const struct etwas_why *why)
{
    put_classes(output, why);
    if (why->chosen_count > 0) {
        put_slowest(output, why);
        explain(output, why, &why->chosen[0]);
    } else {
        etwas_output_text(output, "\nNothing of what is asked for has a start and an end.\n");
    }
    put_notes(output, why);
}
