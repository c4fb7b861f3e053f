/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_PROCESS_NAMES_H
#define ETWAS_TOOLS_TRACE_PROCESS_NAMES_H

/*
 * Names of processes that other files tell: those of the same command, and the file of the kernel's
 * events that `etwas record` wrote beside one of programs. Ids mean the same only on one machine
 * until it boots again, so each name has the time of the boot with it.
 */

#include "trace/input.h"

/* What one file tells, with times in nanoseconds since 1970. */
struct etwas_process_names_file;

struct etwas_process_names {
    struct etwas_process_names_file *files; /* that tell of processes */
    uint32_t count;
    size_t capacity;
    bool is_read;
    bool out_of_memory;
};

/* Reads the files, and those beside them, for names, the first time. */
void etwas_process_names_read(struct etwas_process_names *names, char *const *paths,
                              uint32_t count);

/*
 * Returns the name of the process of an id when an event of the input was logged; NULL: no other
 * file knows one that had begun and not ended.
 */
const char *etwas_process_names_find(const struct etwas_process_names *names,
                                     const struct etwas_input *input, const EVENT_RECORD *record,
                                     uint32_t process);

/* Frees them; they may be all zeroes. */
void etwas_process_names_free(struct etwas_process_names *names);

#endif
