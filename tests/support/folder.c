/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/writer.h"

enum {
    PATH_BYTES = 512,
    PATHS = 64
};

void (*folder_let_go)(void);

static char folder[PATH_BYTES / 2];
static char paths[PATHS][PATH_BYTES];
static unsigned paths_used;

int folder_setup(void **state)
{
    const char *place = getenv("TMPDIR");

    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/etwas-test-XXXXXX", place != NULL ? place : "/tmp");
    paths_used = 0;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

int folder_in_memory(void **state)
{
    (void)state;
    return access("/dev/shm", W_OK) == 0 ? setenv("TMPDIR", "/dev/shm", 0) : 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

int folder_teardown(void **state)
{
    (void)state;
    if (folder_let_go != NULL) {
        folder_let_go();
    }
    writers_forget();
    return folder_remove(folder);
}

int folder_remove(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

uint32_t folder_count_shown(const char *path)
{
    DIR *list = opendir(path);
    const struct dirent *entry;
    uint32_t count = 0;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return count;
}

const char *folder_path(const char *name)
{
    char *path = paths[paths_used++ % PATHS];

    (void)snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

bool has_open(const char *path)
{
    char link[64];
    char target[512];

    for (int descriptor = 0; descriptor < 256; descriptor++) {
        ssize_t length;

        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        length = readlink(link, target, sizeof target - 1);
        if (length > 0) {
            target[length] = 0;
            if (strcmp(target, path) == 0) {
                return true;
            }
        }
    }
    return false;
}
