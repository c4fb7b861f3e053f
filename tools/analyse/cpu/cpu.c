/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a file for `etwas stat --cpu-time`.
 */

#include "analyse/cpu/cpu.h"

#include "analyse/counts/counts.h"
#include "event/event.h"
#include "exit.h"

void etwas_cpu_add_record(struct etwas_cpu *cpu, const struct etwas_input *input,
                          EVENT_RECORD *record, int64_t time_ns)
{
    struct etwas_kernel_event event;

    if (etwas_event_is_header_class(record)) {
        return;
    }
    etwas_schedule_time(&cpu->schedule, time_ns);
    if (etwas_kernel_read(record, &event)) {
        cpu->switches += event.kind == ETWAS_KERNEL_SWITCH;
        etwas_input_measure_loss(input, &event);
        etwas_schedule_add_record(&cpu->schedule, &event);
    } else if (etwas_kernel_is_process(record)) {
        etwas_processes_follow(&cpu->processes, &cpu->schedule, record, time_ns);
    }
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;

    etwas_cpu_add_record(input->context, input, record, etwas_input_monotonic_ns(input, record));
}

struct etwas_schedule_processor etwas_cpu_processor(const struct etwas_cpu *cpu, uint32_t processor)
{
    struct etwas_schedule_processor counted = cpu->schedule.processors[processor];

    if (!counted.seen) {
        counted.unknown_ns = etwas_kernel_ns(cpu->schedule.begin_ns, cpu->schedule.end_ns);
    } else if (cpu->schedule.is_own) {
        counted.unknown_ns += counted.idle_ns;
        counted.idle_ns = 0;
    }
    return counted;
}

bool etwas_cpu_has_processor(const struct etwas_cpu *cpu, const struct etwas_input *input,
                             uint32_t processor)
{
    return cpu->schedule.processors[processor].seen ||
           (processor < input->information.processors && cpu->switches > 0);
}

bool etwas_cpu_open(struct etwas_cpu *cpu, struct etwas_input *input)
{
    *cpu = (struct etwas_cpu){.switches = 0};
    (void)etwas_trace_query(input->trace, &input->information);
    if (!etwas_schedule_open(&cpu->schedule) || !etwas_processes_open(&cpu->processes)) {
        return false;
    }
    cpu->schedule.begins_late = etwas_trace_coverage_begins_late(input);
    return true;
}

void etwas_cpu_finish(struct etwas_cpu *cpu, const struct etwas_input *input, int result)
{
    cpu->schedule.ends_early = input->information.unfinished || result != ETWAS_EXIT_DONE;
    etwas_schedule_finish(&cpu->schedule);
}

void etwas_cpu_close(struct etwas_cpu *cpu)
{
    etwas_processes_close(&cpu->processes);
    etwas_schedule_close(&cpu->schedule);
}

int etwas_cpu_read(struct etwas_cpu *cpu, struct etwas_input *input, const char *path,
                   uint32_t number)
{
    static const struct etwas_input_callbacks callbacks = {.record = on_record,
                                                           .time = ETWAS_INPUT_NANOSECONDS};
    int result = etwas_input_open(input, path, number, &callbacks, cpu);

    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    if (etwas_cpu_open(cpu, input)) {
        result = etwas_input_process_one(input);
        etwas_cpu_finish(cpu, input, result);
    } else {
        cpu->schedule.out_of_memory = true;
        CloseTrace(input->trace);
    }
    return result;
}
