/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/read/values.h"

#include "event/fields.h"

enum {
    DEPTH = 128,      /* of nested arrays and structs; the decoder allows fewer */
    KEY_BYTES = 2048, /* for elements of arrays; longer keys are cut */
    INDEX_BYTES = 16,
    LIST_BYTES = 128 * 1024, /* an array with a longer text is not made a text */
};

/* An array or struct around the next token. */
struct frame {
    bool is_array;
    bool is_dynamic; /* it is an array, or in one: keys begin with `key_bytes` of the key */
    size_t key_bytes;
};

struct walk {
    struct etwas_columns *columns;
    const struct etwas_schema_texts *schema_texts;
    struct etwas_output *text; /* for the text of a value, or of an array */
    uint32_t pairs;
    bool is_over; /* the event has more pairs, or a longer text, than a row may have */
    uint32_t depth;
    uint32_t list_depth; /* of the array that becomes a text; 0: none */
    struct etwas_fields_form list;
    struct frame frames[DEPTH];
    size_t key_bytes;
    char key[KEY_BYTES];
};

/* A key of the schema, or one that was made in the walk. */
struct key {
    const char *text;
    size_t bytes;
};

/* ---- keys ------------------------------------------------------------------------------------ */

static void append(struct walk *walk, const char *text, size_t bytes)
{
    size_t room = sizeof walk->key - walk->key_bytes;

    bytes = bytes < room ? bytes : room;
    memcpy(walk->key + walk->key_bytes, text, bytes);
    walk->key_bytes += bytes;
}

