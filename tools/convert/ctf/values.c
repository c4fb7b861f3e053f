/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Serializes payloads: numbers unchanged, strings in UTF-8, and all other values as text. Nothing
 * is aligned.
 */

#include "convert/ctf/ctf.h"

enum {
    TEXT_BYTES = 256 * 1024, /* more than the text of a value of the longest payload */
};

static bool is_address(const etwas_value *value)
{
    return value->out_type == TDH_OUTTYPE_IPV4 || value->out_type == TDH_OUTTYPE_IPV6 ||
           value->out_type == TDH_OUTTYPE_SOCKETADDRESS;
}

enum etwas_ctf_kind etwas_ctf_kind_of(const etwas_value *value)
{
    etwas_number number;

    switch (etwas_value_number(value, &number)) {
    case ETWAS_VALUE_UNSIGNED:
        return ETWAS_CTF_UNSIGNED;
    case ETWAS_VALUE_SIGNED:
        return ETWAS_CTF_SIGNED;
    case ETWAS_VALUE_FLOAT:
        return ETWAS_CTF_FLOAT;
    case ETWAS_VALUE_BOOLEAN:
        return ETWAS_CTF_BOOLEAN;
    default:
        break;
    }
    switch (value->in_type) {
    case TDH_INTYPE_GUID:
        return ETWAS_CTF_GUID;
    case TDH_INTYPE_BINARY:
    case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
    case TDH_INTYPE_HEXDUMP:
        return is_address(value) ? ETWAS_CTF_STRING : ETWAS_CTF_BYTES;
    default:
        return ETWAS_CTF_STRING;
    }
}

uint32_t etwas_ctf_number_bytes(const etwas_value *value)
{
    const EVENT_PROPERTY_INFO *info = value->field->info;

    return (info->Flags & PropertyHasCustomSchema) == 0 &&
                   (info->nonStructType.InType == TDH_INTYPE_POINTER ||
                    info->nonStructType.InType == TDH_INTYPE_SIZET)
               ? sizeof(uint64_t)
               : value->bytes;
}

uint32_t etwas_ctf_fixed_count(const etwas_schema_field *field)
{
    return (field->info->Flags & PropertyParamCount) == 0 ? field->info->count : 0;
}

void etwas_ctf_put_guid(struct etwas_bytes *bytes, const etwas_guid *guid)
{
    etwas_guid turned = *guid;

    turned.Data1 = __builtin_bswap32(turned.Data1);
    turned.Data2 = __builtin_bswap16(turned.Data2);
    turned.Data3 = __builtin_bswap16(turned.Data3);
    etwas_bytes_put(bytes, &turned, sizeof turned);
}

void etwas_ctf_put_text(struct etwas_bytes *bytes, const char *text, size_t count)
{
    static const char nul_symbol[] = "\xE2\x90\x80";
    const char *end = text + count;
    const char *nul;

    while (text < end && (nul = memchr(text, '\0', (size_t)(end - text))) != NULL) {
        etwas_bytes_put(bytes, text, (size_t)(nul - text));
        etwas_bytes_put(bytes, nul_symbol, sizeof nul_symbol - 1);
        text = nul + 1;
    }
    etwas_bytes_put(bytes, text, (size_t)(end - text));
    etwas_bytes_put_u8(bytes, 0);
}

static void put_string(struct etwas_bytes *bytes, struct etwas_output *scratch,
                       const etwas_value *value)
{
    char *text = etwas_output_room(etwas_output_anew(scratch), TEXT_BYTES);
    size_t count = etwas_value_text(value, text, TEXT_BYTES);

    etwas_ctf_put_text(bytes, text, count < TEXT_BYTES ? count : TEXT_BYTES - 1);
}

static void put_counted(struct etwas_bytes *bytes, const void *data, uint32_t count)
{
    etwas_bytes_put_u32(bytes, count);
    etwas_bytes_put(bytes, data, count);
}

