/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/processes.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/processor.h"

enum {
    KERNEL = 0 /* the process whose images those of the kernel are */
};

/* ---- telling --------------------------------------------------------------------------------- */

/* Who says it, where, when. */
struct place {
    uint32_t slot;
    int64_t time_ns;
    uint32_t by_process_id;
    uint32_t by_thread_id;
};

static struct place place_of(const struct etwas_sideband *sideband)
{
    const struct etwas_sample_origin *origin = &sideband->origin;

    return (struct place){origin->processor, origin->time_ns, origin->process_id,
                          origin->thread_id};
}

/* What is found out by looking. */
static struct place place_found(uint32_t process_id, int64_t time_ns)
{
    return (struct place){etwas_slot_count, time_ns, process_id, process_id};
}

static void emit(struct etwas_processes *processes, const struct place *place, const void *record)
{
    etwas_record_set_thread(processes->record, place->by_process_id, place->by_thread_id);
    etwas_emit(processes->emitter, place->slot, record, place->time_ns);
}

static void tell_process(struct etwas_processes *processes, const struct etwas_process *process,
                         const struct place *place, enum etwas_process_record_type type,
                         uint32_t flags)
{
    const struct etwas_process_told told = {
        .type = type,
        .flags = flags | (type == ETWAS_PROCESS_END ? ETWAS_PROCESS_NO_EXIT_STATUS : 0),
        .exit_status = type == ETWAS_PROCESS_END ? 0 : ETWAS_PROCESS_STILL_ACTIVE};

    if ((processes->tells & ETWAS_TELL_PROCESSES) != 0) {
        emit(processes, place, etwas_process_record_make(processes->record, process, &told));
    }
}

