/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/open_files.h"

#include <stdlib.h>

/* Greater than any address, and than any key of a file. */
#define FIRST_NUMBER (UINT64_C(1) << 63)

struct etwas_open_process {
    struct etwas_id_node node;
    struct etwas_open_file *files;
};

bool etwas_open_files_init(struct etwas_open_files *files)
{
    *files = (struct etwas_open_files){.last_number = FIRST_NUMBER};
    if (!etwas_id_map_init(&files->by_descriptor)) {
        return false;
    }
    if (!etwas_id_map_init(&files->processes)) {
        etwas_id_map_free(&files->by_descriptor);
        return false;
    }
    return true;
}

void etwas_open_files_free(struct etwas_open_files *files)
{
    struct etwas_open_file *file;

    etwas_open_files_forget(files);
    while ((file = etwas_open_files_remove_closed(files)) != NULL) {
        etwas_open_file_free(file);
    }
    etwas_id_map_free(&files->by_descriptor);
    etwas_id_map_free(&files->processes);
}

uint64_t etwas_open_files_number(struct etwas_open_files *files)
{
    return ++files->last_number;
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint32_t open_files_id_of(uint32_t process_id, uint32_t descriptor)
{
    return process_id * UINT32_C(0x9E3779B1) ^ descriptor;
}

struct etwas_open_file *etwas_open_files_find(const struct etwas_open_files *files,
                                              uint32_t process_id, uint32_t descriptor)
{
    struct etwas_id_node *node =
        etwas_id_map_find(&files->by_descriptor, open_files_id_of(process_id, descriptor));

    while (node != NULL) {
        struct etwas_open_file *file = (struct etwas_open_file *)node;

        if (file->process_id == process_id && file->descriptor == descriptor) {
            return file;
        }
        node = etwas_id_map_find_next(node);
    }
    return NULL;
}

static struct etwas_open_process *open_files_process_of(const struct etwas_open_files *files,
                                                        uint32_t process_id)
{
    return (struct etwas_open_process *)etwas_id_map_find(&files->processes, process_id);
}

struct etwas_open_file *etwas_open_files_after(const struct etwas_open_files *files,
                                               const struct etwas_open_file *file)
{
    return (struct etwas_open_file *)etwas_id_map_after(&files->by_descriptor,
                                                        file == NULL ? NULL : &file->node);
}

/* ---- adding and removing --------------------------------------------------------------------- */

void etwas_open_file_stop_waiting(struct etwas_open_file *file)
{
    if (file->waiting_link == NULL) {
        return;
    }
    *file->waiting_link = file->next_waiting;
    if (file->next_waiting != NULL) {
        file->next_waiting->waiting_link = file->waiting_link;
    }
    file->waiting_link = NULL;
}

void etwas_open_file_free(struct etwas_open_file *file)
{
    free(file->name);
    free(file);
}

struct etwas_open_file *etwas_open_files_remove_closed(struct etwas_open_files *files)
{
    struct etwas_open_file *file = files->closed;

    if (file != NULL) {
        files->closed = file->next_waiting;
    }
    return file;
}

/* The file is not open from this time on, or is forgotten. */
static void remove_file(struct etwas_open_files *files, struct etwas_open_file *file,
                        int64_t time_ns)
{
    etwas_open_file_stop_waiting(file);
    *file->link = file->next;
    if (file->next != NULL) {
        file->next->link = file->link;
    }
    etwas_id_map_remove(&files->by_descriptor, &file->node);
    if (file->name != NULL && !file->has_name && file->named_ns <= time_ns) {
        file->next_waiting = files->closed;
        files->closed = file;
    } else {
        etwas_open_file_free(file);
    }
}

static void remove_process_without_files(struct etwas_open_files *files,
                                         struct etwas_open_process *process)
{
    if (process->files == NULL) {
        etwas_id_map_remove(&files->processes, &process->node);
        free(process);
    }
}

/* NULL: there is no memory. */
static struct etwas_open_process *find_or_add_process(struct etwas_open_files *files,
                                                      uint32_t process_id)
{
    struct etwas_open_process *process = open_files_process_of(files, process_id);

    if (process == NULL && (process = calloc(1, sizeof *process)) != NULL) {
        process->node.id = process_id;
        etwas_id_map_add(&files->processes, &process->node);
    }
    return process;
}

static struct etwas_open_file *add_file(struct etwas_open_files *files, uint32_t process_id,
                                        uint32_t descriptor)
{
    struct etwas_open_process *process = find_or_add_process(files, process_id);
    struct etwas_open_file *file = process == NULL ? NULL : calloc(1, sizeof *file);

    if (file == NULL) {
        return NULL;
    }
    file->process_id = process_id;
    file->descriptor = descriptor;
    file->next = process->files;
    file->link = &process->files;
    process->files = file;
    if (file->next != NULL) {
        file->next->link = &file->next;
    }
    file->next_waiting = files->waiting;
    file->waiting_link = &files->waiting;
    files->waiting = file;
    if (file->next_waiting != NULL) {
        file->next_waiting->waiting_link = &file->next_waiting;
    }
    file->node.id = open_files_id_of(process_id, descriptor);
    etwas_id_map_add(&files->by_descriptor, &file->node);
    return file;
}

struct etwas_open_file *etwas_open_files_bind(struct etwas_open_files *files, uint32_t process_id,
                                              uint32_t descriptor, uint64_t number, int64_t time_ns)
{
    struct etwas_open_file *file;

    etwas_open_files_close(files, process_id, descriptor, descriptor, time_ns);
    if (etwas_open_files_find(files, process_id, descriptor) != NULL) {
        return NULL;
    }
    if (files->by_descriptor.count >= ETWAS_OPEN_FILES_MOST) {
        etwas_open_files_forget(files);
    }
    file = add_file(files, process_id, descriptor);
    if (file != NULL) {
        file->number = number;
        file->scanned_ns = time_ns;
        file->since_ns = time_ns;
        file->position = ETWAS_FILE_AT_POSITION;
    }
    return file;
}

void etwas_open_files_close(struct etwas_open_files *files, uint32_t process_id, uint32_t first,
                            uint32_t last, int64_t time_ns)
{
    struct etwas_open_process *process = open_files_process_of(files, process_id);
    struct etwas_open_file *file = process == NULL ? NULL : process->files;

    if (process != NULL && first == last) {
        file = etwas_open_files_find(files, process_id, first);
    }
    while (file != NULL) {
        struct etwas_open_file *next = first == last ? NULL : file->next;

        if (file->descriptor >= first && file->descriptor <= last && file->scanned_ns <= time_ns) {
            remove_file(files, file, time_ns);
        }
        file = next;
    }
    if (process != NULL) {
        remove_process_without_files(files, process);
    }
}

void etwas_open_files_share(struct etwas_open_files *files, uint32_t process_id)
{
    const struct etwas_open_process *process = open_files_process_of(files, process_id);

    for (struct etwas_open_file *file = process == NULL ? NULL : process->files; file != NULL;
         file = file->next) {
        etwas_open_file_share(file);
    }
}

void etwas_open_files_forget(struct etwas_open_files *files)
{
    struct etwas_id_node *node;

    while ((node = etwas_id_map_after(&files->processes, NULL)) != NULL) {
        struct etwas_open_process *process = (struct etwas_open_process *)node;

        while (process->files != NULL) {
            remove_file(files, process->files, INT64_MIN);
        }
        remove_process_without_files(files, process);
    }
}

/* ---- positions ------------------------------------------------------------------------------- */

void etwas_open_file_share(struct etwas_open_file *file)
{
    file->is_shared = true;
    file->position = ETWAS_FILE_AT_POSITION;
}

int64_t etwas_open_file_begin(struct etwas_open_file *file, bool is_write)
{
    if (file->under_way++ != 0) {
        file->is_mixed = true;
        file->position = ETWAS_FILE_AT_POSITION;
    }
    if (is_write && file->is_append) {
        file->position = ETWAS_FILE_AT_POSITION;
        return ETWAS_FILE_AT_END;
    }
    return file->position;
}

/* Returns false if other calls overlapped with this one. */
static bool end_move(struct etwas_open_file *file)
{
    bool is_mixed = file->is_mixed;

    file->under_way -= file->under_way != 0;
    file->is_mixed = is_mixed && file->under_way != 0;
    return !is_mixed;
}

void etwas_open_file_end(struct etwas_open_file *file, int64_t moved)
{
    if (end_move(file) && file->position >= 0 && moved > 0) {
        file->position =
            file->position <= INT64_MAX - moved ? file->position + moved : ETWAS_FILE_AT_POSITION;
    }
}

void etwas_open_file_seek(struct etwas_open_file *file, int64_t position)
{
    if (end_move(file) && position >= 0 && !file->is_shared) {
        file->position = position;
    }
}
