/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What was written so far; a test's event is shorter. */
static char line[65536];
static size_t length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    length += (size_t)vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    assert_true(length < sizeof line);
}

static void put_value(const etwas_value *value)
{
    const char *quote = etwas_value_is_string(value) ? "\"" : "";
    char odd[256];
    size_t bytes;

    put("%s", quote);
    bytes = etwas_value_text(value, line + length, sizeof line - length);
    assert_true(bytes < sizeof line - length);
    length += bytes;
    put("%s", quote);
    if (etwas_value_odd(value, odd, sizeof odd) > 0) {
        put("(%s)", odd);
    }
}

static void put_token(const etwas_value *value)
{
    switch (value->token) {
    case ETWAS_TOKEN_VALUE:
        put_value(value);
        break;
    case ETWAS_TOKEN_ARRAY_BEGIN:
        put("[");
        break;
    case ETWAS_TOKEN_ARRAY_END:
        put("]");
        break;
    case ETWAS_TOKEN_STRUCT_BEGIN:
        put("{");
        break;
    case ETWAS_TOKEN_STRUCT_END:
        put("}");
        break;
    case ETWAS_TOKEN_TRUNCATED:
        put("…%u", value->bytes);
        break;
    case ETWAS_TOKEN_UNDESCRIBED:
        put("?%u", value->bytes);
        break;
    default:
        put("+%u", value->bytes);
        break;
    }
}

static bool is_end(const etwas_value *value)
{
    return value->token == ETWAS_TOKEN_ARRAY_END || value->token == ETWAS_TOKEN_STRUCT_END;
}

/* Elements have commas between them, fields and members blanks and their names. */
static void put_fields(const etwas_schema *schema, const EVENT_RECORD *record)
{
    bool in_array[64] = {false};
    bool is_first = false;
    size_t depth = 0;
    etwas_fields fields;
    etwas_value value;

    etwas_fields_begin(&fields, schema, record);
    for (; etwas_fields_next(&fields, &value); is_first = value.token == ETWAS_TOKEN_ARRAY_BEGIN ||
                                                          value.token == ETWAS_TOKEN_STRUCT_BEGIN) {
        if (is_end(&value)) {
            depth--;
        } else {
            put("%s", is_first ? "" : in_array[depth] ? "," : " ");
            if (!in_array[depth] && value.field != NULL) {
                put("%s=", value.field->name);
            }
        }
        if (value.token == ETWAS_TOKEN_ARRAY_BEGIN || value.token == ETWAS_TOKEN_STRUCT_BEGIN) {
            assert_true(depth + 1 < sizeof in_array);
            in_array[++depth] = value.token == ETWAS_TOKEN_ARRAY_BEGIN;
        }
        put_token(&value);
    }
    assert_int_equal(depth, 0);
}

const char *shown(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const etwas_schema *schema;
    uint32_t error = etwas_decoder_schema(decoder, record, &schema);

    length = 0;
    if (error != ERROR_SUCCESS) {
        assert_true(error == ERROR_NOT_FOUND || error == ERROR_INVALID_DATA);
        return error == ERROR_NOT_FOUND ? "(none)" : "(senseless)";
    }
    put("%s/%s%s", schema->provider, schema->event, schema->other_version ? "~" : "");
    put_fields(schema, record);
    return line;
}

int open_decoder(void **state)
{
    etwas_decoder *decoder;

    assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
    *state = decoder;
    return 0;
}

int close_decoder(void **state)
{
    etwas_decoder_close(*state);
    return 0;
}

uint32_t (*learning)(etwas_decoder *, const EVENT_RECORD *) = etwas_decoder_learn;

uint32_t learn_chunk(etwas_decoder *decoder, const struct chunk *chunk)
{
    static uint8_t payload[65535];
    EVENT_RECORD record = {
        .EventHeader =
            {
                .Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
                .ProviderId = chunk->provider,
                .ProcessId = chunk->process_id,
                .ThreadId = chunk->thread_id,
                .EventDescriptor = {.Id = 0xFFFE, .Version = 1, .Opcode = 0xFE, .Task = 0xFFFE},
            },
        .UserData = payload,
        .UserDataLength = (uint16_t)(8 + chunk->bytes),
    };

    assert_true(8 + chunk->bytes <= sizeof payload);
    memcpy(payload,
           (uint8_t[]){1, chunk->version[0], chunk->version[1], 0x5B, (uint8_t)chunk->total,
                       (uint8_t)(chunk->total >> 8), (uint8_t)chunk->number,
                       (uint8_t)(chunk->number >> 8)},
           8);
    memcpy(payload + 8, chunk->xml, chunk->bytes);
    return learning(decoder, &record);
}

uint32_t learn_manifest(etwas_decoder *decoder, const etwas_guid *provider, const char *xml,
                        size_t bytes, size_t chunk_bytes)
{
    struct chunk chunk = {
        .provider = *provider,
        .process_id = 1,
        .thread_id = 2,
        .version = {1, 0},
        .total = (uint16_t)((bytes + chunk_bytes - 1) / chunk_bytes),
    };
    uint32_t error = ERROR_SUCCESS;

    for (; chunk.number < chunk.total; chunk.number++) {
        size_t at = chunk.number * chunk_bytes;

        chunk.xml = xml + at;
        chunk.bytes = bytes - at < chunk_bytes ? bytes - at : chunk_bytes;
        error = learn_chunk(decoder, &chunk);
    }
    return error;
}

EVENT_RECORD classic_event(const etwas_guid *class, uint8_t type, uint8_t version, uint8_t pointer,
                           const void *payload, size_t bytes)
{
    return (EVENT_RECORD){
        .EventHeader =
            {
                .Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER |
                         (pointer == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
                                       : EVENT_HEADER_FLAG_64_BIT_HEADER),
                .ProviderId = *class,
                .EventDescriptor = {.Opcode = type, .Version = version},
            },
        .UserData = (void *)(uintptr_t)payload,
        .UserDataLength = (uint16_t)bytes,
    };
}

const char *shown_classic_event(etwas_decoder *decoder, const etwas_guid *class, uint8_t type,
                                uint8_t version, uint8_t pointer, const void *payload, size_t bytes)
{
    EVENT_RECORD record = classic_event(class, type, version, pointer, payload, bytes);

    return shown(decoder, &record);
}
