/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_names.h"

#include <stdio.h>

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
