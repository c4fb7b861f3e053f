/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/describe_class.h"

#include <etwas/tdh.h>
#include <string.h>

#include "etl/event_metadata.h"
#include "etl/utf16.h"
#include "provider/description.h"

/*
 * A structure followed by texts. It is measured first, and then written into a block of that size.
 */
struct image {
    uint8_t *bytes; /* NULL: measuring */
    size_t used;
};

static void class_record_write_bytes(const struct image *image, size_t at, const void *data,
                                     size_t bytes)
{
    if (image->bytes != NULL) {
        memcpy(image->bytes + at, data, bytes);
    }
}

/* Appends a text as UTF-16, followed by `blanks` blanks. Returns its offset; 0: there is none. */
static uint32_t class_record_write_text(struct image *image, const char *text, size_t blanks)
{
    static const etwas_wchar end[] = {' ', 0};
    size_t at = image->used;
    size_t units;

    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    (void)etwas_utf8_to_utf16(text, strlen(text), NULL, 0, &units);
    if (image->bytes != NULL) {
        (void)etwas_utf8_to_utf16(text, strlen(text), (etwas_wchar *)(void *)(image->bytes + at),
                                  units, &units);
    }
    image->used += (units - 1) * sizeof(etwas_wchar);
    class_record_write_bytes(image, image->used, end + 1 - blanks,
                             (1 + blanks) * sizeof(etwas_wchar));
    image->used += (1 + blanks) * sizeof(etwas_wchar);
    return (uint32_t)at;
}

/* ---- EventInfo ------------------------------------------------------------------------------- */

static EVENT_PROPERTY_INFO class_record_property(const etwas_type_description *type, uint32_t index,
                                                 struct image *image)
{
    const etwas_field_description *field = &type->fields[index];
    const struct etwas_in_type *in_type = etwas_in_type(field->in_type);
    uint32_t name = class_record_write_text(image, field->name, 0);
    EVENT_PROPERTY_INFO property = {
        .NameOffset = name,
        .nonStructType =
            {
                .InType = field->in_type,
                .OutType = field->out_type != 0 ? field->out_type : in_type->out_type,
                .MapNameOffset = class_record_write_text(image, field->map, 0),
            },
        .count = field->count != 0 ? field->count : 1,
        .length = field->length != 0 ? field->length : in_type->bytes,
    };

    if (field->count == ETWAS_BY_FIELD_BEFORE) {
        property.Flags |= PropertyParamCount;
        property.countPropertyIndex = (uint16_t)(index - 1);
    } else if (field->count > 1) {
        property.Flags |= PropertyParamFixedCount;
    }
    if (field->length == ETWAS_BY_FIELD_BEFORE) {
        property.Flags |= PropertyParamLength;
        property.lengthPropertyIndex = (uint16_t)(index - 1);
    } else if (field->length != 0) {
        property.Flags |= PropertyParamFixedLength;
    }
    return property;
}

/* Readers find it by the class and the fields of an event's header. */
static void class_record_write_event(struct image *image,
                                     const etwas_class_description *description,
                                     const etwas_type_description *type)
{
    bool has_class_name = description->name != NULL && description->name[0] != '\0';
    uint32_t count = type->field_count;
    TRACE_EVENT_INFO info = {
        .ProviderGuid = *description->guid,
        .EventGuid = *description->guid,
        .EventDescriptor =
            {
                .Version = (uint8_t)description->version,
                .Level = type->level,
                .Opcode = type->type,
            },
        .DecodingSource = DecodingSourceWbem,
        .PropertyCount = count,
        .TopLevelPropertyCount = count,
    };

    /* The structure has room for one property at least. */
    image->used = sizeof info + (count > 1 ? count - 1 : 0) * sizeof(EVENT_PROPERTY_INFO);
    info.ProviderNameOffset = class_record_write_text(image, description->provider_name, 0);
    info.TaskNameOffset =
        class_record_write_text(image, has_class_name ? description->name : type->name, 0);
    info.OpcodeNameOffset = class_record_write_text(image, has_class_name ? type->name : NULL, 0);
    class_record_write_bytes(image, 0, &info, sizeof info);
    for (uint32_t index = 0; index < count; index++) {
        EVENT_PROPERTY_INFO property = class_record_property(type, index, image);

        class_record_write_bytes(
            image, offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray) + index * sizeof property,
            &property, sizeof property);
    }
}

