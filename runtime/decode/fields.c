/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the fields of one event, by the steps of its schema (decode/schema.h). Nothing past the
 * payload is read, whatever the schema says: only field_measure() moves the cursor, and only within
 * the bytes that are left. The number of tokens of an event is bounded by its payload and its
 * schema, so that 65,535 members without bytes come to an end.
 */
#include <etwas/decode.h>

#include <string.h>

#include "decode/schema.h"

enum {
    FRAMES = 2 * (ETWAS_SCHEMA_DEPTH + 1) + 1,
    TOKENS_BESIDES = 64,
    TOKENS_OF_BYTE = 8, /* a byte in a struct of its own has 2 */
    TOKENS_OF_FIELD = 4,
};

/* An open array, struct, or the whole event, whose elements or members are being returned. */
struct field_frame {
    uint16_t property;
    bool is_array;
    uint32_t next;  /* element or member */
    uint32_t end;   /* behind the last */
    uint32_t index; /* of the struct in its array */
};

struct field_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t tokens_left;
    uint16_t depth; /* frames besides the event itself */
    bool is_wide;   /* pointers have 8 bytes */
    bool is_over;   /* truncated: only the ends of open arrays and structs follow */
    bool is_last;   /* the trailing bytes were returned */
    struct field_frame frames[FRAMES];
    uint32_t slots[ETWAS_SCHEMA_SLOTS];
};
_Static_assert(sizeof(struct field_cursor) <= sizeof((etwas_fields *)NULL)->state, "a walk fits");

static const uint8_t nothing[1];

static uint32_t field_bytes_left(const struct field_cursor *cursor)
{
    return (uint32_t)(cursor->end - cursor->at);
}

void etwas_fields_begin(etwas_fields *fields, const etwas_schema *schema,
                        const EVENT_RECORD *record)
{
    struct field_cursor *cursor = (void *)fields->state;
    uint32_t begin = schema->plan->payload_begin;

    fields->schema = schema;
    fields->record = record;
    cursor->at = record->UserData != NULL ? record->UserData : nothing;
    cursor->end = cursor->at + (record->UserData != NULL ? record->UserDataLength : 0);
    cursor->at += begin < field_bytes_left(cursor) ? begin : field_bytes_left(cursor);
    cursor->tokens_left = TOKENS_BESIDES + TOKENS_OF_BYTE * (uint32_t)record->UserDataLength +
                          TOKENS_OF_FIELD * schema->field_count;
    cursor->depth = 0;
    cursor->is_wide = (record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) == 0;
    cursor->is_over = false;
    cursor->is_last = false;
    cursor->frames[0] = (struct field_frame){.end = schema->plan->top};
}

/* ---- how long a value is --------------------------------------------------------------------- */

/* The bytes that a value takes of the payload, and which of these are the value. */
struct field_extent {
    uint64_t bytes; /* truncated, if more than are left */
    uint32_t before;
    uint32_t behind;
};

static struct field_extent field_whole(uint64_t bytes)
{
    return (struct field_extent){.bytes = bytes};
}

static const struct field_extent truncated = {.bytes = UINT64_MAX};

/*
 * Writers may omit an empty string at the end of a payload, but not elements of an array, whose
 * number is stated.
 */
static struct field_extent field_empty_at_end(const struct field_cursor *cursor)
{
    for (uint32_t depth = cursor->depth; depth > 0; depth--) {
        if (cursor->frames[depth].is_array) {
            return truncated;
        }
    }
    return field_whole(0);
}

/* A string up to its 0, or up to the end of the payload. */
static struct field_extent field_to_wide_zero(const struct field_cursor *cursor)
{
    uint32_t most = field_bytes_left(cursor) / 2;
    uint16_t unit = 1;
    uint32_t units = 0;

    for (; units < most; units++) {
        memcpy(&unit, cursor->at + 2 * units, sizeof unit);
        if (unit == 0) {
            return (struct field_extent){.bytes = 2 * (units + 1), .behind = 2};
        }
    }
    return most == 0 ? field_empty_at_end(cursor) : field_whole(2 * most);
}

static struct field_extent field_to_zero(const struct field_cursor *cursor)
{
    uint32_t bytes = field_bytes_left(cursor);
    const uint8_t *zero = bytes == 0 ? NULL : memchr(cursor->at, 0, bytes);

    if (zero != NULL) {
        return (struct field_extent){.bytes = (uint64_t)(zero - cursor->at) + 1, .behind = 1};
    }
    return bytes == 0 ? field_empty_at_end(cursor) : field_whole(bytes);
}

