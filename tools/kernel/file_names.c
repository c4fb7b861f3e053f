/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "kernel/file_names.h"

#include "math/array.h"
#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

struct etwas_file_name {
    struct etwas_file_name *next;
    char text[];
};

struct etwas_file_names_entry {
    const struct etwas_file_name *name;
    uint64_t file;
    uint32_t trace;
    bool is_path; /* a path as given to open, which may be relative */
};

/* Returns NULL if the file has no name. */
static struct etwas_file_names_entry *find_entry(const struct etwas_file_names *names,
                                                 uint32_t trace, uint64_t file)
{
    struct etwas_hash_place place;
    uint32_t number =
        etwas_hash_index_first(&names->places, etwas_hash_number(trace, file), &place);

    while (number != 0 &&
           (names->entries[number - 1].file != file || names->entries[number - 1].trace != trace)) {
        number = etwas_hash_index_next(&names->places, &place);
    }
    return number != 0 ? &names->entries[number - 1] : NULL;
}

static void add_entry(struct etwas_file_names *names, const struct etwas_file_names_entry *added)
{
    if (!etwas_array_reserve(&names->entries, &names->capacity, names->count + 1,
                             sizeof *names->entries) ||
        !etwas_hash_index_add(&names->places, etwas_hash_number(added->trace, added->file),
                              names->count + 1)) {
        names->out_of_memory = true;
        return;
    }
    names->entries[names->count++] = *added;
}

static struct etwas_file_name *keep_name(struct etwas_file_names *names, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct etwas_file_name *name;

    if (names->name_count == ETWAS_FILE_NAMES) {
        return NULL;
    }
    name = malloc(sizeof *name + bytes);
    if (name == NULL) {
        names->out_of_memory = true;
        return NULL;
    }
    memcpy(name->text, text, bytes);
    name->next = names->names;
    names->names = name;
    names->name_count++;
    return name;
}

/* Sets a file's name. The path with which a file was opened counts until its name is recorded. */
static void set_name(struct etwas_file_names *names, const struct etwas_file_names_entry *wanted,
                     const char *text, bool is_second)
{
    struct etwas_file_names_entry *entry = find_entry(names, wanted->trace, wanted->file);
    struct etwas_file_names_entry named = *wanted;

    if (entry != NULL && (wanted->is_path || !(is_second || entry->is_path) ||
                          strcmp(entry->name->text, text) == 0)) {
        return;
    }
    named.name = keep_name(names, text);
    if (named.name == NULL) {
        return;
    }
    if (entry != NULL) {
        *entry = named;
    } else {
        add_entry(names, &named);
    }
}

/* Reads a file's number and name. A deleted file has no number except that of the operation. */
static void read_name(const etwas_schema *schema, const EVENT_RECORD *record,
                      struct etwas_file_names_entry *wanted, char name[ETWAS_FILE_NAMES_BYTES])
{
    etwas_number file = {.u = 0};
    etwas_number operation = {.u = 0};
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token != ETWAS_TOKEN_VALUE) {
            continue;
        }
        if (strcmp(value.field->name, "FileObject") == 0) {
            (void)etwas_value_number(&value, &file);
        } else if (strcmp(value.field->name, "IrpPtr") == 0) {
            (void)etwas_value_number(&value, &operation);
            wanted->is_path = true;
        } else if (strcmp(value.field->name, "FileName") == 0 ||
                   strcmp(value.field->name, "OpenPath") == 0) {
            (void)etwas_value_text(&value, name, ETWAS_FILE_NAMES_BYTES);
        }
    }
    wanted->file = file.u != 0 ? file.u : operation.u;
    wanted->is_path |= name[0] != '/' && name[0] != '\\';
}

void etwas_file_names_add_record(struct etwas_file_names *names, uint32_t trace,
                                 const EVENT_RECORD *record, bool is_second)
{
    struct etwas_file_names_entry wanted = {.trace = trace};
    char name[ETWAS_FILE_NAMES_BYTES] = "";
    const etwas_schema *schema;

    if (etwas_decoder_schema(names->decoder, record, &schema) != ERROR_SUCCESS) {
        return;
    }
    read_name(schema, record, &wanted, name);
    if (wanted.file != 0 && name[0] != '\0') {
        set_name(names, &wanted, name, is_second);
    }
}

const char *etwas_file_names_find(const struct etwas_file_names *names, uint32_t trace,
                                  uint64_t file)
{
    const struct etwas_file_names_entry *entry = find_entry(names, trace, file);

    return entry != NULL ? entry->name->text : NULL;
}

bool etwas_file_names_open(struct etwas_file_names *names)
{
    *names = (struct etwas_file_names){.decoder = NULL};
    return etwas_decoder_open(&names->decoder) == ERROR_SUCCESS;
}

void etwas_file_names_close(struct etwas_file_names *names)
{
    while (names->names != NULL) {
        struct etwas_file_name *name = names->names;

        names->names = name->next;
        free(name);
    }
    free(names->entries);
    etwas_hash_index_clear(&names->places);
    etwas_decoder_close(names->decoder);
    *names = (struct etwas_file_names){.decoder = NULL};
}
