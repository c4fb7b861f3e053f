/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Names for the events of a schema. The category is the provider; the name is the rest of the
 * title.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "trace/span_name.h"

#include <etwas/tdh.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST_SCHEMAS = 64,
};

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
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);

    if (event.text != NULL && (current->schema_texts != NULL || !current->event.classic)) {
        etwas_text_utf8(text, ETWAS_TEXT_PLAIN, event.text, event.bytes);
        if (current->event.event_name.text != NULL) {
            etwas_schema_texts_print_opcode(text, descriptor->Opcode);
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
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);

    if (provider.text == NULL) {
        return NULL;
    }
    etwas_text_utf8(text, ETWAS_TEXT_PLAIN, provider.text, provider.bytes);
    return name_of(perfetto, ETWAS_PERFETTO_CATEGORY, text);
}

/* The name in `etwas spans`, without the provider. */
static struct etwas_perfetto_name *make_span_name(struct etwas_perfetto *perfetto)
{
    const struct etwas_current_event *current = &perfetto->convert->current;
    char name[ETWAS_SPAN_NAME_BYTES];
    const char *provider =
        current->schema_texts != NULL ? current->schema_texts->schema->provider : "";
    size_t skipped = provider[0] != '\0' ? strlen(provider) + 1 : 0;
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);

    etwas_span_name_make(name, current->schema_texts, current->record);
    if (skipped >= strlen(name)) {
        skipped = 0;
    }
    etwas_text_plain(text, name + skipped);
    return name_of(perfetto, ETWAS_PERFETTO_EVENT_NAME, text);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The second field with the same name is NAME#2. Its JSON key has the suffix, its name does not. */
static struct etwas_perfetto_name *make_field_name(struct etwas_perfetto *perfetto,
                                                   const struct etwas_schema_texts *schema_texts,
                                                   uint32_t field)
{
    const char *name = schema_texts->schema->fields[field].name;
    struct etwas_kept_text key = schema_texts->fields[field].key;
    const char *inside = schema_texts->texts + key.at + strlen("\"");
    size_t inside_bytes = key.bytes - strlen("\"\":");
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);
    size_t name_bytes;

    etwas_text_utf8(text, ETWAS_TEXT_JSON, name, strlen(name));
    name_bytes = text->used_bytes;
    etwas_output_anew(text);
    etwas_text_plain(text, name);
    etwas_output_bytes(text, inside + name_bytes, inside_bytes - name_bytes);
    return name_of(perfetto, ETWAS_PERFETTO_ANNOTATION, text);
}

/* ---- span classes ---------------------------------------------------------------------------- */

/* Returns the number of a span's name, which is permanent. Names beyond the limit share one. */
static uint32_t class_of(struct etwas_perfetto *perfetto, const struct etwas_perfetto_name *span)
{
    static const char more[] = "more spans";
    bool is_full = perfetto->class_count >= ETWAS_PERFETTO_NAMES;
    struct etwas_perfetto_name *name =
        etwas_perfetto_name(&perfetto->class_names, ETWAS_PERFETTO_EVENT_NAME,
                            is_full ? more : span->text, is_full ? sizeof more - 1 : span->bytes);

    if (name == NULL || !etwas_array_reserve(&perfetto->classes, &perfetto->class_capacity,
                                             name->iid, sizeof(struct etwas_perfetto_name *))) {
        perfetto->convert->out_of_memory = true;
        return 0;
    }
    perfetto->classes[name->iid - 1] = name;
    perfetto->class_count = name->iid > perfetto->class_count ? name->iid : perfetto->class_count;
    return name->iid - 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Returns the index of a schema, made if it is new; UINT32_MAX if memory runs out. */
static uint32_t schema_of(struct etwas_perfetto *perfetto,
                          const struct etwas_schema_texts *schema_texts)
{
    struct etwas_hash_place place;
    uint32_t number =
        etwas_hash_index_first(&perfetto->schema_places, (uintptr_t)schema_texts, &place);

    while (number != 0 && perfetto->schemas[number - 1].schema_texts != schema_texts) {
        number = etwas_hash_index_next(&perfetto->schema_places, &place);
    }
    if (number != 0) {
        return number - 1;
    }
    number = perfetto->schema_count + 1;
    if (!etwas_array_reserve(&perfetto->schemas, &perfetto->schema_capacity, number,
                             sizeof *perfetto->schemas) ||
        !etwas_hash_index_add(&perfetto->schema_places, (uintptr_t)schema_texts, number)) {
        perfetto->convert->out_of_memory = true;
        return UINT32_MAX;
    }
    perfetto->schemas[perfetto->schema_count++] =
        (struct etwas_perfetto_schema){.schema_texts = schema_texts};
    return number - 1;
}

/* Fills in the names that events have with or without a schema. */
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
    const struct etwas_schema_texts *schema_texts = perfetto->convert->current.schema_texts;
    struct etwas_perfetto_schema *schema;

    if (schema_texts == NULL) {
        return fill_names(perfetto, &perfetto->loose) ? &perfetto->loose : NULL;
    }
    if (perfetto->schema_count == 0 ||
        perfetto->schemas[perfetto->schema_last].schema_texts != schema_texts) {
        uint32_t found = schema_of(perfetto, schema_texts);

        if (found == UINT32_MAX) {
            return NULL;
        }
        perfetto->schema_last = found;
    }
    schema = &perfetto->schemas[perfetto->schema_last];
    if (schema->generation != perfetto->names.generation && !fill(perfetto, schema, schema_texts)) {
        return NULL;
    }
    return schema;
}

void etwas_perfetto_schemas_close(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; i < perfetto->schema_count; i++) {
        free(perfetto->schemas[i].fields);
    }
    free(perfetto->schemas);
    etwas_hash_index_clear(&perfetto->schema_places);
    free(perfetto->classes);
}
