/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The source of the tables in builtin.h. Makes a schema from a layout when an event needs it. */
#include "decode/builtin.h"

#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/builder.h"
#include "decode/source.h"

/* ---- the tables' language -------------------------------------------------------------------- */

enum {
    MAP_ENTRIES = 1024
};

struct builtin_type {
    const char *name;
    uint16_t in_type;
    uint16_t out_type;
    uint16_t least; /* the least bytes of a value; for binary data, its size */
};

static const struct builtin_type types[] = {
    {"struct", TDH_INTYPE_NULL, TDH_OUTTYPE_NULL, 0},
    {"u8", TDH_INTYPE_UINT8, TDH_OUTTYPE_NULL, 1},
    {"u16", TDH_INTYPE_UINT16, TDH_OUTTYPE_NULL, 2},
    {"u32", TDH_INTYPE_UINT32, TDH_OUTTYPE_NULL, 4},
    {"u64", TDH_INTYPE_UINT64, TDH_OUTTYPE_NULL, 8},
    {"i8", TDH_INTYPE_INT8, TDH_OUTTYPE_NULL, 1},
    {"i16", TDH_INTYPE_INT16, TDH_OUTTYPE_NULL, 2},
    {"i32", TDH_INTYPE_INT32, TDH_OUTTYPE_NULL, 4},
    {"i64", TDH_INTYPE_INT64, TDH_OUTTYPE_NULL, 8},
    {"x8", TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8, 1},
    {"x16", TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16, 2},
    {"x32", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 4},
    {"x64", TDH_INTYPE_UINT64, TDH_OUTTYPE_HEXINT64, 8},
    {"ptr", TDH_INTYPE_POINTER, TDH_OUTTYPE_NULL, 4}, /* 8 where pointers are that wide */
    {"size", TDH_INTYPE_SIZET, TDH_OUTTYPE_NULL, 4},
    {"bool8", TDH_INTYPE_UINT8, TDH_OUTTYPE_BOOLEAN, 1},
    {"pid", TDH_INTYPE_UINT32, TDH_OUTTYPE_PID, 4},
    {"tid", TDH_INTYPE_UINT32, TDH_OUTTYPE_TID, 4},
    {"status", TDH_INTYPE_HEXINT32, TDH_OUTTYPE_NTSTATUS, 4},
    {"time", TDH_INTYPE_UINT64, TDH_OUTTYPE_ETWTIME, 8}, /* of the session's clock */
    {"filetime", TDH_INTYPE_FILETIME, TDH_OUTTYPE_NULL, 8},
    {"guid", TDH_INTYPE_GUID, TDH_OUTTYPE_NULL, 16},
    {"sid", TDH_INTYPE_WBEMSID, TDH_OUTTYPE_NULL, 4},
    {"ipv4", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, 4},
    {"ipv6", TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 16},
    {"port", TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT, 2},
    {"str", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_NULL, 1},
    {"utf8", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_UTF8, 1},
    {"wstr", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_NULL, 2},
    {"char", TDH_INTYPE_ANSICHAR, TDH_OUTTYPE_NULL, 1},
    {"wchar", TDH_INTYPE_UNICODECHAR, TDH_OUTTYPE_NULL, 2},
};

static const struct builtin_type *builtin_find_type(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) == bytes && memcmp(types[i].name, name, bytes) == 0) {
            return &types[i];
        }
    }
    abort(); /* the tables are ours, and a test reads them all */
}

/* Parses the number at *text, and moves *text past it. */
static unsigned builtin_number_at(const char **text)
{
    unsigned number = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++) {
        number = 10 * number + (unsigned)(**text - '0');
    }
    return number;
}

/* Parses "10 Load" of "10 Load, 2 Unload", and moves *list past it; NULL: there is no more. */
static const char *builtin_next_name(const char **list, unsigned *number, size_t *bytes)
{
    const char *name;

    if (**list == 0) {
        return NULL;
    }
    *number = builtin_number_at(list);
    name = *list + 1;
    *bytes = strcspn(name, ",");
    *list = name[*bytes] == 0 ? name + *bytes : name + *bytes + 2;
    return name;
}

/* Returns the name of a type in the list; NULL: the list does not have it. */
static const char *builtin_list_has(const char *list, uint8_t type, size_t *bytes)
{
    const char *name;
    unsigned number;

    while ((name = builtin_next_name(&list, &number, bytes)) != NULL && number != type) {
    }
    return name;
}

