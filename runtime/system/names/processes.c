/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes_internal.h"

#include <stddef.h>
#include <sys/mman.h>

/* ---- fork and exit --------------------------------------------------------------------------- */

/* Of who forked it; of what /proc says where nothing is known of that. */
static void learn_origin(struct etwas_processes *processes, struct etwas_process *process,
                         uint32_t parent_id)
{
    const struct etwas_process *parent = etwas_process_find(&processes->table, parent_id);

    if (parent == NULL) {
        parent = etwas_process_look_up(processes, parent_id);
    }
    if (parent != NULL) {
        etwas_process_inherit(process, parent);
        etwas_image_list_copy(&process->images, &parent->images);
    } else if (etwas_process_look_at(processes, process->node.id)) {
        etwas_process_believe(process, &processes->facts);
    }
    process->parent_id = parent_id;
    process->key =
        etwas_process_key(process->node.id, processes->source->tick_of(process->since_ns));
}

/* /proc shows a process a moment before the kernel says that it was forked. */
static bool was_found_first(const struct etwas_processes *processes,
                            const struct etwas_process *process, int64_t time_ns)
{
    return process->is_found &&
           etwas_process_started_at(process, processes->source->tick_of(time_ns));
}

static void take_new_process(struct etwas_processes *processes,
                             const struct etwas_sideband *sideband)
{
    const struct etwas_place place = etwas_place_of(sideband);
    struct etwas_process *process = etwas_process_find(&processes->table, sideband->process_id);

    if (process != NULL && was_found_first(processes, process, place.time_ns)) {
        return;
    }
    if (process != NULL) {
        etwas_process_end_unseen(processes, process, &place);
    }
    process = etwas_process_add(&processes->table, sideband->process_id, place.time_ns);
    if (process != NULL) {
        learn_origin(processes, process, sideband->task.parent_process_id);
        etwas_process_take_thread(processes, process, sideband->thread_id, &place);
        etwas_process_tell(processes, process, &place, ETWAS_PROCESS_START, 0);
        etwas_process_tell_images(processes, process, &place, ETWAS_IMAGE_LOAD);
    }
}

/* The process that something is said of; NULL: it says nothing new. */
static struct etwas_process *subject_of(struct etwas_processes *processes,
                                        const struct etwas_sideband *sideband)
{
    struct etwas_process *process = etwas_process_find(&processes->table, sideband->process_id);

    if (process == NULL) { /* its beginning was lost */
        process = etwas_process_look_up(processes, sideband->process_id);
    }
    return process != NULL && sideband->origin.time_ns > process->since_ns ? process : NULL;
}

static void take_fork(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    const struct etwas_place place = etwas_place_of(sideband);
    struct etwas_process *process = etwas_process_find(&processes->table, sideband->process_id);

    if (process != NULL && place.time_ns <= process->since_ns) {
        return;
    }
    if (sideband->thread_id == sideband->process_id) {
        take_new_process(processes, sideband);
        return;
    }
    process = subject_of(processes, sideband);
    if (process != NULL) {
        etwas_process_take_thread(processes, process, sideband->thread_id, &place);
    }
}

static void take_exit(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    struct etwas_place place = etwas_place_of(sideband);
    struct etwas_process *process = etwas_process_of_thread(&processes->table, sideband->thread_id);

    if (process == NULL || process->node.id != sideband->process_id) {
        return;
    }
    etwas_process_take_exit(processes, process, sideband->thread_id);
    etwas_process_remove_thread(&processes->table, sideband->thread_id);
    if (process->threads == NULL) {
        if (place.time_ns <= process->told_ns) {
            place = etwas_place_found(process->node.id, processes->source->now_ns());
        }
        etwas_process_end(processes, process, &place, 0);
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

static void take_name(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    struct etwas_process *process = subject_of(processes, sideband);

    if (process != NULL && sideband->comm.is_exec) {
        etwas_process_begin_exec(processes, process, sideband);
    } else if (process != NULL && sideband->thread_id == sideband->process_id) {
        etwas_process_set_name(process, sideband->comm.name);
    }
}

static void take_arguments(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    struct etwas_process *process = subject_of(processes, sideband);

    if (process != NULL) {
        etwas_process_take_arguments(processes, process, sideband);
    }
}

static void take_image(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    const struct etwas_mapping mapping = {
        .address = sideband->image.address,
        .bytes = sideband->image.bytes,
        .file_offset = sideband->image.file_offset,
        .build_id_bytes = sideband->image.build_id_bytes,
        .build_id = sideband->image.build_id,
        .path = sideband->image.path,
    };
    struct etwas_process_mapped mapped = {
        .processes = processes, .place = etwas_place_of(sideband), .loaded = ETWAS_IMAGE_LOAD};

    if ((sideband->image.protection & PROT_EXEC) == 0 || !etwas_mapping_is_image(mapping.path)) {
        return;
    }
    mapped.process = subject_of(processes, sideband);
    if (mapped.process != NULL) {
        etwas_process_take_mapping(&mapped, &mapping);
    }
}

void etwas_processes_take(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    /* In another namespace; gone. */
    if (sideband->process_id == 0 || sideband->process_id == UINT32_MAX) {
        return;
    }
    switch (sideband->type) {
    case PERF_RECORD_FORK:
        take_fork(processes, sideband);
        break;
    case PERF_RECORD_EXIT:
        take_exit(processes, sideband);
        break;
    case PERF_RECORD_COMM:
        take_name(processes, sideband);
        break;
    case PERF_RECORD_SAMPLE:
        take_arguments(processes, sideband);
        break;
    case PERF_RECORD_MMAP2:
        take_image(processes, sideband);
        break;
    default:
        break;
    }
}
