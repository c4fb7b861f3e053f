/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PROCESSES_H
#define ETWAS_TOOLS_PROCESSES_H

/*
 * What the processes of a trace are called, by the kernel's events about them. A process that runs
 * another program, or an id that is given again, has its last name.
 */

#include <etwas/decode.h>

enum {
    ETWAS_PROCESSES = 1 << 18, /* further ones have no name */
    ETWAS_PROCESSES_NAME_BYTES = 256,
};

struct etwas_processes {
    etwas_decoder *decoder;
    struct etwas_processes_entry *entries; /* a hash table, at most half full */
    uint32_t count;
    uint32_t capacity;
    bool out_of_memory;
};

/* False without memory. */
bool etwas_processes_open(struct etwas_processes *processes);

/* Learns of a record that is about a process (etwas_kernel_is_process). */
void etwas_processes_take(struct etwas_processes *processes, const EVENT_RECORD *record);

/* UTF-8, any characters; NULL: it is not known. */
const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process);

void etwas_processes_close(struct etwas_processes *processes);

#endif
