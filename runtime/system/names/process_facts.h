/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What /proc says of a process now. The process is not trusted: its name may contain any
 * characters, its command line may have any length. If a file cannot be read, the process counts as
 * gone.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/names/bpf_probes.h"
#include "system/names/image_list.h"
#include "system/stream/kernel_record.h"

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

/* Parses the text of `stat`. Returns false if it has another form. */
bool etwas_process_parse_stat(const char *text, struct etwas_process_facts *facts);

/* Parses the text of `status`. */
bool etwas_process_parse_user(const char *text, uint32_t *user_id);

/*
 * Parses a line of `maps`, whose memory the path then uses. Returns false if it is not an
 * executable mapping.
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

/* Reads everything but the command line. Returns false if there is no such process. */
bool etwas_process_facts_read(uint32_t process_id, struct etwas_process_facts *facts);

/*
 * Reads the command line. Returns false if there is no such process; one that has ended has an
 * empty command line. It is in the memory of the process, so reading it may block (proc_list.h).
 */
bool etwas_process_command_line_read(uint32_t process_id, struct etwas_process_facts *facts);

/* Calls `each` for every executable mapping of the process (process_mappings.c). */
void etwas_process_mappings(uint32_t process_id,
                            void (*each)(void *context, const struct etwas_mapping *mapping),
                            void *context);

/*
 * What a process has used, as ETW's PerfCtr: from /proc while it lives; after its end from what the
 * kernel reported of its threads (processes.h), which is less.
 */

struct etwas_process_counters {
    uint64_t page_faults;
    uint64_t peak_virtual_bytes;
    uint64_t peak_resident_bytes;
    uint64_t characters_read; /* by system calls */
    uint64_t characters_written;
    uint64_t bytes_read; /* from and to disks */
    uint64_t bytes_written;

    /* Known only while the process lives. */
    uint64_t virtual_bytes;
    uint64_t resident_bytes;
    uint64_t anonymous_bytes; /* of these, not of a file */
    uint64_t swapped_bytes;
    uint32_t handles;
};

/* In Reserved: the counters of some threads are missing. */
#define ETWAS_COUNTERS_INCOMPLETE 1

/*
 * Parse the texts of `stat`, `status` and `io`; values that a text does not contain are not
 * changed.
 */
void etwas_process_parse_faults(const char *text, struct etwas_process_counters *counters);
void etwas_process_parse_memory(const char *text, struct etwas_process_counters *counters);
void etwas_process_parse_io(const char *text, struct etwas_process_counters *counters);

/*
 * Reads the counters of a process. Returns false if there is no such process. What the caller may
 * not read is 0.
 */
bool etwas_process_counters_read(uint32_t process_id, struct etwas_process_counters *counters);

/* Adds the counters of another thread. */
void etwas_process_counters_add(struct etwas_process_counters *sum,
                                const struct etwas_process_counters *counters);

/* Returns the record as etwas_record_builder_end does; its thread is not set yet. */
const void *etwas_process_counters_make(struct etwas_record_builder *record, uint8_t type,
                                        uint32_t process_id,
                                        const struct etwas_process_counters *counters,
                                        bool is_incomplete);

#endif
