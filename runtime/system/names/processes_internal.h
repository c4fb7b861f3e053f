/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the parts of processes.h: processes.c handles process records, processes_exec.c execs,
 * processes_scan.c reads /proc, processes_emit.c emits records.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESSES_INTERNAL_H
#define ETWAS_SYSTEM_NAMES_PROCESSES_INTERNAL_H

#include "platform/processor.h"
#include "system/names/processes.h"

enum {
    ETWAS_PROCESS_KERNEL = 0 /* the process that has the kernel's images */
};

/* The stream, time and thread of a record. */
struct etwas_record_origin {
    uint32_t slot;
    int64_t time_ns;
    uint32_t by_process_id;
    uint32_t by_thread_id;
};

static inline struct etwas_record_origin etwas_record_origin_of(
    const struct etwas_process_record *process_record)
{
    const struct etwas_sample_origin *origin = &process_record->origin;

    return (struct etwas_record_origin){origin->processor, origin->time_ns, origin->process_id,
                                        origin->thread_id};
}

/* The origin of what a scan has found. */
static inline struct etwas_record_origin etwas_record_origin_found(uint32_t process_id,
                                                                   int64_t time_ns)
{
    return (struct etwas_record_origin){etwas_slot_count, time_ns, process_id, process_id};
}

/* ---- emitting -------------------------------------------------------------------------------- */

/* Emits that the process exists. */
void etwas_process_emit(struct etwas_processes *processes, struct etwas_process *process,
                        const struct etwas_record_origin *origin, uint8_t type, uint32_t flags);
void etwas_process_emit_images(struct etwas_processes *processes,
                               const struct etwas_process *process,
                               const struct etwas_record_origin *origin, uint8_t type);

/* Emits that the process exists, at a start or an end, with what it has used. */
void etwas_process_emit_rundown(struct etwas_processes *processes, struct etwas_process *process,
                                const struct etwas_record_origin *origin, uint8_t type);

struct etwas_process_mapped {
    struct etwas_processes *processes;
    struct etwas_process *process;
    struct etwas_record_origin origin;
    uint8_t loaded; /* the type of the record that a mapping becomes */
};

/* `context`: a struct etwas_process_mapped. */
void etwas_process_handle_mapping(void *context, const struct etwas_mapping *mapping);

void etwas_process_unload(struct etwas_processes *processes, struct etwas_process *process,
                          const struct etwas_record_origin *origin);

/* A thread of the process has ended: takes over what it used. */
void etwas_process_handle_exit(struct etwas_processes *processes, struct etwas_process *process,
                               uint32_t thread_id);

/* The process has ended: emits its end and removes it. */
void etwas_process_end(struct etwas_processes *processes, struct etwas_process *process,
                       const struct etwas_record_origin *origin, uint32_t flags);

/* The same for a process whose end was lost, and is noticed now. */
void etwas_process_end_unseen(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_record_origin *origin);

/*
 * Gives the thread to this process. If another process has it, that thread has ended unnoticed, and
 * perhaps its process with it.
 */
void etwas_process_adopt_thread(struct etwas_processes *processes, struct etwas_process *process,
                                uint32_t thread_id, const struct etwas_record_origin *origin);

/* ---- exec ------------------------------------------------------------------------------------ */

/* Handles a COMM that says that the process runs another program. */
void etwas_process_begin_exec(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_process_record *process_record);

/* Handles the probe's report that the program has begun, with its arguments. */
void etwas_process_handle_arguments(struct etwas_processes *processes,
                                    struct etwas_process *process,
                                    const struct etwas_process_record *process_record);

/*
 * If the process runs a program that is not emitted yet, emits it with what is known: nothing more
 * will be reported.
 */
void etwas_process_finish_exec(struct etwas_processes *processes, struct etwas_process *process,
                               const struct etwas_record_origin *origin);

/* ---- scanning -------------------------------------------------------------------------------- */

/* Reads the facts of a process and its command line. Returns false if there is no such process. */
bool etwas_process_read_facts(struct etwas_processes *processes, uint32_t process_id);

void etwas_process_apply_facts(struct etwas_process *process,
                               const struct etwas_process_facts *facts);
void etwas_process_apply_command_line(struct etwas_process *process,
                                      const struct etwas_process_facts *facts);

/* Compares start ticks; two clocks may differ by one tick. */
bool etwas_process_started_at(const struct etwas_process *process, uint64_t start_tick);

/* Scans a process, adds it to the table and emits it. NULL: it is gone, or there is no memory. */
struct etwas_process *etwas_process_scan(struct etwas_processes *processes, uint32_t process_id);

#endif
