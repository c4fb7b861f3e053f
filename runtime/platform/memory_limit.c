/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_BYTES = 2 * PATH_MAX
};

/* A hierarchy of control groups, as /proc/self/mountinfo shows it. */
struct hierarchy {
    bool is_version_1;
    char group[PATH_MAX]; /* the topmost visible group */
    char mount[PATH_MAX]; /* its mount point */
};

static FILE *memory_limit_open_below(const char *root, const char *path)
{
    char whole[PATH_BYTES];

    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= PATH_BYTES) {
        return NULL;
    }
    return fopen(whole, "re");
}

/* "cpu,memory" names "memory". */
static bool memory_limit_names_memory(const char *list)
{
    static const char word[] = "memory";
    const size_t length = sizeof word - 1;

    while (strncmp(list, word, length) != 0 || (list[length] != ',' && list[length] != '\0')) {
        list = strchr(list, ',');
        if (list == NULL) {
            return false;
        }
        list++;
    }
    return true;
}

/* Reads one line of mountinfo. Returns false if it is no hierarchy with limits of memory. */
static bool memory_limit_read_mount(char *line, struct hierarchy *hierarchy)
{
    const char *filesystem = strstr(line, " - ");
    char type[16];
    char options[256];

    if (filesystem == NULL || sscanf(filesystem, " - %15s %*s %255s", type, options) != 2 ||
        sscanf(line, "%*s %*s %*s %4095s %4095s", hierarchy->group, hierarchy->mount) != 2) {
        return false;
    }
    hierarchy->is_version_1 = strcmp(type, "cgroup") == 0;
    return hierarchy->mount[0] == '/' &&
           (strcmp(type, "cgroup2") == 0 ||
            (hierarchy->is_version_1 && memory_limit_names_memory(options)));
}

/* Finds the process's group in a hierarchy; "" if it has none. `line` receives the text. */
static const char *memory_limit_find_group(const char *root, bool is_version_1, char **line,
                                           size_t *bytes)
{
    FILE *file = memory_limit_open_below(root, "/proc/self/cgroup");
    const char *group = "";

    while (file != NULL && *group == '\0' && getline(line, bytes, file) > 0) {
        char *controllers = strchr(*line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

        if (path == NULL) {
            continue;
        }
        *path = '\0';
        controllers++;
        if (is_version_1 ? memory_limit_names_memory(controllers) : *controllers == '\0') {
            path[1 + strcspn(path + 1, "\n")] = '\0';
            group = path + 1;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return group;
}

/* A group without a limit has no number in its file, or one that exceeds any memory. */
static uint64_t memory_limit_of(const char *folder, bool is_version_1)
{
    FILE *file =
        memory_limit_open_below(folder, is_version_1 ? "/memory.limit_in_bytes" : "/memory.max");
    unsigned long long limit;

    if (file == NULL) {
        return UINT64_MAX;
    }
    if (fscanf(file, "%llu", &limit) != 1) {
        limit = ULLONG_MAX;
    }
    (void)fclose(file);
    return limit;
}

/*
 * Returns the lowest limit from the process's group up to the topmost visible one. A group that is
 * not visible, because a namespace begins elsewhere, counts as the topmost.
 */
static uint64_t memory_limit_least(const char *root, const struct hierarchy *hierarchy,
                                   const char *group)
{
    char folder[PATH_BYTES];
    size_t hidden = strcmp(hierarchy->group, "/") != 0 ? strlen(hierarchy->group) : 0;
    size_t top = strlen(root) + strlen(hierarchy->mount);
    uint64_t least = UINT64_MAX;

    if (strncmp(group, hierarchy->group, hidden) != 0 ||
        (group[hidden] != '/' && group[hidden] != '\0')) {
        hidden = strlen(group);
    }
    if (snprintf(folder, sizeof folder, "%s%s%s", root, hierarchy->mount, group + hidden) >=
        PATH_BYTES) {
        return least;
    }
    while (strlen(folder) >= top) {
        uint64_t limit = memory_limit_of(folder, hierarchy->is_version_1);

        least = limit < least ? limit : least;
        *strrchr(folder, '/') = '\0';
    }
    return least;
}

uint64_t etwas_control_group_limit_bytes(const char *root)
{
    FILE *mounts = memory_limit_open_below(root, "/proc/self/mountinfo");
    uint64_t least = UINT64_MAX;
    struct hierarchy hierarchy;
    char *line = NULL;
    size_t bytes = 0;

    while (mounts != NULL && getline(&line, &bytes, mounts) > 0) {
        uint64_t limit;

        if (!memory_limit_read_mount(line, &hierarchy)) {
            continue;
        }
        limit = memory_limit_least(
            root, &hierarchy, memory_limit_find_group(root, hierarchy.is_version_1, &line, &bytes));
        least = limit < least ? limit : least;
    }
    free(line);
    if (mounts != NULL) {
        (void)fclose(mounts);
    }
    return least;
}

uint64_t etwas_memory_limit_bytes(void)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t groups = etwas_control_group_limit_bytes("");

    return (groups < memory ? groups : memory) / 2;
}