static bool builtin_has_type(const struct etwas_builtin_layout *layout, uint8_t type)
{
    size_t bytes;

    return builtin_list_has(layout->types, type, &bytes) != NULL;
}

struct builtin_field {
    const struct builtin_type *type;
    const struct etwas_builtin_map *map; /* NULL: none */
    const char *name;
    size_t name_bytes;
    uint16_t count;         /* 0: as many as the payload has */
    const char *count_name; /* the field that states the count; NULL: none does */
    size_t count_name_bytes;
    bool is_array;
    bool is_member;
};

static const struct etwas_builtin_map *builtin_find_map(const char *name, size_t bytes)
{
    for (size_t i = 0; i < etwas_kernel_map_count; i++) {
        if (strlen(etwas_kernel_maps[i].name) == bytes &&
            memcmp(etwas_kernel_maps[i].name, name, bytes) == 0) {
            return &etwas_kernel_maps[i];
        }
    }
    abort(); /* as above */
}

/* Parses the field at *text, and moves *text past it. Returns false if there is none. */
static bool builtin_next_field(const char **text, struct builtin_field *field)
{
    const char *at = *text;
    size_t type_bytes;

    *field = (struct builtin_field){.count = 1, .is_member = *at == '.'};
    at += field->is_member;
    if (*at == 0) {
        return false;
    }
    type_bytes = strcspn(at, "[= ");
    field->type = builtin_find_type(at, type_bytes);
    at += type_bytes;
    if (*at == '=') {
        field->map = builtin_find_map(at + 1, strcspn(at + 1, " "));
        at += strcspn(at, " ");
    }
    if (*at == '[') {
        at++;
        field->is_array = true;
        field->count_name_bytes = strcspn(at, "]");
        field->count_name = *at >= 'A' ? at : NULL;
        field->count = (uint16_t)builtin_number_at(&at);
        at += strcspn(at, " ");
    }
    field->name = at + 1;
    field->name_bytes = strcspn(field->name, ";");
    at = field->name + field->name_bytes;
    *text = *at == 0 ? at : at + 2;
    return true;
}

/* ---- choosing -------------------------------------------------------------------------------- */

const struct etwas_builtin_class *etwas_builtin_class_at(size_t index)
{
    const struct {
        const struct etwas_builtin_class *classes;
        size_t count;
    } lists[] = {{etwas_kernel_classes, etwas_kernel_class_count},
                 {etwas_config_classes, etwas_config_class_count},
                 {etwas_other_classes, etwas_other_class_count}};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (index < lists[i].count) {
            return &lists[i].classes[index];
        }
        index -= lists[i].count;
    }
    return NULL;
}

static const struct etwas_builtin_class *builtin_class_of(const etwas_guid *guid)
{
    const struct etwas_builtin_class *class;

    for (size_t i = 0; (class = etwas_builtin_class_at(i)) != NULL &&
                       memcmp(&class->guid, guid, sizeof *guid) != 0;
         i++) {
    }
    return class;
}

const char *etwas_builtin_provider(const etwas_guid *guid)
{
    const struct etwas_builtin_class *class = builtin_class_of(guid);

    return class == NULL ? NULL : class->provider;
}

/* Returns the least size of a payload with this layout. */
static uint16_t builtin_least_bytes(const struct etwas_builtin_layout *layout, bool is_wide)
{
    const char *text = layout->fields;
    struct builtin_field field;
    size_t least = 0;

    while (builtin_next_field(&text, &field)) {
        bool is_pointer =
            field.type->in_type == TDH_INTYPE_POINTER || field.type->in_type == TDH_INTYPE_SIZET;

        least += field.count * (is_pointer && is_wide ? 8u : field.type->least);
    }
    return (uint16_t)least;
}

/* Whether the layout holds for the event's version. */
static bool builtin_is_layout_of(const struct etwas_builtin_layout *layout,
                                 const EVENT_DESCRIPTOR *event)
{
    return layout->since <= event->Version && event->Version <= layout->until &&
           builtin_has_type(layout, event->Opcode);
}

static bool builtin_is_same_text(const char *left, size_t left_bytes, const char *right,
                                 size_t right_bytes)
{
    return left_bytes == right_bytes && (left_bytes == 0 || memcmp(left, right, left_bytes) == 0);
}

