/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_CPU_H
#define ETWAS_TOOLS_ANALYSE_CPU_H

/*
 * `etwas stat --cpu`: processor time by the context switches of a system logger's trace.
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

/* The threads of a process that ran, those that ran most first. */
struct etwas_cpu_group {
    const struct etwas_schedule_thread **threads;
    uint32_t count;
    const char *name;                 /* NULL: not known */
    struct etwas_schedule_thread sum; /* of them; has_process: it is known which */
};

/* All of a file, those that ran most first. */
struct etwas_cpu_groups {
    struct etwas_cpu_group *groups;
    uint32_t count;
    const struct etwas_schedule_thread **threads; /* of all groups */
    uint32_t thread_count;
    uint64_t left_out;     /* threads that ran, by what was chosen */
    uint64_t idle_threads; /* that are known, and did not run */
    uint32_t at_begin;     /* threads that ran when the trace began */
    uint32_t at_end;
};

/* ---- cpu.c ---- */

/*
 * Reads one file. Returns what etwas_input_process does. Where etwas_input_was_opened, `cpu` is to
 * be closed, and says if there was no memory.
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
 * Returns the times of a processor. Without a switch there none is known; in a trace of one process
 * only the times when that ran are known.
 */
struct etwas_schedule_processor etwas_cpu_processor(const struct etwas_cpu *cpu,
                                                    uint32_t processor);

/* ---- groups.c ---- */

/* `where` chooses threads; NULL: all. False without memory. */
bool etwas_cpu_group(const struct etwas_cpu *cpu, struct etwas_where *where,
                     struct etwas_cpu_groups *groups);

void etwas_cpu_ungroup(struct etwas_cpu_groups *groups);

#endif
