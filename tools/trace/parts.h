/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_PARTS_H
#define ETWAS_TOOLS_TRACE_PARTS_H

/*
 * Which files of the command line are parts of one new-file set, and which parts are not among
 * them. Parts of one set have the name, the start and the clock of one session. Of what came after
 * the last part that is given nothing can be known, and one part alone says nothing about others.
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
 * Opens each file shortly; one that cannot be opened is in no set. False without memory. `paths`
 * must stay.
 */
bool etwas_parts_read(struct etwas_parts *parts, char *const *paths, uint32_t count);

/*
 * Goes to the next run of parts that are missing in the set of this file, given by its number on
 * the command line from 1: *first to *last. Begin with *last = 0. False: there are no more.
 */
bool etwas_parts_next_missing(const struct etwas_parts *parts, uint32_t file, uint32_t *first,
                              uint32_t *last);

/*
 * A number of what the open file tells of: the same for all snapshots of a session, for copies of
 * one of its files, and for what was recovered of it. Of those one alone counts: the one that tells
 * the most.
 */
uint64_t etwas_parts_place(const EVENT_TRACE_LOGFILEA *logfile,
                           const etwas_trace_information *information);

/*
 * The file that has all that this one has, since this one is a copy of it, or was one while it was
 * written; NULL: none.
 */
const char *etwas_parts_copied(const struct etwas_parts *parts, uint32_t file);

/* The last part in the set of this file; NULL: it is the last itself, or in no set. */
const char *etwas_parts_last(const struct etwas_parts *parts, uint32_t file);

void etwas_parts_free(struct etwas_parts *parts);

#endif
