/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes_internal.h"

#include <stddef.h>
#include <sys/mman.h>

/* ---- fork and exit --------------------------------------------------------------------------- */

/* Takes the origin of a new process from its parent, or from /proc if the parent is not known. */
static void inherit_or_read(struct etwas_processes *processes, struct etwas_process *process,
                            uint32_t parent_id)
{
    const struct etwas_process *parent = etwas_process_find(&processes->table, parent_id);

    if (parent == NULL) {
        parent = etwas_process_scan(processes, parent_id);
    }
    if (parent != NULL) {
        etwas_process_inherit(process, parent);
        etwas_image_list_copy(&process->images, &parent->images);
    } else if (etwas_process_read_facts(processes, process->node.id)) {
        etwas_process_apply_facts(process, &processes->facts);
    }
    process->parent_id = parent_id;
    process->key =
        etwas_process_key(process->node.id, processes->source->tick_of(process->since_ns));
}

/* /proc shows a process a moment before the kernel's FORK is written. */
static bool was_found_first(const struct etwas_processes *processes,
                            const struct etwas_process *process, int64_t time_ns)
{
    return process->is_found &&
           etwas_process_started_at(process, processes->source->tick_of(time_ns));
}

static void handle_new_process(struct etwas_processes *processes,
                               const struct etwas_process_record *process_record)
{
    const struct etwas_record_origin origin = etwas_record_origin_of(process_record);
    struct etwas_process *process =
        etwas_process_find(&processes->table, process_record->process_id);

    if (process != NULL && was_found_first(processes, process, origin.time_ns)) {
        return;
    }
    if (process != NULL) {
        etwas_process_end_unseen(processes, process, &origin);
    }
    process = etwas_process_add(&processes->table, process_record->process_id, origin.time_ns);
    if (process != NULL) {
        inherit_or_read(processes, process, process_record->task.parent_process_id);
        etwas_process_adopt_thread(processes, process, process_record->thread_id, &origin);
        etwas_process_emit(processes, process, &origin, ETWAS_PROCESS_START, 0);
        etwas_process_emit_images(processes, process, &origin, ETWAS_IMAGE_LOAD);
    }
}

/* Returns the process of a record; NULL: the record says nothing new. */
static struct etwas_process *process_of_record(struct etwas_processes *processes,
                                               const struct etwas_process_record *process_record)
{
    struct etwas_process *process =
        etwas_process_find(&processes->table, process_record->process_id);

    if (process == NULL) { /* its beginning was lost */
        process = etwas_process_scan(processes, process_record->process_id);
    }
    return process != NULL && process_record->origin.time_ns > process->since_ns ? process : NULL;
}

static void handle_fork(struct etwas_processes *processes,
                        const struct etwas_process_record *process_record)
{
    const struct etwas_record_origin origin = etwas_record_origin_of(process_record);
    struct etwas_process *process =
        etwas_process_find(&processes->table, process_record->process_id);

    if (process != NULL && origin.time_ns <= process->since_ns) {
        return;
    }
    if (process_record->thread_id == process_record->process_id) {
        handle_new_process(processes, process_record);
        return;
    }
    process = process_of_record(processes, process_record);
    if (process != NULL) {
        etwas_process_adopt_thread(processes, process, process_record->thread_id, &origin);
    }
}

static void handle_exit(struct etwas_processes *processes,
                        const struct etwas_process_record *process_record)
{
    struct etwas_record_origin origin = etwas_record_origin_of(process_record);
    struct etwas_process *process =
        etwas_process_of_thread(&processes->table, process_record->thread_id);

    if (process == NULL || process->node.id != process_record->process_id) {
        return;
    }
    etwas_process_handle_exit(processes, process, process_record->thread_id);
    etwas_process_remove_thread(&processes->table, process_record->thread_id);
    if (process->threads == NULL) {
        if (origin.time_ns <= process->emitted_ns) {
            origin = etwas_record_origin_found(process->node.id, processes->source->now_ns());
        }
        etwas_process_end(processes, process, &origin, 0);
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

static void handle_name(struct etwas_processes *processes,
                        const struct etwas_process_record *process_record)
{
    struct etwas_process *process = process_of_record(processes, process_record);

    if (process != NULL && process_record->comm.is_exec) {
        etwas_process_begin_exec(processes, process, process_record);
    } else if (process != NULL && process_record->thread_id == process_record->process_id) {
        etwas_process_set_name(process, process_record->comm.name);
    }
}

static void handle_arguments(struct etwas_processes *processes,
                             const struct etwas_process_record *process_record)
{
    struct etwas_process *process = process_of_record(processes, process_record);

    if (process != NULL) {
        etwas_process_handle_arguments(processes, process, process_record);
    }
}

static void handle_image(struct etwas_processes *processes,
                         const struct etwas_process_record *process_record)
{
    const struct etwas_mapping mapping = {
        .address = process_record->image.address,
        .bytes = process_record->image.bytes,
        .file_offset = process_record->image.file_offset,
        .build_id_bytes = process_record->image.build_id_bytes,
        .build_id = process_record->image.build_id,
        .path = process_record->image.path,
    };
    struct etwas_process_mapped mapped = {.processes = processes,
                                          .origin = etwas_record_origin_of(process_record),
                                          .loaded = ETWAS_IMAGE_LOAD};

    if ((process_record->image.protection & PROT_EXEC) == 0 ||
        !etwas_mapping_is_image(mapping.path)) {
        return;
    }
    mapped.process = process_of_record(processes, process_record);
    if (mapped.process != NULL) {
        etwas_process_handle_mapping(&mapped, &mapping);
    }
}

void etwas_processes_handle(struct etwas_processes *processes,
                            const struct etwas_process_record *process_record)
{
    /* In another namespace, or gone. */
    if (process_record->process_id == 0 || process_record->process_id == UINT32_MAX) {
        return;
    }
    switch (process_record->type) {
    case PERF_RECORD_FORK:
        handle_fork(processes, process_record);
        break;
    case PERF_RECORD_EXIT:
        handle_exit(processes, process_record);
        break;
    case PERF_RECORD_COMM:
        handle_name(processes, process_record);
        break;
    case PERF_RECORD_SAMPLE:
        handle_arguments(processes, process_record);
        break;
    case PERF_RECORD_MMAP2:
        handle_image(processes, process_record);
        break;
    default:
        break;
    }
}
