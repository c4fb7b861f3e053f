/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Paths that calls are given (path_probe.h), until the calls are told, which is right behind them: of a few threads at
 * once. Where there are more, the oldest gives way. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_PATHS_H
#define ETWAS_SYSTEM_NAMES_FILE_PATHS_H

#include <limits.h>

#include "system/stream/sample.h"

enum {
    ETWAS_FILE_PATHS_KEPT = 32
};

struct etwas_file_path {
    uint64_t age; /* 0: none */
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

/* In place of what is kept of its thread. */
void etwas_file_paths_store(struct etwas_file_paths *paths,
                            const struct etwas_process_record *process_record);

/* What a call was given of this number, whose first path is there; it is kept until the next put. NULL: not known. */
const struct etwas_file_path *etwas_file_paths_find(struct etwas_file_paths *paths, uint32_t thread,
                                                    uint32_t call, uint64_t address);

/* Nothing is kept any more. */
void etwas_file_paths_clear(struct etwas_file_paths *paths);

#endif
