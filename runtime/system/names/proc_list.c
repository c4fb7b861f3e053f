/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/proc_list.h"

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
    MOST_MAPS_BYTES = 64 << 20,
    FIRST_ROOM = 64,
    LEAVING = 4, /* the kernel's PF_EXITING */
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
static bool proc_list_has_ended(const char *folder, uint32_t thread_id, bool *is_leaving)
{
    char path[LONGEST_PATH];
    char stat[STAT_BYTES];
    const char *name_end;
    unsigned flags;
    char state;

    (void)snprintf(path, sizeof path, "%s/%u/stat", folder, thread_id);
    if (!etwas_this_machine.text(path, stat, sizeof stat)) {
        return true;
    }
    name_end = strrchr(stat, ')'); /* the name may contain any characters */
    if (name_end == NULL || sscanf(name_end, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2) {
        return true;
    }
    *is_leaving = (flags & LEAVING) != 0;
    return state == 'Z' || state == 'X';
}

/* Returns the next entry that is a number; 0: there is none. */
static uint32_t proc_list_next_number(DIR *folder)
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
    while ((process_id = proc_list_next_number(folder)) != 0) {
        each(context, process_id);
    }
    (void)closedir(folder);
    return true;
}

void etwas_proc_list_threads(uint32_t process_id, etwas_thread_callback *each, void *context)
{
    char path[LONGEST_PATH / 2];
    uint32_t thread_id;
    bool is_leaving;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/task", process_id);
    folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    while ((thread_id = proc_list_next_number(folder)) != 0) {
        if (!proc_list_has_ended(path, thread_id, &is_leaving)) {
            each(context, thread_id, is_leaving);
        }
    }
    (void)closedir(folder);
}

struct listing {
    etwas_listed_thread_callback *each;
    void *context;
    uint32_t process_id;
};

static void proc_list_thread(void *context, uint32_t thread_id, bool is_leaving)
{
    const struct listing *listing = context;

    listing->each(listing->context, listing->process_id, thread_id, is_leaving);
}

static void proc_list_process(void *context, uint32_t process_id)
{
    struct listing *listing = context;

    listing->process_id = process_id;
    etwas_proc_list_threads(process_id, proc_list_thread, listing);
}

bool etwas_proc_list_all_threads(uint32_t process_id, etwas_listed_thread_callback *each,
                                 void *context)
{
    struct listing listing = {.each = each, .context = context};

    if (!etwas_proc_is_ours()) {
        return false;
    }
    if (process_id == 0) {
        return etwas_proc_list_processes(proc_list_process, &listing);
    }
    proc_list_process(&listing, process_id);
    return true;
}

void etwas_proc_list_mappings(uint32_t process_id, void (*each)(void *context, char *line),
                              void *context)
{
    struct etwas_process_text maps = etwas_process_text_read(process_id, "maps", MOST_MAPS_BYTES);
    char *line = maps.text;

    while (line != NULL && *line != 0) {
        char *end = strchr(line, '\n');

        if (end != NULL) {
            *end = 0;
        }
        each(context, line);
        line = end != NULL ? end + 1 : NULL;
    }
    free(maps.text);
}

/* ---- the threads of this process ------------------------------------------------------------- */

static bool thread_list_has_room(struct etwas_thread_list *list)
{
    uint32_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    uint32_t *ids;

    if (list->count < list->room) {
        return true;
    }
    ids = realloc(list->ids, room * sizeof *ids);
    if (ids == NULL) {
        return false;
    }
    list->ids = ids;
    list->room = room;
    return true;
}

static void thread_list_add(void *context, uint32_t thread_id, bool is_leaving)
{
    struct etwas_thread_list *list = context;

    (void)is_leaving;
    if (thread_id == list->except) {
        return;
    }
    if (thread_list_has_room(list)) {
        list->ids[list->count++] = thread_id;
    } else {
        list->is_short = true;
    }
}

bool etwas_thread_list_read(struct etwas_thread_list *list)
{
    list->count = 0;
    list->is_short = false;
    if (!etwas_proc_is_ours()) {
        return false;
    }
    etwas_proc_list_threads((uint32_t)getpid(), thread_list_add, list);
    return !list->is_short;
}

bool etwas_thread_list_equals(const struct etwas_thread_list *left,
                              const struct etwas_thread_list *right)
{
    return left->count == right->count &&
           (left->count == 0 ||
            memcmp(left->ids, right->ids, left->count * sizeof *left->ids) == 0);
}

void etwas_thread_list_free(struct etwas_thread_list *list)
{
    free(list->ids);
    list->ids = NULL;
}