static struct field_extent field_counted(const struct field_cursor *cursor, bool is_reversed)
{
    uint16_t bytes;

    if (field_bytes_left(cursor) < sizeof bytes) {
        return truncated;
    }
    memcpy(&bytes, cursor->at, sizeof bytes);
    bytes = is_reversed ? __builtin_bswap16(bytes) : bytes;
    return (struct field_extent){.bytes = sizeof bytes + (uint64_t)bytes, .before = sizeof bytes};
}

static struct field_extent field_hex_dump(const struct field_cursor *cursor)
{
    uint32_t bytes;

    if (field_bytes_left(cursor) < sizeof bytes) {
        return truncated;
    }
    memcpy(&bytes, cursor->at, sizeof bytes);
    return (struct field_extent){.bytes = sizeof bytes + (uint64_t)bytes, .before = sizeof bytes};
}

/* Revision, count of u32 parts, six bytes of authority, the parts. */
static struct field_extent field_sid(const struct field_cursor *cursor, uint32_t before)
{
    if (field_bytes_left(cursor) < before + 2) {
        return truncated;
    }
    return (struct field_extent){.bytes = before + 8 + 4 * (uint64_t)cursor->at[before + 1],
                                 .before = before};
}

/* A pointer and attributes, both without meaning, and a SID; or a u32 of 0 and nothing else. */
static struct field_extent field_wbem_sid(const struct field_cursor *cursor)
{
    uint32_t pointer;

    if (field_bytes_left(cursor) < sizeof pointer) {
        return truncated;
    }
    memcpy(&pointer, cursor->at, sizeof pointer);
    if (pointer == 0) {
        return (struct field_extent){.bytes = sizeof pointer, .before = sizeof pointer};
    }
    return field_sid(cursor, cursor->is_wide ? 16 : 8);
}

/*
 * Reads a length in characters or bytes, and where the value begins. Returns false if it is
 * truncated.
 */
static bool field_length_of(const struct field_cursor *cursor, const struct etwas_read_step *step,
                            uint32_t *length, uint32_t *before)
{
    uint16_t inside;

    *before = 0;
    if (step->length_from == ETWAS_FROM_SCHEMA) {
        *length = step->length;
    } else if (step->length_from != ETWAS_FROM_PAYLOAD) {
        *length = cursor->slots[step->length_from];
    } else if (field_bytes_left(cursor) < sizeof inside) {
        return false;
    } else {
        memcpy(&inside, cursor->at, sizeof inside);
        *length = inside;
        *before = sizeof inside;
    }
    return true;
}

/* A text of fixed length ends at its first 0. Returns how many bytes from there on are left. */
static uint32_t field_behind_zero(const uint8_t *at, uint32_t length, uint32_t unit)
{
    uint32_t units = 0;

    while (units < length && (at[unit * units] != 0 || at[unit * units + unit - 1] != 0)) {
        units++;
    }
    return unit * (length - units);
}

static struct field_extent field_by_length(const struct field_cursor *cursor,
                                           const struct etwas_read_step *step)
{
    uint32_t unit = step->method == ETWAS_READ_UTF16_LENGTH ? 2 : 1;
    struct field_extent extent;
    uint32_t length;

    if (!field_length_of(cursor, step, &length, &extent.before)) {
        return truncated;
    }
    extent.bytes = extent.before + unit * (uint64_t)length;
    extent.behind = 0;
    if (step->method != ETWAS_READ_BINARY && extent.bytes <= field_bytes_left(cursor)) {
        extent.behind = field_behind_zero(cursor->at + extent.before, length, unit);
    }
    return extent;
}

/* The value is the rest of the payload, without a 0 that ends a string. */
static struct field_extent field_rest(const struct field_cursor *cursor, uint32_t unit)
{
    struct field_extent extent = field_whole(field_bytes_left(cursor) / unit * unit);
    const uint8_t *end = cursor->at + extent.bytes;

    if (extent.bytes >= unit && end[-1] == 0 && end[-(int)unit] == 0) {
        extent.behind = unit;
    }
    return extent;
}

