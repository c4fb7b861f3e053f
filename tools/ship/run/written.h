/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_WRITTEN_H
#define ETWAS_TOOLS_SHIP_RUN_WRITTEN_H

/* What is known about a file without reading its content. */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Returns whether a session writes the file. A session locks its file (flock), and the kernel
 * releases the lock with the process. So a file without an end that is not locked was left by a
 * process that died. A locked one is only idle.
 */
bool etwas_ship_is_written(const char *path);

/* Returns whether there is no file of this name. */
bool etwas_ship_is_missing(const char *path);

/* Returns whether it was written to in the last two seconds. */
bool etwas_ship_is_fresh(const char *path);

/* Returns whether it is a regular file, not a link to one, with its facts. */
bool etwas_ship_is_file(const char *path, struct stat *facts);

/*
 * Returns whether both are one file, perhaps under two names. One of them must be open, since the
 * inode number of a removed file may be reused.
 */
static inline bool etwas_ship_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

#endif
