/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --cpu-time` as JSON and CSV. Keys and columns are part of the command's interface.
 */

#include "show/cpu.h"

#include "exit.h"
#include "print/csv.h"
#include "print/json.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdio.h>

void etwas_cpu_json_processor(struct etwas_output *output, const struct etwas_cpu *cpu,
                              uint32_t number)
{
    struct etwas_schedule_processor processor = etwas_cpu_processor(cpu, number);

    etwas_json_object(output, NULL);
    etwas_json_number(output, "cpu", number);
    etwas_json_number(output, "busy_time", processor.busy_ns);
    etwas_json_number(output, "idle_time", processor.idle_ns);
    etwas_json_number(output, "unknown_time", processor.unknown_ns);
    etwas_json_number(output, "switches", processor.switches);
    etwas_json_number(output, "gaps", processor.gaps);
}

static void put_processors(struct etwas_output *output, const struct etwas_cpu *cpu,
                           const struct etwas_input *input)
{
    etwas_json_array(output, "cpus");
    for (uint32_t i = 0; i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        if (etwas_cpu_has_processor(cpu, input, i)) {
            etwas_cpu_json_processor(output, cpu, i);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

static void put_times(struct etwas_output *output, const struct etwas_schedule_thread *thread)
{
    etwas_json_number(output, "running_time", thread->ns[ETWAS_SCHEDULE_RUNNING]);
    etwas_json_number(output, "ready_time", thread->ns[ETWAS_SCHEDULE_READY]);
    etwas_json_number(output, "waiting_time", thread->ns[ETWAS_SCHEDULE_WAITING]);
    etwas_json_number(output, "unknown_time", thread->ns[ETWAS_SCHEDULE_UNKNOWN]);
    etwas_json_number(output, "switches_in", thread->switches);
    etwas_json_number(output, "preemptions", thread->preemptions);
}

void etwas_cpu_json_group(struct etwas_output *output, const struct etwas_cpu_group *group)
{
    etwas_json_object(output, NULL);
    etwas_json_known(output, "pid", group->sum.has_process, group->sum.process);
    if (group->name != NULL) {
        etwas_json_text(output, "process", group->name);
    }
    put_times(output, &group->sum);
}

static void put_group(struct etwas_output *output, const struct etwas_cpu_group *group)
{
    etwas_cpu_json_group(output, group);
    etwas_json_array(output, "threads");
    for (uint32_t i = 0; i < group->count; i++) {
        const struct etwas_schedule_thread *thread = group->threads[i];

        etwas_json_object(output, NULL);
        etwas_json_number(output, "tid", thread->thread);
        put_times(output, thread);
        etwas_json_boolean(output, "ran_at_begin", thread->ran_at_begin);
        etwas_json_boolean(output, "ran_at_end", thread->ran_at_end);
        etwas_output_char(output, '}');
    }
    etwas_output_text(output, "]}");
}

void etwas_cpu_json_head(struct etwas_output *output, const struct etwas_cpu *cpu,
                         const struct etwas_input *input, int result)
{
    const struct etwas_schedule *schedule = &cpu->schedule;

    etwas_input_print_json(output, input, "cpu_time", result);
    etwas_json_boolean(output, "begins_late", schedule->begins_late);
    etwas_json_boolean(output, "ends_early", schedule->ends_early);
    etwas_json_boolean(output, "ready_known", schedule->has_ready_events);
    if (schedule->is_own) {
        etwas_json_number(output, "own_pid", schedule->own_process);
    }
    etwas_json_number(output, "duration", etwas_kernel_ns(schedule->begin_ns, schedule->end_ns));
    etwas_json_number(output, "switches", cpu->switches);
    etwas_json_number(output, "other_running_time", schedule->other_running_ns);
}

void etwas_cpu_json(struct etwas_output *output, const struct etwas_cpu *cpu,
                    const struct etwas_cpu_groups *groups, const struct etwas_input *input,
                    int result)
{
    etwas_cpu_json_head(output, cpu, input, result);
    put_processors(output, cpu, input);
    etwas_json_array(output, "processes");
    for (uint32_t i = 0; i < groups->count; i++) {
        put_group(output, &groups->groups[i]);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "threads_not_run", groups->idle_threads);
    etwas_json_number(output, "left_out", groups->left_out);
    etwas_output_text(output, "}\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const char title[] =
    "file,pid,process,tid,running_time,ready_time,waiting_time,unknown_time,"
    "switches_in,preemptions,ran_at_begin,ran_at_end";

static void put_line(struct etwas_output *output, const char *path,
                     const struct etwas_cpu_group *group,
                     const struct etwas_schedule_thread *thread)
{
    etwas_csv_text(output, true, path);
    etwas_output_char(output, ',');
    if (group->sum.has_process) {
        etwas_output_unsigned(output, group->sum.process);
    }
    etwas_csv_text(output, false, group->name != NULL ? group->name : "");
    etwas_output_format(output,
                        ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                        ",%" PRIu64 ",%s,%s",
                        thread->thread, thread->ns[ETWAS_SCHEDULE_RUNNING],
                        thread->ns[ETWAS_SCHEDULE_READY], thread->ns[ETWAS_SCHEDULE_WAITING],
                        thread->ns[ETWAS_SCHEDULE_UNKNOWN], thread->switches, thread->preemptions,
                        thread->ran_at_begin ? "true" : "false",
                        thread->ran_at_end ? "true" : "false");
    etwas_csv_end(output);
}

void etwas_cpu_csv(struct etwas_output *output, const struct etwas_cpu_groups *groups,
                   const struct etwas_input *input)
{
    if (input->number == 1) {
        etwas_output_text(output, title);
        etwas_csv_end(output);
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        for (uint32_t j = 0; j < groups->groups[i].count; j++) {
            put_line(output, input->path, &groups->groups[i], groups->groups[i].threads[j]);
        }
    }
}
