/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What events of a schema are called here: the category is the provider, the name what is behind
 * it.
 */

#include "convert/perfetto/perfetto.h"

#include "trace/span_name.h"

#include <etwas/tdh.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST_SCHEMAS = 64,
};

/* Where a text is made. */
static struct etwas_output *scratch(void)
{
    static struct etwas_output text;

    return etwas_output_anew(&text);
}

static struct etwas_perfetto_name *name_of(struct etwas_perfetto *perfetto,
                                           enum etwas_perfetto_kind kind,
                                           const struct etwas_output *text)
{
    struct etwas_perfetto_name *name =
        etwas_perfetto_name(&perfetto->names, kind, text->bytes, text->used_bytes);

    perfetto->convert->out_of_memory |= name == NULL;
    return name;
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct etwas_perfetto_name *make_event_name(struct etwas_perfetto *perfetto)
{
    const struct etwas_current_event *current = &perfetto->convert->current;
    struct etwas_event_string event = etwas_current_event_string(current, ETWAS_PROPERTY_EVENT);
    const EVENT_DESCRIPTOR *descriptor = &current->record->EventHeader.EventDescriptor;
    struct etwas_output *text = scratch();

    if (event.text != NULL && (current->schema_texts != NULL || !current->event.classic)) {
        etwas_text_utf8(text, ETWAS_TEXT_PLAIN, event.text, event.bytes);
        if (current->event.event_name.text != NULL) {
            etwas_output_text(text, etwas_schema_texts_opcode(descriptor->Opcode));
        }
    } else if (current->schema_texts != NULL) {
        etwas_output_char(text, current->event.classic ? '/' : '#');
        etwas_output_unsigned(text, current->event.classic ? descriptor->Opcode : descriptor->Id);
    } else {
        etwas_current_event_print_title(text, ETWAS_TEXT_PLAIN, current);
    }
    return name_of(perfetto, ETWAS_PERFETTO_EVENT_NAME, text);
}

static struct etwas_perfetto_name *make_category(struct etwas_perfetto *perfetto)
{
    struct etwas_event_string provider =
        etwas_current_event_string(&perfetto->convert->current, ETWAS_PROPERTY_PROVIDER);
    struct etwas_output *text = scratch();

    if (provider.text == NULL) {
        return NULL;
    }
    etwas_text_utf8(text, ETWAS_TEXT_PLAIN, provider.text, provider.bytes);
    return name_of(perfetto, ETWAS_PERFETTO_CATEGORY, text);
}

/* What `etwas spans` calls it, without the provider. */
static struct etwas_perfetto_name *make_span_name(struct etwas_perfetto *perfetto)
{
    const struct etwas_current_event *current = &perfetto->convert->current;
    char name[ETWAS_SPAN_NAME_BYTES];
    const char *provider =
        current->schema_texts != NULL ? current->schema_texts->schema->provider : "";
    size_t skipped = provider[0] != '\0' ? strlen(provider) + 1 : 0;
    struct etwas_output *text = scratch();

    etwas_span_name_make(name, current->schema_texts, current->record);
    if (skipped >= strlen(name)) {
        skipped = 0;
    }
    etwas_text_utf8(text, ETWAS_TEXT_PLAIN, name + skipped, strlen(name + skipped));
    return name_of(perfetto, ETWAS_PERFETTO_EVENT_NAME, text);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The second field of a name is NAME#2: its key in JSON is longer than its name. */
static struct etwas_perfetto_name *make_field_name(struct etwas_perfetto *perfetto,
                                                   const struct etwas_schema_texts *schema_texts,
                                                   uint32_t field)
{
    const char *name = schema_texts->schema->fields[field].name;
    struct etwas_kept_text key = schema_texts->fields[field].key;
    const char *inside = schema_texts->texts + key.at + strlen("\"");
    size_t inside_bytes = key.bytes - strlen("\"\":");
    struct etwas_output *text = scratch();
    size_t name_bytes;

    etwas_text_utf8(text, ETWAS_TEXT_JSON, name, strlen(name));
    name_bytes = text->used_bytes;
    text = scratch();
    etwas_text_utf8(text, ETWAS_TEXT_PLAIN, name, strlen(name));
    etwas_output_bytes(text, inside + name_bytes, inside_bytes - name_bytes);
    return name_of(perfetto, ETWAS_PERFETTO_ANNOTATION, text);
}

/* ---- what spans are called ------------------------------------------------------------------- */

/* Its number, which it keeps. What is one of too many is called so. */
static uint32_t class_of(struct etwas_perfetto *perfetto, const struct etwas_perfetto_name *span)
{
    static const char more[] = "more spans";
    bool is_full = perfetto->class_count >= ETWAS_PERFETTO_NAMES;
    struct etwas_perfetto_name *name =
        etwas_perfetto_name(&perfetto->class_names, ETWAS_PERFETTO_EVENT_NAME,
                            is_full ? more : span->text, is_full ? sizeof more - 1 : span->bytes);

    if (name != NULL && name->iid > perfetto->class_capacity) {
        uint32_t capacity = 2 * name->iid + FIRST_SCHEMAS;
        struct etwas_perfetto_name **larger = realloc(perfetto->classes, capacity * sizeof *larger);

        if (larger == NULL) {
            perfetto->convert->out_of_memory = true;
            return 0;
        }
        perfetto->classes = larger;
        perfetto->class_capacity = capacity;
    }
    if (name == NULL) {
        perfetto->convert->out_of_memory = true;
        return 0;
    }
    perfetto->classes[name->iid - 1] = name;
    perfetto->class_count = name->iid > perfetto->class_count ? name->iid : perfetto->class_count;
    return name->iid - 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct etwas_perfetto_schema *find_schema(const struct etwas_perfetto *perfetto,
                                                 const struct etwas_schema_texts *schema_texts)
{
    uint32_t mask = perfetto->schema_capacity - 1;
    uint32_t at =
        (uint32_t)(((uintptr_t)schema_texts >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    while (perfetto->schemas[at].schema_texts != NULL &&
           perfetto->schemas[at].schema_texts != schema_texts) {
        at = (at + 1) & mask;
    }
    return &perfetto->schemas[at];
}

static bool grow(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto larger = {.schema_capacity = perfetto->schema_capacity > 0
                                                           ? 2 * perfetto->schema_capacity
                                                           : FIRST_SCHEMAS};

    larger.schemas = calloc(larger.schema_capacity, sizeof *larger.schemas);
    if (larger.schemas == NULL) {
        perfetto->convert->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < perfetto->schema_capacity; i++) {
        if (perfetto->schemas[i].schema_texts != NULL) {
            *find_schema(&larger, perfetto->schemas[i].schema_texts) = perfetto->schemas[i];
        }
    }
    free(perfetto->schemas);
    perfetto->schemas = larger.schemas;
    perfetto->schema_capacity = larger.schema_capacity;
    return true;
}

/* What any event is called, with or without a schema. */
static bool fill_names(struct etwas_perfetto *perfetto, struct etwas_perfetto_schema *schema)
{
    schema->event = make_event_name(perfetto);
    schema->span = make_span_name(perfetto);
    schema->category = make_category(perfetto);
    if (schema->event == NULL || schema->span == NULL) {
        return false;
    }
    schema->span_class = class_of(perfetto, schema->span);
    return true;
}

static bool fill(struct etwas_perfetto *perfetto, struct etwas_perfetto_schema *schema,
                 const struct etwas_schema_texts *schema_texts)
{
    uint32_t count = schema_texts->schema->field_count;

    if (schema->fields == NULL) {
        schema->fields = calloc(count + 1, sizeof *schema->fields);
    }
    if (schema->fields == NULL) {
        perfetto->convert->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        schema->fields[i] = make_field_name(perfetto, schema_texts, i);
        if (schema->fields[i] == NULL) {
            return false;
        }
    }
    if (!fill_names(perfetto, schema)) {
        return false;
    }
    schema->is_counter = etwas_perfetto_is_counter(schema_texts->schema);
    schema->generation = perfetto->names.generation;
    return true;
}

const struct etwas_perfetto_schema *etwas_perfetto_schema(struct etwas_perfetto *perfetto)
{
    static struct etwas_perfetto_schema loose; /* of an event that nothing describes */
    const struct etwas_schema_texts *schema_texts = perfetto->convert->current.schema_texts;
    struct etwas_perfetto_schema *schema;

    if (schema_texts == NULL) {
        return fill_names(perfetto, &loose) ? &loose : NULL;
    }
    if (2 * perfetto->schema_count >= perfetto->schema_capacity && !grow(perfetto)) {
        return NULL;
    }
    schema = &perfetto->schemas[perfetto->schema_last];
    if (schema->schema_texts != schema_texts) {
        schema = find_schema(perfetto, schema_texts);
        perfetto->schema_last = (uint32_t)(schema - perfetto->schemas);
    }
    if (schema->schema_texts == NULL) {
        *schema = (struct etwas_perfetto_schema){.schema_texts = schema_texts};
        perfetto->schema_count++;
    }
    if (schema->generation != perfetto->names.generation && !fill(perfetto, schema, schema_texts)) {
        return NULL;
    }
    return schema;
}

void etwas_perfetto_schemas_close(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; i < perfetto->schema_capacity; i++) {
        free(perfetto->schemas[i].fields);
    }
    free(perfetto->schemas);
    free(perfetto->classes);
}
