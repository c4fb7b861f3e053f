/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Makes the texts of a schema, and finds which of its fields are requested. */

#include "event/schema_texts.h"

#include "math/array.h"
#include "print/text.h"

#include <etwas/winmeta.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* The texts of one schema while they are made. */
struct texts {
    char *bytes;
    size_t used;
    size_t capacity;
    bool failed;
    struct etwas_output made; /* the current text, whose length is not known yet */
};

static void keep_bytes(struct texts *texts, const char *bytes, size_t count,
                       struct etwas_kept_text *kept)
{
    if (!etwas_array_reserve(&texts->bytes, &texts->capacity,
                             texts->used + count + ETWAS_SCHEMA_TEXTS_PIECE, 1)) {
        texts->failed = true;
        return;
    }
    *kept = (struct etwas_kept_text){texts->used, count};
    memcpy(texts->bytes + texts->used, bytes, count);
    texts->used += count;
}

/* Keeps the text that was made, and begins the next. */
static void keep_made(struct texts *texts, struct etwas_kept_text *kept)
{
    keep_bytes(texts, texts->made.bytes, texts->made.used_bytes, kept);
    texts->made.used_bytes = 0;
}

void etwas_schema_texts_print_opcode(struct etwas_output *output, uint8_t opcode)
{
    switch (opcode) {
    case 0:
        break;
    case WINEVENT_OPCODE_START:
        etwas_output_text(output, "/Start");
        break;
    case WINEVENT_OPCODE_STOP:
        etwas_output_text(output, "/Stop");
        break;
    default:
        etwas_output_char(output, '/');
        etwas_output_unsigned(output, opcode);
        break;
    }
}

size_t etwas_schema_texts_print_title(struct etwas_output *made, enum etwas_text_style style,
                                      const etwas_schema *schema)
{
    const EVENT_DESCRIPTOR *descriptor = &schema->info->EventDescriptor;
    const char *slash = strrchr(schema->event, '/');
    bool is_tlg = schema->info->DecodingSource == DecodingSourceTlg;
    size_t class_bytes;

    if (schema->provider[0] != '\0') {
        etwas_text_utf8(made, style, schema->provider, strlen(schema->provider));
    } else if (schema->event[0] == '\0') {
        etwas_text_guid(made, &schema->info->ProviderGuid);
    }
    class_bytes = made->used_bytes;
    if (class_bytes > 0) {
        etwas_output_char(made, '/');
    }
    if (schema->event[0] != '\0') {
        class_bytes = made->used_bytes + (slash != NULL && !is_tlg ? (size_t)(slash - schema->event)
                                                                   : strlen(schema->event));
        etwas_text_utf8(made, style, schema->event, strlen(schema->event));
        etwas_schema_texts_print_opcode(made, is_tlg ? descriptor->Opcode : 0);
    } else if (schema->info->DecodingSource == DecodingSourceWbem) {
        etwas_output_unsigned(made, descriptor->Opcode);
    } else {
        etwas_output_char(made, '#');
        etwas_output_unsigned(made, descriptor->Id);
    }
    return class_bytes;
}

static void keep_title(struct texts *texts, struct etwas_schema_texts *schema_texts)
{
    (void)etwas_schema_texts_print_title(&texts->made, ETWAS_TEXT_WORD, schema_texts->schema);
    keep_made(texts, &schema_texts->title);
    schema_texts->class_bytes =
        etwas_schema_texts_print_title(&texts->made, ETWAS_TEXT_RAW, schema_texts->schema);
    keep_made(texts, &schema_texts->name);
}

/* Writes a name in the syntax of --where, which quotes names with spaces. */
static void put_name(struct etwas_output *made, const char *name)
{
    bool quoted = strchr(name, ' ') != NULL && strchr(name, '`') == NULL;

    etwas_output_text(made, quoted ? "`" : "");
    etwas_text_utf8(made, quoted ? ETWAS_TEXT_PLAIN : ETWAS_TEXT_WORD, name, strlen(name));
    etwas_output_text(made, quoted ? "`" : "");
}

