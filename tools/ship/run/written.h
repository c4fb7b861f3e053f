/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_WRITTEN_H
#define ETWAS_TOOLS_SHIP_RUN_WRITTEN_H

/*
 * What can be told of a file without what is in it.
 */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Does a session write it? It has a lock on its file (flock), which the kernel lets go with the
 * process: a file without an end that nobody has locked is of a process that died, while one that
 * is locked is only idle.
 */
bool etwas_ship_is_written(const char *path);

/* It is not there. */
bool etwas_ship_is_missing(const char *path);

/* It was written to in the last two seconds. */
bool etwas_ship_is_fresh(const char *path);

/* A regular file, not a link to one; its facts. */
bool etwas_ship_is_file(const char *path, struct stat *facts);

/*
 * One file, perhaps under two names; while one of them is open, since a file that is made later may
 * get its number.
 */
static inline bool etwas_ship_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

#endif
