/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Templates: the fields of events. A field may refer only to earlier ones. */
#include <etwas/winerror.h>
#include <string.h>

#include "decode/manifest.h"
#include "decode/manifest_reader.h"

enum {
    FIELDS_LIMIT = 512, /* of a template; one of unknown type follows if there were more */
};

bool etwas_manifest_begin_template(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_template *template = etwas_manifest_add_named(
        reader, sizeof *template, ETWAS_MANIFEST_TEMPLATE, reader->provider,
        etwas_manifest_copy_attribute(reader, attributes, "tid"));

    if (template != NULL) {
        template->flags = TEMPLATE_EVENT_DATA;
    }
    reader->template = template;
    reader->structure = ETWAS_BUILDER_TOP;
    return template != NULL;
}

bool etwas_manifest_begin_user_data(struct etwas_manifest_reader *reader, const char **attributes)
{
    (void)attributes;
    reader->template->flags |= TEMPLATE_USER_DATA;
    return false;
}

/*
 * Returns the number of the earlier field that `name` refers to inside `parent`: one of the same
 * struct, or else a top-level field. ETWAS_BUILDER_NO_PROPERTY: there is none.
 */
static uint16_t template_earlier_field(const struct etwas_manifest_template *template,
                                       uint16_t parent, const char *name)
{
    const struct etwas_manifest_field *field = template->first;
    uint16_t found = ETWAS_BUILDER_NO_PROPERTY;
    uint16_t found_parent = ETWAS_BUILDER_TOP;

    for (uint16_t i = 0; field != NULL; field = field->next, i++) {
        bool reached = field->parent == parent || field->parent == ETWAS_BUILDER_TOP;

        if (reached && field->name != NULL && strcmp(field->name, name) == 0 &&
            (field->parent == parent || found_parent == ETWAS_BUILDER_TOP)) {
            found = i;
            found_parent = field->parent;
        }
    }
    return found;
}

/* Reads `count` or `length`, which is a number or the name of a field. */
static void template_measure_of(const struct etwas_manifest_reader *reader, const char **attributes,
                                const char *name, struct etwas_manifest_field *field,
                                uint16_t *measure, uint32_t fixed_flag, uint32_t field_flag)
{
    const char *value = etwas_manifest_attribute(attributes, name);
    uint64_t number;

    if (value == NULL) {
        return;
    }
    if (etwas_manifest_parse_number(value, UINT16_MAX, &number)) {
        *measure = (uint16_t)number;
        field->info.Flags |= fixed_flag;
        return;
    }
    *measure = template_earlier_field(reader->template, field->parent, value);
    field->info.Flags |= field_flag;
}

/* Adds a field; NULL: there are too many, or there is no memory. */
static struct etwas_manifest_field *template_add_field(struct etwas_manifest_reader *reader,
                                                       const char **attributes)
{
    struct etwas_manifest_template *template = reader->template;
    struct etwas_manifest_field *field;

    if (template->count > FIELDS_LIMIT) {
        return NULL;
    }
    field = etwas_arena_allocate(&reader->manifest->arena, sizeof *field);
    if (field == NULL) {
        etwas_manifest_fail(reader, ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    field->name = etwas_manifest_copy_attribute(reader, attributes, "name");
    field->parent = reader->structure;
    field->info.count = 1;
    field->info.nonStructType.InType = ETWAS_BUILDER_NO_TYPE;
    template_measure_of(reader, attributes, "count", field, &field->info.count,
                        PropertyParamFixedCount, PropertyParamCount);
    *(template->last == NULL ? &template->first : &template->last->next) = field;
    template->last = field;
    template->count++;
    return template->count > FIELDS_LIMIT ? NULL : field;
}

bool etwas_manifest_begin_data(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_field *field = template_add_field(reader, attributes);
    const char *in_type = etwas_manifest_attribute(attributes, "inType");
    const char *out_type = etwas_manifest_attribute(attributes, "outType");

    if (field == NULL) {
        return false;
    }
    field->map = etwas_manifest_copy_attribute(reader, attributes, "map");
    if (in_type != NULL) {
        etwas_manifest_in_type(in_type, &field->info.nonStructType.InType);
    }
    template_measure_of(reader, attributes, "length", field, &field->info.length,
                        PropertyParamFixedLength, PropertyParamLength);
    if (out_type != NULL &&
        !etwas_manifest_out_type(out_type, &field->info.nonStructType.OutType)) {
        etwas_manifest_skip_element(reader, "data");
    }
    return true;
}

bool etwas_manifest_begin_struct(struct etwas_manifest_reader *reader, const char **attributes)
{
    struct etwas_manifest_field *field = template_add_field(reader, attributes);

    if (field == NULL) {
        return false;
    }
    field->info.Flags |= PropertyStruct;
    reader->structure = (uint16_t)(reader->template->count - 1);
    return true;
}
