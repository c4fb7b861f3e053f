/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of open files, as /proc shows them. A name is emitted when it is certain that it is the
 * file's: when all events up to the time at which it was read have been handled and the file is
 * still open.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_NAMES_H
#define ETWAS_SYSTEM_NAMES_FILE_NAMES_H

#include <limits.h>

#include "system/names/open_files.h"
#include "system/stream/event_group.h"
#include "system/stream/sample.h"

/* Finds all open files in /proc, and emits their names. */
void etwas_file_names_scan(struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

/*
 * All events up to this time have been handled: emits names that are certain now, and reads others.
 */
void etwas_file_names_drained(struct etwas_open_files *files,
                              const struct etwas_event_group_host *host, int64_t until_ns);

/* Emits the names of all open files. */
void etwas_file_names_emit(const struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

/*
 * Paths that calls are given (bpf_probes.h), kept until their calls are handled, shortly after.
 * Holds the paths of a few threads; when there are more, the oldest one is dropped. Not
 * thread-safe.
 */

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
