/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_FIELDS_H
#define ETWAS_TOOLS_EVENT_FIELDS_H

/*
 * Writes the fields of an event as text, `size=37 name="a\n" point={x=1 y=2} list=[1, 2]`, and as
 * JSON.
 */

#include "event/schema_texts.h"

enum {
    ETWAS_FIELDS_ODD = 8, /* values of an event that are kept in odd[] */
};

/* What the fields of an event do not show of its payload, and values that may be wrong. */
struct etwas_fields_rest {
    const char *truncated;   /* the field that the payload ends in; NULL: none */
    const char *undescribed; /* the field whose encoding is not described; NULL: none */
    const void *data;        /* the rest of that field, or what follows the last field */
    uint32_t bytes;
    uint32_t odd_count; /* number of values that etwas_value_odd marks; odd[] has the first */
    etwas_value odd[ETWAS_FIELDS_ODD];
};

/* Empties it, but leaves odd[] as it is. */
static inline void etwas_fields_no_rest(struct etwas_fields_rest *rest)
{
    rest->truncated = NULL;
    rest->undescribed = NULL;
    rest->data = NULL;
    rest->bytes = 0;
    rest->odd_count = 0;
}

/*
 * Writes a value of some kind as text if more is known of it than the decoder shows. Otherwise
 * returns false and writes nothing.
 */
struct etwas_fields_reader {
    bool (*put)(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                const etwas_value *value);
    void *context;
};

enum {
    ETWAS_FIELDS_DEPTH = 128, /* nesting of arrays and structs; the decoder allows less */
};

/* The arrays and structs that are open at the next value, and whether a value precedes it there. */
struct etwas_fields_nesting {
    bool is_array[ETWAS_FIELDS_DEPTH];
    bool is_behind[ETWAS_FIELDS_DEPTH];
    unsigned depth;
};

/* The state of writing fields as text or JSON. */
struct etwas_fields_form {
    struct etwas_output *output;
    const struct etwas_schema_texts *schema_texts;
    bool json;
    const struct etwas_fields_reader *reader; /* only for text */
    struct etwas_fields_nesting nesting;
};

/*
 * Begins with a single value, array or struct, which is written as text without a name: `[1, 2]`.
 */
void etwas_fields_begin_element(struct etwas_fields_form *form, struct etwas_output *output,
                                const struct etwas_schema_texts *schema_texts);

/*
 * Writes a token that etwas_fields_next returned. `rest` is empty at first, and set at the first
 * token that belongs in it.
 */
void etwas_fields_print_token(struct etwas_fields_form *form, const etwas_value *value,
                              struct etwas_fields_rest *rest);

/*
 * Writes the fields as `key=value …`. If no fields can be read, returns false and writes nothing.
 * The rest of an incomplete field is written in its place; what follows the last field comes last.
 */
bool etwas_fields_print_text(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, const struct etwas_fields_reader *reader,
                             struct etwas_fields_rest *rest);

/* Writes the fields as a JSON object. An incomplete field is left out. */
void etwas_fields_print_json(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, struct etwas_fields_rest *rest);

/*
 * Writes the same without braces, so that more members can follow. Returns false if there are no
 * fields.
 */
bool etwas_fields_print_json_members(struct etwas_output *output,
                                     const struct etwas_schema_texts *schema_texts,
                                     const EVENT_RECORD *record, struct etwas_fields_rest *rest);

/* Sets `rest` as etwas_fields_print_text and etwas_fields_print_json do, without writing. */
void etwas_fields_find_rest(const struct etwas_schema_texts *schema_texts,
                            const EVENT_RECORD *record, struct etwas_fields_rest *rest);

/* Sets `rest` from one token: TRUNCATED, UNDESCRIBED or TRAILING. */
void etwas_fields_note_rest(const etwas_value *value, struct etwas_fields_rest *rest);

/* Writes, in parentheses, the rest of a field or what follows the last one. */
void etwas_fields_print_rest(struct etwas_output *output, const struct etwas_fields_rest *rest);

/*
 * Writes one value, a string in quotes if `quoted`, followed in parentheses by what is odd about
 * it.
 */
void etwas_fields_print_value(struct etwas_output *output, const etwas_value *value, bool quoted);

/* Writes what is odd about a value between two texts; nothing if it is not odd. */
void etwas_fields_print_odd(struct etwas_output *output, const char *before,
                            const etwas_value *value, const char *behind);

/* Writes the value of a field as `reader` knows it, else as the decoder shows it. */
void etwas_fields_print_known(struct etwas_output *output,
                              const struct etwas_schema_texts *schema_texts,
                              const etwas_value *value, const struct etwas_fields_reader *reader,
                              bool quoted);

#endif
