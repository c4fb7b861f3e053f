/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes the marks of an event as JSON and in words. */

#include "event/marks.h"

#include "print/json.h"
#include "print/text.h"

int etwas_marks_version(const struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record)
{
    uint8_t version;

    if (schema_texts == NULL || !schema_texts->schema->other_version) {
        return ETWAS_MARKS_OWN_VERSION;
    }
    version = schema_texts->schema->info->EventDescriptor.Version;
    return version == record->EventHeader.EventDescriptor.Version ? ETWAS_MARKS_ALL_VERSIONS
                                                                  : version;
}

bool etwas_marks_are_there(const struct etwas_schema_texts *schema_texts,
                           const EVENT_RECORD *record, const struct etwas_fields_rest *rest)
{
    return rest->truncated != NULL || rest->undescribed != NULL || rest->bytes > 0 ||
           rest->odd_count > 0 ||
           etwas_marks_version(schema_texts, record) != ETWAS_MARKS_OWN_VERSION;
}

/* Writes the whole path of a field, such as `point.size_2`. */
static void put_path(struct etwas_output *output, enum etwas_text_style style,
                     const struct etwas_schema_texts *schema_texts, const etwas_value *value)
{
    struct etwas_kept_text full =
        schema_texts->fields[value->field - schema_texts->schema->fields].full;

    etwas_text_utf8(output, style, schema_texts->texts + full.at, full.bytes);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_json_odd(struct etwas_output *output, const struct etwas_schema_texts *schema_texts,
                         const struct etwas_fields_rest *rest)
{
    const char *before = "[{\"field\":\"";

    if (rest->odd_count == 0) {
        return;
    }
    etwas_json_key(output, "odd");
    for (uint32_t i = 0; i < rest->odd_count && i < ETWAS_FIELDS_ODD; i++) {
        etwas_output_text(output, before);
        put_path(output, ETWAS_TEXT_JSON, schema_texts, &rest->odd[i]);
        etwas_output_char(output, '"');
        if (rest->odd[i].index > 0) {
            etwas_json_number(output, "element", rest->odd[i].index);
        }
        etwas_json_key(output, "odd");
        etwas_fields_print_odd(output, "\"", &rest->odd[i], "\"}");
        before = ",{\"field\":\"";
    }
    etwas_output_char(output, ']');
    if (rest->odd_count > ETWAS_FIELDS_ODD) {
        etwas_json_number(output, "odd_values", rest->odd_count);
    }
}

void etwas_marks_print_json(struct etwas_output *output,
                            const struct etwas_schema_texts *schema_texts,
                            const EVENT_RECORD *record, const struct etwas_fields_rest *rest)
{
    int version = etwas_marks_version(schema_texts, record);

    if (rest->truncated != NULL) {
        etwas_json_text(output, "truncated", rest->truncated);
    }
    if (rest->undescribed != NULL) {
        etwas_json_text(output, "undescribed", rest->undescribed);
    }
    if (rest->truncated != NULL || rest->undescribed != NULL || rest->bytes > 0) {
        etwas_json_key(output, "rest");
        etwas_output_char(output, '"');
        etwas_output_hex(output, rest->data, rest->bytes);
        etwas_output_char(output, '"');
    }
    put_json_odd(output, schema_texts, rest);
    if (version != ETWAS_MARKS_OWN_VERSION) {
        etwas_json_key(output, "decoded_as_version");
        if (version < 0) {
            etwas_output_text(output, "null");
        } else {
            etwas_output_signed(output, version);
        }
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

bool etwas_marks_print_version(struct etwas_output *output,
                               const struct etwas_schema_texts *schema_texts,
                               const EVENT_RECORD *record)
{
    int version = etwas_marks_version(schema_texts, record);

    if (version == ETWAS_MARKS_OWN_VERSION) {
        return false;
    }
    etwas_output_text(output, "version ");
    etwas_output_unsigned(output, record->EventHeader.EventDescriptor.Version);
    if (version < 0) {
        etwas_output_text(output, " is not known: only what all known ones have in common");
    } else {
        etwas_output_text(output, " decoded as ");
        etwas_output_signed(output, version);
    }
    return true;
}

static void put_rest_words(struct etwas_output *output, const struct etwas_fields_rest *rest,
                           const char **between)
{
    const char *field = rest->truncated != NULL ? rest->truncated : rest->undescribed;

    if (field == NULL && rest->bytes == 0) {
        return;
    }
    if (field != NULL) {
        etwas_text_utf8(output, ETWAS_TEXT_WORD, field, strlen(field));
        etwas_output_char(output, ' ');
    }
    etwas_fields_print_rest(output, rest);
    *between = "; ";
}

bool etwas_marks_print_odd(struct etwas_output *output,
                           const struct etwas_schema_texts *schema_texts,
                           const struct etwas_fields_rest *rest)
{
    for (uint32_t i = 0; i < rest->odd_count && i < ETWAS_FIELDS_ODD; i++) {
        etwas_output_text(output, i > 0 ? "; " : "");
        put_path(output, ETWAS_TEXT_WORD, schema_texts, &rest->odd[i]);
        etwas_fields_print_odd(output, " (", &rest->odd[i], ")");
    }
    if (rest->odd_count > ETWAS_FIELDS_ODD) {
        etwas_output_text(output, "; ");
        etwas_output_unsigned(output, rest->odd_count - ETWAS_FIELDS_ODD);
        etwas_output_text(output, " more odd values");
    }
    return rest->odd_count > 0;
}

void etwas_marks_print_words(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, const struct etwas_fields_rest *rest)
{
    const char *between = "";

    put_rest_words(output, rest, &between);
    if (rest->odd_count > 0) {
        etwas_output_text(output, between);
        (void)etwas_marks_print_odd(output, schema_texts, rest);
        between = "; ";
    }
    if (etwas_marks_version(schema_texts, record) != ETWAS_MARKS_OWN_VERSION) {
        etwas_output_text(output, between);
        (void)etwas_marks_print_version(output, schema_texts, record);
    }
}
