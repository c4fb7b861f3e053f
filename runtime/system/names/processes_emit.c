/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes_internal.h"

/* ---- emitting -------------------------------------------------------------------------------- */

static void emit_record(struct etwas_processes *processes, const struct etwas_record_origin *origin,
                        const void *record)
{
    etwas_record_builder_set_thread(processes->record, origin->by_process_id, origin->by_thread_id);
    etwas_emit(processes->emitter, origin->slot, record, origin->time_ns);
}

static void emit_process(struct etwas_processes *processes, const struct etwas_process *process,
                         const struct etwas_record_origin *origin,
                         const struct etwas_process_class_event *event)
{
    if ((processes->emits & ETWAS_EMIT_PROCESSES) != 0) {
        emit_record(processes, origin, etwas_process_class_make(processes->record, process, event));
    }
}

static void emit_counters(struct etwas_processes *processes, const struct etwas_process *process,
                          const struct etwas_record_origin *origin, uint8_t type,
                          const struct etwas_process_counters *counters)
{
    if ((processes->emits & ETWAS_EMIT_COUNTERS) != 0) {
        emit_record(
            processes, origin,
            etwas_process_counters_make(processes->record, type, process->node.id, counters,
                                        type == ETWAS_COUNTERS_END && process->misses_exit));
    }
}

void etwas_process_emit_rundown(struct etwas_processes *processes, struct etwas_process *process,
                                const struct etwas_record_origin *origin, uint8_t type)
{
    struct etwas_process_counters counters;

    etwas_process_emit(processes, process, origin, type, 0);
    if ((processes->emits & ETWAS_EMIT_COUNTERS) != 0 &&
        processes->source->counters(process->node.id, &counters)) {
        emit_counters(processes, process, origin, ETWAS_COUNTERS_RUNDOWN, &counters);
    }
}

void etwas_process_emit(struct etwas_processes *processes, struct etwas_process *process,
                        const struct etwas_record_origin *origin, uint8_t type, uint32_t flags)
{
    const struct etwas_process_class_event event = {
        .type = type, .flags = flags, .exit_status = ETWAS_PROCESS_STILL_ACTIVE};

    process->emitted_ns = origin->time_ns;
    emit_process(processes, process, origin, &event);
}

static void emit_image(struct etwas_processes *processes, uint32_t process_id,
                       const struct etwas_record_origin *origin, uint8_t type,
                       const struct etwas_file_image *image)
{
    if ((processes->emits & ETWAS_EMIT_IMAGES) == 0) {
        return;
    }
    if (image->file->build_id_bytes != 0 && type != ETWAS_IMAGE_UNLOAD) {
        emit_record(processes, origin,
                    etwas_image_id_record_make(processes->record, process_id, image));
    }
    emit_record(processes, origin,
                etwas_image_record_make(processes->record, type, process_id, image));
}

void etwas_process_emit_images(struct etwas_processes *processes,
                               const struct etwas_process *process,
                               const struct etwas_record_origin *origin, uint8_t type)
{
    for (uint32_t index = 0; index < process->images.count; index++) {
        emit_image(processes, process->node.id, origin, type, &process->images.images[index]);
    }
}

/* ---- images ---------------------------------------------------------------------------------- */

static void emit_mapped(void *context, bool is_loaded, const struct etwas_file_image *image)
{
    const struct etwas_process_mapped *mapped = context;

    emit_image(mapped->processes, mapped->process->node.id, &mapped->origin,
               is_loaded ? mapped->loaded : ETWAS_IMAGE_UNLOAD, image);
}

void etwas_process_handle_mapping(void *context, const struct etwas_mapping *mapping)
{
    struct etwas_process_mapped *mapped = context;

    etwas_image_list_add(&mapped->process->images, &mapped->processes->table.files, mapping,
                         emit_mapped, mapped);
}

void etwas_process_unload(struct etwas_processes *processes, struct etwas_process *process,
                          const struct etwas_record_origin *origin)
{
    etwas_process_emit_images(processes, process, origin, ETWAS_IMAGE_UNLOAD);
    etwas_image_list_clear(&process->images, &processes->table.files);
}

/* ---- processes that exist -------------------------------------------------------------------- */

/*
 * If two threads had the same number, as after an exec, the report of the second may be found for
 * the first.
 */
void etwas_process_handle_exit(struct etwas_processes *processes, struct etwas_process *process,
                               uint32_t thread_id)
{
    struct etwas_exit exit;

    if (!etwas_exits_remove(processes->exits, thread_id, &exit)) {
        process->misses_exit = true;
        process->status_thread = process->status_thread == thread_id ? thread_id : 0;
        return;
    }
    etwas_process_counters_add(&process->counters, &exit.counters);
    process->status_thread = thread_id;
    process->status = exit.status;
}

/* Threads whose end was lost have ended, too. */
void etwas_process_end(struct etwas_processes *processes, struct etwas_process *process,
                       const struct etwas_record_origin *origin, uint32_t flags)
{
    struct etwas_process_class_event event = {.type = ETWAS_PROCESS_END, .flags = flags};

    if ((processes->emits & ETWAS_EMIT_RUNDOWN_ALONE) != 0) {
        etwas_process_remove(&processes->table, process);
        return;
    }
    etwas_process_finish_exec(processes, process, origin);
    for (const struct etwas_process_thread *thread = process->threads; thread != NULL;
         thread = thread->next) {
        etwas_process_handle_exit(processes, process, thread->node.id);
    }
    if (process->status_thread != 0) {
        event.exit_status = etwas_exit_status(process->status);
    } else {
        event.flags |= ETWAS_PROCESS_NO_EXIT_STATUS;
    }
    etwas_process_unload(processes, process, origin);
    emit_counters(processes, process, origin, ETWAS_COUNTERS_END, &process->counters);
    emit_process(processes, process, origin, &event);
    etwas_process_remove(&processes->table, process);
}

void etwas_process_end_unseen(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_record_origin *origin)
{
    etwas_process_end(processes, process, origin, ETWAS_PROCESS_END_NOT_SEEN);
}

void etwas_process_adopt_thread(struct etwas_processes *processes, struct etwas_process *process,
                                uint32_t thread_id, const struct etwas_record_origin *origin)
{
    struct etwas_process *before = etwas_process_of_thread(&processes->table, thread_id);

    if (before == process) {
        return;
    }
    if (before != NULL) {
        etwas_process_handle_exit(processes, before, thread_id);
        etwas_process_remove_thread(&processes->table, thread_id);
        if (before->threads == NULL) {
            etwas_process_end_unseen(processes, before, origin);
        }
    }
    etwas_process_add_thread(&processes->table, process, thread_id);
}
