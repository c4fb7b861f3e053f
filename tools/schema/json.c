/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes events and their fields as JSON objects, one event a line. */

#include "schema/schema.h"

#include "event/schema_texts.h"
#include "print/json.h"

#include <string.h>

enum {
    DEPTH = 32, /* nesting of structs */
};

static void put_fields(struct etwas_output *output, const etwas_schema *schema, uint32_t first,
                       uint32_t count, unsigned depth);

/*
 * Writes a count or length: a number, the name of the field that has it, or null if it precedes the
 * value itself.
 */
static void put_by(struct etwas_output *output, const etwas_schema *schema,
                   const EVENT_PROPERTY_INFO *info, const char *key, bool by_field, uint16_t value)
{
    const etwas_schema_field *by = by_field ? etwas_schema_field_at(schema, value) : NULL;

    if (!by_field) {
        etwas_json_number(output, key, value);
    } else if (by != NULL && by->info != info) {
        etwas_json_text(output, key, by->name);
    } else {
        etwas_json_null(output, key);
    }
}

static void put_map(struct etwas_output *output, const EVENT_MAP_INFO *map)
{
    if (map->MapEntryValueType != EVENTMAP_ENTRY_VALUETYPE_ULONG) {
        return;
    }
    etwas_json_array(output, "values");
    for (uint32_t i = 0; i < map->EntryCount; i++) {
        size_t units;
        const void *text = etwas_schema_entry_text(map, i, &units);

        etwas_json_array(output, NULL);
        etwas_json_number(output, NULL, map->MapEntryArray[i].Value);
        etwas_json_utf16(output, NULL, text, units);
        etwas_output_char(output, ']');
    }
    etwas_output_char(output, ']');
}

static void put_field(struct etwas_output *output, const etwas_schema *schema,
                      const etwas_schema_field *field, unsigned depth)
{
    const EVENT_PROPERTY_INFO *info = field->info;
    bool is_struct = (info->Flags & PropertyStruct) != 0;
    const char *out =
        is_struct ? ""
                  : etwas_schema_out_type(info->nonStructType.InType, info->nonStructType.OutType);

    etwas_json_object(output, NULL);
    etwas_json_text(output, "name", field->name);
    etwas_json_text(output, "type",
                    is_struct ? "struct" : etwas_schema_in_type(info->nonStructType.InType));
    if (out[0] != '\0') {
        etwas_json_text(output, "as", out);
    }
    if ((info->Flags & (PropertyParamCount | PropertyParamFixedCount)) != 0 || info->count != 1) {
        put_by(output, schema, info, "count", (info->Flags & PropertyParamCount) != 0, info->count);
    }
    if ((info->Flags & PropertyParamLength) != 0 || info->length != 0) {
        put_by(output, schema, info, "length", (info->Flags & PropertyParamLength) != 0,
               info->length);
    }
    if (field->map != NULL) {
        put_map(output, field->map);
    }
    if (is_struct && depth < DEPTH) {
        put_fields(output, schema, info->structType.StructStartIndex,
                   info->structType.NumOfStructMembers, depth + 1);
    }
    etwas_output_char(output, '}');
}

static void put_fields(struct etwas_output *output, const etwas_schema *schema, uint32_t first,
                       uint32_t count, unsigned depth)
{
    etwas_json_array(output, "fields");
    for (uint32_t i = first; i < first + count && i < schema->field_count; i++) {
        put_field(output, schema, &schema->fields[i], depth);
    }
    etwas_output_char(output, ']');
}

/* Begins an object. */
static void put_file(struct etwas_output *output, const char *path)
{
    etwas_json_begin(output, "schema");
    etwas_json_text(output, "file", path);
}

void etwas_schema_message_json(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, const char *path)
{
    put_file(output, path);
    etwas_json_guid(output, "event_class_id", guid);
    etwas_json_text(output, "source", "message");
    etwas_json_number(output, "message_id", number);
    etwas_json_text(output, "format", format);
    etwas_output_text(output, "}\n");
}

void etwas_schema_json(struct etwas_output *output, const etwas_schema *schema, const char *path)
{
    const EVENT_DESCRIPTOR *descriptor = &schema->info->EventDescriptor;

    put_file(output, path);
    etwas_json_text(output, "provider", schema->provider);
    etwas_json_key(output, "event");
    etwas_output_char(output, '"');
    (void)etwas_schema_texts_print_title(output, ETWAS_TEXT_JSON, schema);
    etwas_output_char(output, '"');
    etwas_json_guid(output, "event_class_id", &schema->info->ProviderGuid);
    etwas_json_text(output, "source", etwas_schema_source(schema));
    etwas_json_number(output, "event_id", descriptor->Id);
    etwas_json_number(output, "opcode", descriptor->Opcode);
    etwas_json_number(output, "level", descriptor->Level);
    etwas_json_number(output, "version", descriptor->Version);
    /* As in dump, the fields apply to all known versions. */
    if (schema->other_version) {
        etwas_json_null(output, "decoded_as_version");
    }
    etwas_json_bits(output, "keyword", descriptor->Keyword);
    put_fields(output, schema, 0, schema->info->TopLevelPropertyCount, 0);
    etwas_output_text(output, "}\n");
}
