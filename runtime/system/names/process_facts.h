/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What /proc says of a process now. The process may be anybody's: its name may contain any
 * characters, its command line may have any length. If a file cannot be read, the process is gone.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/names/bpf_probes.h"
#include "system/names/image_list.h"

enum {
    ETWAS_PROCESS_NAME_BYTES = 64, /* names of the kernel's workers are longer than others */
    ETWAS_COMMAND_LINE_BYTES = ETWAS_EXEC_MOST_BYTES + 1, /* longer ones are cut */
};

struct etwas_process_facts {
    uint32_t parent_id;
    uint32_t session_id;
    uint32_t user_id;    /* effective */
    uint64_t start_tick; /* since the system booted */
    char name[ETWAS_PROCESS_NAME_BYTES];
    bool has_no_answer; /* the command line could not be read in time (offload.h) */
    bool is_cut;        /* the command line is cut */
    char command_line[ETWAS_COMMAND_LINE_BYTES]; /* the arguments, separated by blanks */
};

/* Parses the text of `stat`. False: it has another form. */
bool etwas_process_parse_stat(const char *text, struct etwas_process_facts *facts);

/* Parses the text of `status`. */
bool etwas_process_parse_user(const char *text, uint32_t *user_id);

/*
 * Parses a line of `maps`, whose memory the path then uses. False: it is not an executable mapping.
 */
bool etwas_process_parse_mapping(char *line, struct etwas_mapping *mapping);

/* Returns the device of the mapped file; the line is not changed. */
uint64_t etwas_process_parse_device(const char *line);

/*
 * Joins arguments that each end with a 0 into one line, in place. There is room for one byte more.
 */
void etwas_process_join_arguments(char *text, size_t bytes);

/* Reads the beginning of a file of the process, and ends it with a 0. -1: there is no such file. */
ssize_t etwas_process_read_file(uint32_t process_id, const char *name, char *text, size_t room);

/* Reads everything but the command line. False: there is no such process. */
bool etwas_process_facts_read(uint32_t process_id, struct etwas_process_facts *facts);

/*
 * Reads the command line. False: there is no such process; one that has ended has an empty command
 * line. It is in the memory of the process, so reading it may block (proc_list.h).
 */
bool etwas_process_command_line_read(uint32_t process_id, struct etwas_process_facts *facts);

/* Calls `each` for every executable mapping of the process (process_mappings.c). */
void etwas_process_mappings(uint32_t process_id,
                            void (*each)(void *context, const struct etwas_mapping *mapping),
                            void *context);

#endif
