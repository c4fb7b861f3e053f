/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "system/names/file_record.h"
#include "system/names/proc_list.h"

enum {
    LONGEST_LINK = 64,
    DECIMAL = 10,
};

/* Returns false if the file is not open any more, or may not be read. */
static bool read_name(uint32_t process_id, uint32_t descriptor, char *name, size_t room)
{
    char link[LONGEST_LINK];
    ssize_t length;

    (void)snprintf(link, sizeof link, "/proc/%u/fd/%u", process_id, descriptor);
    length = readlink(link, name, room - 1);
    if (length <= 0) {
        return false;
    }
    name[length] = 0;
    return true;
}

/* ---- files that are open at the beginning ---------------------------------------------------- */

struct scan {
    struct etwas_open_files *files;
    const struct etwas_event_group_host *host;
};

/* Descriptors that this scan of /proc has open itself. */
static bool is_of_scan(uint32_t process_id, const char *name)
{
    return process_id == (uint32_t)getpid() && strncmp(name, "/proc", strlen("/proc")) == 0;
}

static void emit_again(const struct etwas_event_group_host *host,
                       const struct etwas_open_file *file)
{
    if (file->has_name) {
        etwas_file_record_name(host, ETWAS_FILE_NAME_RUNDOWN, file->number, file->name);
    }
}

/* What is known from calls is right, even if /proc shows something else by now. */
static void find_file(const struct scan *scan, uint32_t process_id, uint32_t descriptor)
{
    char name[PATH_MAX];
    int64_t begin_ns = etwas_clock_qpc();
    struct etwas_open_file *file = etwas_open_files_find(scan->files, process_id, descriptor);

    if (file != NULL) {
        emit_again(scan->host, file);
        return;
    }
    if (!read_name(process_id, descriptor, name, sizeof name) || is_of_scan(process_id, name)) {
        return;
    }
    file = etwas_open_files_bind(scan->files, process_id, descriptor,
                                 etwas_open_files_number(scan->files), begin_ns);
    if (file != NULL) {
        file->since_ns = etwas_clock_qpc();
        file->name = strdup(name);
        file->has_name = file->name != NULL;
        etwas_open_file_stop_waiting(file);
        etwas_file_record_name(scan->host, ETWAS_FILE_NAME_RUNDOWN, file->number, name);
    }
}

static void find_files(void *context, uint32_t process_id)
{
    const struct scan *scan = context;
    char path[LONGEST_LINK];
    const struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/fd", process_id);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *end;
        unsigned long descriptor = strtoul(entry->d_name, &end, DECIMAL);

        if (end != entry->d_name && *end == 0 && descriptor <= INT_MAX) {
            find_file(scan, process_id, (uint32_t)descriptor);
            etwas_quiesce(scan->host->quiesce);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

void etwas_file_names_scan(struct etwas_open_files *files,
                           const struct etwas_event_group_host *host)
{
    struct scan scan = {files, host};

    if (etwas_proc_is_ours()) {
        (void)etwas_proc_list_processes(find_files, &scan);
    }
}

/* ---- files that are opened or used later ----------------------------------------------------- */

static void emit_name(const struct etwas_event_group_host *host, const struct etwas_open_file *file)
{
    etwas_file_record_name(host, ETWAS_FILE_NAME, file->number, file->name);
}

static void look_up_name(struct etwas_open_file *file)
{
    char name[PATH_MAX];

    if (etwas_proc_is_ours() && read_name(file->process_id, file->descriptor, name, sizeof name)) {
        file->name = strdup(name);
    }
    file->named_ns = etwas_clock_qpc();
    if (file->name == NULL) {
        etwas_open_file_stop_waiting(file);
    }
}

void etwas_file_names_drained(struct etwas_open_files *files,
                              const struct etwas_event_group_host *host, int64_t until_ns)
{
    struct etwas_open_file *file;

    while ((file = etwas_open_files_remove_closed(files)) != NULL) {
        emit_name(host, file);
        etwas_open_file_free(file);
    }
    file = files->waiting;
    while (file != NULL) {
        struct etwas_open_file *next = file->next_waiting;

        if (file->name == NULL) {
            look_up_name(file);
        } else if (file->named_ns <= until_ns) {
            file->has_name = true;
            etwas_open_file_stop_waiting(file);
            emit_name(host, file);
        }
        file = next;
    }
}

void etwas_file_names_emit(const struct etwas_open_files *files,
                           const struct etwas_event_group_host *host)
{
    for (const struct etwas_open_file *file = etwas_open_files_after(files, NULL); file != NULL;
         file = etwas_open_files_after(files, file)) {
        emit_again(host, file);
    }
}

/* ---- paths that calls were given ------------------------------------------------------------- */

static struct etwas_file_path *find_path(struct etwas_file_paths *paths, uint32_t thread)
{
    for (uint32_t index = 0; index < ETWAS_FILE_PATHS_KEPT; index++) {
        if (paths->kept[index].age != 0 && paths->kept[index].thread == thread) {
            return &paths->kept[index];
        }
    }
    return NULL;
}

static struct etwas_file_path *find_oldest(struct etwas_file_paths *paths)
{
    struct etwas_file_path *oldest = &paths->kept[0];

    for (uint32_t index = 1; index < ETWAS_FILE_PATHS_KEPT; index++) {
        oldest = paths->kept[index].age < oldest->age ? &paths->kept[index] : oldest;
    }
    return oldest;
}

void etwas_file_paths_store(struct etwas_file_paths *paths,
                            const struct etwas_process_record *process_record)
{
    struct etwas_file_path *path = find_path(paths, process_record->path.thread);

    if (path == NULL) {
        path = find_oldest(paths);
    }
    path->age = ++paths->puts;
    path->thread = process_record->path.thread;
    path->call = process_record->path.call;
    path->address = process_record->path.address;
    (void)snprintf(path->first, sizeof path->first, "%s", process_record->path.first);
    (void)snprintf(path->second, sizeof path->second, "%s",
                   process_record->path.second != NULL ? process_record->path.second : "");
}

const struct etwas_file_path *etwas_file_paths_find(struct etwas_file_paths *paths, uint32_t thread,
                                                    uint32_t call, uint64_t address)
{
    struct etwas_file_path *path = find_path(paths, thread);

    if (path == NULL) {
        return NULL;
    }
    path->age = 0;
    return path->call == call && path->address == address ? path : NULL;
}

void etwas_file_paths_clear(struct etwas_file_paths *paths)
{
    for (uint32_t index = 0; index < ETWAS_FILE_PATHS_KEPT; index++) {
        paths->kept[index].age = 0;
    }
}
