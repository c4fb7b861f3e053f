/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A hash table of names: linear probing.
 */

#include "processes.h"

#include <stdlib.h>
#include <string.h>

struct etwas_processes_entry {
    char *name; /* NULL: the entry is free */
    uint32_t process;
};

static struct etwas_processes_entry *find(const struct etwas_processes *processes, uint32_t process)
{
    size_t mask = processes->capacity - 1;
    size_t at = (process * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (processes->entries[at].name != NULL && processes->entries[at].process != process) {
        at = (at + 1) & mask;
    }
    return &processes->entries[at];
}

static bool grow(struct etwas_processes *processes)
{
    struct etwas_processes larger = {.capacity =
                                         processes->capacity > 0 ? 2 * processes->capacity : 256};

    if (processes->count >= ETWAS_PROCESSES) {
        return false;
    }
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        processes->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < processes->capacity; i++) {
        if (processes->entries[i].name != NULL) {
            *find(&larger, processes->entries[i].process) = processes->entries[i];
        }
    }
    free(processes->entries);
    processes->entries = larger.entries;
    processes->capacity = larger.capacity;
    return true;
}

static void set_name(struct etwas_processes *processes, uint32_t process, const char *name)
{
    struct etwas_processes_entry *entry;
    char *copy;

    if (2 * processes->count >= processes->capacity && !grow(processes)) {
        return;
    }
    entry = find(processes, process);
    if (entry->name != NULL && strcmp(entry->name, name) == 0) {
        return;
    }
    copy = strdup(name);
    if (copy == NULL) {
        processes->out_of_memory = true;
        return;
    }
    processes->count += entry->name == NULL;
    free(entry->name);
    *entry = (struct etwas_processes_entry){copy, process};
}

void etwas_processes_take(struct etwas_processes *processes, const EVENT_RECORD *record)
{
    char name[ETWAS_PROCESSES_NAME_BYTES] = "";
    const etwas_schema *schema;
    etwas_number number = {.u = 0};
    etwas_fields fields;
    etwas_value value;

    if (etwas_decoder_schema(processes->decoder, record, &schema) != ERROR_SUCCESS) {
        return;
    }
    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token != ETWAS_TOKEN_VALUE) {
            continue;
        }
        if (strcmp(value.field->name, "ProcessId") == 0) {
            (void)etwas_value_number(&value, &number);
        } else if (strcmp(value.field->name, "ImageFileName") == 0) {
            (void)etwas_value_text(&value, name, sizeof name);
        }
    }
    if (name[0] != '\0') {
        set_name(processes, (uint32_t)number.u, name);
    }
}

const char *etwas_processes_name(const struct etwas_processes *processes, uint32_t process)
{
    return processes->capacity > 0 ? find(processes, process)->name : NULL;
}

bool etwas_processes_open(struct etwas_processes *processes)
{
    *processes = (struct etwas_processes){.decoder = NULL};
    return etwas_decoder_open(&processes->decoder) == ERROR_SUCCESS;
}

void etwas_processes_close(struct etwas_processes *processes)
{
    for (uint32_t i = 0; i < processes->capacity; i++) {
        free(processes->entries[i].name);
    }
    free(processes->entries);
    etwas_decoder_close(processes->decoder);
    *processes = (struct etwas_processes){.decoder = NULL};
}
