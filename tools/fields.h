/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_FIELDS_H
#define ETWAS_TOOLS_FIELDS_H

/*
 * The fields of an event: as text, `size=37 name="a\n" point={x=1 y=2} list=[1, 2]`, and as JSON.
 */

#include "described.h"

/* What is wrong with a payload by its schema. */
struct etwas_fields_rest {
    const char *truncated; /* the field that the payload ends in; NULL: all are whole */
    const void *data;      /* what is left of it, or follows the last field */
    uint32_t bytes;
};

/* Writes a value of some kind as text, if more is known of it than the decoder says; else nothing, and false. */
struct etwas_fields_reader {
    bool (*put)(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                const etwas_value *value);
    void *context;
};

enum {
    ETWAS_FIELDS_DEPTH = 128, /* of arrays and structs in each other; the decoder allows fewer */
};

/* What is open around the next value, and whether one came before it. */
struct etwas_fields_nesting {
    bool is_array[ETWAS_FIELDS_DEPTH];
    bool is_behind[ETWAS_FIELDS_DEPTH];
    unsigned depth;
};

/* Fields on their way into one of the two forms. */
struct etwas_fields_form {
    struct etwas_output *output;
    const struct etwas_described *described;
    bool json;
    const struct etwas_fields_reader *reader; /* of text */
    struct etwas_fields_nesting nesting;
};

/* Begins with a value, array or struct alone, as text without its name: `[1, 2]`. */
void etwas_fields_begin_element(struct etwas_fields_form *form, struct etwas_output *output,
                                const struct etwas_described *described);

/* What etwas_fields_next gave next. `rest` is set where the payload and its schema contradict each other. */
void etwas_fields_put_token(struct etwas_fields_form *form, const etwas_value *value,
                            struct etwas_fields_rest *rest);

/*
 * `key=value …`; false, and nothing: there are no fields to be read. What is left of a field that is not whole
 * stands in its place, what follows the last field behind it.
 */
bool etwas_fields_put_text(struct etwas_output *output, const struct etwas_described *described,
                           const EVENT_RECORD *record, const struct etwas_fields_reader *reader,
                           struct etwas_fields_rest *rest);

/* A JSON object. A field that is not whole is left out. */
void etwas_fields_put_json(struct etwas_output *output, const struct etwas_described *described,
                           const EVENT_RECORD *record, struct etwas_fields_rest *rest);

/* The same without the braces, behind which more may follow. False: there is none. */
bool etwas_fields_put_json_members(struct etwas_output *output,
                                   const struct etwas_described *described,
                                   const EVENT_RECORD *record, struct etwas_fields_rest *rest);

/* What is left, or follows, in parentheses. */
void etwas_fields_put_rest(struct etwas_output *output, const struct etwas_fields_rest *rest);

/* One value: a string in quotes if `quoted`. */
void etwas_fields_put_value(struct etwas_output *output, const etwas_value *value, bool quoted);

/* The same of a field's value by what `reader` knows, else by the decoder. */
void etwas_fields_put_known(struct etwas_output *output, const struct etwas_described *described,
                            const etwas_value *value, const struct etwas_fields_reader *reader,
                            bool quoted);

#endif
