/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/memory_group.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    GROUP_BYTES = PATH_MAX + 64,
    PATH_BYTES = GROUP_BYTES + 64,
    PAUSE_US = 1000,
    TIMEOUT_US = 60000000,
};

static char around[PATH_MAX + 32]; /* the folder of the group that we came from */
static char group[GROUP_BYTES];
static bool is_version_1;

static bool write_to(const char *folder, const char *name, const char *text)
{
    char path[PATH_BYTES];
    int file;
    bool written;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = open(path, O_WRONLY | O_CLOEXEC);
    written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) {
        (void)close(file);
    }
    return written;
}

/* The number behind a word in a file of the group; "" is before the first. */
static uint64_t number_of(const char *name, const char *word)
{
    char path[PATH_BYTES];
    char line[128];
    uint64_t number = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", group, name);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0) {
            number = strtoull(line + strlen(word), NULL, 10);
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return number;
}

/* A line of /proc/self/cgroup. False: it is not of memory, or no group is granted there. */
static bool make_below(char *line, const char *limit)
{
    char *path = strstr(line, ":memory:/");

    line[strcspn(line, "\n")] = '\0';
    is_version_1 = path != NULL;
    if (is_version_1) {
        path += strlen(":memory:");
    } else if (strncmp(line, "0::", 3) == 0) {
        path = line + 3;
    } else {
        return false;
    }
    (void)snprintf(around, sizeof around, "/sys/fs/cgroup%s%s", is_version_1 ? "/memory" : "",
                   path);
    (void)snprintf(group, sizeof group, "%s/etwas-test-%d", around, (int)getpid());
    if (mkdir(group, 0777) != 0) {
        return false;
    }
    if (!write_to(group, is_version_1 ? "memory.limit_in_bytes" : "memory.max", limit)) {
        (void)rmdir(group);
        return false;
    }
    return true;
}

bool memory_group_make(uint64_t limit_bytes)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    char limit[32];
    bool is_made = false;

    (void)snprintf(limit, sizeof limit, "%" PRIu64, limit_bytes);
    while (file != NULL && !is_made && fgets(line, sizeof line, file) != NULL) {
        is_made = make_below(line, limit);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_made;
}

bool memory_group_enter(void)
{
    return write_to(group, "cgroup.procs", "0");
}

bool memory_group_leave(void)
{
    return write_to(around, "cgroup.procs", "0");
}

uint64_t memory_group_used_bytes(void)
{
    return number_of(is_version_1 ? "memory.usage_in_bytes" : "memory.current", "");
}

uint64_t memory_group_kills(void)
{
    return number_of(is_version_1 ? "memory.oom_control" : "memory.events", "oom_kill ");
}

/* The kernel lets go of a process that was waited for a moment later. */
bool memory_group_remove(void)
{
    for (uint32_t waited_us = 0; waited_us < TIMEOUT_US; waited_us += PAUSE_US) {
        if (rmdir(group) == 0) {
            return true;
        }
        (void)usleep(PAUSE_US);
    }
    return false;
}
