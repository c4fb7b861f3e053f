/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/schema.h"

#include <stdlib.h>
#include <string.h>

#include "decode/schema_step.h"
#include "decode/text.h"
#include "etl/utf16.h"

enum {
    HEAD_BYTES = offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray),
};

/* ---- strings --------------------------------------------------------------------------------- */

/* What is checked: an aligned copy. */
struct source {
    const TRACE_EVENT_INFO *info;
    size_t bytes;
};

/* The units before the 0 of the string at `offset`; -1: none ends there within `limit` units. */
static int32_t string_units(const struct source *source, uint32_t offset, size_t limit_units)
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

static bool is_string(const struct source *source, uint32_t offset)
{
    return offset == 0 || string_units(source, offset, SIZE_MAX) >= 0;
}

static bool is_name(const struct source *source, uint32_t offset)
{
    return offset == 0 || string_units(source, offset, ETWAS_SCHEMA_NAME_UNITS) >= 0;
}

/* Strings, the last of them empty. */
static bool is_list(const struct source *source, uint32_t offset)
{
    int32_t units = 1;

    while (offset != 0 && units > 0) {
        units = string_units(source, offset, SIZE_MAX);
        offset += 2 * ((uint32_t)units + 1);
    }
    return units >= 0;
}

static bool head_is_sound(const struct source *source)
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
        if (!is_string(source, names[i])) {
            return false;
        }
    }
    return is_list(source, info->KeywordsNameOffset);
}

/* A u16 of the protocol, a u16 of bytes, and as many. */
static bool is_custom_schema(const struct source *source, uint32_t offset)
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