static struct field_extent field_measure(const struct field_cursor *cursor,
                                         const struct etwas_read_step *step)
{
    switch ((enum etwas_read_method)step->method) {
    case ETWAS_READ_FIXED:
        return field_whole(step->bytes);
    case ETWAS_READ_POINTER:
        return field_whole(cursor->is_wide ? 8 : 4);
    case ETWAS_READ_UTF16:
        return field_to_wide_zero(cursor);
    case ETWAS_READ_UTF8:
        return field_to_zero(cursor);
    case ETWAS_READ_UTF16_LENGTH:
    case ETWAS_READ_UTF8_LENGTH:
    case ETWAS_READ_BINARY:
        return field_by_length(cursor, step);
    case ETWAS_READ_COUNTED:
        return field_counted(cursor, false);
    case ETWAS_READ_REVERSED:
        return field_counted(cursor, true);
    case ETWAS_READ_HEXDUMP:
        return field_hex_dump(cursor);
    case ETWAS_READ_SID:
        return field_sid(cursor, 0);
    case ETWAS_READ_WBEMSID:
        return field_wbem_sid(cursor);
    case ETWAS_READ_REST:
        return field_rest(cursor, step->bytes);
    case ETWAS_READ_STRUCT:
    case ETWAS_READ_UNKNOWN:
        break;
    }
    return field_whole(0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Returns the rest of the payload. Only the ends of open arrays and structs follow. */
static void field_give_rest(struct field_cursor *cursor, uint32_t token, etwas_value *value)
{
    value->token = token;
    value->data = cursor->at;
    value->bytes = field_bytes_left(cursor);
    cursor->at = cursor->end;
    cursor->is_over = true;
}

static void field_give_truncated(struct field_cursor *cursor, etwas_value *value)
{
    field_give_rest(cursor, ETWAS_TOKEN_TRUNCATED, value);
}

static void field_set_types(const struct field_cursor *cursor, const struct etwas_read_step *step,
                            etwas_value *value)
{
    value->in_type = step->in_type;
    value->out_type = step->out_type;
    if (step->method == ETWAS_READ_POINTER) {
        bool is_size = step->in_type == TDH_INTYPE_SIZET;

        value->in_type = cursor->is_wide ? (is_size ? TDH_INTYPE_UINT64 : TDH_INTYPE_HEXINT64)
                                         : (is_size ? TDH_INTYPE_UINT32 : TDH_INTYPE_HEXINT32);
    }
}

/* Saves the value of a property that is a count or length. A negative one becomes the maximum. */
static void field_store_number(struct field_cursor *cursor, const struct etwas_read_step *step,
                               const etwas_value *value)
{
    uint64_t number = 0;
    bool is_signed = value->in_type == TDH_INTYPE_INT8 || value->in_type == TDH_INTYPE_INT16 ||
                     value->in_type == TDH_INTYPE_INT32 || value->in_type == TDH_INTYPE_INT64;

    memcpy(&number, value->data, value->bytes);
    if (number > UINT32_MAX || (is_signed && number >> (8 * value->bytes - 1) != 0)) {
        number = UINT32_MAX;
    }
    cursor->slots[step->slot] = (uint32_t)number;
}

/* Returns the value at this extent of the bytes that are left. */
static void field_give_value(struct field_cursor *cursor, const struct etwas_read_step *step,
                             struct field_extent extent, etwas_value *value)
{
    if (extent.bytes > field_bytes_left(cursor)) {
        field_give_truncated(cursor, value);
        return;
    }
    value->token = ETWAS_TOKEN_VALUE;
    field_set_types(cursor, step, value);
    value->data = cursor->at + extent.before;
    value->bytes = (uint32_t)extent.bytes - extent.before - extent.behind;
    value->behind = extent.behind;
    cursor->at += extent.bytes;
    if (step->slot != ETWAS_NO_SLOT) {
        field_store_number(cursor, step, value);
    }
}

/* Returns a value that is no array, or one element of an array. */
static void field_give_element(struct field_cursor *cursor, const struct etwas_read_step *step,
                               uint16_t property, uint32_t index, etwas_value *value)
{
    value->index = index;
    if (step->method != ETWAS_READ_STRUCT) {
        field_give_value(cursor, step, field_measure(cursor, step), value);
        return;
    }
    value->token = ETWAS_TOKEN_STRUCT_BEGIN;
    cursor->frames[++cursor->depth] = (struct field_frame){
        .property = property, .next = step->first, .end = step->end, .index = index};
}

/* An array of characters that is shown as one text. */
static struct field_extent field_count_characters(const struct field_cursor *cursor,
                                                  const struct etwas_read_step *step,
                                                  uint32_t count)
{
    struct field_extent extent = field_whole(count * (uint64_t)step->bytes);

    if (extent.bytes <= field_bytes_left(cursor)) {
        extent.behind = field_behind_zero(cursor->at, count, step->bytes);
    }
    return extent;
}

/*
 * Finds the number of elements of an array. Returns false if the payload ends before it states the
 * count.
 */
static bool field_count_of(struct field_cursor *cursor, const struct etwas_read_step *step,
                           uint32_t *count)
{
    uint16_t inside;

    if (step->count_from == ETWAS_FROM_REST) {
        uint32_t bytes = (uint32_t)field_measure(cursor, step).bytes;

        *count = bytes == 0 ? 0 : field_bytes_left(cursor) / bytes;
        return true;
    }
    if (step->count_from == ETWAS_FROM_SCHEMA) {
        *count = step->count;
        return true;
    }
    if (step->count_from != ETWAS_FROM_PAYLOAD) {
        *count = cursor->slots[step->count_from];
        return true;
    }
    if (field_bytes_left(cursor) < sizeof inside) {
        return false;
    }
    memcpy(&inside, cursor->at, sizeof inside);
    cursor->at += sizeof inside;
    *count = inside;
    return true;
}

static void field_give_array(struct field_cursor *cursor, const struct etwas_read_step *step,
                             uint16_t property, etwas_value *value)
{
    const uint8_t *began = cursor->at;
    uint32_t count;

    if (!field_count_of(cursor, step, &count)) {
        field_give_truncated(cursor, value);
    } else if (step->is_text) {
        struct field_extent extent = field_count_characters(cursor, step, count);

        if (extent.bytes > field_bytes_left(cursor)) {
            cursor->at = began; /* the count belongs to the truncated rest */
            extent = truncated;
        }
        field_give_value(cursor, step, extent, value);
    } else {
        value->token = ETWAS_TOKEN_ARRAY_BEGIN;
        value->count = count;
        cursor->frames[++cursor->depth] =
            (struct field_frame){.property = property, .is_array = true, .end = count};
    }
}

/* Ends the innermost array or struct. Returns false if none is open. */
static bool field_give_end(struct field_cursor *cursor, const etwas_schema *schema,
                           etwas_value *value)
{
    const struct field_frame *frame = &cursor->frames[cursor->depth];

    if (cursor->depth == 0) {
        return false;
    }
    value->token = frame->is_array ? ETWAS_TOKEN_ARRAY_END : ETWAS_TOKEN_STRUCT_END;
    value->field = &schema->fields[frame->property];
    value->index = frame->index;
    cursor->depth--;
    return true;
}

/* Returns, once, the bytes after the last field, which the schema does not describe. */
static bool field_give_trailing(struct field_cursor *cursor, etwas_value *value)
{
    if (cursor->is_last || field_bytes_left(cursor) == 0) {
        return false;
    }
    cursor->is_last = true;
    value->token = ETWAS_TOKEN_TRAILING;
    value->data = cursor->at;
    value->bytes = field_bytes_left(cursor);
    return true;
}

static void field_give_next(struct field_cursor *cursor, const etwas_schema *schema,
                            struct field_frame *frame, etwas_value *value)
{
    uint16_t property = frame->is_array ? frame->property : (uint16_t)frame->next;
    const struct etwas_read_step *step = &schema->plan->steps[property];

    value->field = &schema->fields[property];
    if (cursor->tokens_left == 0 || step->method == ETWAS_READ_UNKNOWN) {
        field_give_rest(cursor,
                        cursor->tokens_left == 0 ? ETWAS_TOKEN_TRUNCATED : ETWAS_TOKEN_UNDESCRIBED,
                        value);
        return;
    }
    cursor->tokens_left--;
    frame->next++;
    if (step->is_array && !frame->is_array) {
        field_give_array(cursor, step, property, value);
    } else {
        field_give_element(cursor, step, property, frame->is_array ? frame->next - 1 : 0, value);
    }
}

bool etwas_fields_next(etwas_fields *fields, etwas_value *value)
{
    struct field_cursor *cursor = (void *)fields->state;
    struct field_frame *frame = &cursor->frames[cursor->depth];

    *value = (etwas_value){0};
    if (cursor->is_over) {
        return field_give_end(cursor, fields->schema, value);
    }
    if (frame->next < frame->end) {
        field_give_next(cursor, fields->schema, frame, value);
        return true;
    }
    return field_give_end(cursor, fields->schema, value) ||
           (cursor->depth == 0 && field_give_trailing(cursor, value));
}
