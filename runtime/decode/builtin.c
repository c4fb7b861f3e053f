/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The source that knows the tables of builtin.h: makes a schema of a layout when an event asks. */
#include "decode/builtin.h"

#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decode/build.h"
#include "decode/source.h"

/* ---- the tables' language -------------------------------------------------------------------- */

enum {
    MAP_ENTRIES = 1024
};

struct type {
    const char *name;
    uint16_t in_type;
    uint16_t out_type;
    uint16_t least; /* bytes that a value has at least; of binary data: has */
};

static const struct type types[] = {
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

static const struct type *type_called(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) == bytes && memcmp(types[i].name, name, bytes) == 0) {
            return &types[i];
        }
    }
    abort(); /* the tables are ours, and a test reads them all */
}

/* The number at *text, and behind it. */
static unsigned number_at(const char **text)
{
    unsigned number = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++) {
        number = 10 * number + (unsigned)(**text - '0');
    }
    return number;
}

/* Reads "10 Load" of "10 Load, 2 Unload", and goes on behind it; NULL: there is no more. */
static const char *next_name(const char **list, unsigned *number, size_t *bytes)
{
    const char *name;

    if (**list == 0) {
        return NULL;
    }
    *number = number_at(list);
    name = *list + 1;
    *bytes = strcspn(name, ",");
    *list = name[*bytes] == 0 ? name + *bytes : name + *bytes + 2;
    return name;
}

/* The name of a type; NULL: it is not there. */
static const char *name_in(const char *list, uint8_t type, size_t *bytes)
{
    const char *name;
    unsigned number;

    while ((name = next_name(&list, &number, bytes)) != NULL && number != type) {
    }
    return name;
}

static bool has_type(const struct etwas_builtin_layout *layout, uint8_t type)
{
    size_t bytes;

    return name_in(layout->types, type, &bytes) != NULL;
}

struct field {
    const struct type *type;
    const struct etwas_builtin_map *map; /* NULL: none */
    const char *name;
    size_t name_bytes;
    uint16_t count;         /* 0: as many as the payload has */
    const char *count_name; /* of the field that says how many; NULL: none does */
    size_t count_name_bytes;
    bool is_array;
    bool is_member;
};

static const struct etwas_builtin_map *map_called(const char *name, size_t bytes)
{
    for (size_t i = 0; i < etwas_kernel_map_count; i++) {
        if (strlen(etwas_kernel_maps[i].name) == bytes &&
            memcmp(etwas_kernel_maps[i].name, name, bytes) == 0) {
            return &etwas_kernel_maps[i];
        }
    }
    abort(); /* likewise */
}

