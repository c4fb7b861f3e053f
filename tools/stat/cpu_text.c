/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --cpu-time` in words and tables.
 */

#include "stat/cpu.h"

#include "exit.h"
#include "print/human.h"
#include "print/text.h"

#include <inttypes.h>

static const double ns_per_s = 1e9;

static void put_label(struct etwas_output *output, const char *label)
{
    etwas_output_format(output, "  %-14s", label);
}

static double seconds(uint64_t ns)
{
    return (double)ns / ns_per_s;
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
        put_label(output, "DAMAGED");
        put_counted(output, input->information.damages, "place");
        etwas_output_char(output, '\n');
        etwas_input_print_damages(output, input, "                ");
    }
    if (input->information.lost_events > 0 || input->information.lost_buffers > 0) {
        put_label(output, "LOST");
        put_counted(output, input->information.lost_events, "event");
        etwas_output_text(output, " and ");
        put_counted(output, input->information.lost_buffers, "buffer");
        etwas_output_text(output, " while recording\n");
    }
}

/* What is not known of the processors. */
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
    put_label(output, "NOT KNOWN");
    etwas_output_format(output, "%.6f s of processor time: switches are missing in ",
                        seconds(unknown_ns));
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

    put_label(output, "time");
    etwas_output_format(output, "%.6f s, from the first event to the last\n",
                        seconds(etwas_kernel_ns(schedule->begin_ns, schedule->end_ns)));
    put_label(output, "switches");
    etwas_output_format(output, "%s%s\n", etwas_human_count(text, cpu->switches),
                        cpu->switches == 0 ? ": EVENT_TRACE_FLAG_CSWITCH records them" : "");
    if (schedule->is_own) {
        put_label(output, "process");
        etwas_output_format(output,
                            "%" PRIu32 " alone was recorded, by itself: what else the processors "
                            "did is not known\n",
                            schedule->own_process);
    }
    put_unknown(output, cpu, input);
    if (groups->at_begin > 0 || groups->at_end > 0) {
        put_label(output, "at the ends");
        put_counted(output, groups->at_begin, "thread");
        etwas_output_format(output,
                            " ran when the trace began, counted from its first event; %" PRIu32
                            " when it ended, to its last\n",
                            groups->at_end);
    }
    if (!schedule->has_ready_events && cpu->switches > 0) {
        put_label(output, "ready");
        etwas_output_format(output,
                            "of threads that were preempted alone; who was woken waits on%s\n",
                            schedule->is_own ? ", since of one process nothing tells of that"
                                             : ": EVENT_TRACE_FLAG_DISPATCHER");
    }
    if (groups->idle_threads > 0) {
        put_label(output, schedule->is_own ? "no switch of" : "did not run");
        put_counted(output, groups->idle_threads, "thread");
        etwas_output_char(output, '\n');
    }
    if (schedule->other_running_ns > 0) {
        put_label(output, "MORE THREADS");
        etwas_output_format(output, "than are told apart ran %.6f s\n",
                            seconds(schedule->other_running_ns));
    }
}

static void put_processors(struct etwas_output *output, const struct etwas_cpu *cpu,
                           const struct etwas_input *input)
{
    char switches[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output,
                      "\n        busy s        idle s     unknown s      switches  processor\n");
    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        if (etwas_cpu_has_processor(cpu, input, i)) {
            struct etwas_schedule_processor processor = etwas_cpu_processor(cpu, i);

            etwas_output_format(output, "  %12.6f  %12.6f  %12.6f  %12s  %" PRIu32 "\n",
                                seconds(processor.busy_ns), seconds(processor.idle_ns),
                                seconds(processor.unknown_ns),
                                etwas_human_count(switches, processor.switches), i);
        }
    }
}

static void put_times(struct etwas_output *output, const struct etwas_schedule_thread *thread)
{
    char switches[ETWAS_HUMAN_CHARACTERS];
    char preemptions[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(
        output, "  %12.6f  %12.6f  %12.6f  %12.6f  %11s  %9s  ",
        seconds(thread->ns[ETWAS_SCHEDULE_RUNNING]), seconds(thread->ns[ETWAS_SCHEDULE_READY]),
        seconds(thread->ns[ETWAS_SCHEDULE_WAITING]), seconds(thread->ns[ETWAS_SCHEDULE_UNKNOWN]),
        etwas_human_count(switches, thread->switches),
        etwas_human_count(preemptions, thread->preemptions));
}

static void put_group(struct etwas_output *output, const struct etwas_cpu_group *group)
{
    put_times(output, &group->sum);
    if (!group->sum.has_process) {
        etwas_output_text(output, "process not known");
    } else {
        etwas_output_format(output, "%" PRIu32, group->sum.process);
    }
    if (group->name != NULL) {
        etwas_output_char(output, ' ');
        etwas_text_plain(output, group->name);
    }
    etwas_output_char(output, '\n');
    for (uint32_t i = 0; i < group->count; i++) {
        put_times(output, group->threads[i]);
        etwas_output_format(output, "  thread %" PRIu32 "\n", group->threads[i]->thread);
    }
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
    if (cpu->switches == 0) {
        return;
    }
    put_processors(output, cpu, input);
    etwas_output_text(output,
                      "\n     running s       ready s     waiting s     unknown s  switches in"
                      "  preempted  process, thread\n");
    for (uint32_t i = 0; i < groups->count; i++) {
        put_group(output, &groups->groups[i]);
    }
}
