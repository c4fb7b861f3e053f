/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_ENTRIES_H
#define ETWAS_TOOLS_SHIP_RUN_ENTRIES_H

/*
 * The log files of a folder, in the order in which the spool's limit removes them: those that have
 * arrived first, then the oldest.
 */

#include "ship/run/sources.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    ETWAS_SHIP_ENTRIES = 65536 /* of a larger folder, any of its files */
};

struct etwas_ship_entry {
    char *path;
    struct stat facts;
    bool is_finished; /* finished in this run, */
    bool has_arrived; /* and all of it has arrived */
};

struct etwas_ship_entries {
    struct etwas_ship_entry *list;
    uint32_t count;
    uint64_t bytes; /* of all files, in the list or not */
    const struct etwas_ship_sources *sources;
};

/*
 * `sources` say which are finished; NULL: unknown. Returns false if there is not enough memory, or
 * the folder cannot be read.
 */
bool etwas_ship_entries_read(struct etwas_ship_entries *entries, const char *folder,
                             const struct etwas_ship_sources *sources);
void etwas_ship_entries_free(struct etwas_ship_entries *entries);

#endif
