/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Paths that calls are given (path_probe.h), kept until their calls are handled, which is right
 * afterwards. Holds the paths of a few threads; when there are more, the oldest one is dropped. Not
 * thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_PATHS_H
#define ETWAS_SYSTEM_NAMES_FILE_PATHS_H

#include <limits.h>

#include "system/stream/sample.h"

enum {
    ETWAS_FILE_PATHS_KEPT = 32
};

struct etwas_file_path {
    uint64_t age; /* 0: the entry is free */
    uint32_t thread;
    uint32_t call;
    uint64_t address;
    char first[PATH_MAX];
    char second[PATH_MAX];
};

struct etwas_file_paths {
    uint64_t puts;
    struct etwas_file_path kept[ETWAS_FILE_PATHS_KEPT];
};

/* Stores the paths of a thread's call, and drops what is stored of the thread. */
void etwas_file_paths_store(struct etwas_file_paths *paths,
                            const struct etwas_process_record *process_record);

/*
 * Returns the paths of the thread's call, if its number and the address of its first path are
 * these. The result is valid until the next store. NULL: not known.
 */
const struct etwas_file_path *etwas_file_paths_find(struct etwas_file_paths *paths, uint32_t thread,
                                                    uint32_t call, uint64_t address);

/* Drops all paths. */
void etwas_file_paths_clear(struct etwas_file_paths *paths);

#endif
