/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_FILE_NAMES_H
#define ETWAS_TOOLS_KERNEL_FILE_NAMES_H

/*
 * The names of files in traces, from the kernel's events about them (etwas_kernel_is_file_name), by
 * the number of a file in its trace. A file whose name no event contains has the path with which it
 * was opened.
 *
 * A name may be recorded after the events of its file, so records are added twice. In the first
 * reading of the traces the first name of each number counts. In the second, each name counts from
 * its record on.
 */

#include "math/hash_index.h"

#include <etwas/decode.h>

enum {
    ETWAS_FILE_NAMES = 1 << 18, /* further names are dropped */
    ETWAS_FILE_NAMES_BYTES = 4096,
};

struct etwas_file_names {
    etwas_decoder *decoder;
    struct etwas_file_names_entry *entries;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places; /* index of the entries */
    struct etwas_file_name *names;  /* list of all names */
    uint32_t name_count;
    bool out_of_memory;
};

/* Returns false without memory. */
bool etwas_file_names_open(struct etwas_file_names *names);

/* Adds a record of the trace with that number, in the first or second reading (`is_second`). */
void etwas_file_names_add_record(struct etwas_file_names *names, uint32_t trace,
                                 const EVENT_RECORD *record, bool is_second);

/*
 * Returns a name in UTF-8, which may contain any characters; NULL if it is not known. It is valid
 * until `names` is closed.
 */
const char *etwas_file_names_find(const struct etwas_file_names *names, uint32_t trace,
                                  uint64_t file);

void etwas_file_names_close(struct etwas_file_names *names);

#endif