/* ---- MapInfo --------------------------------------------------------------------------------- */

/*
 * Writes a map as merged traces have it: an empty entry after the last, and a blank after each
 * text.
 */
static void class_record_write_map(struct image *image, const etwas_map_description *map)
{
    EVENT_MAP_INFO info = {
        .Flag = map->is_bits != 0 ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
                                  : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP,
        .EntryCount = map->entry_count,
        .MapEntryValueType = EVENTMAP_ENTRY_VALUETYPE_ULONG,
    };

    image->used = sizeof info + map->entry_count * sizeof(EVENT_MAP_ENTRY);
    info.NameOffset = class_record_write_text(image, map->name, 0);
    class_record_write_bytes(image, 0, &info, sizeof info);
    for (uint32_t index = 0; index < map->entry_count; index++) {
        EVENT_MAP_ENTRY entry = {.OutputOffset =
                                     class_record_write_text(image, map->entries[index].name, 1),
                                 .Value = map->entries[index].value};

        class_record_write_bytes(image,
                                 offsetof(EVENT_MAP_INFO, MapEntryArray) + index * sizeof entry,
                                 &entry, sizeof entry);
    }
}

/* ---- the class ------------------------------------------------------------------------------- */

static uint8_t *class_record_add(struct etwas_description *made, uint8_t type, size_t bytes,
                                 uint32_t *code)
{
    uint8_t *payload = NULL;

    if (bytes > ETWAS_DESCRIPTION_PAYLOAD_BYTES) {
        *code = ERROR_MORE_DATA;
    } else {
        payload = etwas_description_add_record(made, &etwas_etl_metadata_class, type, 0, bytes);
        *code = payload != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    return payload;
}

static uint32_t class_record_add_event(struct etwas_description *made,
                                       const etwas_class_description *description,
                                       const etwas_type_description *type)
{
    struct image image = {0};
    uint32_t code;

    class_record_write_event(&image, description, type);
    image.bytes = class_record_add(made, ETWAS_ETL_EVENT_INFO_TYPE, image.used, &code);
    if (image.bytes != NULL) {
        class_record_write_event(&image, description, type);
    }
    return code;
}

static uint32_t class_record_add_map(struct etwas_description *made,
                                     const etwas_class_description *description,
                                     const etwas_map_description *map)
{
    struct image image = {0};
    uint8_t *payload;
    uint32_t code;

    class_record_write_map(&image, map);
    payload = class_record_add(made, ETWAS_ETL_MAP_INFO_TYPE,
                               sizeof *description->guid + image.used, &code);
    if (payload != NULL) {
        memcpy(payload, description->guid, sizeof *description->guid);
        image.bytes = payload + sizeof *description->guid;
        class_record_write_map(&image, map);
    }
    return code;
}

uint32_t etwas_class_describe(const etwas_class_description *description, const char **fault)
{
    const struct etwas_description_key subject = {.guid = *description->guid,
                                                  .number = description->version};
    struct etwas_description *made = etwas_description_new(&subject);
    uint32_t code = made != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;

    for (uint32_t index = 0; code == ERROR_SUCCESS && index < description->map_count; index++) {
        code = class_record_add_map(made, description, &description->maps[index]);
    }
    for (uint32_t index = 0; code == ERROR_SUCCESS && index < description->type_count; index++) {
        code = class_record_add_event(made, description, &description->types[index]);
    }
    if (code == ERROR_SUCCESS) {
        etwas_description_publish(made);
    } else if (made != NULL) {
        etwas_description_free(made);
    }
    *fault = code == ERROR_MORE_DATA ? "a type or a map takes more than a record holds" : NULL;
    return code;
}
