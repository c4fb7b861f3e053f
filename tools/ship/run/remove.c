/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Between a check of a file and its removal, another file may get its name. So the file is renamed
 * first, to a name that no other process uses, and checked there. If it is another file, it gets
 * its name back. The temporary name is that of a log file, so that the file is found if the process
 * is killed meanwhile.
 */

#include "ship/run/remove.h"

#include "cli/files.h"
#include "ship/run/written.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static bool is_as_told(const char *path, const struct stat *told)
{
    struct stat facts;

    return etwas_ship_is_file(path, &facts) && etwas_ship_is_same(&facts, told) &&
           facts.st_size == told->st_size && facts.st_mtim.tv_sec == told->st_mtim.tv_sec &&
           facts.st_mtim.tv_nsec == told->st_mtim.tv_nsec;
}

/* Renames a file without replacing another. */
static bool rename_to(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

bool etwas_ship_remove(const char *path, const struct stat *facts)
{
    char aside[PATH_MAX];
    int folder_bytes = (int)(etwas_files_name(path) - path);

    if (!is_as_told(path, facts)) {
        errno = 0;
        return false;
    }
    if (snprintf(aside, sizeof aside, "%.*sgoing-%ld.etl", folder_bytes, path, (long)getpid()) >=
        (int)sizeof aside) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!rename_to(path, aside)) {
        return false;
    }
    if (is_as_told(aside, facts) && !etwas_ship_is_written(aside)) {
        return unlink(aside) == 0;
    }
    /* If its name is taken by now, it keeps the new one. */
    (void)rename_to(aside, path);
    errno = 0;
    return false;
}
