/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_FILE_NAMES_H
#define ETWAS_TOOLS_KERNEL_FILE_NAMES_H

/*
 * What the files of traces are called, by the kernel's events that say so
 * (etwas_kernel_is_file_name): by the number that the trace has for a file. Where nothing says it,
 * it is called as somebody wrote who opened it.
 *
 * A name may be told behind the events of its file. So all are taken twice: when the traces are
 * read for the first time, where the first of each counts, and then, where each counts from its
 * place.
 */

#include <etwas/decode.h>

enum {
    ETWAS_FILE_NAMES = 1 << 18, /* further ones are not known */
    ETWAS_FILE_NAMES_BYTES = 4096,
};

struct etwas_file_names {
    etwas_decoder *decoder;
    struct etwas_file_names_entry *entries; /* a hash table, at most half full */
    struct etwas_file_name *names;          /* all that there were */
    uint32_t count;
    uint32_t capacity;
    uint32_t name_count;
    bool out_of_memory;
};

/* False without memory. */
bool etwas_file_names_open(struct etwas_file_names *names);

/* Learns of a record of the trace of that number, for the second time or the first. */
void etwas_file_names_add_record(struct etwas_file_names *names, uint32_t trace,
                                 const EVENT_RECORD *record, bool is_second);

/* UTF-8, any characters, until it is closed; NULL: it is not known. */
const char *etwas_file_names_find(const struct etwas_file_names *names, uint32_t trace,
                                  uint64_t file);

void etwas_file_names_close(struct etwas_file_names *names);

#endif
