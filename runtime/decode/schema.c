/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/schema.h"

#include <stdlib.h>
#include <string.h>

#include "decode/text_writer.h"
#include "etl/utf16.h"

enum {
    HEAD_BYTES = offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray),
};

/* ---- strings --------------------------------------------------------------------------------- */

/* An aligned copy of the TRACE_EVENT_INFO that is checked. */
struct schema_source {
    const TRACE_EVENT_INFO *info;
    size_t bytes;
};

/*
 * Returns the number of units before the 0 of the string at `offset`; -1: there is no string, or it
 * does not end within `limit_units`.
 */
static int32_t schema_string_units(const struct schema_source *source, uint32_t offset,
                                   size_t limit_units)
{
    const uint8_t *base = (const uint8_t *)source->info;
    size_t most;
    size_t units;

    if (offset < HEAD_BYTES || offset % 2 != 0 || offset >= source->bytes) {
        return -1;
    }
    most = (source->bytes - offset) / 2;
    most = most < limit_units ? most : limit_units;
    units = etwas_utf16_length((const etwas_wchar *)(const void *)(base + offset), most);
    return units < most ? (int32_t)units : -1;
}

static bool schema_is_string(const struct schema_source *source, uint32_t offset)
{
    return offset == 0 || schema_string_units(source, offset, SIZE_MAX) >= 0;
}

static bool schema_is_name(const struct schema_source *source, uint32_t offset)
{
    return offset == 0 || schema_string_units(source, offset, ETWAS_SCHEMA_NAME_UNITS) >= 0;
}

/* Whether there is a list of strings at `offset`, the last of which is empty. */
static bool schema_is_list(const struct schema_source *source, uint32_t offset)
{
    int32_t units = 1;

    while (offset != 0 && units > 0) {
        units = schema_string_units(source, offset, SIZE_MAX);
        offset += 2 * ((uint32_t)units + 1);
    }
    return units >= 0;
}

static bool schema_head_is_sound(const struct schema_source *source)
{
    const TRACE_EVENT_INFO *info = source->info;
    const uint32_t names[] = {
        info->ProviderNameOffset, info->LevelNameOffset,       info->ChannelNameOffset,
        info->TaskNameOffset,     info->OpcodeNameOffset,      info->EventMessageOffset,
        info->EventNameOffset,    info->ProviderMessageOffset, info->EventAttributesOffset};

    if (info->PropertyCount > ETWAS_SCHEMA_PROPERTIES ||
        info->PropertyCount > (source->bytes - HEAD_BYTES) / sizeof(EVENT_PROPERTY_INFO) ||
        info->TopLevelPropertyCount > info->PropertyCount ||
        info->BinaryXMLOffset > source->bytes ||
        info->BinaryXMLSize > source->bytes - info->BinaryXMLOffset) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!schema_is_string(source, names[i])) {
            return false;
        }
    }
    return schema_is_list(source, info->KeywordsNameOffset);
}

/* Whether there is a custom schema at `offset`: a u16 protocol, a u16 size, and that many bytes. */
static bool schema_is_custom_schema(const struct schema_source *source, uint32_t offset)
{
    uint16_t bytes;

    if (offset == 0) {
        return true;
    }
    if (offset < HEAD_BYTES || offset > source->bytes || source->bytes - offset < 4) {
        return false;
    }
    memcpy(&bytes, (const uint8_t *)source->info + offset + 2, sizeof bytes);
    return bytes <= source->bytes - offset - 4;
}

