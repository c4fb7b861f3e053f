/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Folders of log files.
 */

#include "files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    DESCRIPTORS_A_FILE = 2,  /* itself, and of a conversion the folder that is made of it */
    DESCRIPTORS_BESIDE = 64, /* of what a command opens besides */
};

static struct etwas_files *newest; /* of those that were read */

bool etwas_files_is_log(const char *name)
{
    static const char suffix[] = ".etl";
    size_t length = strlen(name);
    size_t name_end = length;

    while (name_end > 0 && name[name_end - 1] >= '0' && name[name_end - 1] <= '9') {
        name_end--;
    }
    if (name_end > 0 && name_end < length && name[name_end - 1] == '_') {
        length = name_end - 1;
    }
    return name[0] != '.' && length >= sizeof suffix &&
           memcmp(name + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

static int is_log_file(const struct dirent *entry)
{
    return etwas_files_is_log(entry->d_name);
}

/* As bytes, whatever the language is. */
static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* The path is theirs from here on. False without memory, as where it is NULL. */
static bool add(struct etwas_files *files, char *path)
{
    char **more = path != NULL ? realloc(files->paths, (files->count + 1) * sizeof *more) : NULL;

    if (more == NULL) {
        free(path);
        return false;
    }
    files->paths = more;
    files->paths[files->count++] = path;
    return true;
}

static bool add_folder(struct etwas_files *files, const char *folder, struct dirent *const *entries,
                       int count)
{
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";

    for (int i = 0; i < count; i++) {
        char *path = NULL;

        if (asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) < 0 || !add(files, path)) {
            return false;
        }
    }
    return true;
}

/* One argument. What is no folder, or none that can be read, is a file. */
static bool add_argument(struct etwas_files *files, const char *argument)
{
    struct dirent **entries = NULL;
    int count = scandir(argument, &entries, is_log_file, by_name);
    bool is_added =
        count > 0 ? add_folder(files, argument, entries, count) : add(files, strdup(argument));

    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    return is_added;
}

static void allow_descriptors(uint32_t files)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)files * DESCRIPTORS_A_FILE + DESCRIPTORS_BESIDE;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

const char *etwas_files_read(struct etwas_files *files, char *const *first, char *const *end,
                             uint32_t most)
{
    static char too_many[48];

    files->before = newest;
    newest = files;
    for (char *const *argument = first; argument < end; argument++) {
        if (!add_argument(files, *argument)) {
            return "not enough memory for so many files";
        }
    }
    if (files->count == 0) {
        return "which file?";
    }
    if (files->count > most) {
        (void)snprintf(too_many, sizeof too_many, "at most %u files at once", most);
        return too_many;
    }
    allow_descriptors(files->count);
    return NULL;
}

void etwas_files_free(void)
{
    for (; newest != NULL; newest = newest->before) {
        for (uint32_t i = 0; i < newest->count; i++) {
            free(newest->paths[i]);
        }
        free(newest->paths);
    }
}
