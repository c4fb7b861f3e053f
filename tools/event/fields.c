/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Goes through the fields of an event once, and writes them as text or JSON. */

#include "event/fields.h"

#include "print/json.h"
#include "print/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    /* A limit above the longest text of a value: 2 digits a byte, 4 bytes a UTF-16 unit. */
    TEXT_BYTES = 256 * 1024,
    /* Most values have a shorter text, which goes to the output directly. */
    SHORT_BYTES = 256,
};

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns the text of a value, in the scratch buffer of its output. */
static const struct etwas_output *text_of(struct etwas_output *output, const etwas_value *value)
{
    struct etwas_output *text = etwas_output_scratch(output);
    size_t bytes = etwas_value_text(value, etwas_output_room(text, TEXT_BYTES), TEXT_BYTES);

    text->used_bytes = bytes < TEXT_BYTES ? bytes : TEXT_BYTES - 1;
    return text;
}

static bool is_unsigned(uint16_t in_type)
{
    return in_type == TDH_INTYPE_UINT8 || in_type == TDH_INTYPE_UINT16 ||
           in_type == TDH_INTYPE_UINT32 || in_type == TDH_INTYPE_UINT64 ||
           in_type == TDH_INTYPE_HEXINT32 || in_type == TDH_INTYPE_HEXINT64;
}

/* Returns whether the value's text may contain text from the file, which must be escaped. */
static bool is_foreign(const etwas_value *value)
{
    return value->field->map != NULL || etwas_value_is_string(value);
}

/*
 * Writes an integer, as most values are, in the decoder's form but without calling it. Returns
 * false for any other value.
 */
static bool put_whole_number(struct etwas_output *output, const etwas_value *value)
{
    uint64_t number = 0;

    if (value->bytes > sizeof number || value->field->map != NULL) {
        return false;
    }
    memcpy(&number, value->data, value->bytes);
    switch (value->out_type) {
    case TDH_OUTTYPE_UNSIGNEDBYTE:
    case TDH_OUTTYPE_UNSIGNEDSHORT:
    case TDH_OUTTYPE_UNSIGNEDINT:
    case TDH_OUTTYPE_UNSIGNEDLONG:
        if (!is_unsigned(value->in_type)) {
            return false;
        }
        etwas_output_unsigned(output, number);
        return true;
    case TDH_OUTTYPE_HEXINT8:
    case TDH_OUTTYPE_HEXINT16:
    case TDH_OUTTYPE_HEXINT32:
    case TDH_OUTTYPE_HEXINT64:
        if (!is_unsigned(value->in_type)) {
            return false;
        }
        etwas_output_hexadecimal(output, number);
        return true;
    default:
        return false;
    }
}

static void put_text(struct etwas_output *output, const etwas_value *value, bool quoted)
{
    const struct etwas_output *text;
    bool is_string;

    if (!is_foreign(value)) {
        size_t bytes = etwas_value_text(value, etwas_output_room(output, SHORT_BYTES), SHORT_BYTES);

        if (bytes < SHORT_BYTES) {
            output->used_bytes += bytes;
            return;
        }
    }
    text = text_of(output, value);
    is_string = quoted && etwas_value_is_string(value);
    if (is_string) {
        etwas_output_char(output, '"');
    }
    etwas_text_utf8(output, is_string ? ETWAS_TEXT_QUOTED : ETWAS_TEXT_PLAIN, text->bytes,
                    text->used_bytes);
    if (is_string) {
        etwas_output_char(output, '"');
    }
}

void etwas_fields_print_odd(struct etwas_output *output, const char *before,
                            const etwas_value *value, const char *behind)
{
    size_t bytes = etwas_value_odd(value, NULL, 0);

    if (bytes > 0) {
        etwas_output_text(output, before);
        etwas_value_odd(value, etwas_output_room(output, bytes + 1), bytes + 1);
        output->used_bytes += bytes;
        etwas_output_text(output, behind);
    }
}

void etwas_fields_print_value(struct etwas_output *output, const etwas_value *value, bool quoted)
{
    if (!put_whole_number(output, value)) {
        put_text(output, value, quoted);
        etwas_fields_print_odd(output, " (", value, ")");
    }
}

void etwas_fields_print_known(struct etwas_output *output,
                              const struct etwas_schema_texts *schema_texts,
                              const etwas_value *value, const struct etwas_fields_reader *reader,
                              bool quoted)
{
    enum etwas_field_kind kind =
        schema_texts->fields[value->field - schema_texts->schema->fields].kind;

    if (kind == ETWAS_FIELD_PLAIN || !reader->put(output, reader->context, kind, value)) {
        etwas_fields_print_value(output, value, quoted);
    }
}