static bool properties_are_sound(const struct source *source)
{
    for (uint32_t i = 0; i < source->info->PropertyCount; i++) {
        const EVENT_PROPERTY_INFO *property = &source->info->EventPropertyInfoArray[i];
        bool sound = is_name(source, property->NameOffset);

        if ((property->Flags & PropertyHasCustomSchema) != 0) {
            sound =
                sound && is_custom_schema(source, property->customSchemaType.CustomSchemaOffset);
        } else if ((property->Flags & PropertyStruct) == 0) {
            sound = sound && is_name(source, property->nonStructType.MapNameOffset);
        }
        if (!sound) {
            return false;
        }
    }
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* UTF-8 one behind the other, each with its 0. Without `bytes` they are measured only. */
struct names {
    char *bytes;
    size_t count;
    size_t room;
};

static struct etwas_text begin_name(const struct names *names)
{
    return names->bytes == NULL
               ? etwas_text_begin(NULL, 0)
               : etwas_text_begin(names->bytes + names->count, names->room - names->count);
}

static const char *end_name(struct names *names, struct etwas_text *text)
{
    const char *name = names->bytes == NULL ? "" : names->bytes + names->count;

    etwas_text_end(text, names->bytes == NULL ? 0 : names->room - names->count);
    names->count += text->length + 1;
    return name;
}

/* Without the blanks that strings of messages end with. */
static void put_string(struct etwas_text *text, const struct source *source, uint32_t offset)
{
    const uint8_t *base = (const uint8_t *)source->info;

    if (offset != 0) {
        const etwas_wchar *string = (const etwas_wchar *)(const void *)(base + offset);
        size_t units = (size_t)string_units(source, offset, SIZE_MAX);

        while (units > 0 && string[units - 1] == ' ') {
            units--;
        }
        etwas_text_put_utf16(text, string, units);
    }
}

static const char *name_of(struct names *names, const struct source *source, uint32_t offset)
{
    struct etwas_text text = begin_name(names);

    put_string(&text, source, offset);
    return end_name(names, &text);
}

/*
 * TraceLogging's events and some of manifests have a name. Others are TASK/OPCODE; the opcode that
 * manifests call Info is what an event has that says none.
 */
static const char *event_of(struct names *names, const struct source *source)
{
    const TRACE_EVENT_INFO *info = source->info;
    struct etwas_text text = begin_name(names);
    bool has_opcode = info->OpcodeNameOffset != 0 &&
                      (info->DecodingSource == DecodingSourceWbem || info->TaskNameOffset == 0 ||
                       info->EventDescriptor.Opcode != 0);

    if (info->DecodingSource != DecodingSourceWbem && info->EventNameOffset != 0) {
        put_string(&text, source, info->EventNameOffset);
        return end_name(names, &text);
    }
    put_string(&text, source, info->TaskNameOffset);
    if (has_opcode) {
        if (info->TaskNameOffset != 0) {
            etwas_text_put(&text, "/", 1);
        }
        put_string(&text, source, info->OpcodeNameOffset);
    }
    return end_name(names, &text);
}

static void put_names(struct names *names, const struct source *source, etwas_schema *schema,
                      etwas_schema_field *fields)
{
    const char *provider = name_of(names, source, source->info->ProviderNameOffset);
    const char *event = event_of(names, source);

    for (uint32_t i = 0; i < source->info->PropertyCount; i++) {
        const EVENT_PROPERTY_INFO *property = &source->info->EventPropertyInfoArray[i];
        const char *name = name_of(names, source, property->NameOffset);

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

static bool has_map(const EVENT_PROPERTY_INFO *property)
{
    return (property->Flags & (PropertyStruct | PropertyHasCustomSchema)) == 0 &&
           property->nonStructType.MapNameOffset != 0;
}

static uint32_t maps_of(const TRACE_EVENT_INFO *info)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < info->PropertyCount; i++) {
        count += has_map(&info->EventPropertyInfoArray[i]);
    }
    return count;
}

/* Where the parts lie in the one allocation. */
struct layout {
    size_t fields;
    size_t steps;
    size_t map_fields;
    size_t info;
    size_t names;
    size_t bytes;
};

static size_t aligned(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static struct layout layout_of(const struct source *source, size_t names)
{
    uint32_t count = source->info->PropertyCount;
    struct layout layout = {.fields = aligned(sizeof(struct etwas_described))};

    layout.map_fields = layout.fields + count * sizeof(etwas_schema_field);
    layout.steps = layout.map_fields + maps_of(source->info) * sizeof(struct etwas_map_field);
    layout.info = aligned(layout.steps + count * sizeof(struct etwas_step));
    layout.names = layout.info + source->bytes;
    layout.bytes = layout.names + names;
    return layout;
}

static void note_maps(struct etwas_described *described)
{
    for (uint32_t i = 0; i < described->exact.field_count; i++) {
        if (has_map(described->fields[i].info)) {
            described->map_fields[described->map_field_count++].field = &described->fields[i];
        }
    }
}

static uint32_t put_together(const struct source *checked, size_t name_bytes,
                             struct etwas_described **result)
{
    const struct layout layout = layout_of(checked, name_bytes);
    uint8_t *block = calloc(1, layout.bytes);
    struct etwas_described *described = (void *)block;
    struct etwas_step *steps;
    struct source source;
    struct names names = {.room = name_bytes};

    if (block == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(block + layout.info, checked->info, checked->bytes);
    source = (struct source){(const void *)(block + layout.info), checked->bytes};
    described->bytes = (uint32_t)layout.bytes;
    described->fields = (void *)(block + layout.fields);
    described->map_fields = (void *)(block + layout.map_fields);
    described->exact = (etwas_schema){
        .info = source.info,
        .info_bytes = (uint32_t)source.bytes,
        .field_count = source.info->PropertyCount,
        .fields = described->fields,
        .plan = &described->plan,
    };
    names.bytes = (char *)block + layout.names;
    put_names(&names, &source, &described->exact, described->fields);
    described->other = described->exact;
    described->other.other_version = true;
    steps = (void *)(block + layout.steps);
    described->plan =
        (struct etwas_plan){.top = source.info->TopLevelPropertyCount, .steps = steps};
    note_maps(described);
    described->is_whole = etwas_schema_steps(source.info, steps);
    *result = described;
    return ERROR_SUCCESS;
}

uint32_t etwas_schema_make(const void *info, size_t bytes, struct etwas_described **described)
{
    struct source source = {.bytes = bytes};
    struct names names = {0};
    uint32_t error = ERROR_INVALID_DATA;
    void *copy;

    *described = NULL;
    if (bytes < HEAD_BYTES || bytes > UINT32_MAX) {
        return ERROR_INVALID_DATA;
    }
    /* A whole one, so that no member lies outside, whatever the compiler reads. */
    copy = calloc(1, bytes < sizeof(TRACE_EVENT_INFO) ? sizeof(TRACE_EVENT_INFO) : bytes);
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memcpy(copy, info, bytes);
    source.info = copy;
    if (head_is_sound(&source) && properties_are_sound(&source)) {
        put_names(&names, &source, NULL, NULL);
        if (names.count <= ETWAS_SCHEMA_NAMES_BYTES) {
            error = put_together(&source, names.count, described);
        }
    }
    free(copy);
    return error;
}