/* `number`: how many earlier fields of the same struct have the same name. */
static void keep_field(struct texts *texts, struct etwas_schema_texts_field *field,
                       const char *name, uint32_t number)
{
    struct etwas_output *made = &texts->made;

    put_name(made, name);
    etwas_output_char(made, '=');
    keep_made(texts, &field->label);
    etwas_output_char(made, '"');
    etwas_text_utf8(made, ETWAS_TEXT_JSON, name, strlen(name));
    if (number > 0) {
        etwas_output_char(made, '_');
        etwas_output_unsigned(made, number + 1);
    }
    etwas_output_text(made, "\":");
    keep_made(texts, &field->key);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* A field, its struct, and how many earlier fields of that struct have the same name. */
struct relation {
    const char *name;
    uint32_t field;
    uint32_t parent; /* NO_PARENT: it is in no struct */
    uint32_t number;
};

#define NO_PARENT UINT32_MAX

enum {
    FULL_BYTES = 1024,
    FULL_DEPTH = 128,  /* nesting of structs; the decoder allows less */
    NUMBER_BYTES = 16, /* at least for _4294967295 and its 0 */
};

static int compare_relations(const void *left, const void *right)
{
    const struct relation *a = left;
    const struct relation *b = right;
    int order = strcmp(a->name, b->name);

    if (order != 0) {
        return order;
    }
    if (a->parent != b->parent) {
        return a->parent < b->parent ? -1 : 1;
    }
    return a->field < b->field ? -1 : 1;
}

static int compare_fields(const void *left, const void *right)
{
    const struct relation *a = left;
    const struct relation *b = right;

    return a->field < b->field ? -1 : a->field > b->field;
}

static void find_parents(const etwas_schema *schema, struct relation *relations)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        relations[i] = (struct relation){schema->fields[i].name, i, NO_PARENT, 0};
    }
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const EVENT_PROPERTY_INFO *info = schema->fields[i].info;
        uint32_t first = info->structType.StructStartIndex;
        uint32_t count = info->structType.NumOfStructMembers;

        for (uint32_t k = first;
             (info->Flags & PropertyStruct) != 0 && k < first + count && k < schema->field_count;
             k++) {
            relations[k].parent = i;
        }
    }
}

/* Returns whether the path denotes the field. */
static bool is_at(const struct etwas_field_path *path, const struct relation *relations,
                  uint32_t field)
{
    size_t end = path->bytes;

    for (;;) {
        size_t bytes = strlen(relations[field].name) + 1;

        if (bytes > end || memcmp(path->text + end - bytes, relations[field].name, bytes) != 0) {
            return false;
        }
        end -= bytes;
        if (end == 0 || relations[field].parent == NO_PARENT) {
            return end == 0 && relations[field].parent == NO_PARENT;
        }
        field = relations[field].parent;
    }
}

/*
 * Appends a name, with its number if others have the same name. Cuts a long name between
 * characters.
 */
static size_t append_own(char text[FULL_BYTES], size_t used, const struct relation *relation)
{
    size_t bytes =
        etwas_text_cut(relation->name, strnlen(relation->name, FULL_BYTES - NUMBER_BYTES - used));

    memcpy(text + used, relation->name, bytes);
    used += bytes;
    if (relation->number > 0) {
        used += (size_t)snprintf(text + used, NUMBER_BYTES, "_%" PRIu32, relation->number + 1);
    }
    return used;
}

/* Keeps STRUCT.MEMBER, and sets own_at to where the member begins. */
static void keep_full(struct texts *texts, struct etwas_schema_texts_field *field,
                      const struct relation *relations, uint32_t index)
{
    uint32_t chain[FULL_DEPTH];
    uint32_t depth = 0;
    char text[FULL_BYTES];
    size_t used = 0;

    for (uint32_t i = index; i != NO_PARENT && depth < FULL_DEPTH; i = relations[i].parent) {
        chain[depth++] = i;
    }
    while (depth > 0 && used < FULL_BYTES - 2 * NUMBER_BYTES) {
        field->own_at = used;
        used = append_own(text, used, &relations[chain[--depth]]);
        if (depth > 0) {
            text[used++] = '.';
        }
    }
    keep_bytes(texts, text, used, &field->full);
}

/* Writes STRUCT.MEMBER, or nothing if it is too long. */
static void write_path(char text[ETWAS_FIELD_PATH_BYTES], const struct relation *relations,
                       uint32_t field)
{
    char reversed[ETWAS_FIELD_PATH_BYTES];
    size_t at = sizeof reversed - 1;

    reversed[at] = '\0';
    for (uint32_t i = field; i != NO_PARENT; i = relations[i].parent) {
        size_t bytes = strlen(relations[i].name);

        if (bytes + 1 > at) {
            return;
        }
        if (i != field) {
            reversed[--at] = '.';
        }
        at -= bytes;
        memcpy(reversed + at, relations[i].name, bytes);
    }
    memcpy(text, reversed + at, sizeof reversed - at);
}

