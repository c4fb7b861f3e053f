/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What /proc says of a process now. Its files are of processes that may be anybody's: a name has any
 * letters, a command line any length. What cannot be read is not there any more.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/names/exec_probe.h"
#include "system/names/image_list.h"

enum {
    ETWAS_PROCESS_NAME_BYTES = 64, /* a worker of the kernel's has more letters than others */
    ETWAS_COMMAND_LINE_BYTES = ETWAS_EXEC_MOST_BYTES + 1, /* what is longer is cut */
};

struct etwas_process_facts {
    uint32_t parent_id;
    uint32_t session_id;
    uint32_t user_id;    /* effective */
    uint64_t start_tick; /* since the system booted */
    char name[ETWAS_PROCESS_NAME_BYTES];
    bool has_no_answer;                          /* nobody answers what the command line is */
    bool is_cut;                                 /* the command line */
    char command_line[ETWAS_COMMAND_LINE_BYTES]; /* arguments with blanks between them */
};

/* Of the text of `stat`. False: it is another. */
bool etwas_process_parse_stat(const char *text, struct etwas_process_facts *facts);

/* Of the text of `status`. */
bool etwas_process_parse_user(const char *text, uint32_t *user_id);

/* Of a line of `maps`, which becomes the path's memory. False: nothing that is run. */
bool etwas_process_parse_mapping(char *line, struct etwas_mapping *mapping);

/* Which device's file it is; the line is left as it is. */
uint64_t etwas_process_parse_device(const char *line);

/* Arguments with a 0 behind each become a line, in place; there is room for one byte more. */
void etwas_process_join_arguments(char *text, size_t bytes);

/* The beginning of a process's file, with a 0 behind it; -1: there is none. */
ssize_t etwas_process_read_file(uint32_t process_id, const char *name, char *text, size_t room);

/* All but the command line. False: there is no such process. */
bool etwas_process_facts_read(uint32_t process_id, struct etwas_process_facts *facts);

/*
 * The command line. False: there is no such process; one that has ended has an empty one. It is in the
 * memory of the process, which may be hard to come by (process_text.h).
 */
bool etwas_process_command_line_read(uint32_t process_id, struct etwas_process_facts *facts);

/* Calls `each` for what the process can run code from: process_mappings.c. */
void etwas_process_mappings(uint32_t process_id,
                            void (*each)(void *context, const struct etwas_mapping *mapping),
                            void *context);

#endif
