/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/proc_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/machine.h"

enum {
    LONGEST_PATH = 64,
    STAT_BYTES = 512,
    DECIMAL = 10,
};

bool etwas_proc_is_ours(void)
{
    char here[LONGEST_PATH];
    ssize_t length = readlink("/proc/self", here, sizeof here - 1);

    if (length <= 0) {
        return false;
    }
    here[length] = 0;
    return strtol(here, NULL, DECIMAL) == (long)getpid();
}

/* A thread that has ended stays in /proc until it is waited for. */
static bool has_ended(const char *folder, uint32_t thread_id)
{
    char path[LONGEST_PATH];
    char stat[STAT_BYTES];
    const char *name_end;

    (void)snprintf(path, sizeof path, "%s/%u/stat", folder, thread_id);
    if (!etwas_machine_here.text(path, stat, sizeof stat)) {
        return true;
    }
    name_end = strrchr(stat, ')'); /* the name may have any letters */
    return name_end == NULL || strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0;
}

/* The next entry that is a number; 0: there is none. */
static uint32_t next_number(DIR *folder)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, DECIMAL);

        if (*end == 0 && number != 0 && number <= UINT32_MAX) {
            return (uint32_t)number;
        }
    }
    return 0;
}

bool etwas_proc_list_processes(void (*each)(void *context, uint32_t process_id), void *context)
{
    DIR *folder = opendir("/proc");
    uint32_t process_id;

    if (folder == NULL) {
        return false;
    }
    while ((process_id = next_number(folder)) != 0) {
        each(context, process_id);
    }
    (void)closedir(folder);
    return true;
}

void etwas_proc_list_threads(uint32_t process_id, void (*each)(void *context, uint32_t thread_id),
                             void *context)
{
    char path[LONGEST_PATH / 2];
    uint32_t thread_id;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/task", process_id);
    folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    while ((thread_id = next_number(folder)) != 0) {
        if (!has_ended(path, thread_id)) {
            each(context, thread_id);
        }
    }
    (void)closedir(folder);
}

void etwas_proc_list_mappings(uint32_t process_id, void (*each)(void *context, char *line),
                              void *context)
{
    char path[LONGEST_PATH];
    char *line = NULL;
    size_t room = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%u/maps", process_id);
    file = fopen(path, "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        each(context, line);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
}
