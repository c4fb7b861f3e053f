/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --cpu-time` as text and tables.
 */

#include "show/cpu.h"

#include "exit.h"
#include "print/human.h"
#include "print/table.h"
#include "print/terminal.h"
#include "print/text.h"

#include <inttypes.h>

static void put_ns(struct etwas_output *output, uint64_t ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_ns(text, (double)ns));
}

static void put_counted(struct etwas_output *output, uint64_t count, const char *what)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s %s%s", etwas_human_count(text, count), what,
                        count == 1 ? "" : "s");
}

static void put_missing(struct etwas_output *output, const struct etwas_input *input, int result)
{
    if (result != ETWAS_EXIT_DONE) {
        etwas_label(output, "DAMAGED");
        put_counted(output, input->information.damages, "place");
        etwas_output_char(output, '\n');
        etwas_input_print_damages(output, input, "                ");
    }
    if (input->information.lost_events > 0 || input->information.lost_buffers > 0) {
        etwas_label(output, "LOST");
        put_counted(output, input->information.lost_events, "event");
        etwas_output_text(output, " and ");
        put_counted(output, input->information.lost_buffers, "buffer");
        etwas_output_text(output, " while recording\n");
    }
}

/* Writes how much processor time is not known. */
static void put_unknown(struct etwas_output *output, const struct etwas_cpu *cpu,
                        const struct etwas_input *input)
{
    uint64_t unknown_ns = 0;
    uint64_t gaps = 0;

    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        if (etwas_cpu_has_processor(cpu, input, i)) {
            struct etwas_schedule_processor processor = etwas_cpu_processor(cpu, i);

            unknown_ns += cpu->schedule.is_own ? cpu->schedule.processors[i].unknown_ns
                                               : processor.unknown_ns;
            gaps += processor.gaps;
        }
    }
    if (unknown_ns == 0 && gaps == 0) {
        return;
    }
    etwas_label(output, "NOT KNOWN");
    put_ns(output, unknown_ns);
    etwas_output_text(output, " of processor time: switches are missing in ");
    put_counted(output, gaps, "place");
    etwas_output_format(output, "%s%s\n",
                        cpu->schedule.begins_late ? ", before a processor's first one" : "",
                        cpu->schedule.ends_early ? ", and after its last one" : "");
}

static void put_head(struct etwas_output *output, const struct etwas_cpu *cpu,
                     const struct etwas_cpu_groups *groups, const struct etwas_input *input)
{
    const struct etwas_schedule *schedule = &cpu->schedule;
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_label(output, "time");
    put_ns(output, etwas_kernel_ns(schedule->begin_ns, schedule->end_ns));
    etwas_output_text(output, ", from the first event to the last\n");
    etwas_label(output, "switches");
    etwas_output_format(output, "%s%s\n", etwas_human_count(text, cpu->switches),
                        cpu->switches == 0 ? ": EVENT_TRACE_FLAG_CSWITCH records them" : "");
    if (schedule->is_own) {
        etwas_label(output, "process");
        etwas_output_format(output,
                            "%" PRIu32 " alone was recorded, by itself: what else the processors "
                            "did is not known\n",
                            schedule->own_process);
    }
    put_unknown(output, cpu, input);
    if (groups->at_begin > 0 || groups->at_end > 0) {
        etwas_label(output, "at the ends");
        put_counted(output, groups->at_begin, "thread");
        etwas_output_format(output,
                            " ran when the trace began, counted from its first event; %s when it "
                            "ended, to its last\n",
                            etwas_human_count(text, groups->at_end));
    }
    if (!schedule->has_ready_events && cpu->switches > 0) {
        etwas_label(output, "ready");
        etwas_output_format(output,
                            "of threads that were preempted alone; who was woken waits on%s\n",
                            schedule->is_own ? ", since of one process nothing tells of that"
                                             : ": EVENT_TRACE_FLAG_DISPATCHER");
    }
    if (groups->left_out > 0) {
        etwas_label(output, "left out");
        put_counted(output, groups->left_out, "more thread");
        etwas_output_text(output, ", by what was chosen; the processors are of all\n");
    }
    if (groups->idle_threads > 0) {
        etwas_label(output, schedule->is_own ? "no switch of" : "did not run");
        put_counted(output, groups->idle_threads, "thread");
        etwas_output_char(output, '\n');
    }
    if (schedule->other_running_ns > 0) {
        etwas_label(output, "MORE THREADS");
        etwas_output_text(output, "than are told apart ran ");
        put_ns(output, schedule->other_running_ns);
        etwas_output_char(output, '\n');
    }
}

static void put_processors(struct etwas_output *output, const struct etwas_cpu *cpu,
                           const struct etwas_input *input)
{
    static const char *const titles[] = {"processor", "busy", "idle", "unknown", "switches"};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x1E);
    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        if (etwas_cpu_has_processor(cpu, input, i)) {
            struct etwas_schedule_processor processor = etwas_cpu_processor(cpu, i);

            etwas_table_format(&table, "%" PRIu32, i);
            etwas_table_ns(&table, (double)processor.busy_ns);
            etwas_table_ns(&table, (double)processor.idle_ns);
            etwas_table_ns(&table, (double)processor.unknown_ns);
            etwas_table_count(&table, processor.switches);
        }
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
}

static void add_times(struct etwas_table *table, const struct etwas_schedule_thread *thread)
{
    static const int states[] = {ETWAS_SCHEDULE_RUNNING, ETWAS_SCHEDULE_READY,
                                 ETWAS_SCHEDULE_WAITING, ETWAS_SCHEDULE_UNKNOWN};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        etwas_table_ns(table, (double)thread->ns[states[i]]);
    }
    etwas_table_count(table, thread->switches);
    etwas_table_count(table, thread->preemptions);
}

static void add_group(struct etwas_table *table, const struct etwas_cpu_group *group)
{
    struct etwas_output *cell = etwas_table_cell(table);

    if (!group->sum.has_process) {
        etwas_output_text(cell, "process not known");
    } else {
        etwas_output_format(cell, "%" PRIu32, group->sum.process);
    }
    if (group->name != NULL) {
        etwas_output_char(cell, ' ');
        etwas_text_plain(cell, group->name);
    }
    etwas_table_next(table);
    add_times(table, &group->sum);
    for (uint32_t i = 0; i < group->count; i++) {
        etwas_table_format(table, "  thread %" PRIu32, group->threads[i]->thread);
        add_times(table, group->threads[i]);
    }
}

static void put_groups(struct etwas_output *output, const struct etwas_cpu_groups *groups)
{
    static const char *const titles[] = {"process, thread", "running",     "ready",    "waiting",
                                         "unknown",         "switches in", "preempted"};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x7E);
    for (uint32_t i = 0; i < groups->count; i++) {
        add_group(&table, &groups->groups[i]);
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
}

void etwas_cpu_text(struct etwas_output *output, const struct etwas_cpu *cpu,
                    const struct etwas_cpu_groups *groups, const struct etwas_input *input,
                    int result)
{
    if (input->number > 1) {
        etwas_output_char(output, '\n');
    }
    etwas_text_plain(output, input->path);
    etwas_output_char(output, '\n');
    put_missing(output, input, result);
    put_head(output, cpu, groups, input);
    if (cpu->switches > 0) {
        put_processors(output, cpu, input);
        put_groups(output, groups);
    }
}
