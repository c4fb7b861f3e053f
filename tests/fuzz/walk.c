/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "walk.h"

#include <string.h>

#include "etl/utf16.h"

uint8_t take_u8(struct input *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->at++;
}

uint16_t take_u16(struct input *input)
{
    uint8_t low = take_u8(input);

    return (uint16_t)(low | take_u8(input) << 8);
}

void *take_bytes(struct input *input, size_t bytes, uint16_t *taken)
{
    void *copy;

    bytes = bytes < input->left ? bytes : input->left;
    bytes = bytes < UINT16_MAX ? bytes : UINT16_MAX;
    copy = malloc(bytes);
    MUST(copy != NULL);
    if (bytes > 0) {
        memcpy(copy, input->at, bytes);
    }
    input->at += bytes;
    input->left -= bytes;
    *taken = (uint16_t)bytes;
    return copy;
}

etwas_decoder *open_decoder(void)
{
    etwas_decoder *decoder;

    MUST(etwas_decoder_open(&decoder) == ERROR_SUCCESS);
    return decoder;
}

static bool is_utf8(const char *text)
{
    size_t units;

    return etwas_utf8_to_utf16(text, strlen(text), NULL, 0, &units) != ETWAS_UTF_INVALID;
}

/* A text that is made whole, and cut at some size: it says how long it would be. */
static void check_text(size_t length, const char *whole, size_t length_of_cut, const char *cut,
                       size_t size)
{
    MUST(strlen(whole) == length && is_utf8(whole));
    MUST(length_of_cut == length);
    MUST(memchr(cut, 0, size) != NULL && is_utf8(cut));
    MUST(strncmp(whole, cut, strlen(cut)) == 0);
    MUST(length >= size || strcmp(whole, cut) == 0);
}

enum {
    SMALL = 24
};

void walk_value(const etwas_value *value)
{
    char small[SMALL];
    etwas_number number;
    size_t length = etwas_value_text(value, NULL, 0);
    char *whole = malloc(length + 1);

    MUST(whole != NULL);
    memset(small, 'x', sizeof small);
    MUST(etwas_value_text(value, whole, length + 1) == length);
    check_text(length, whole, etwas_value_text(value, small, sizeof small), small, sizeof small);
    free(whole);
    etwas_value_number(value, &number);
    etwas_value_is_string(value);
}

typedef size_t text_of(etwas_decoder *decoder, const EVENT_RECORD *record, char *text, size_t size);

static size_t provider_of(etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                          size_t size)
{
    return etwas_decoder_provider(decoder, record, text, size);
}

static void walk_text(text_of *of, etwas_decoder *decoder, const EVENT_RECORD *record)
{
    char small[SMALL];
    size_t length = of(decoder, record, NULL, 0);
    char *whole = malloc(length + 1);

    MUST(whole != NULL);
    memset(small, 'x', sizeof small);
    MUST(of(decoder, record, whole, length + 1) == length);
    check_text(length, whole, of(decoder, record, small, sizeof small), small, sizeof small);
    free(whole);
}

static bool lies_in(const EVENT_RECORD *record, const etwas_value *value)
{
    const uint8_t *begin = record->UserData;
    const uint8_t *data = value->data;

    return value->bytes == 0 || (data >= begin && value->bytes <= record->UserDataLength &&
                                 data + value->bytes <= begin + record->UserDataLength);
}

static bool begins(uint32_t token)
{
    return token == ETWAS_TOKEN_ARRAY_BEGIN || token == ETWAS_TOKEN_STRUCT_BEGIN;
}

static bool ends(uint32_t token)
{
    return token == ETWAS_TOKEN_ARRAY_END || token == ETWAS_TOKEN_STRUCT_END;
}

/* The fields come to an end, lie in the payload, and what is begun is ended. */
static void walk_fields(const etwas_schema *schema, const EVENT_RECORD *record)
{
    etwas_fields fields;
    etwas_value value;
    size_t open = 0;
    size_t tokens = 0;
    bool is_over = false;

    etwas_fields_begin(&fields, schema, record);
    while (etwas_fields_next(&fields, &value)) {
        MUST(++tokens < 8000000);
        MUST(!is_over || ends(value.token));
        MUST(lies_in(record, &value));
        open += begins(value.token);
        MUST(!ends(value.token) || open-- > 0);
        is_over = is_over || value.token == ETWAS_TOKEN_TRUNCATED ||
                  value.token == ETWAS_TOKEN_UNDESCRIBED;
        if (value.token == ETWAS_TOKEN_VALUE) {
            walk_value(&value);
        }
    }
    MUST(open == 0);
    MUST(!etwas_fields_next(&fields, &value));
}

static void walk_schema(const etwas_schema *schema)
{
    MUST(is_utf8(schema->provider) && is_utf8(schema->event));
    MUST(schema->field_count == schema->info->PropertyCount);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        MUST(is_utf8(schema->fields[i].name));
        MUST(schema->fields[i].info == &schema->info->EventPropertyInfoArray[i]);
    }
}

void walk_event(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const etwas_schema *schema = NULL;
    uint32_t error = etwas_decoder_schema(decoder, record, &schema);
    etwas_value rest;

    MUST((error == ERROR_SUCCESS) == (schema != NULL));
    if (schema != NULL) {
        walk_schema(schema);
        walk_fields(schema, record);
    }
    walk_text(etwas_decoder_message, decoder, record);
    if (etwas_decoder_message_rest(decoder, record, &rest)) {
        MUST(rest.token == ETWAS_TOKEN_TRUNCATED || rest.bytes > 0);
        MUST(lies_in(record, &rest));
    }
    walk_text(provider_of, decoder, record);
}

struct visiting {
    etwas_decoder *decoder;
    EVENT_RECORD record;
};

static bool visit(const etwas_schema *schema, void *context)
{
    struct visiting *visiting = context;
    const TRACE_EVENT_INFO *info = schema->info;
    bool is_classic = info->DecodingSource == DecodingSourceWbem;

    walk_schema(schema);
    visiting->record.EventHeader.ProviderId = is_classic ? info->EventGuid : info->ProviderGuid;
    visiting->record.EventHeader.EventDescriptor = info->EventDescriptor;
    walk_fields(schema, &visiting->record);
    visiting->record.EventHeader.Flags =
        (uint16_t)((visiting->record.EventHeader.Flags & ~EVENT_HEADER_FLAG_CLASSIC_HEADER) |
                   (is_classic ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0));
    walk_text(etwas_decoder_message, visiting->decoder, &visiting->record);
    return true;
}

void walk_all(etwas_decoder *decoder, const void *payload, uint16_t bytes, uint16_t flags)
{
    struct visiting visiting = {
        .decoder = decoder,
        .record =
            {
                .EventHeader.Flags = flags,
                .UserData = (void *)(uintptr_t)payload,
                .UserDataLength = bytes,
            },
    };

    MUST(etwas_decoder_schemas(decoder, visit, &visiting) == ERROR_SUCCESS);
}
