/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes_internal.h"

/* ---- telling --------------------------------------------------------------------------------- */

static void emit(struct etwas_processes *processes, const struct etwas_place *place,
                 const void *record)
{
    etwas_record_set_thread(processes->record, place->by_process_id, place->by_thread_id);
    etwas_emit(processes->emitter, place->slot, record, place->time_ns);
}

static void tell(struct etwas_processes *processes, const struct etwas_process *process,
                 const struct etwas_place *place, const struct etwas_process_told *told)
{
    if ((processes->tells & ETWAS_TELL_PROCESSES) != 0) {
        emit(processes, place, etwas_process_record_make(processes->record, process, told));
    }
}

static void tell_counters(struct etwas_processes *processes, const struct etwas_process *process,
                          const struct etwas_place *place, enum etwas_counters_record_type type,
                          const struct etwas_process_counters *counters)
{
    if ((processes->tells & ETWAS_TELL_COUNTERS) != 0) {
        emit(processes, place,
             etwas_process_counters_make(processes->record, type, process->node.id, counters,
                                         type == ETWAS_COUNTERS_END && process->misses_exit));
    }
}

void etwas_process_tell_rundown(struct etwas_processes *processes, struct etwas_process *process,
                                const struct etwas_place *place,
                                enum etwas_process_record_type type)
{
    struct etwas_process_counters counters;

    etwas_process_tell(processes, process, place, type, 0);
    if ((processes->tells & ETWAS_TELL_COUNTERS) != 0 &&
        processes->source->counters(process->node.id, &counters)) {
        tell_counters(processes, process, place, ETWAS_COUNTERS_RUNDOWN, &counters);
    }
}

void etwas_process_tell(struct etwas_processes *processes, struct etwas_process *process,
                        const struct etwas_place *place, enum etwas_process_record_type type,
                        uint32_t flags)
{
    const struct etwas_process_told told = {
        .type = type, .flags = flags, .exit_status = ETWAS_PROCESS_STILL_ACTIVE};

    process->told_ns = place->time_ns;
    tell(processes, process, place, &told);
}

static void tell_image(struct etwas_processes *processes, uint32_t process_id,
                       const struct etwas_place *place, enum etwas_image_record_type type,
                       const struct etwas_file_image *image)
{
    if ((processes->tells & ETWAS_TELL_IMAGES) == 0) {
        return;
    }
    if (image->file->build_id_bytes != 0 && type != ETWAS_IMAGE_UNLOAD) {
        emit(processes, place, etwas_image_id_record_make(processes->record, process_id, image));
    }
    emit(processes, place, etwas_image_record_make(processes->record, type, process_id, image));
}

void etwas_process_tell_images(struct etwas_processes *processes,
                               const struct etwas_process *process, const struct etwas_place *place,
                               enum etwas_image_record_type type)
{
    for (uint32_t index = 0; index < process->images.count; index++) {
        tell_image(processes, process->node.id, place, type, &process->images.images[index]);
    }
}

/* ---- images ---------------------------------------------------------------------------------- */

static void tell_mapped(void *context, bool is_loaded, const struct etwas_file_image *image)
{
    const struct etwas_process_mapped *mapped = context;

    tell_image(mapped->processes, mapped->process->node.id, &mapped->place,
               is_loaded ? mapped->loaded : ETWAS_IMAGE_UNLOAD, image);
}

void etwas_process_take_mapping(void *context, const struct etwas_mapping *mapping)
{
    struct etwas_process_mapped *mapped = context;

    etwas_image_list_add(&mapped->process->images, &mapped->processes->table.files, mapping,
                         tell_mapped, mapped);
}

void etwas_process_unload(struct etwas_processes *processes, struct etwas_process *process,
                          const struct etwas_place *place)
{
    etwas_process_tell_images(processes, process, place, ETWAS_IMAGE_UNLOAD);
    etwas_image_list_clear(&process->images, &processes->table.files);
}

/* ---- processes that are there ---------------------------------------------------------------- */

/* Of two threads with one number, as after an exec, what is said of the second may be what is found for the first. */
void etwas_process_take_exit(struct etwas_processes *processes, struct etwas_process *process,
                             uint32_t thread_id)
{
    struct etwas_exit exit;

    if (!etwas_exits_take(processes->exits, thread_id, &exit)) {
        process->misses_exit = true;
        process->status_thread = process->status_thread == thread_id ? thread_id : 0;
        return;
    }
    etwas_process_counters_add(&process->counters, &exit.counters);
    process->status_thread = thread_id;
    process->status = exit.status;
}

/* Threads whose end was lost have ended all the same. */
void etwas_process_end(struct etwas_processes *processes, struct etwas_process *process,
                       const struct etwas_place *place, uint32_t flags)
{
    struct etwas_process_told told = {.type = ETWAS_PROCESS_END, .flags = flags};

    if ((processes->tells & ETWAS_TELL_RUNDOWN_ALONE) != 0) {
        etwas_process_remove(&processes->table, process);
        return;
    }
    etwas_process_settle_exec(processes, process, place);
    for (const struct etwas_process_thread *thread = process->threads; thread != NULL;
         thread = thread->next) {
        etwas_process_take_exit(processes, process, thread->node.id);
    }
    if (process->status_thread != 0) {
        told.exit_status = etwas_exit_status(process->status);
    } else {
        told.flags |= ETWAS_PROCESS_NO_EXIT_STATUS;
    }
    etwas_process_unload(processes, process, place);
    tell_counters(processes, process, place, ETWAS_COUNTERS_END, &process->counters);
    tell(processes, process, place, &told);
    etwas_process_remove(&processes->table, process);
}

void etwas_process_end_unseen(struct etwas_processes *processes, struct etwas_process *process,
                              const struct etwas_place *place)
{
    etwas_process_end(processes, process, place, ETWAS_PROCESS_END_NOT_SEEN);
}

void etwas_process_take_thread(struct etwas_processes *processes, struct etwas_process *process,
                               uint32_t thread_id, const struct etwas_place *place)
{
    struct etwas_process *before = etwas_process_of_thread(&processes->table, thread_id);

    if (before == process) {
        return;
    }
    if (before != NULL) {
        etwas_process_take_exit(processes, before, thread_id);
        etwas_process_remove_thread(&processes->table, thread_id);
        if (before->threads == NULL) {
            etwas_process_end_unseen(processes, before, place);
        }
    }
    etwas_process_add_thread(&processes->table, process, thread_id);
}
