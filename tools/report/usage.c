/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What processors and processes did over time, from a file's context switches. */

#include "report/report.h"

#include "print/json.h"

#include <stdlib.h>

enum {
    OTHER_PROCESSORS = ETWAS_REPORT_PROCESSORS,
    OTHER_PROCESSES = ETWAS_REPORT_PROCESSES,
};

static void on_interval(void *context, const struct etwas_schedule_thread *thread,
                        enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                        const struct etwas_kernel_event *event)
{
    struct etwas_report_usage *usage = context;
    size_t number = (size_t)(thread - usage->cpu.schedule.threads);
    uint32_t row = number < usage->row_count ? usage->rows[number] : OTHER_PROCESSES;
    uint32_t processor =
        thread->processor < OTHER_PROCESSORS ? thread->processor : OTHER_PROCESSORS;

    (void)event;
    if (state == ETWAS_SCHEDULE_RUNNING) {
        etwas_report_axis_spread(usage->axis, &usage->busy[processor], from_ns, to_ns);
        etwas_report_axis_spread(usage->axis, &usage->processes[row], from_ns, to_ns);
    } else if (state == ETWAS_SCHEDULE_READY) {
        etwas_report_axis_spread(usage->axis, &usage->ready, from_ns, to_ns);
    }
}

static void on_unknown(void *context, uint32_t processor, int64_t from_ns, int64_t to_ns)
{
    struct etwas_report_usage *usage = context;

    processor = processor < OTHER_PROCESSORS ? processor : OTHER_PROCESSORS;
    etwas_report_axis_spread(usage->axis, &usage->unknown[processor], from_ns, to_ns);
}

/* Returns false without memory. */
static bool give_rows(struct etwas_report_usage *usage, const struct etwas_cpu_groups *groups)
{
    const struct etwas_schedule *schedule = &usage->cpu.schedule;

    usage->row_count = schedule->thread_count;
    usage->rows = malloc((size_t)usage->row_count + 1);
    usage->busy = calloc(ETWAS_REPORT_PROCESSORS + 1, sizeof *usage->busy);
    usage->unknown = calloc(ETWAS_REPORT_PROCESSORS + 1, sizeof *usage->unknown);
    usage->processes = calloc(ETWAS_REPORT_PROCESSES + 1, sizeof *usage->processes);
    if (usage->rows == NULL || usage->busy == NULL || usage->unknown == NULL ||
        usage->processes == NULL) {
        return false;
    }
    memset(usage->rows, OTHER_PROCESSES, usage->row_count);
    for (uint32_t row = 0; row < groups->count && row < ETWAS_REPORT_PROCESSES; row++) {
        for (uint32_t i = 0; i < groups->groups[row].count; i++) {
            usage->rows[groups->groups[row].threads[i] - schedule->threads] = (uint8_t)row;
        }
    }
    return true;
}

/* The second reading starts anew, and finds the threads in the same order. */
void etwas_report_usage_choose(struct etwas_report *report, struct etwas_input *input)
{
    struct etwas_report_usage *usage = &etwas_report_file_of(report, input)->usage;
    struct etwas_cpu_groups groups = {.groups = NULL};

    usage->is_shown = usage->cpu.switches > 0;
    if (usage->is_shown) {
        report->out_of_memory |=
            !etwas_cpu_group(&usage->cpu, NULL, &groups) || !give_rows(usage, &groups);
        etwas_cpu_ungroup(&groups);
    }
    etwas_cpu_close(&usage->cpu);
    report->out_of_memory |= !etwas_cpu_open(&usage->cpu, input);
    usage->axis = &report->axis;
    if (usage->is_shown) {
        usage->cpu.schedule.context = usage;
        usage->cpu.schedule.interval = on_interval;
        usage->cpu.schedule.unknown = on_unknown;
    }
}

/*
 * A processor without a switch is not known to be idle, nor is any if a single process was
 * recorded.
 */
static void find_unknown(struct etwas_report_usage *usage)
{
    const struct etwas_schedule *schedule = &usage->cpu.schedule;

    for (uint32_t i = 0; usage->is_shown && i < ETWAS_REPORT_PROCESSORS; i++) {
        struct etwas_report_series *unknown = &usage->unknown[i];

        if (schedule->processors[i].seen && !schedule->is_own) {
            continue;
        }
        *unknown = (struct etwas_report_series){{0}};
        etwas_report_axis_spread(usage->axis, unknown, schedule->begin_ns, schedule->end_ns);
        for (uint32_t column = 0; column < usage->axis->columns; column++) {
            uint64_t busy = usage->busy[i].at[column];

            unknown->at[column] -= busy < unknown->at[column] ? busy : unknown->at[column];
        }
    }
}

void etwas_report_usage_finish(struct etwas_report *report, const struct etwas_input *input)
{
    struct etwas_report_usage *usage = &etwas_report_file_of(report, input)->usage;

    etwas_cpu_finish(&usage->cpu, input, etwas_report_result(input));
    find_unknown(usage);
    report->out_of_memory |= usage->cpu.schedule.out_of_memory ||
                             usage->cpu.processes.out_of_memory ||
                             !etwas_cpu_group(&usage->cpu, NULL, &usage->groups);
}

static void put_processors(struct etwas_output *output, const struct etwas_report_usage *usage,
                           const struct etwas_input *input)
{
    etwas_json_array(output, "cpus");
    for (uint32_t i = 0; i < ETWAS_REPORT_PROCESSORS; i++) {
        if (etwas_cpu_has_processor(&usage->cpu, input, i)) {
            etwas_cpu_json_processor(output, &usage->cpu, i);
            etwas_report_print_series(output, "busy_over_time", usage->axis, &usage->busy[i]);
            etwas_report_print_series(output, "unknown_over_time", usage->axis, &usage->unknown[i]);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
    etwas_report_print_series(output, "other_cpus_over_time", usage->axis,
                              &usage->busy[OTHER_PROCESSORS]);
}

static void put_processes(struct etwas_output *output, const struct etwas_report_usage *usage)
{
    etwas_json_array(output, "processes");
    for (uint32_t i = 0; i < usage->groups.count && i < ETWAS_REPORT_PROCESSES; i++) {
        etwas_cpu_json_group(output, &usage->groups.groups[i]);
        etwas_report_print_series(output, "running_over_time", usage->axis, &usage->processes[i]);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "process_count", usage->groups.count);
    etwas_report_print_series(output, "other_processes_over_time", usage->axis,
                              &usage->processes[OTHER_PROCESSES]);
}

void etwas_report_usage_json(struct etwas_output *output, const struct etwas_report *report)
{
    etwas_json_array(output, "cpu");
    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        const struct etwas_input *input = &report->spans.run.inputs[i];
        const struct etwas_report_usage *usage = &etwas_report_file_of(report, input)->usage;

        if (usage->is_shown) {
            etwas_cpu_json_head(output, &usage->cpu, input, etwas_report_result(input));
            put_processors(output, usage, input);
            put_processes(output, usage);
            etwas_report_print_series(output, "ready_over_time", usage->axis, &usage->ready);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

void etwas_report_usage_free(struct etwas_report_usage *usage)
{
    etwas_cpu_ungroup(&usage->groups);
    etwas_cpu_close(&usage->cpu);
    free(usage->rows);
    free(usage->busy);
    free(usage->unknown);
    free(usage->processes);
}