static void tell_image(struct etwas_processes *processes, uint32_t process_id,
                       const struct place *place, enum etwas_image_record_type type,
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

static void tell_images(struct etwas_processes *processes, const struct etwas_process *process,
                        const struct place *place, enum etwas_image_record_type type)
{
    for (uint32_t index = 0; index < process->images.count; index++) {
        tell_image(processes, process->node.id, place, type, &process->images.images[index]);
    }
}

/* ---- images ---------------------------------------------------------------------------------- */

struct mapped {
    struct etwas_processes *processes;
    struct etwas_process *process;
    struct place place;
    enum etwas_image_record_type loaded; /* what it is called */
};

static void tell_mapped(void *context, bool is_loaded, const struct etwas_file_image *image)
{
    const struct mapped *mapped = context;

    tell_image(mapped->processes, mapped->process->node.id, &mapped->place,
               is_loaded ? mapped->loaded : ETWAS_IMAGE_UNLOAD, image);
}

static void take_mapping(void *context, const struct etwas_mapping *mapping)
{
    struct mapped *mapped = context;

    etwas_image_list_add(&mapped->process->images, &mapped->processes->table.files, mapping,
                         tell_mapped, mapped);
}

static void unload_all(struct etwas_processes *processes, struct etwas_process *process,
                       const struct place *place)
{
    tell_images(processes, process, place, ETWAS_IMAGE_UNLOAD);
    etwas_image_list_clear(&process->images, &processes->table.files);
}

/* ---- processes that are there ---------------------------------------------------------------- */

static void end(struct etwas_processes *processes, struct etwas_process *process,
                const struct place *place, uint32_t flags)
{
    unload_all(processes, process, place);
    tell_process(processes, process, place, ETWAS_PROCESS_END, flags);
    etwas_process_remove(&processes->table, process);
}

/* Its end was lost, and is noticed here. */
static void end_unseen(struct etwas_processes *processes, struct etwas_process *process,
                       const struct place *place)
{
    end(processes, process, place, ETWAS_PROCESS_END_NOT_SEEN);
}

/* A thread of another process has ended, which nobody saw, and that process perhaps with it. */
static void take_thread(struct etwas_processes *processes, struct etwas_process *process,
                        uint32_t thread_id, const struct place *place)
{
    struct etwas_process *before = etwas_process_of_thread(&processes->table, thread_id);

    if (before == process) {
        return;
    }
    if (before != NULL) {
        etwas_process_remove_thread(&processes->table, thread_id);
        if (before->threads == NULL) {
            end_unseen(processes, before, place);
        }
    }
    etwas_process_add_thread(&processes->table, process, thread_id);
}

static void take_listed_thread(void *context, uint32_t thread_id)
{
    const struct mapped *found = context;

    take_thread(found->processes, found->process, thread_id, &found->place);
}

static void believe(struct etwas_process *process, const struct etwas_process_facts *facts)
{
    process->key = etwas_process_key(process->node.id, facts->start_tick);
    process->parent_id = facts->parent_id;
    process->session_id = facts->session_id;
    process->user_id = facts->user_id;
    etwas_process_set_name(process, facts->name);
    etwas_process_set_command_line(process, facts->command_line);
}

/* Two clocks may see a start a tick apart. */
static bool is_start_of(const struct etwas_process *process,
                        const struct etwas_process_facts *facts)
{
    uint64_t tick = etwas_process_start_tick(process);

    return facts->start_tick <= tick + 1 && tick <= facts->start_tick + 1;
}

/* As it is now; NULL: it is not there any more, or there is no memory. */
static struct etwas_process *look_up(struct etwas_processes *processes, uint32_t process_id)
{
    int64_t now_ns = processes->source->now_ns();
    struct etwas_process *process;
    struct mapped found = {.processes = processes, .loaded = ETWAS_IMAGE_RUNDOWN_START};

    if (!processes->source->facts(process_id, &processes->facts)) {
        return NULL;
    }
    process = etwas_process_add(&processes->table, process_id, now_ns);
    if (process == NULL) {
        return NULL;
    }
    found.process = process;
    found.place = place_found(process_id, now_ns);
    believe(process, &processes->facts);
    processes->source->threads(process_id, take_listed_thread, &found);
    if (process->threads == NULL) { /* just now */
        etwas_process_remove(&processes->table, process);
        return NULL;
    }
    tell_process(processes, process, &found.place, ETWAS_PROCESS_RUNDOWN_START, 0);
    if ((processes->tells & ETWAS_TELL_IMAGES) != 0) {
        processes->source->mappings(process_id, take_mapping, &found);
    }
    return process;
}

static void look_for(void *context, uint32_t process_id)
{
    struct etwas_processes *processes = context;

    if (etwas_process_find(&processes->table, process_id) == NULL) {
        (void)look_up(processes, process_id);
    }
}

static void look_at_kernel(struct etwas_processes *processes)
{
    int64_t now_ns = processes->source->now_ns();
    struct mapped found = {.processes = processes,
                           .process = etwas_process_add(&processes->table, KERNEL, now_ns),
                           .place = place_found(KERNEL, now_ns),
                           .loaded = ETWAS_IMAGE_RUNDOWN_START};

    if (found.process != NULL) {
        processes->source->kernel(take_mapping, &found);
    }
}

void etwas_processes_run_down(struct etwas_processes *processes)
{
    if ((processes->tells & ETWAS_TELL_IMAGES) != 0) {
        look_at_kernel(processes);
    }
    (void)processes->source->list(look_for, processes);
}

/* ---- fork and exit --------------------------------------------------------------------------- */

/* Of who forked it; of what /proc says where nothing is known of that. */
static void learn_origin(struct etwas_processes *processes, struct etwas_process *process,
                         uint32_t parent_id)
{
    const struct etwas_process *parent = etwas_process_find(&processes->table, parent_id);

    if (parent != NULL) {
        etwas_process_inherit(process, parent);
        etwas_image_list_copy(&process->images, &parent->images);
    } else if (processes->source->facts(process->node.id, &processes->facts)) {
        believe(process, &processes->facts);
    }
    process->parent_id = parent_id;
    process->key =
        etwas_process_key(process->node.id, processes->source->tick_of(process->since_ns));
}

static void take_new_process(struct etwas_processes *processes,
                             const struct etwas_sideband *sideband)
{
    const struct place place = place_of(sideband);
    struct etwas_process *process = etwas_process_find(&processes->table, sideband->process_id);

    if (process != NULL) {
        end_unseen(processes, process, &place);
    }
    process = etwas_process_add(&processes->table, sideband->process_id, place.time_ns);
    if (process != NULL) {
        learn_origin(processes, process, sideband->task.parent_process_id);
        take_thread(processes, process, sideband->thread_id, &place);
        tell_process(processes, process, &place, ETWAS_PROCESS_START, 0);
        tell_images(processes, process, &place, ETWAS_IMAGE_LOAD);
    }
}

/* The process that something is said of; NULL: it says nothing new. */
static struct etwas_process *subject_of(struct etwas_processes *processes,
                                        const struct etwas_sideband *sideband)
{
    struct etwas_process *process = etwas_process_find(&processes->table, sideband->process_id);

    if (process == NULL) { /* its beginning was lost */
        process = look_up(processes, sideband->process_id);
    }
    return process != NULL && sideband->origin.time_ns > process->since_ns ? process : NULL;
}

static void take_fork(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    const struct place place = place_of(sideband);
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
        take_thread(processes, process, sideband->thread_id, &place);
    }
}

static void take_exit(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    struct place place = place_of(sideband);
    struct etwas_process *process = etwas_process_of_thread(&processes->table, sideband->thread_id);

    if (process == NULL || process->node.id != sideband->process_id) {
        return;
    }
    etwas_process_remove_thread(&processes->table, sideband->thread_id);
    if (process->threads == NULL) {
        if (place.time_ns <= process->since_ns) {
            place = place_found(process->node.id, processes->source->now_ns());
        }
        end(processes, process, &place, 0);
    }
}

/* ---- exec ------------------------------------------------------------------------------------ */

/*
 * What /proc says of a program that was begun a while ago, if it is that one which is there now.
 */
