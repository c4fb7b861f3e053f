/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* Checks a payload filter, and compiles it to the form by which records are evaluated. */
#include <etwas/describe.h>
#include <etwas/tdh.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "provider/describe_class.h"
#include "provider/payload_filter.h"

enum {
    MOST_FIELDS = UINT16_MAX
};

static const char *compile_copy_name(const char *given, char *name, uint16_t *bytes)
{
    size_t length = strlen(given);

    if (length >= ETWAS_PREDICATE_BYTES) {
        return "a name is longer than 255 bytes";
    }
    memcpy(name, given, length + 1);
    *bytes = (uint16_t)length;
    return NULL;
}

static bool compile_is_array(const etwas_field_description *field)
{
    return field->count > 1;
}

static struct etwas_payload_layout compile_layout_of(const etwas_field_description *field)
{
    return (struct etwas_payload_layout){
        .in_type = field->in_type,
        .is_array = compile_is_array(field),
        .count_is_before = field->count == ETWAS_BY_FIELD_BEFORE,
        .length_is_before = field->length == ETWAS_BY_FIELD_BEFORE,
        .count = field->count,
        .length = field->length,
    };
}

/*
 * Checks the fields like those of a class, without maps, which only serve to print values. Returns
 * false if there is no memory for the check.
 */
static bool compile_check_fields(const etwas_payload_filter *given, const char **fault)
{
    etwas_field_description *fields = malloc(given->field_count * sizeof *fields);
    const etwas_type_description type = {
        .name = "event", .fields = fields, .field_count = given->field_count};
    const etwas_class_description description = {.guid = given->guid,
                                                 .provider_name = "provider",
                                                 .name = "class",
                                                 .types = &type,
                                                 .type_count = 1};

    if (fields == NULL) {
        return false;
    }
    memcpy(fields, given->fields, given->field_count * sizeof *fields);
    for (uint32_t index = 0; index < given->field_count; index++) {
        fields[index].map = NULL;
    }
    *fault = etwas_class_description_check(&description);
    free(fields);
    return true;
}

/* Checks the filter except its predicates. */
static const char *compile_check_head(const etwas_payload_filter *given)
{
    if (given->guid == NULL) {
        return "the filter has no GUID";
    }
    if (given->reserved != 0) {
        return "a reserved member is not 0";
    }
    if ((given->event_name != NULL) != (given->fields == NULL)) {
        return "an event has a name and says its fields itself, or has fields and no name";
    }
    if (given->fields != NULL && given->field_count == 0) {
        return "there are fields, and their count is 0";
    }
    if (given->fields == NULL && given->field_count != 0) {
        return "there are no fields, and their count is not 0";
    }
    if (given->field_count > MOST_FIELDS) {
        return "there are more fields than an event has bytes";
    }
    if (given->predicates == NULL || given->predicate_count == 0 ||
        given->predicate_count > ETWAS_FILTER_PREDICATES) {
        return "there are not 1 to 8 predicates";
    }
    if (given->event > UINT16_MAX || given->version > UINT16_MAX) {
        return "the event or its version is above 65,535";
    }
    return NULL;
}

/* Finds the field of a predicate, where the layout is known beforehand. */
static const char *compile_find_field(struct etwas_compiled_filter *filter,
                                      struct etwas_filter_field *wanted,
                                      const etwas_payload_filter *given)
{
    for (uint32_t index = 0; index < given->field_count; index++) {
        const etwas_field_description *field = &given->fields[index];

        if (strcmp(field->name, wanted->name) == 0) {
            if (compile_is_array(field)) {
                return "a predicate names an array";
            }
            if (!etwas_predicate_accepts(&wanted->predicate, etwas_payload_kind(field->in_type))) {
                return "a field of this type is not compared so, or not with this value";
            }
            wanted->index = index;
            filter->layout_count = index >= filter->layout_count ? index + 1 : filter->layout_count;
            return NULL;
        }
    }
    return "a predicate names a field that there is not";
}

static const char *compile_field(struct etwas_compiled_filter *filter, uint32_t index,
                                 const etwas_payload_filter *given)
{
    struct etwas_filter_field *wanted = &filter->wanted[index];
    const etwas_payload_predicate *predicate = &given->predicates[index];
    const char *fault;

    if (predicate->field == NULL) {
        return "a predicate names no field";
    }
    if (predicate->reserved != 0) {
        return "a reserved member is not 0";
    }
    fault = compile_copy_name(predicate->field, wanted->name, &wanted->name_bytes);
    fault = fault != NULL ? fault : etwas_predicate_compile(&wanted->predicate, predicate);
    if (fault == NULL && given->fields != NULL) {
        fault = compile_find_field(filter, wanted, given);
    }
    return fault;
}

static const char *compile_fill(struct etwas_compiled_filter *filter,
                                const etwas_payload_filter *given)
{
    const char *fault = NULL;

    filter->guid = *given->guid;
    filter->event = given->event;
    filter->version = given->version;
    filter->by_name = given->event_name != NULL;
    filter->match_any = given->match_any != 0;
    filter->wanted_count = given->predicate_count;
    if (filter->by_name) {
        fault = compile_copy_name(given->event_name, filter->event_name, &filter->event_name_bytes);
    }
    for (uint32_t index = 0; fault == NULL && index < given->predicate_count; index++) {
        fault = compile_field(filter, index, given);
    }
    for (uint32_t index = 0; fault == NULL && index < filter->layout_count; index++) {
        filter->layouts[index] = compile_layout_of(&given->fields[index]);
    }
    return fault;
}

struct etwas_compiled_filter *etwas_payload_filter_compile(const etwas_payload_filter *given,
                                                           uint32_t *code, const char **fault)
{
    struct etwas_compiled_filter *filter = NULL;

    *code = ERROR_INVALID_PARAMETER;
    *fault = compile_check_head(given);
    if (*fault == NULL && given->fields != NULL && !compile_check_fields(given, fault)) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    if (*fault != NULL) {
        return NULL;
    }
    filter = calloc(1, sizeof *filter + given->field_count * sizeof filter->layouts[0]);
    if (filter == NULL) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    *fault = compile_fill(filter, given);
    if (*fault != NULL) {
        free(filter);
        return NULL;
    }
    *code = ERROR_SUCCESS;
    return filter;
}
