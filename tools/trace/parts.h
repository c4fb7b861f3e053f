/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_PARTS_H
#define ETWAS_TOOLS_TRACE_PARTS_H

/*
 * Which files of the command line are parts of one new-file set, and which parts are missing. Parts
 * of one set have the same session name, start and clock. Parts after the last one given cannot be
 * noticed, and a single part says nothing about others.
 */

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_parts {
    struct etwas_parts_file *files;
    uint32_t count;
};

/*
 * Opens each file briefly; one that cannot be opened belongs to no set. `paths` must outlive
 * `parts`, which the caller frees. Returns false without memory.
 */
bool etwas_parts_read(struct etwas_parts *parts, char *const *paths, uint32_t count);

/*
 * Finds the next run of missing parts in the set of a file, and sets *first and *last. `file` is
 * its number on the command line, from 1. Start with *last = 0. Returns false if there are no more.
 */
bool etwas_parts_next_missing(const struct etwas_parts *parts, uint32_t file, uint32_t *first,
                              uint32_t *last);

/*
 * Returns a number that is the same for all snapshots of a session, for copies of one of its files,
 * and for what was recovered of it. Only the one of them with the most information counts.
 */
uint64_t etwas_parts_place(const EVENT_TRACE_LOGFILEA *logfile,
                           const etwas_trace_information *information);

/*
 * Returns the file that contains all of this file, which is a copy or an earlier state of it; NULL
 * if there is none.
 */
const char *etwas_parts_copied(const struct etwas_parts *parts, uint32_t file);

/*
 * Returns the last part in the set of a file; NULL if that is the file itself, or it is in no set.
 */
const char *etwas_parts_last(const struct etwas_parts *parts, uint32_t file);

void etwas_parts_free(struct etwas_parts *parts);

#endif