static bool schema_properties_are_sound(const struct schema_source *source)
{
    for (uint32_t i = 0; i < source->info->PropertyCount; i++) {
        const EVENT_PROPERTY_INFO *property = &source->info->EventPropertyInfoArray[i];
        bool sound = schema_is_name(source, property->NameOffset);

        if ((property->Flags & PropertyHasCustomSchema) != 0) {
            sound = sound &&
                    schema_is_custom_schema(source, property->customSchemaType.CustomSchemaOffset);
        } else if ((property->Flags & PropertyStruct) == 0) {
            sound = sound && schema_is_name(source, property->nonStructType.MapNameOffset);
        }
        if (!sound) {
            return false;
        }
    }
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/*
 * UTF-8 strings one after the other, each with its 0. If `bytes` is NULL, they are only measured.
 */
struct schema_names {
    char *bytes;
    size_t count;
    size_t room;
};

static struct etwas_text_writer schema_begin_name(const struct schema_names *names)
{
    return names->bytes == NULL
               ? etwas_text_begin(NULL, 0)
               : etwas_text_begin(names->bytes + names->count, names->room - names->count);
}

static const char *schema_end_name(struct schema_names *names, struct etwas_text_writer *text)
{
    const char *name = names->bytes == NULL ? "" : names->bytes + names->count;

    etwas_text_end(text, names->bytes == NULL ? 0 : names->room - names->count);
    names->count += text->length + 1;
    return name;
}

/* Writes a string without the blanks at the end of message strings. */
static void schema_write_string(struct etwas_text_writer *text, const struct schema_source *source,
                                uint32_t offset)
{
    const uint8_t *base = (const uint8_t *)source->info;

    if (offset != 0) {
        const etwas_wchar *string = (const etwas_wchar *)(const void *)(base + offset);
        size_t units = (size_t)schema_string_units(source, offset, SIZE_MAX);

        while (units > 0 && string[units - 1] == ' ') {
            units--;
        }
        etwas_text_put_utf16(text, string, units);
    }
}

static const char *schema_name_of(struct schema_names *names, const struct schema_source *source,
                                  uint32_t offset)
{
    struct etwas_text_writer text = schema_begin_name(names);

    schema_write_string(&text, source, offset);
    return schema_end_name(names, &text);
}

/*
 * Events of TraceLogging, and some of manifests, have a name. Others are called TASK/OPCODE. Opcode
 * 0, which manifests call Info, is also the opcode of events that state none, so it is left out.
 */
static const char *schema_event_of(struct schema_names *names, const struct schema_source *source)
{
    const TRACE_EVENT_INFO *info = source->info;
    struct etwas_text_writer text = schema_begin_name(names);
    bool has_opcode = info->OpcodeNameOffset != 0 &&
                      (info->DecodingSource == DecodingSourceWbem || info->TaskNameOffset == 0 ||
                       info->EventDescriptor.Opcode != 0);

    if (info->DecodingSource != DecodingSourceWbem && info->EventNameOffset != 0) {
        schema_write_string(&text, source, info->EventNameOffset);
        return schema_end_name(names, &text);
    }
    schema_write_string(&text, source, info->TaskNameOffset);
    if (has_opcode) {
        if (info->TaskNameOffset != 0) {
            etwas_text_put(&text, "/", 1);
        }
        schema_write_string(&text, source, info->OpcodeNameOffset);
    }
    return schema_end_name(names, &text);
}

static void schema_write_names(struct schema_names *names, const struct schema_source *source,
                               etwas_schema *schema, etwas_schema_field *fields)
{
    const char *provider = schema_name_of(names, source, source->info->ProviderNameOffset);
    const char *event = schema_event_of(names, source);

    for (uint32_t i = 0; i < source->info->PropertyCount; i++) {
        const EVENT_PROPERTY_INFO *property = &source->info->EventPropertyInfoArray[i];
        const char *name = schema_name_of(names, source, property->NameOffset);

        if (fields != NULL) {
            fields[i] = (etwas_schema_field){.name = name, .info = property};
        }
    }
    if (schema != NULL) {
        schema->provider = provider;
        schema->event = event;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool schema_field_has_map(const EVENT_PROPERTY_INFO *property)
{
    return (property->Flags & (PropertyStruct | PropertyHasCustomSchema)) == 0 &&
           property->nonStructType.MapNameOffset != 0;
}

static uint32_t schema_count_maps(const TRACE_EVENT_INFO *info)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < info->PropertyCount; i++) {
        count += schema_field_has_map(&info->EventPropertyInfoArray[i]);
    }
    return count;
}

/* The offsets of the parts in the allocation. */
struct schema_layout {
    size_t fields;
    size_t steps;
    size_t map_fields;
    size_t info;
    size_t names;
    size_t bytes;
};

static size_t schema_aligned(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static struct schema_layout schema_layout_of(const struct schema_source *source, size_t names)
{
    uint32_t count = source->info->PropertyCount;
    struct schema_layout layout = {.fields = schema_aligned(sizeof(struct etwas_stored_schema))};

    layout.map_fields = layout.fields + count * sizeof(etwas_schema_field);
    layout.steps =
        layout.map_fields + schema_count_maps(source->info) * sizeof(struct etwas_map_field);
    layout.info = schema_aligned(layout.steps + count * sizeof(struct etwas_read_step));
    layout.names = layout.info + source->bytes;
    layout.bytes = layout.names + names;
    return layout;
}

static void schema_list_maps(struct etwas_stored_schema *stored)
{
    for (uint32_t i = 0; i < stored->exact.field_count; i++) {
        if (schema_field_has_map(stored->fields[i].info)) {
            stored->map_fields[stored->map_field_count++].field = &stored->fields[i];
        }
    }
}

static uint32_t schema_assemble(const struct schema_source *checked, size_t name_bytes,
                                struct etwas_stored_schema **result)
{
    const struct schema_layout layout = schema_layout_of(checked, name_bytes);
    uint8_t *block = calloc(1, layout.bytes);
    struct etwas_stored_schema *stored = (void *)block;
    struct etwas_read_step *steps;
    struct schema_source source;
    struct schema_names names = {.room = name_bytes};

    if (block == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(block + layout.info, checked->info, checked->bytes);
    source = (struct schema_source){(const void *)(block + layout.info), checked->bytes};
    stored->bytes = (uint32_t)layout.bytes;
    stored->fields = (void *)(block + layout.fields);
    stored->map_fields = (void *)(block + layout.map_fields);
    stored->exact = (etwas_schema){
        .info = source.info,
        .info_bytes = (uint32_t)source.bytes,
        .field_count = source.info->PropertyCount,
        .fields = stored->fields,
        .plan = &stored->plan,
    };
    names.bytes = (char *)block + layout.names;
    schema_write_names(&names, &source, &stored->exact, stored->fields);
    stored->other = stored->exact;
    stored->other.other_version = true;
    steps = (void *)(block + layout.steps);
    stored->plan = (struct etwas_plan){.top = source.info->TopLevelPropertyCount, .steps = steps};
    schema_list_maps(stored);
    stored->is_whole = etwas_read_steps_make(source.info, steps);
    *result = stored;
    return ERROR_SUCCESS;
}

uint32_t etwas_schema_make(const void *info, size_t bytes, struct etwas_stored_schema **stored)
{
    struct schema_source source = {.bytes = bytes};
    struct schema_names names = {0};
    uint32_t error = ERROR_INVALID_DATA;
    void *copy;

    *stored = NULL;
    if (bytes < HEAD_BYTES || bytes > UINT32_MAX) {
        return ERROR_INVALID_DATA;
    }
    /* At least one whole structure, since the compiler may read any member. */
    copy = calloc(1, bytes < sizeof(TRACE_EVENT_INFO) ? sizeof(TRACE_EVENT_INFO) : bytes);
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(copy, info, bytes);
    source.info = copy;
    if (schema_head_is_sound(&source) && schema_properties_are_sound(&source)) {
        schema_write_names(&names, &source, NULL, NULL);
        if (names.count <= ETWAS_SCHEMA_NAMES_BYTES) {
            error = schema_assemble(&source, names.count, stored);
        }
    }
    free(copy);
    return error;
}