static bool builtin_is_same_field(const struct builtin_field *left,
                                  const struct builtin_field *right)
{
    return left->type == right->type && left->map == right->map && left->count == right->count &&
           left->is_array == right->is_array && left->is_member == right->is_member &&
           builtin_is_same_text(left->name, left->name_bytes, right->name, right->name_bytes) &&
           builtin_is_same_text(
               left->count_name, left->count_name == NULL ? 0 : left->count_name_bytes,
               right->count_name, right->count_name == NULL ? 0 : right->count_name_bytes);
}

/* Returns how many leading fields both have in common, at most `most`. */
static size_t builtin_count_common(const char *left, const char *right, size_t most)
{
    struct builtin_field left_field, right_field;
    size_t count = 0;

    while (count < most && builtin_next_field(&left, &left_field) &&
           builtin_next_field(&right, &right_field) &&
           builtin_is_same_field(&left_field, &right_field)) {
        count++;
    }
    return count;
}

/*
 * Returns one of the layouts of a type; NULL: there is none. *fields receives how many leading
 * fields all of them have in common.
 */
static const struct etwas_builtin_layout *builtin_common_layout(
    const struct etwas_builtin_class *class, uint8_t type, size_t *fields)
{
    const struct etwas_builtin_layout *first = NULL;

    *fields = SIZE_MAX;
    for (size_t i = 0; i < class->count; i++) {
        const struct etwas_builtin_layout *layout = &class->layouts[i];

        if (builtin_has_type(layout, type)) {
            first = first != NULL ? first : layout;
            *fields = builtin_count_common(first->fields, layout->fields, *fields);
        }
    }
    return first;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* Returns the index of the field that `wanted` names as its count. The tables always have it. */
static uint16_t builtin_find_property(const char *text, const struct builtin_field *wanted)
{
    struct builtin_field field;
    uint16_t index = 0;

    while (builtin_next_field(&text, &field) &&
           !builtin_is_same_text(field.name, field.name_bytes, wanted->count_name,
                                 wanted->count_name_bytes)) {
        index++;
    }
    return index;
}

/* Adds the first `most` fields. */
static void builtin_add_fields(struct etwas_info_builder *builder, const char *text, size_t most)
{
    const char *all = text;
    uint16_t structure = ETWAS_BUILDER_TOP;
    struct builtin_field field;

    for (size_t i = 0; i < most && builtin_next_field(&text, &field); i++) {
        bool is_struct = field.type->in_type == TDH_INTYPE_NULL;
        EVENT_PROPERTY_INFO info = {
            .Flags =
                (is_struct ? PropertyStruct : 0) | (field.is_array ? PropertyParamFixedCount : 0),
            .NameOffset = etwas_builder_add_string(builder, field.name, field.name_bytes),
            .nonStructType = {.InType = field.type->in_type, .OutType = field.type->out_type},
            .count = field.count,
            .length = field.type->in_type == TDH_INTYPE_BINARY ? field.type->least : 0,
        };
        uint16_t index;

        if (field.count_name != NULL) {
            info.Flags = PropertyParamCount;
            info.countPropertyIndex = builtin_find_property(all, &field);
        } else if (field.count == 0) {
            info.Flags |= PropertyParamCount;
            info.countPropertyIndex = ETWAS_BUILDER_NO_PROPERTY;
        }
        if (field.map != NULL) {
            info.nonStructType.MapNameOffset =
                etwas_builder_add_string(builder, field.map->name, strlen(field.map->name));
        }
        index =
            etwas_builder_property(builder, field.is_member ? structure : ETWAS_BUILDER_TOP, &info);

        if (is_struct) {
            structure = index;
        }
    }
}

static const etwas_guid kernel_control =
    ETWAS_BUILTIN_GUID(0x9e814aad, 0x3204, 0x11d2, 0x9a82006008a86939);

/* Adds a map of the kernel's provider. */
static uint32_t builtin_add_map(struct etwas_schema_store *store,
                                const struct etwas_builtin_map *map)
{
    struct etwas_builder_entry entries[MAP_ENTRIES];
    struct etwas_info_builder builder;
    EVENT_MAP_INFO *info;
    const char *list = map->entries;
    const char *name;
    size_t count = 0;
    size_t bytes;
    unsigned value;
    uint32_t error;

    etwas_builder_begin(&builder);
    for (; count < MAP_ENTRIES && (name = builtin_next_name(&list, &value, &bytes)) != NULL;
         count++) {
        entries[count] =
            (struct etwas_builder_entry){value, etwas_builder_add_string(&builder, name, bytes)};
    }
    error = etwas_builder_end_map(
        &builder, etwas_builder_add_string(&builder, map->name, strlen(map->name)),
        map->is_bits ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP,
        entries, count, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        error = etwas_store_add_map(store, &kernel_control, info, bytes);
        free(info);
    }
    return error;
}

static uint32_t builtin_add_maps(struct etwas_schema_store *store, const char *fields)
{
    uint32_t error = ERROR_SUCCESS;
    struct builtin_field field;

    while (error == ERROR_SUCCESS && builtin_next_field(&fields, &field)) {
        error = field.map == NULL ? ERROR_SUCCESS : builtin_add_map(store, field.map);
    }
    return error;
}

/* The schema that is added for a version. */
struct builtin_description {
    const struct etwas_builtin_layout *layout;
    size_t fields; /* the most fields that are taken of it */
    enum etwas_rank rank;
};

/* Adds the schema of an event's type for its version, with its maps. */
static uint32_t builtin_add_layout(struct etwas_schema_store *store,
                                   const struct etwas_builtin_class *class,
                                   const struct builtin_description *description,
                                   const EVENT_DESCRIPTOR *event)
{
    const struct etwas_builtin_layout *layout = description->layout;
    size_t name_bytes;
    const char *name = builtin_list_has(layout->types, event->Opcode, &name_bytes);
    struct etwas_info_builder builder;
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    etwas_builder_begin(&builder);
    builder.head.ProviderGuid = class->is_kernel ? kernel_control : class->guid;
    builder.head.EventGuid = class->guid;
    builder.head.DecodingSource = DecodingSourceWbem;
    builder.head.EventDescriptor.Opcode = event->Opcode;
    builder.head.EventDescriptor.Version = event->Version;
    builder.head.ProviderNameOffset =
        etwas_builder_add_string(&builder, class->provider, strlen(class->provider));
    builder.head.TaskNameOffset =
        etwas_builder_add_string(&builder, class->name, strlen(class->name));
    builder.head.OpcodeNameOffset = etwas_builder_add_string(&builder, name, name_bytes);
    builtin_add_fields(&builder, layout->fields, description->fields);
    error = etwas_builder_end(&builder, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        const uint16_t least[] = {builtin_least_bytes(layout, false),
                                  builtin_least_bytes(layout, true)};

        error = description->rank == ETWAS_RANK_COMMON
                    ? etwas_store_add(store, info, bytes, description->rank)
                    : etwas_store_add_layout(store, info, bytes, least);
        free(info);
    }
    return error == ERROR_SUCCESS ? builtin_add_maps(store, layout->fields) : error;
}

/*
 * Adds all layouts that hold for the event's version. If none does, adds the fields that all
 * layouts of its type have in common.
 */
static uint32_t builtin_supply(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const EVENT_DESCRIPTOR *event = &record->EventHeader.EventDescriptor;
    const struct etwas_builtin_class *class = builtin_class_of(&record->EventHeader.ProviderId);
    struct builtin_description description = {.fields = SIZE_MAX, .rank = ETWAS_RANK_BUILT_IN};
    uint32_t error = ERROR_SUCCESS;

    if (class == NULL || (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0) {
        return ERROR_SUCCESS;
    }
    for (size_t i = 0; error == ERROR_SUCCESS && i < class->count; i++) {
        if (builtin_is_layout_of(&class->layouts[i], event)) {
            description.layout = &class->layouts[i];
            error = builtin_add_layout(&decoder->store, class, &description, event);
        }
    }
    if (description.layout == NULL) {
        description.layout = builtin_common_layout(class, event->Opcode, &description.fields);
        description.rank = ETWAS_RANK_COMMON;
        error = description.layout == NULL
                    ? ERROR_SUCCESS
                    : builtin_add_layout(&decoder->store, class, &description, event);
    }
    return error;
}

const struct etwas_decode_source etwas_builtin_source = {.supply = builtin_supply};