static void learn_program(struct etwas_processes *processes, struct etwas_process *process,
                          const char *name)
{
    const struct etwas_process_facts *facts = &processes->facts;

    etwas_process_set_name(process, name);
    etwas_process_forget_command_line(process);
    if (!processes->source->facts(process->node.id, &processes->facts) ||
        strcmp(facts->name, process->name) != 0 || !is_start_of(process, facts)) {
        return;
    }
    process->session_id = facts->session_id;
    process->user_id = facts->user_id;
    if (facts->command_line[0] != 0) {
        etwas_process_set_command_line(process, facts->command_line);
    }
}

/* Its other threads are gone, whatever was seen of them. */
static void keep_one_thread(struct etwas_processes *processes, struct etwas_process *process,
                            const struct place *place)
{
    while (process->threads != NULL) {
        etwas_process_remove_thread(&processes->table, process->threads->node.id);
    }
    take_thread(processes, process, process->node.id, place);
}

static void take_name(struct etwas_processes *processes, const struct etwas_sideband *sideband)
{
    const struct place place = place_of(sideband);
    struct etwas_process *process = subject_of(processes, sideband);

    if (process == NULL) {
        return;
    }
    if (sideband->comm.is_exec) {
        keep_one_thread(processes, process, &place);
        unload_all(processes, process, &place);
        learn_program(processes, process, sideband->comm.name);
        tell_process(processes, process, &place, ETWAS_PROCESS_RUNDOWN_START, ETWAS_PROCESS_EXEC);
    } else if (sideband->thread_id == sideband->process_id) {
        etwas_process_set_name(process, sideband->comm.name);
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
    struct mapped mapped = {
        .processes = processes, .place = place_of(sideband), .loaded = ETWAS_IMAGE_LOAD};

    if ((sideband->image.protection & PROT_EXEC) == 0 || !etwas_mapping_is_image(mapping.path)) {
        return;
    }
    mapped.process = subject_of(processes, sideband);
    if (mapped.process != NULL) {
        take_mapping(&mapped, &mapping);
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
    case PERF_RECORD_MMAP2:
        take_image(processes, sideband);
        break;
    default:
        break;
    }
}

/* ---- after a loss, and in the end ------------------------------------------------------------ */

static void see_thread(void *context, uint32_t thread_id)
{
    (void)thread_id;
    *(bool *)context = true;
}

/* Who has no threads has ended; who has the number of one that did is another. */
static void check(void *context, uint32_t process_id)
{
    struct etwas_processes *processes = context;
    struct etwas_process *process = etwas_process_find(&processes->table, process_id);
    bool has_threads = false;

    processes->source->threads(process_id, see_thread, &has_threads);
    if (process != NULL && has_threads && processes->source->facts(process_id, &processes->facts) &&
        !is_start_of(process, &processes->facts)) {
        const struct place place = place_found(process_id, processes->source->now_ns());

        end_unseen(processes, process, &place);
        process = NULL;
    }
    if (process != NULL) {
        process->is_missing = !has_threads;
    } else if (has_threads) {
        (void)look_up(processes, process_id);
    }
}

static void end_missing(struct etwas_processes *processes)
{
    struct etwas_process *process = etwas_process_after(&processes->table, NULL);

    while (process != NULL) {
        struct etwas_process *next = etwas_process_after(&processes->table, process);

        if (process->is_missing) {
            const struct place place = place_found(process->node.id, processes->source->now_ns());

            end_unseen(processes, process, &place);
        }
        process = next;
    }
}

static void set_missing(struct etwas_processes *processes, bool is_missing)
{
    struct etwas_process *process = NULL;

    while ((process = etwas_process_after(&processes->table, process)) != NULL) {
        process->is_missing = is_missing && process->node.id != KERNEL;
    }
}

bool etwas_processes_find_lost(struct etwas_processes *processes, int64_t until_ns)
{
    if (processes->looked_ns == 0) {
        processes->looked_ns = processes->source->now_ns();
        set_missing(processes, true);
        if (!processes->source->list(check, processes)) {
            set_missing(processes, false);
        }
        return false;
    }
    if (until_ns < processes->looked_ns) {
        return false;
    }
    processes->looked_ns = 0;
    end_missing(processes);
    return true;
}

void etwas_processes_finish(struct etwas_processes *processes)
{
    struct etwas_process *process = NULL;

    end_missing(processes);
    while ((process = etwas_process_after(&processes->table, process)) != NULL) {
        const struct place place = place_found(process->node.id, processes->source->now_ns());

        tell_images(processes, process, &place, ETWAS_IMAGE_RUNDOWN_END);
        if (process->node.id != KERNEL) {
            tell_process(processes, process, &place, ETWAS_PROCESS_RUNDOWN_END, 0);
        }
    }
}

bool etwas_processes_init(struct etwas_processes *processes,
                          const struct etwas_process_source *source, struct etwas_emitter *emitter,
                          struct etwas_record *record, uint32_t tells)
{
    processes->source = source;
    processes->emitter = emitter;
    processes->record = record;
    processes->tells = tells;
    processes->looked_ns = 0;
    return etwas_process_table_init(&processes->table);
}

void etwas_processes_free(struct etwas_processes *processes)
{
    etwas_process_table_free(&processes->table);
}