static void append_index(struct walk *walk, uint32_t index)
{
    char text[INDEX_BYTES];
    size_t at = sizeof text;

    text[--at] = ']';
    do {
        text[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    text[--at] = '[';
    append(walk, text + at, sizeof text - at);
}

/* Returns the key of the token's value. */
static struct key key_of(struct walk *walk, const etwas_value *value)
{
    const struct frame *frame = &walk->frames[walk->depth];
    const struct etwas_schema_texts_field *field =
        &walk->schema_texts->fields[value->field - walk->schema_texts->schema->fields];
    const char *full = walk->schema_texts->texts + field->full.at;

    if (!frame->is_dynamic) {
        return (struct key){full, field->full.bytes};
    }
    walk->key_bytes = frame->key_bytes;
    if (frame->is_array) {
        append_index(walk, value->index);
    } else {
        append(walk, ".", 1);
        append(walk, full + field->own_at, field->full.bytes - field->own_at);
    }
    return (struct key){walk->key, walk->key_bytes};
}

static void open_frame(struct walk *walk, const etwas_value *value, bool is_array)
{
    struct key key = key_of(walk, value);
    bool is_dynamic = is_array || walk->frames[walk->depth].is_dynamic;

    if (is_dynamic && key.text != walk->key) {
        walk->key_bytes = 0;
        append(walk, key.text, key.bytes);
    }
    if (walk->depth + 1 < DEPTH) {
        walk->depth++;
    }
    walk->frames[walk->depth] = (struct frame){is_array, is_dynamic, walk->key_bytes};
}

static void close_frame(struct walk *walk)
{
    walk->depth -= walk->depth > 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_text(struct walk *walk, struct key key, const etwas_value *value)
{
    struct etwas_output *text = etwas_output_anew(walk->text);
    size_t bytes = etwas_value_text(value, text->bytes, text->room_bytes);

    if (bytes >= text->room_bytes) {
        etwas_output_make_room(text, bytes);
        bytes = etwas_value_text(value, text->bytes, text->room_bytes);
    }
    etwas_columns_text(walk->columns, ETWAS_SHIP_EVENT_TEXTS, key.text, key.bytes, text->bytes,
                       bytes);
}

static void put_value(struct walk *walk, const etwas_value *value)
{
    struct key key = key_of(walk, value);
    etwas_number number;
    uint32_t kind = etwas_value_number(value, &number);

    if (kind == ETWAS_VALUE_FLOAT) {
        etwas_columns_real(walk->columns, ETWAS_SHIP_EVENT_REALS, key.text, key.bytes, number.f);
    } else if (kind != ETWAS_VALUE_TEXT) {
        etwas_columns_int(walk->columns, ETWAS_SHIP_EVENT_INTS, key.text, key.bytes, number.i);
    }
    if (kind == ETWAS_VALUE_TEXT || value->field->map != NULL) {
        put_text(walk, key, value);
    }
    walk->is_over = ++walk->pairs == ETWAS_SHIP_PAIRS;
}

/* ---- long arrays ----------------------------------------------------------------------------- */

/* The array's key stays in the walk until the array ends. */
static void begin_list(struct walk *walk, const etwas_value *value)
{
    open_frame(walk, value, true);
    etwas_fields_begin_element(&walk->list, etwas_output_anew(walk->text), walk->schema_texts);
    walk->list_depth = walk->depth;
}

static void end_list(struct walk *walk)
{
    if (!walk->is_over) {
        etwas_columns_text(walk->columns, ETWAS_SHIP_EVENT_TEXTS, walk->key,
                           walk->frames[walk->list_depth].key_bytes, walk->text->bytes,
                           walk->text->used_bytes);
    }
    walk->list_depth = 0;
}

/* Takes each token of a long array, from its ARRAY_BEGIN to its ARRAY_END. */
static void put_in_list(struct walk *walk, const etwas_value *value)
{
    struct etwas_fields_rest unused;

    etwas_fields_no_rest(&unused);
    etwas_fields_print_token(&walk->list, value, &unused);
    walk->is_over |= walk->text->used_bytes > LIST_BYTES;
    if (walk->list.nesting.depth == 0) {
        end_list(walk);
        close_frame(walk);
        walk->pairs++;
    }
}

/* ---- all of an event ------------------------------------------------------------------------- */

static void put_token(struct walk *walk, const etwas_value *value,
                      struct etwas_ship_left_over *left_over)
{
    if (value->token >= ETWAS_TOKEN_TRUNCATED) {
        *left_over = (struct etwas_ship_left_over){value->data, value->bytes};
    } else if (walk->list_depth > 0) {
        put_in_list(walk, value);
    } else if (value->token == ETWAS_TOKEN_VALUE) {
        put_value(walk, value);
    } else if (value->token == ETWAS_TOKEN_ARRAY_BEGIN && value->count > ETWAS_SHIP_ELEMENTS) {
        begin_list(walk, value);
        put_in_list(walk, value);
    } else if (value->token == ETWAS_TOKEN_ARRAY_BEGIN ||
               value->token == ETWAS_TOKEN_STRUCT_BEGIN) {
        open_frame(walk, value, value->token == ETWAS_TOKEN_ARRAY_BEGIN);
    } else {
        close_frame(walk);
    }
}

struct etwas_ship_left_over etwas_ship_values_put(struct etwas_columns *columns,
                                                  const struct etwas_schema_texts *schema_texts,
                                                  const EVENT_RECORD *record,
                                                  struct etwas_output *text)
{
    struct etwas_ship_left_over left_over = {NULL, 0};
    struct walk walk;
    etwas_fields fields;
    etwas_value value;

    walk.columns = columns;
    walk.schema_texts = schema_texts;
    walk.text = text;
    walk.pairs = 0;
    walk.is_over = false;
    walk.depth = 0;
    walk.list_depth = 0;
    walk.frames[0] = (struct frame){.is_array = false};
    etwas_fields_begin(&fields, schema_texts->schema, record);
    while (!walk.is_over && etwas_fields_next(&fields, &value)) {
        put_token(&walk, &value, &left_over);
    }
    return walk.is_over ? (struct etwas_ship_left_over){record->UserData, record->UserDataLength}
                        : left_over;
}
