/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes events and their fields as an indented list. */

#include "schema/schema.h"

#include "event/schema_texts.h"

#include <string.h>

enum {
    DEPTH = 32, /* nesting of structs */
};

static void indent(struct etwas_output *output, unsigned depth)
{
    for (unsigned i = 0; i < 2 * depth; i++) {
        etwas_output_char(output, ' ');
    }
}

/*
 * Writes [4], [Count] for a field's value, [] for a count in the payload, or [*] for as many as
 * there are.
 */
static void put_count(struct etwas_output *output, const etwas_schema *schema,
                      const EVENT_PROPERTY_INFO *info)
{
    if ((info->Flags & PropertyParamCount) != 0) {
        const etwas_schema_field *by = etwas_schema_field_at(schema, info->countPropertyIndex);

        etwas_output_char(output, '[');
        etwas_text_plain(output, by == NULL ? "*" : by->info != info ? by->name : "");
        etwas_output_char(output, ']');
    } else if (info->count != 1 || (info->Flags & PropertyParamFixedCount) != 0) {
        etwas_output_char(output, '[');
        etwas_output_unsigned(output, info->count);
        etwas_output_char(output, ']');
    }
}

static void put_length(struct etwas_output *output, const etwas_schema *schema,
                       const EVENT_PROPERTY_INFO *info)
{
    const etwas_schema_field *by = etwas_schema_field_at(schema, info->lengthPropertyIndex);

    if ((info->Flags & PropertyParamLength) != 0 && by != NULL && by->info != info) {
        etwas_output_text(output, " of length ");
        etwas_text_plain(output, by->name);
    }
}

static void put_map(struct etwas_output *output, const EVENT_MAP_INFO *map)
{
    const char *before = "  { ";

    if (map->MapEntryValueType != EVENTMAP_ENTRY_VALUETYPE_ULONG) {
        return;
    }
    for (uint32_t i = 0; i < map->EntryCount; i++) {
        size_t units;
        const void *text = etwas_schema_entry_text(map, i, &units);

        etwas_output_text(output, before);
        etwas_output_unsigned(output, map->MapEntryArray[i].Value);
        etwas_output_char(output, ' ');
        etwas_text_utf16(output, ETWAS_TEXT_PLAIN, text, units);
        before = ", ";
    }
    if (map->EntryCount > 0) {
        etwas_output_text(output, " }");
    }
}

static void put_type(struct etwas_output *output, const etwas_schema *schema,
                     const etwas_schema_field *field)
{
    const EVENT_PROPERTY_INFO *info = field->info;
    const char *out;

    if ((info->Flags & PropertyStruct) != 0) {
        etwas_output_text(output, "struct");
        put_count(output, schema, info);
        return;
    }
    out = etwas_schema_out_type(info->nonStructType.InType, info->nonStructType.OutType);
    etwas_output_text(output, etwas_schema_in_type(info->nonStructType.InType));
    put_count(output, schema, info);
    put_length(output, schema, info);
    if (out[0] != '\0') {
        etwas_output_text(output, " as ");
        etwas_output_text(output, out);
    }
    if (field->map != NULL) {
        put_map(output, field->map);
    }
}

static size_t widest(const etwas_schema *schema, uint32_t first, uint32_t count)
{
    size_t width = 0;

    for (uint32_t i = first; i < first + count && i < schema->field_count; i++) {
        size_t bytes = strlen(schema->fields[i].name);

        width = bytes > width ? bytes : width;
    }
    return width < 40 ? width : 40;
}

static void put_fields(struct etwas_output *output, const etwas_schema *schema, uint32_t first,
                       uint32_t count, unsigned depth)
{
    size_t width = widest(schema, first, count);

    for (uint32_t i = first; i < first + count && i < schema->field_count; i++) {
        const etwas_schema_field *field = &schema->fields[i];

        indent(output, depth);
        etwas_text_plain(output, field->name);
        for (size_t bytes = strlen(field->name); bytes < width + 2; bytes++) {
            etwas_output_char(output, ' ');
        }
        put_type(output, schema, field);
        etwas_output_char(output, '\n');
        if ((field->info->Flags & PropertyStruct) != 0 && depth < DEPTH) {
            put_fields(output, schema, field->info->structType.StructStartIndex,
                       field->info->structType.NumOfStructMembers, depth + 1);
        }
    }
}

static void put_id(struct etwas_output *output, const char *before, const char *what, uint32_t id)
{
    etwas_output_format(output, "%s%s %u", before, what, (unsigned)id);
}

/*
 * Writes what distinguishes the event from others. A self-describing event has an id only if it
 * states one.
 */
static void put_ids(struct etwas_output *output, const etwas_schema *schema)
{
    const EVENT_DESCRIPTOR *descriptor = &schema->info->EventDescriptor;
    bool describes_itself = schema->info->DecodingSource == DecodingSourceTlg;
    const char *before = schema->event[0] != '\0' ? "  " : "";

    if (describes_itself) {
        etwas_schema_texts_print_opcode(output, descriptor->Opcode);
    }
    if (schema->info->DecodingSource == DecodingSourceWbem) {
        put_id(output, before, "type", descriptor->Opcode);
        before = " ";
    } else if (!describes_itself || descriptor->Id != 0) {
        put_id(output, before, "id", descriptor->Id);
        before = " ";
    }
    if (descriptor->Version != 0) {
        put_id(output, before, "version", descriptor->Version);
    }
    if (schema->other_version) {
        etwas_output_text(output, ", not known: what all known ones have in common");
    }
}

void etwas_schema_text(struct etwas_output *output, const etwas_schema *schema,
                       const etwas_schema *previous)
{
    const etwas_guid *guid = &schema->info->ProviderGuid;

    if (previous == NULL || strcmp(previous->provider, schema->provider) != 0 ||
        memcmp(&previous->info->ProviderGuid, guid, sizeof *guid) != 0) {
        etwas_output_char(output, '\n');
        etwas_text_plain(output, schema->provider);
        etwas_output_text(output, schema->provider[0] != '\0' ? "  " : "");
        etwas_text_guid(output, guid);
        etwas_output_char(output, '\n');
    }
    indent(output, 1);
    etwas_text_plain(output, schema->event);
    put_ids(output, schema);
    etwas_output_char(output, '\n');
    put_fields(output, schema, 0, schema->info->TopLevelPropertyCount, 2);
}

void etwas_schema_message_text(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, bool is_first)
{
    if (is_first) {
        etwas_output_char(output, '\n');
        etwas_text_guid(output, guid);
        etwas_output_char(output, '\n');
    }
    indent(output, 1);
    etwas_output_format(output, "message:%u  \"", (unsigned)number);
    etwas_text_utf8(output, ETWAS_TEXT_QUOTED, format, strlen(format));
    etwas_output_text(output, "\"\n");
}