static void put_value(struct etwas_bytes *bytes, struct etwas_output *scratch,
                      const etwas_value *value)
{
    etwas_number number = {0};
    etwas_guid guid;

    switch (etwas_ctf_kind_of(value)) {
    case ETWAS_CTF_UNSIGNED:
    case ETWAS_CTF_SIGNED:
    case ETWAS_CTF_BOOLEAN: /* written as an integer of the same width */
        (void)etwas_value_number(value, &number);
        etwas_bytes_put(bytes, &number, etwas_ctf_number_bytes(value));
        break;
    case ETWAS_CTF_FLOAT:
        etwas_bytes_put(bytes, value->data, value->bytes);
        break;
    case ETWAS_CTF_GUID:
        memcpy(&guid, value->data, sizeof guid);
        etwas_ctf_put_guid(bytes, &guid);
        break;
    case ETWAS_CTF_BYTES:
        put_counted(bytes, value->data, value->bytes);
        break;
    case ETWAS_CTF_STRING:
        put_string(bytes, scratch, value);
        break;
    }
}

static enum etwas_ctf_form put_message(struct etwas_bytes *bytes, struct etwas_convert *convert,
                                       struct etwas_event_string text)
{
    struct etwas_fields_rest rest;

    etwas_ctf_put_text(bytes, text.text, text.bytes);
    if (!etwas_current_event_message_rest(&convert->current, &rest)) {
        return ETWAS_CTF_TEXT;
    }
    if (rest.truncated != NULL) {
        etwas_ctf_put_text(bytes, rest.truncated, strlen(rest.truncated));
    }
    put_counted(bytes, rest.data, rest.bytes);
    return rest.truncated != NULL ? ETWAS_CTF_TEXT_TRUNCATED : ETWAS_CTF_TEXT_REST;
}

/*
 * Replaces the fields written so far by the payload's bytes: the payload is truncated, or a field
 * is not described.
 */
static enum etwas_ctf_form put_unread(struct etwas_bytes *bytes, size_t at, const char *name,
                                      const EVENT_RECORD *record, enum etwas_ctf_form form)
{
    bytes->used = at;
    etwas_ctf_put_text(bytes, name, strlen(name));
    put_counted(bytes, record->UserData, record->UserDataLength);
    return form;
}

/* Writes the fields. Adds to *odd the number of values with oddities that CTF cannot represent. */
static enum etwas_ctf_form put_fields(struct etwas_bytes *bytes, struct etwas_convert *convert,
                                      uint64_t *odd)
{
    const EVENT_RECORD *record = convert->current.record;
    size_t at = bytes->used;
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, convert->current.schema_texts->schema, record);
    while (etwas_fields_next(&fields, &value)) {
        switch (value.token) {
        case ETWAS_TOKEN_VALUE:
            put_value(bytes, &convert->scratch, &value);
            *odd += etwas_value_odd(&value, NULL, 0) != 0;
            break;
        case ETWAS_TOKEN_ARRAY_BEGIN:
            if (etwas_ctf_fixed_count(value.field) == 0) {
                etwas_bytes_put_u32(bytes, value.count);
            }
            break;
        case ETWAS_TOKEN_TRUNCATED:
            return put_unread(bytes, at, value.field->name, record, ETWAS_CTF_TRUNCATED);
        case ETWAS_TOKEN_UNDESCRIBED:
            return put_unread(bytes, at, value.field->name, record, ETWAS_CTF_UNDESCRIBED);
        case ETWAS_TOKEN_TRAILING:
            put_counted(bytes, value.data, value.bytes);
            return ETWAS_CTF_FIELDS_REST;
        default:
            break;
        }
    }
    return ETWAS_CTF_FIELDS;
}

enum etwas_ctf_form etwas_ctf_put_payload(struct etwas_bytes *bytes, struct etwas_convert *convert)
{
    const EVENT_RECORD *record = convert->current.record;

    if (convert->current.event.message) {
        struct etwas_event_string text = etwas_current_event_message(&convert->current);

        if (text.text != NULL) {
            return put_message(bytes, convert, text);
        }
    } else if (convert->current.schema_texts != NULL) {
        uint64_t odd = 0;
        enum etwas_ctf_form form = put_fields(bytes, convert, &odd);

        /* A payload that is written as bytes loses nothing. */
        if (form == ETWAS_CTF_FIELDS || form == ETWAS_CTF_FIELDS_REST) {
            ((struct etwas_ctf *)convert->state)->odd_values += odd;
        }
        return form;
    }
    put_counted(bytes, record->UserData, record->UserDataLength);
    return ETWAS_CTF_PAYLOAD;
}