/* Reads the field at *text, and goes on behind it; false: there is none. */
static bool next_field(const char **text, struct field *field)
{
    const char *at = *text;
    size_t type_bytes;

    *field = (struct field){.count = 1, .is_member = *at == '.'};
    at += field->is_member;
    if (*at == 0) {
        return false;
    }
    type_bytes = strcspn(at, "[= ");
    field->type = type_called(at, type_bytes);
    at += type_bytes;
    if (*at == '=') {
        field->map = map_called(at + 1, strcspn(at + 1, " "));
        at += strcspn(at, " ");
    }
    if (*at == '[') {
        at++;
        field->is_array = true;
        field->count_name_bytes = strcspn(at, "]");
        field->count_name = *at >= 'A' ? at : NULL;
        field->count = (uint16_t)number_at(&at);
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

static const struct etwas_builtin_class *class_of(const etwas_guid *guid)
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
    const struct etwas_builtin_class *class = class_of(guid);

    return class == NULL ? NULL : class->provider;
}

/* How many bytes a payload has at least. */
static uint16_t least_of(const struct etwas_builtin_layout *layout, bool is_wide)
{
    const char *text = layout->fields;
    struct field field;
    size_t least = 0;

    while (next_field(&text, &field)) {
        bool is_pointer =
            field.type->in_type == TDH_INTYPE_POINTER || field.type->in_type == TDH_INTYPE_SIZET;

        least += field.count * (is_pointer && is_wide ? 8u : field.type->least);
    }
    return (uint16_t)least;
}

/* Whether the layout holds for the event's version. */
static bool is_layout_of(const struct etwas_builtin_layout *layout, const EVENT_DESCRIPTOR *event)
{
    return layout->since <= event->Version && event->Version <= layout->until &&
           has_type(layout, event->Opcode);
}

static bool is_same_text(const char *left, size_t left_bytes, const char *right, size_t right_bytes)
{
    return left_bytes == right_bytes && (left_bytes == 0 || memcmp(left, right, left_bytes) == 0);
}

static bool is_same_field(const struct field *left, const struct field *right)
{
    return left->type == right->type && left->map == right->map && left->count == right->count &&
           left->is_array == right->is_array && left->is_member == right->is_member &&
           is_same_text(left->name, left->name_bytes, right->name, right->name_bytes) &&
           is_same_text(left->count_name, left->count_name == NULL ? 0 : left->count_name_bytes,
                        right->count_name, right->count_name == NULL ? 0 : right->count_name_bytes);
}

/* How many fields both have at their beginning, at most `most`. */
static size_t count_common(const char *left, const char *right, size_t most)
{
    struct field left_field, right_field;
    size_t count = 0;

    while (count < most && next_field(&left, &left_field) && next_field(&right, &right_field) &&
           is_same_field(&left_field, &right_field)) {
        count++;
    }
    return count;
}

/* One of the layouts of a type, and how many fields it begins as all of them do; NULL: there is none. */
static const struct etwas_builtin_layout *common_layout(const struct etwas_builtin_class *class,
                                                        uint8_t type, size_t *fields)
{
    const struct etwas_builtin_layout *first = NULL;

    *fields = SIZE_MAX;
    for (size_t i = 0; i < class->count; i++) {
        const struct etwas_builtin_layout *layout = &class->layouts[i];

        if (has_type(layout, type)) {
            first = first != NULL ? first : layout;
            *fields = count_common(first->fields, layout->fields, *fields);
        }
    }
    return first;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* The property of that name that was added; the tables' own, so there is one. */
static uint16_t property_called(const char *text, const struct field *wanted)
{
    struct field field;
    uint16_t index = 0;

    while (
        next_field(&text, &field) &&
        !is_same_text(field.name, field.name_bytes, wanted->count_name, wanted->count_name_bytes)) {
        index++;
    }
    return index;
}

/* The first `most` fields. */
static void put_fields(struct etwas_build *build, const char *text, size_t most)
{
    const char *all = text;
    uint16_t structure = ETWAS_BUILD_TOP;
    struct field field;

    for (size_t i = 0; i < most && next_field(&text, &field); i++) {
        bool is_struct = field.type->in_type == TDH_INTYPE_NULL;
        EVENT_PROPERTY_INFO info = {
            .Flags =
                (is_struct ? PropertyStruct : 0) | (field.is_array ? PropertyParamFixedCount : 0),
            .NameOffset = etwas_build_string(build, field.name, field.name_bytes),
            .nonStructType = {.InType = field.type->in_type, .OutType = field.type->out_type},
            .count = field.count,
            .length = field.type->in_type == TDH_INTYPE_BINARY ? field.type->least : 0,
        };
        uint16_t index;

        if (field.count_name != NULL) {
            info.Flags = PropertyParamCount;
            info.countPropertyIndex = property_called(all, &field);
        } else if (field.count == 0) {
            info.Flags |= PropertyParamCount;
            info.countPropertyIndex = ETWAS_BUILD_NO_PROPERTY;
        }
        if (field.map != NULL) {
            info.nonStructType.MapNameOffset =
                etwas_build_string(build, field.map->name, strlen(field.map->name));
        }
        index = etwas_build_property(build, field.is_member ? structure : ETWAS_BUILD_TOP, &info);

        if (is_struct) {
            structure = index;
        }
    }
}

static const etwas_guid kernel_control =
    ETWAS_BUILTIN_GUID(0x9e814aad, 0x3204, 0x11d2, 0x9a82006008a86939);

/* Adds a map of the kernel's provider. */
static uint32_t add_map(struct etwas_store *store, const struct etwas_builtin_map *map)
{
    struct etwas_build_entry entries[MAP_ENTRIES];
    struct etwas_build build;
    EVENT_MAP_INFO *info;
    const char *list = map->entries;
    const char *name;
    size_t count = 0;
    size_t bytes;
    unsigned value;
    uint32_t error;

    etwas_build_begin(&build);
    for (; count < MAP_ENTRIES && (name = next_name(&list, &value, &bytes)) != NULL; count++) {
        entries[count] = (struct etwas_build_entry){value, etwas_build_string(&build, name, bytes)};
    }
    error = etwas_build_map_end(&build, etwas_build_string(&build, map->name, strlen(map->name)),
                                map->is_bits ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
                                             : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP,
                                entries, count, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        error = etwas_store_add_map(store, &kernel_control, info, bytes);
        free(info);
    }
    return error;
}

static uint32_t add_maps(struct etwas_store *store, const char *fields)
{
    uint32_t error = ERROR_SUCCESS;
    struct field field;

    while (error == ERROR_SUCCESS && next_field(&fields, &field)) {
        error = field.map == NULL ? ERROR_SUCCESS : add_map(store, field.map);
    }
    return error;
}

/* What is added for a version. */
struct description {
    const struct etwas_builtin_layout *layout;
    size_t fields; /* so many of its fields at most */
    enum etwas_rank rank;
};

/* Adds the schema of an event's type for its version, with its maps. */
static uint32_t add(struct etwas_store *store, const struct etwas_builtin_class *class,
                    const struct description *description, const EVENT_DESCRIPTOR *event)
{
    const struct etwas_builtin_layout *layout = description->layout;
    size_t name_bytes;
    const char *name = name_in(layout->types, event->Opcode, &name_bytes);
    struct etwas_build build;
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    etwas_build_begin(&build);
    build.head.ProviderGuid = class->is_kernel ? kernel_control : class->guid;
    build.head.EventGuid = class->guid;
    build.head.DecodingSource = DecodingSourceWbem;
    build.head.EventDescriptor.Opcode = event->Opcode;
    build.head.EventDescriptor.Version = event->Version;
    build.head.ProviderNameOffset =
        etwas_build_string(&build, class->provider, strlen(class->provider));
    build.head.TaskNameOffset = etwas_build_string(&build, class->name, strlen(class->name));
    build.head.OpcodeNameOffset = etwas_build_string(&build, name, name_bytes);
    put_fields(&build, layout->fields, description->fields);
    error = etwas_build_end(&build, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        const uint16_t least[] = {least_of(layout, false), least_of(layout, true)};

        error = description->rank == ETWAS_RANK_COMMON
                    ? etwas_store_add(store, info, bytes, description->rank)
                    : etwas_store_add_layout(store, info, bytes, least);
        free(info);
    }
    return error == ERROR_SUCCESS ? add_maps(store, layout->fields) : error;
}

/* All that hold for the event's version; if none does, what all layouts of its type have in common. */
static uint32_t supply(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const EVENT_DESCRIPTOR *event = &record->EventHeader.EventDescriptor;
    const struct etwas_builtin_class *class = class_of(&record->EventHeader.ProviderId);
    struct description description = {.fields = SIZE_MAX, .rank = ETWAS_RANK_BUILT_IN};
    uint32_t error = ERROR_SUCCESS;

    if (class == NULL || (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0) {
        return ERROR_SUCCESS;
    }
    for (size_t i = 0; error == ERROR_SUCCESS && i < class->count; i++) {
        if (is_layout_of(&class->layouts[i], event)) {
            description.layout = &class->layouts[i];
            error = add(&decoder->store, class, &description, event);
        }
    }
    if (description.layout == NULL) {
        description.layout = common_layout(class, event->Opcode, &description.fields);
        description.rank = ETWAS_RANK_COMMON;
        error = description.layout == NULL ? ERROR_SUCCESS
                                           : add(&decoder->store, class, &description, event);
    }
    return error;
}

const struct etwas_decode_source etwas_builtin_source = {.supply = supply};
