/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_CPU_H
#define ETWAS_TOOLS_ANALYSE_CPU_H

/*
 * `etwas stat --cpu-time`: processor time, from the context switches of a system logger's trace.
 */

#include "kernel/processes.h"
#include "kernel/schedule.h"
#include "trace/input.h"
#include "where/where.h"

struct etwas_cpu {
    struct etwas_schedule schedule;
    struct etwas_processes processes;
    uint64_t switches;
};

/* The threads of a process that ran, those with most running time first. */
struct etwas_cpu_group {
    const struct etwas_schedule_thread **threads;
    uint32_t count;
    const char *name;                 /* NULL: not known */
    struct etwas_schedule_thread sum; /* sum of the threads; has_process: their process is known */
};

/* All processes of a file, those with most running time first. */
struct etwas_cpu_groups {
    struct etwas_cpu_group *groups;
    uint32_t count;
    const struct etwas_schedule_thread **threads; /* of all groups */
    uint32_t thread_count;
    uint64_t left_out;     /* threads that ran, but were not chosen */
    uint64_t idle_threads; /* known threads that did not run */
    uint32_t at_begin;     /* threads that were running when the trace began */
    uint32_t at_end;       /* likewise when it ended */
};

/* ---- cpu.c ---- */

/*
 * Reads one file. Returns what etwas_input_process does. If etwas_input_was_opened, close `cpu`,
 * whose out_of_memory members report a lack of memory.
 */
int etwas_cpu_read(struct etwas_cpu *cpu, struct etwas_input *input, const char *path,
                   uint32_t number);

/* Call it before the file's first event. Returns false if there is no memory. */
bool etwas_cpu_open(struct etwas_cpu *cpu, struct etwas_input *input);

/* Takes the next record of the file, in the order of time. */
void etwas_cpu_add_record(struct etwas_cpu *cpu, const struct etwas_input *input,
                          EVENT_RECORD *record, int64_t time_ns);

/* Call it after the file's last event. `result` is what etwas_input_process returned. */
void etwas_cpu_finish(struct etwas_cpu *cpu, const struct etwas_input *input, int result);

void etwas_cpu_close(struct etwas_cpu *cpu);

/* Returns whether anything is known of the processor. */
bool etwas_cpu_has_processor(const struct etwas_cpu *cpu, const struct etwas_input *input,
                             uint32_t processor);

/*
 * Returns the times of a processor. Without a context switch none of its time is known. In a trace
 * of one process only the time in which the process ran is known.
 */
struct etwas_schedule_processor etwas_cpu_processor(const struct etwas_cpu *cpu,
                                                    uint32_t processor);

/* ---- groups.c ---- */

/* Groups the threads that `where` chooses; NULL: all. Returns false if there is no memory. */
bool etwas_cpu_group(const struct etwas_cpu *cpu, struct etwas_where *where,
                     struct etwas_cpu_groups *groups);

void etwas_cpu_ungroup(struct etwas_cpu_groups *groups);

#endif