static void put_json_string(struct etwas_output *output, const etwas_value *value)
{
    const struct etwas_output *text = text_of(output, value);

    etwas_output_char(output, '"');
    etwas_text_utf8(output, ETWAS_TEXT_JSON, text->bytes, text->used_bytes);
    etwas_output_char(output, '"');
}

/* Writes the fewest digits that are read back as the same value: up to 9 for a float, else 17. */
static void put_json_float(struct etwas_output *output, double value, bool is_double)
{
    int digits = is_double ? 15 : 6;
    char text[32];
    double read_back;

    /* JSON has no number for these; protobuf and others write them as strings, too. */
    if (!isfinite(value)) {
        etwas_output_text(output, isnan(value) ? "\"NaN\""
                                  : value > 0  ? "\"Infinity\""
                                               : "\"-Infinity\"");
        return;
    }
    do {
        snprintf(text, sizeof text, "%.*g", digits++, value);
        read_back = is_double ? strtod(text, NULL) : (double)strtof(text, NULL);
    } while (digits <= (is_double ? 17 : 9) && (read_back < value || read_back > value));
    etwas_output_text(output, text);
}

/* Writes the name of an enumeration value as a string, and any other value as its own type. */
static void put_json_value(struct etwas_output *output, const etwas_value *value)
{
    etwas_number number;

    if (value->field->map != NULL) {
        put_json_string(output, value);
        return;
    }
    switch (etwas_value_number(value, &number)) {
    case ETWAS_VALUE_UNSIGNED:
        etwas_json_put_unsigned(output, number.u);
        break;
    case ETWAS_VALUE_SIGNED:
        etwas_json_put_signed(output, number.i);
        break;
    case ETWAS_VALUE_FLOAT:
        put_json_float(output, number.f, value->in_type != TDH_INTYPE_FLOAT);
        break;
    case ETWAS_VALUE_BOOLEAN:
        etwas_output_text(output, number.u != 0 ? "true" : "false");
        break;
    default:
        put_json_string(output, value);
        break;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Writes what precedes a value: a separator, and outside arrays its name. */
static void put_before(struct etwas_fields_form *form, const etwas_schema_field *field)
{
    struct etwas_fields_nesting *nesting = &form->nesting;
    bool in_array = nesting->is_array[nesting->depth];
    const struct etwas_schema_texts_field *schema_texts =
        &form->schema_texts->fields[field - form->schema_texts->schema->fields];

    if (nesting->is_behind[nesting->depth]) {
        if (form->json || in_array) {
            etwas_output_char(form->output, ',');
        }
        if (!form->json) {
            etwas_output_char(form->output, ' ');
        }
    }
    nesting->is_behind[nesting->depth] = true;
    if (!in_array) {
        etwas_schema_texts_print(form->output, form->schema_texts,
                                 form->json ? schema_texts->key : schema_texts->label);
    }
}

static void open(struct etwas_fields_form *form, bool is_array)
{
    struct etwas_fields_nesting *nesting = &form->nesting;

    if (nesting->depth + 1 < ETWAS_FIELDS_DEPTH) {
        nesting->depth++;
    }
    nesting->is_array[nesting->depth] = is_array;
    nesting->is_behind[nesting->depth] = false;
    etwas_output_char(form->output, is_array ? '[' : '{');
}

static void close(struct etwas_fields_form *form)
{
    struct etwas_fields_nesting *nesting = &form->nesting;

    etwas_output_char(form->output, nesting->is_array[nesting->depth] ? ']' : '}');
    if (nesting->depth > 0) {
        nesting->depth--;
    }
}

void etwas_fields_print_rest(struct etwas_output *output, const struct etwas_fields_rest *rest)
{
    etwas_output_char(output, '(');
    if (rest->truncated != NULL) {
        etwas_output_text(output, "truncated");
    } else if (rest->undescribed != NULL) {
        etwas_output_text(output, "not described");
    } else {
        etwas_output_unsigned(output, rest->bytes);
        etwas_output_text(output, rest->bytes == 1 ? " more byte" : " more bytes");
    }
    if (rest->bytes > 0) {
        etwas_output_text(output, ": ");
        etwas_output_hex(output, rest->data, rest->bytes);
    }
    etwas_output_char(output, ')');
}

void etwas_fields_note_rest(const etwas_value *value, struct etwas_fields_rest *rest)
{
    rest->truncated = value->token == ETWAS_TOKEN_TRUNCATED ? value->field->name : NULL;
    rest->undescribed = value->token == ETWAS_TOKEN_UNDESCRIBED ? value->field->name : NULL;
    rest->data = value->data;
    rest->bytes = value->bytes;
}

static void put_rest(struct etwas_fields_form *form, const etwas_value *value,
                     const struct etwas_fields_rest *rest)
{
    if (form->json) {
        return;
    }
    if (value->token != ETWAS_TOKEN_TRAILING) {
        put_before(form, value->field);
    } else if (form->nesting.is_behind[0]) {
        etwas_output_char(form->output, ' ');
    }
    etwas_fields_print_rest(form->output, rest);
}

/* Returns whether to leave out a field whose schema marks it as not printable. JSON has it. */
static bool is_left_out(const struct etwas_fields_form *form, const etwas_value *value)
{
    return value->out_type == TDH_OUTTYPE_NOPRINT && !form->json &&
           !form->nesting.is_array[form->nesting.depth];
}

static void note_odd(const etwas_value *value, struct etwas_fields_rest *rest)
{
    if (etwas_value_odd(value, NULL, 0) == 0) {
        return;
    }
    if (rest->odd_count < ETWAS_FIELDS_ODD) {
        rest->odd[rest->odd_count] = *value;
    }
    rest->odd_count++;
}

void etwas_fields_find_rest(const struct etwas_schema_texts *schema_texts,
                            const EVENT_RECORD *record, struct etwas_fields_rest *rest)
{
    etwas_fields fields;
    etwas_value value;

    etwas_fields_no_rest(rest);
    etwas_fields_begin(&fields, schema_texts->schema, record);
    while (etwas_fields_next(&fields, &value)) {
        if (value.token == ETWAS_TOKEN_VALUE) {
            note_odd(&value, rest);
        } else if (value.token >= ETWAS_TOKEN_TRUNCATED) {
            etwas_fields_note_rest(&value, rest);
        }
    }
}

void etwas_fields_print_token(struct etwas_fields_form *form, const etwas_value *value,
                              struct etwas_fields_rest *rest)
{
    switch (value->token) {
    case ETWAS_TOKEN_VALUE:
        note_odd(value, rest);
        if (is_left_out(form, value)) {
            break;
        }
        put_before(form, value->field);
        if (form->json) {
            put_json_value(form->output, value);
        } else {
            etwas_fields_print_known(form->output, form->schema_texts, value, form->reader, true);
        }
        break;
    case ETWAS_TOKEN_ARRAY_BEGIN:
        put_before(form, value->field);
        open(form, true);
        break;
    case ETWAS_TOKEN_STRUCT_BEGIN:
        put_before(form, value->field);
        open(form, false);
        break;
    case ETWAS_TOKEN_ARRAY_END:
    case ETWAS_TOKEN_STRUCT_END:
        close(form);
        break;
    default:
        etwas_fields_note_rest(value, rest);
        put_rest(form, value, rest);
        break;
    }
}

static void put_fields(struct etwas_fields_form *form, const EVENT_RECORD *record,
                       struct etwas_fields_rest *rest)
{
    etwas_fields fields;
    etwas_value value;

    etwas_fields_no_rest(rest);
    form->nesting.depth = 0;
    form->nesting.is_array[0] = false;
    form->nesting.is_behind[0] = false;
    etwas_fields_begin(&fields, form->schema_texts->schema, record);
    while (etwas_fields_next(&fields, &value)) {
        etwas_fields_print_token(form, &value, rest);
    }
}

static bool know_nothing(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                         const etwas_value *value)
{
    (void)output, (void)context, (void)kind, (void)value;
    return false;
}

void etwas_fields_begin_element(struct etwas_fields_form *form, struct etwas_output *output,
                                const struct etwas_schema_texts *schema_texts)
{
    static const struct etwas_fields_reader nobody = {know_nothing, NULL};

    form->output = output;
    form->schema_texts = schema_texts;
    form->json = false;
    form->reader = &nobody;
    form->nesting.depth = 0;
    form->nesting.is_array[0] = true;
    form->nesting.is_behind[0] = false;
}

bool etwas_fields_print_text(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, const struct etwas_fields_reader *reader,
                             struct etwas_fields_rest *rest)
{
    struct etwas_fields_form form;

    form.output = output;
    form.schema_texts = schema_texts;
    form.json = false;
    form.reader = reader;
    put_fields(&form, record, rest);
    return form.nesting.is_behind[0] || rest->bytes > 0;
}

bool etwas_fields_print_json_members(struct etwas_output *output,
                                     const struct etwas_schema_texts *schema_texts,
                                     const EVENT_RECORD *record, struct etwas_fields_rest *rest)
{
    struct etwas_fields_form form;

    form.output = output;
    form.schema_texts = schema_texts;
    form.json = true;
    put_fields(&form, record, rest);
    return form.nesting.is_behind[0];
}

void etwas_fields_print_json(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, struct etwas_fields_rest *rest)
{
    etwas_output_char(output, '{');
    (void)etwas_fields_print_json_members(output, schema_texts, record, rest);
    etwas_output_char(output, '}');
}
