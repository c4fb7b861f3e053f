/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the parts of processes.h share: processes_emit.c says what becomes of a process, processes_scan.c
 * finds out by looking, processes.c is told by the feeds.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESSES_INTERNAL_H
#define ETWAS_SYSTEM_NAMES_PROCESSES_INTERNAL_H

#include "platform/processor.h"
#include "system/names/processes.h"

enum {
    ETWAS_PROCESS_KERNEL = 0 /* the process whose images those of the kernel are */
};

/* Who says it, where, when. */
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

/* What is found out by looking. */
static inline struct etwas_record_origin etwas_record_origin_found(uint32_t process_id,
                                                                   int64_t time_ns)
{
    return (struct etwas_record_origin){etwas_slot_count, time_ns, process_id, process_id};
}

/* ---- telling --------------------------------------------------------------------------------- */

/* While it lives. */
void etwas_process_emit(struct etwas_processes *processes, struct etwas_process *process,
                        const struct etwas_record_origin *origin,
                        enum etwas_process_class_type type, uint32_t flags);
void etwas_process_emit_images(struct etwas_processes *processes,
                               const struct etwas_process *process,
                               const struct etwas_record_origin *origin,
                               enum etwas_image_record_type type);

/* Found, or left: as it is, with what it has used. */
void etwas_process_emit_rundown(struct etwas_processes *processes, struct etwas_process *process,
                                const struct etwas_record_origin *origin,
                                enum etwas_process_class_type type);

struct etwas_process_mapped {
    struct etwas_processes *processes;
    struct etwas_process *process;
    struct etwas_record_origin origin;
    enum etwas_image_record_type loaded; /* what it is called */
};

/* `context`: a struct etwas_process_mapped. */
void etwas_process_handle_mapping(void *context, const struct etwas_mapping *mapping);

void etwas_process_unload(struct etwas_processes *processes, struct etwas_process *process,
                          const struct etwas_record_origin *origin);

/* A thread of it has ended. */
void etwas_process_handle_exit(struct etwas_processes *processes, struct etwas_process *process,
                               uint32_t thread_id);

/* It is not there any more. */
void etwas_process_end(struct etwas_processes *processes, struct etwas_process *process,
                       const struct etwas_record_origin *origin, uint32_t flags);

/* Its end was lost, and is noticed here. */
void etwas_process_end_unseen(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_record_origin *origin);

/* From whom had it, if anybody: that thread has ended, which nobody saw, and its process perhaps, too. */
void etwas_process_adopt_thread(struct etwas_processes *processes, struct etwas_process *process,
                                uint32_t thread_id, const struct etwas_record_origin *origin);

/* ---- exec ------------------------------------------------------------------------------------ */

/* COMM says that it runs another program. */
void etwas_process_begin_exec(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_process_record *process_record);

/* The probe says that it has begun, and with which arguments. */
void etwas_process_handle_arguments(struct etwas_processes *processes,
                                    struct etwas_process *process,
                                    const struct etwas_process_record *process_record);

/* Nothing more will be said of a program that it began, if it did: told here and now. */
void etwas_process_finish_exec(struct etwas_processes *processes, struct etwas_process *process,
                               const struct etwas_record_origin *origin);

/* ---- looking --------------------------------------------------------------------------------- */

/* At a process and its command line: the facts. False: there is no such process. */
bool etwas_process_read_facts(struct etwas_processes *processes, uint32_t process_id);

void etwas_process_apply_facts(struct etwas_process *process,
                               const struct etwas_process_facts *facts);
void etwas_process_apply_command_line(struct etwas_process *process,
                                      const struct etwas_process_facts *facts);

/* Two clocks may see a start a tick apart. */
bool etwas_process_started_at(const struct etwas_process *process, uint64_t start_tick);

/* As it is now, which is told; NULL: it is not there any more, or there is no memory. */
struct etwas_process *etwas_process_scan(struct etwas_processes *processes, uint32_t process_id);

#endif
