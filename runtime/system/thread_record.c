/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/thread_record.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/machine.h"

enum {
    GROUP_THREAD = 0x05,
    CLASS_VERSION = 3,
    LONGEST_PATH = 64,
    STAT_BYTES = 512,
    DECIMAL = 10,
};

struct etwas_thread_record etwas_thread_record_make(enum etwas_thread_record_type type,
                                                    uint32_t process_id, uint32_t thread_id,
                                                    uint32_t by_process_id, uint32_t by_thread_id)
{
    return (struct etwas_thread_record){
        .header = {.version = CLASS_VERSION,
                   .header_type = ETWAS_ETL_SYSTEM64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .size = sizeof(struct etwas_thread_record),
                   .type = (uint8_t)type,
                   .group = GROUP_THREAD,
                   .thread_id = by_thread_id,
                   .process_id = by_process_id},
        .process_id = process_id,
        .thread_id = thread_id,
    };
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

static uint32_t number_of(const struct dirent *entry)
{
    char *end;
    unsigned long number = strtoul(entry->d_name, &end, DECIMAL);

    return *end == 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void list_process(uint32_t process_id,
                         void (*each)(void *context, uint32_t process_id, uint32_t thread_id),
                         void *context)
{
    char path[LONGEST_PATH / 2];
    const struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/task", process_id);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        uint32_t thread_id = number_of(entry);

        if (thread_id != 0 && !has_ended(path, thread_id)) {
            each(context, process_id, thread_id);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

void etwas_threads_list(void (*each)(void *context, uint32_t process_id, uint32_t thread_id),
                        void *context)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        uint32_t process_id = number_of(entry);

        if (process_id != 0) {
            list_process(process_id, each, context);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}
