/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_PROCESS_NAMES_H
#define ETWAS_TOOLS_TRACE_PROCESS_NAMES_H

/*
 * Process names from other files: those of the same command, and the file of kernel events that
 * `etwas record` wrote beside one of programs. An id has a meaning only on one machine until it
 * reboots, so each file is kept with the time of its boot.
 */

#include "trace/input.h"

/* The names in one file, with times in nanoseconds since 1970. */
struct etwas_process_names_file;

struct etwas_process_names {
    struct etwas_process_names_file *files; /* those that name processes */
    uint32_t count;
    size_t capacity;
    bool is_read;
    bool out_of_memory;
};

/* Reads the files, and those beside them, for names. Later calls do nothing. */
void etwas_process_names_read(struct etwas_process_names *names, char *const *paths,
                              uint32_t count);

/*
 * Returns the name of a process at the time of an event of the input; NULL if no other file has a
 * process of that id that was alive then.
 */
const char *etwas_process_names_find(const struct etwas_process_names *names,
                                     const struct etwas_input *input, const EVENT_RECORD *record,
                                     uint32_t process);

/* Frees them; they may be all zeroes. */
void etwas_process_names_free(struct etwas_process_names *names);

#endif