/* Remembers a field whose name is the last part of the path, ignoring case. */
static void note_alike(struct etwas_field_path *path, const struct relation *relations,
                       uint32_t field)
{
    const char *last = path->text + path->bytes - 1;

    while (last > path->text && last[-1] != '\0') {
        last--;
    }
    if (path->alike[0] == '\0' && strcasecmp(last, relations[field].name) == 0) {
        write_path(path->alike, relations, field);
    }
}

/* Arrays of addresses are not included: they are stacks, and shown as such. */
static bool is_code(const etwas_schema_field *field)
{
    static const char *const names[] = {"InstructionPointer", "ProgramCounter", "Routine",
                                        "RoutineAddr",        "StartAddr",      "Win32StartAddr"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(field->name, names[i]) == 0) {
            return field->info->nonStructType.InType == TDH_INTYPE_POINTER;
        }
    }
    return false;
}

static enum etwas_field_kind kind_of(const etwas_schema *schema, const etwas_schema_field *field)
{
    if ((field->info->Flags & PropertyStruct) != 0) {
        return ETWAS_FIELD_PLAIN;
    }
    if (field->info->nonStructType.OutType == TDH_OUTTYPE_ETWTIME) {
        return ETWAS_FIELD_TIME;
    }
    if (strcmp(schema->provider, "MSNT_SystemTrace") != 0) {
        return ETWAS_FIELD_PLAIN;
    }
    if (strcmp(field->name, "Offset") == 0 && strncmp(schema->event, "FileIo/", 7) == 0) {
        return ETWAS_FIELD_PLACE;
    }
    return is_code(field) ? ETWAS_FIELD_CODE : ETWAS_FIELD_PLAIN;
}

static uint32_t path_of(struct etwas_field_paths *paths, const struct relation *relations,
                        uint32_t field)
{
    for (uint32_t i = 0; i < paths->count; i++) {
        if (is_at(&paths->paths[i], relations, field)) {
            paths->paths[i].met = true;
            return paths->paths[i].is_wanted ? i : ETWAS_FIELD_PATH_NONE;
        }
        note_alike(&paths->paths[i], relations, field);
    }
    return ETWAS_FIELD_PATH_NONE;
}

static bool describe_fields(struct etwas_schema_texts *schema_texts, struct texts *texts,
                            struct etwas_field_paths *paths)
{
    const etwas_schema *schema = schema_texts->schema;
    struct relation *relations = calloc(schema->field_count + 1, sizeof *relations);

    if (relations == NULL) {
        return false;
    }
    find_parents(schema, relations);
    qsort(relations, schema->field_count, sizeof *relations, compare_relations);
    for (uint32_t i = 1; i < schema->field_count; i++) {
        if (strcmp(relations[i].name, relations[i - 1].name) == 0 &&
            relations[i].parent == relations[i - 1].parent) {
            relations[i].number = relations[i - 1].number + 1;
        }
    }
    qsort(relations, schema->field_count, sizeof *relations, compare_fields);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        keep_field(texts, &schema_texts->fields[i], relations[i].name, relations[i].number);
        keep_full(texts, &schema_texts->fields[i], relations, i);
        schema_texts->fields[i].kind = kind_of(schema, &schema->fields[i]);
        schema_texts->has_times |= schema_texts->fields[i].kind == ETWAS_FIELD_TIME;
        schema_texts->has_code |= schema_texts->fields[i].kind == ETWAS_FIELD_CODE;
        schema_texts->fields[i].path = path_of(paths, relations, i);
        schema_texts->asked_for |= schema_texts->fields[i].path != ETWAS_FIELD_PATH_NONE;
    }
    free(relations);
    return !texts->failed;
}

struct etwas_schema_texts *etwas_schema_texts_make(const etwas_schema *schema,
                                                   struct etwas_field_paths *paths)
{
    struct etwas_schema_texts *schema_texts =
        calloc(1, sizeof *schema_texts + schema->field_count * sizeof schema_texts->fields[0]);
    struct texts texts = {.bytes = NULL};
    bool is_made;

    if (schema_texts == NULL) {
        return NULL;
    }
    schema_texts->schema = schema;
    keep_title(&texts, schema_texts);
    is_made = describe_fields(schema_texts, &texts, paths) && !texts.failed;
    etwas_output_free(&texts.made);
    if (!is_made) {
        free(texts.bytes);
        free(schema_texts);
        return NULL;
    }
    schema_texts->texts = texts.bytes;
    return schema_texts;
}

void etwas_schema_texts_free(struct etwas_schema_texts *schema_texts)
{
    if (schema_texts != NULL) {
        free(schema_texts->texts);
    }
    free(schema_texts);
}
