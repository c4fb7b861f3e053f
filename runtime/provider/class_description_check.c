/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Checks that this library and the other readers of event metadata can read the description of a
 * class.
 */
#include <etwas/tdh.h>
#include <string.h>

#include "etl/utf16.h"
#include "provider/describe_class.h"

enum {
    TYPES = UINT8_MAX + 1, /* of one class */
};

/* Whether a name is there, not empty, and UTF-8. */
static bool check_is_name(const char *text)
{
    size_t units;

    return text != NULL && text[0] != '\0' &&
           etwas_utf8_to_utf16(text, strlen(text), NULL, 0, &units) != ETWAS_UTF_INVALID;
}

/* The same for an optional name. */
static bool check_is_name_or_none(const char *text)
{
    return text == NULL || text[0] == '\0' || check_is_name(text);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool check_is_single(const etwas_field_description *field)
{
    return field->count <= 1;
}

static bool check_is_number(const etwas_field_description *field)
{
    return check_is_single(field) &&
           (field->in_type == TDH_INTYPE_UINT8 || field->in_type == TDH_INTYPE_UINT16 ||
            field->in_type == TDH_INTYPE_UINT32);
}

static bool check_is_string(const etwas_field_description *field)
{
    return field->in_type == TDH_INTYPE_UNICODESTRING || field->in_type == TDH_INTYPE_ANSISTRING;
}

static bool check_takes_rest(const etwas_field_description *field)
{
    return field->in_type == TDH_INTYPE_NONNULLTERMINATEDSTRING ||
           field->in_type == TDH_INTYPE_NONNULLTERMINATEDANSISTRING;
}

/* Whether a map's values can be compared with the field: an integer of 32 bits at most. */
static bool check_may_have_map(const etwas_field_description *field)
{
    return (field->in_type >= TDH_INTYPE_INT8 && field->in_type <= TDH_INTYPE_UINT32) ||
           field->in_type == TDH_INTYPE_HEXINT32;
}

static bool check_has_map(const etwas_class_description *description, const char *name)
{
    bool found = false;

    for (uint32_t index = 0; index < description->map_count; index++) {
        found = found || strcmp(description->maps[index].name, name) == 0;
    }
    return found;
}

static const char *check_size(const etwas_type_description *type, uint32_t index)
{
    const etwas_field_description *field = &type->fields[index];
    bool by_field = field->count == ETWAS_BY_FIELD_BEFORE || field->length == ETWAS_BY_FIELD_BEFORE;

    if (field->length != 0 && field->in_type != TDH_INTYPE_BINARY && !check_is_string(field)) {
        return "a length is for BINARY, UNICODESTRING and ANSISTRING alone";
    }
    if (field->length == 0 && field->in_type == TDH_INTYPE_BINARY) {
        return "a BINARY field has no length";
    }
    if (by_field && (index == 0 || !check_is_number(field - 1))) {
        return "the field before says no count or length: it is no single UINT8, UINT16 or UINT32";
    }
    if (field->count == ETWAS_BY_FIELD_BEFORE && field->length == ETWAS_BY_FIELD_BEFORE) {
        return "a field cannot say the count and the length of the next";
    }
    if (check_takes_rest(field) && (index + 1 < type->field_count || !check_is_single(field))) {
        return "a string that ends with the payload is not the last field, or an array";
    }
    return NULL;
}

static const char *check_field(const etwas_class_description *description,
                               const etwas_type_description *type, uint32_t index)
{
    const etwas_field_description *field = &type->fields[index];

    if (!check_is_name(field->name)) {
        return "a field has no name, or its name is no UTF-8";
    }
    if (etwas_in_type(field->in_type) == NULL) {
        return "the in type of a field is unknown, or not for classic events";
    }
    if (field->out_type > TDH_OUTTYPE_DATETIME_UTC &&
        field->out_type != TDH_OUTTYPE_REDUCEDSTRING && field->out_type != TDH_OUTTYPE_NOPRINT) {
        return "the out type of a field is unknown";
    }
    if (field->map != NULL && !check_has_map(description, field->map)) {
        return "a field names a map that the class does not have";
    }
    if (field->map != NULL && !check_may_have_map(field)) {
        return "a map is for integers of 8 to 32 bits";
    }
    return check_size(type, index);
}

/* ---- the class ------------------------------------------------------------------------------- */

static const char *check_type(const etwas_class_description *description,
                              const etwas_type_description *type)
{
    const char *fault = NULL;

    if (!check_is_name_or_none(type->name)) {
        return "the name of a type is no UTF-8";
    }
    if ((type->name == NULL || type->name[0] == '\0') &&
        (description->name == NULL || description->name[0] == '\0')) {
        return "neither the class nor a type has a name";
    }
    if (type->fields == NULL && type->field_count != 0) {
        return "there is a count of fields, and no fields";
    }
    for (uint32_t index = 0; fault == NULL && index < type->field_count; index++) {
        fault = check_field(description, type, index);
    }
    return fault;
}

static const char *check_types(const etwas_class_description *description)
{
    bool seen[TYPES] = {false};
    const char *fault = NULL;

    if (description->types == NULL || description->type_count == 0) {
        return "there are no types";
    }
    for (uint32_t index = 0; fault == NULL && index < description->type_count; index++) {
        const etwas_type_description *type = &description->types[index];

        if (seen[type->type]) {
            return "two types have the same number";
        }
        seen[type->type] = true;
        fault = check_type(description, type);
    }
    return fault;
}

static const char *check_map(const etwas_map_description *map)
{
    if (!check_is_name(map->name)) {
        return "a map has no name, or its name is no UTF-8";
    }
    if (map->entries == NULL || map->entry_count == 0) {
        return "a map has no entries";
    }
    for (uint32_t index = 0; index < map->entry_count; index++) {
        if (!check_is_name(map->entries[index].name)) {
            return "an entry of a map has no name, or its name is no UTF-8";
        }
    }
    return NULL;
}

static const char *check_maps(const etwas_class_description *description)
{
    const char *fault = NULL;

    if (description->maps == NULL && description->map_count != 0) {
        return "there is a count of maps, and no maps";
    }
    for (uint32_t index = 0; fault == NULL && index < description->map_count; index++) {
        fault = check_map(&description->maps[index]);
        for (uint32_t before = 0; fault == NULL && before < index; before++) {
            if (strcmp(description->maps[before].name, description->maps[index].name) == 0) {
                fault = "two maps have the same name";
            }
        }
    }
    return fault;
}

const char *etwas_class_description_check(const etwas_class_description *description)
{
    const char *fault = check_maps(description);

    if (description->guid == NULL) {
        return "the class has no GUID";
    }
    if (!check_is_name(description->provider_name)) {
        return "the provider has no name, or its name is no UTF-8";
    }
    if (!check_is_name_or_none(description->name)) {
        return "the name of the class is no UTF-8";
    }
    if (description->version > UINT8_MAX) {
        return "the version is above 255";
    }
    return fault != NULL ? fault : check_types(description);
}
