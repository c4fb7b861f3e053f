/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PARTS_H
#define ETWAS_TOOLS_PARTS_H

/*
 * Which files of the command line are parts of one new-file set, and which parts are not among them.
 * Parts of one set have the name, the start and the clock of one session. Of what came after the last
 * part that is given nothing can be known, and one part alone says nothing about others.
 */

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

/* The last part in the set of this file; NULL: it is the last itself, or in no set. */
const char *etwas_parts_last(const struct etwas_parts *parts, uint32_t file);

void etwas_parts_free(struct etwas_parts *parts);

#endif
