/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that describe themselves. An event of TraceLogging has the provider's name in the item
 * PROV_TRAITS, and its own name and fields in EVENT_SCHEMA_TL. An event of EventWriteString is one
 * string.
 *
 *     traits    u16 bytes of all; name 0; …
 *     schema    u16 bytes of all; tag; name 0; field* to the end
 *     field     name 0; u8 in; [u8 out if in & 0x80]; [tag if out & 0x80];
 *               [u16 count if it is constant]; [u16 bytes, bytes if it is custom]
 *     tag       1 to 4 bytes, the highest bit: one more follows; 7 bits each, from the highest of
 *               28 down
 *
 * A struct's members are the `out` fields behind it; a struct among them counts as one.
 *
 * Systems that know of no traits write both blobs at the head of the payload and no items.
 */
#include <etwas/winerror.h>
#include <etwas/winmeta.h>
#include <stdlib.h>
#include <string.h>

#include "decode/builder.h"
#include "decode/source.h"
#include "etl/cursor.h"

/* Bits of a field's `in` and `out`. */
enum {
    TYPE_MASK = 0x1F,
    COUNT_MASK = 0x60,
    COUNT_CONSTANT = 0x20,
    COUNT_IN_PAYLOAD = 0x40,
    COUNT_CUSTOM = 0x60,
    MORE = 0x80,
    VALUE_MASK = 0x7F,
    TYPE_STRUCT = 24,
    TYPE_LAST = 25,
};

/* TraceLogging's own small numbers of out types. */
enum {
    OUT_NOPRINT = 1,
    OUT_STRING,
    OUT_BOOLEAN,
    OUT_HEX,
    OUT_PID,
    OUT_TID,
    OUT_PORT,
    OUT_IPV4,
    OUT_IPV6,
    OUT_SOCKETADDRESS,
    OUT_XML,
    OUT_JSON,
    OUT_WIN32ERROR,
    OUT_NTSTATUS,
    OUT_HRESULT,
    OUT_FILETIME,
    OUT_SIGNED,
    OUT_UNSIGNED,
    OUT_TDH_FIRST = TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME,
    OUT_TDH_LAST = TDH_OUTTYPE_DATETIME_UTC,
};

static bool trace_logging_read_tag(struct etwas_cursor *cursor, uint32_t *tag)
{
    uint8_t byte = MORE;

    *tag = 0;
    for (int shift = 21; (byte & MORE) != 0; shift -= 7) {
        if (shift < 0 || !etwas_cursor_u8(cursor, &byte)) {
            return false;
        }
        *tag |= (uint32_t)(byte & VALUE_MASK) << shift;
    }
    return true;
}

/* Skips a blob, which begins with its own size. Returns false if that is more than is left. */
static bool trace_logging_skip_blob(struct etwas_cursor *cursor, uint16_t *bytes)
{
    struct etwas_cursor blob = *cursor;

    if (!etwas_cursor_u16(&blob, bytes) || *bytes < sizeof *bytes ||
        *bytes > etwas_cursor_left(cursor)) {
        return false;
    }
    cursor->at += *bytes;
    return true;
}

/* Opens the contents of a blob, after its size. */
static bool trace_logging_open_blob(const void *data, uint16_t data_bytes,
                                    struct etwas_cursor *cursor)
{
    struct etwas_cursor whole = {data, (const uint8_t *)data + data_bytes};
    uint16_t bytes;

    if (!trace_logging_skip_blob(&whole, &bytes)) {
        return false;
    }
    *cursor = (struct etwas_cursor){(const uint8_t *)data + sizeof bytes, whole.at};
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static uint16_t trace_logging_hex_type(uint16_t in_type)
{
    switch (in_type) {
    case TDH_INTYPE_INT8:
    case TDH_INTYPE_UINT8:
        return TDH_OUTTYPE_HEXINT8;
    case TDH_INTYPE_INT16:
    case TDH_INTYPE_UINT16:
        return TDH_OUTTYPE_HEXINT16;
    case TDH_INTYPE_INT32:
    case TDH_INTYPE_UINT32:
    case TDH_INTYPE_HEXINT32:
        return TDH_OUTTYPE_HEXINT32;
    case TDH_INTYPE_INT64:
    case TDH_INTYPE_UINT64:
    case TDH_INTYPE_HEXINT64:
    case TDH_INTYPE_POINTER:
        return TDH_OUTTYPE_HEXINT64;
    default:
        return TDH_OUTTYPE_NULL;
    }
}

/* The out type by which an integer is shown as signed or as unsigned. */
static uint16_t trace_logging_decimal_type(uint16_t in_type, bool is_signed)
{
    static const uint16_t by_width[] = {TDH_OUTTYPE_BYTE, TDH_OUTTYPE_SHORT, TDH_OUTTYPE_INT,
                                        TDH_OUTTYPE_LONG};
    unsigned width = in_type == TDH_INTYPE_HEXINT32   ? 2
                     : in_type == TDH_INTYPE_HEXINT64 ? 3
                                                      : (in_type - TDH_INTYPE_INT8) / 2u;

    return width < 4 ? (uint16_t)(by_width[width] + !is_signed) : TDH_OUTTYPE_NULL;
}

static uint16_t trace_logging_out_type(uint8_t out, uint16_t in_type)
{
    static const uint16_t plain[] = {
        [OUT_NOPRINT] = TDH_OUTTYPE_NOPRINT,
        [OUT_STRING] = TDH_OUTTYPE_STRING,
        [OUT_BOOLEAN] = TDH_OUTTYPE_BOOLEAN,
        [OUT_PID] = TDH_OUTTYPE_PID,
        [OUT_TID] = TDH_OUTTYPE_TID,
        [OUT_PORT] = TDH_OUTTYPE_PORT,
        [OUT_IPV4] = TDH_OUTTYPE_IPV4,
        [OUT_IPV6] = TDH_OUTTYPE_IPV6,
        [OUT_SOCKETADDRESS] = TDH_OUTTYPE_SOCKETADDRESS,
        [OUT_XML] = TDH_OUTTYPE_XML,
        [OUT_JSON] = TDH_OUTTYPE_JSON,
        [OUT_WIN32ERROR] = TDH_OUTTYPE_WIN32ERROR,
        [OUT_NTSTATUS] = TDH_OUTTYPE_NTSTATUS,
        [OUT_HRESULT] = TDH_OUTTYPE_HRESULT,
        [OUT_FILETIME] = TDH_OUTTYPE_DATETIME,
    };

    if (out == OUT_HEX) {
        return trace_logging_hex_type(in_type);
    }
    if (out == OUT_SIGNED || out == OUT_UNSIGNED) {
        return trace_logging_decimal_type(in_type, out == OUT_SIGNED);
    }
    if (out < sizeof plain / sizeof plain[0]) {
        return plain[out];
    }
    return out >= OUT_TDH_FIRST && out <= OUT_TDH_LAST ? out : TDH_OUTTYPE_NULL;
}

/* A field as the blob has it. */
struct trace_logging_field {
    const char *name;
    size_t name_bytes;
    uint8_t in;
    uint8_t out;
    uint32_t tag;
    bool has_tag;
    uint16_t count; /* constant, or of the custom schema's bytes */
    const uint8_t *custom;
};

static bool trace_logging_read_field(struct etwas_cursor *cursor, struct trace_logging_field *field)
{
    *field = (struct trace_logging_field){0};
    if (!etwas_cursor_name(cursor, &field->name, &field->name_bytes) ||
        !etwas_cursor_u8(cursor, &field->in) ||
        ((field->in & MORE) != 0 && !etwas_cursor_u8(cursor, &field->out))) {
        return false;
    }
    field->has_tag = (field->out & MORE) != 0;
    if (field->has_tag && !trace_logging_read_tag(cursor, &field->tag)) {
        return false;
    }
    if ((field->in & COUNT_CONSTANT) != 0 && !etwas_cursor_u16(cursor, &field->count)) {
        return false;
    }
    field->custom = cursor->at;
    if ((field->in & COUNT_MASK) == COUNT_CUSTOM) {
        if (field->count > etwas_cursor_left(cursor)) {
            return false;
        }
        cursor->at += field->count;
    }
    return true;
}

/* Adds a custom schema in TDH's form: the protocol, the number of bytes, and the bytes. */
static uint32_t trace_logging_custom_schema(struct etwas_info_builder *builder,
                                            const struct trace_logging_field *field)
{
    uint16_t head[2] = {field->out & VALUE_MASK, field->count};
    uint32_t offset = etwas_builder_add_bytes(builder, head, sizeof head);

    /* The pool's size is even here, so the bytes directly follow the head. */
    etwas_builder_add_bytes(builder, field->custom, field->count);
    return offset;
}

/* A struct without members is added as a field of its type, which is unknown. */
static bool trace_logging_add_field(struct etwas_info_builder *builder, uint16_t parent,
                                    const struct trace_logging_field *field, bool is_struct,
                                    uint16_t *index)
{
    uint8_t type = field->in & TYPE_MASK;
    uint8_t count = field->in & COUNT_MASK;
    EVENT_PROPERTY_INFO info = {
        .NameOffset = etwas_builder_add_string(builder, field->name, field->name_bytes),
        .count = 1,
    };

    if (field->has_tag) {
        info.Flags |= PropertyHasTags;
        info.Tags = field->tag & 0x0FFFFFFF;
    }
    /* A count that the payload states right before the value belongs to the property itself. */
    if (count == COUNT_CONSTANT) {
        info.Flags |= PropertyParamFixedCount;
        info.count = field->count;
    } else if (count == COUNT_IN_PAYLOAD) {
        info.Flags |= PropertyParamCount;
        info.countPropertyIndex = (uint16_t)builder->property_count;
    }
    if (count == COUNT_CUSTOM) {
        info.Flags |= PropertyHasCustomSchema;
        info.customSchemaType.OutType = field->out & VALUE_MASK;
        info.customSchemaType.CustomSchemaOffset = trace_logging_custom_schema(builder, field);
    } else if (is_struct) {
        info.Flags |= PropertyStruct;
    } else {
        info.nonStructType.InType = type;
        info.nonStructType.OutType = trace_logging_out_type(field->out & VALUE_MASK, type);
        if (type == TDH_INTYPE_BINARY) {
            info.Flags |= PropertyParamLength;
            info.lengthPropertyIndex = (uint16_t)builder->property_count;
        }
    }
    *index = etwas_builder_property(builder, parent, &info);
    return builder->error == ERROR_SUCCESS;
}

/* The structs around the next field, and how many of their members are still to come. */
struct nesting {
    uint16_t parents[ETWAS_SCHEMA_DEPTH];
    uint8_t members[ETWAS_SCHEMA_DEPTH];
    uint32_t depth;
};

/* Adds an unknown field to each open struct, because no more fields can be read. */
static void trace_logging_add_unknown(struct etwas_info_builder *builder,
                                      const struct nesting *open)
{
    const EVENT_PROPERTY_INFO unknown = {
        .NameOffset = etwas_builder_add_string(builder, "?", 1),
        .nonStructType.InType = ETWAS_BUILDER_NO_TYPE,
        .count = 1,
    };

    for (uint32_t depth = open->depth; depth > 0; depth--) {
        etwas_builder_property(builder, open->parents[depth - 1], &unknown);
    }
    etwas_builder_property(builder, ETWAS_BUILDER_TOP, &unknown);
}

static void trace_logging_read_fields(struct etwas_cursor *cursor,
                                      struct etwas_info_builder *builder)
{
    struct nesting open = {0};

    while (etwas_cursor_left(cursor) > 0) {
        struct trace_logging_field field;
        uint16_t index;
        bool is_struct;

        if (!trace_logging_read_field(cursor, &field)) {
            trace_logging_add_unknown(builder, &open);
            return;
        }
        is_struct = (field.in & TYPE_MASK) == TYPE_STRUCT &&
                    (field.in & COUNT_MASK) != COUNT_CUSTOM && (field.out & VALUE_MASK) > 0 &&
                    open.depth < ETWAS_SCHEMA_DEPTH;
        if (!trace_logging_add_field(
                builder, open.depth == 0 ? ETWAS_BUILDER_TOP : open.parents[open.depth - 1], &field,
                is_struct, &index)) {
            return;
        }
        if (open.depth > 0) {
            open.members[open.depth - 1]--;
        }
        if (is_struct) {
            open.parents[open.depth] = index;
            open.members[open.depth++] = field.out & VALUE_MASK;
        }
        while (open.depth > 0 && open.members[open.depth - 1] == 0) {
            open.depth--;
        }
    }
    if (open.depth > 0) {
        trace_logging_add_unknown(builder, &open);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Reads the provider's name, if there are traits. Returns false if they are invalid. */
static bool trace_logging_read_traits(const struct etwas_embedded_schema_key *key,
                                      struct etwas_info_builder *builder)
{
    struct etwas_cursor cursor;
    const char *name;
    size_t bytes;

    if (key->traits_bytes == 0) {
        return true;
    }
    if (!trace_logging_open_blob(key->traits, key->traits_bytes, &cursor) ||
        !etwas_cursor_name(&cursor, &name, &bytes)) {
        return false;
    }
    builder->head.ProviderNameOffset = etwas_builder_add_string(builder, name, bytes);
    return true;
}

static bool trace_logging_read_schema(const struct etwas_embedded_schema_key *key,
                                      struct etwas_info_builder *builder)
{
    struct etwas_cursor cursor;
    const char *name;
    size_t bytes;
    uint32_t tag;

    if (!trace_logging_open_blob(key->schema, key->schema_bytes, &cursor) ||
        !trace_logging_read_tag(&cursor, &tag) || !etwas_cursor_name(&cursor, &name, &bytes)) {
        return false;
    }
    builder->head.DecodingSource = DecodingSourceTlg;
    builder->head.Tags = tag & 0x0FFFFFFF;
    builder->head.EventNameOffset = etwas_builder_add_string(builder, name, bytes);
    builder->head.TaskNameOffset = builder->head.EventNameOffset;
    trace_logging_read_fields(&cursor, builder);
    return true;
}

static bool trace_logging_make_string_schema(struct etwas_info_builder *builder)
{
    const EVENT_PROPERTY_INFO string = {
        .NameOffset = etwas_builder_add_string(builder, "String", strlen("String")),
        .nonStructType.InType = TDH_INTYPE_NONNULLTERMINATEDSTRING,
        .count = 1,
    };

    etwas_builder_property(builder, ETWAS_BUILDER_TOP, &string);
    return true;
}

/* Makes the schema of an event that describes itself. ERROR_INVALID_DATA: it is invalid. */
static uint32_t trace_logging_make_schema(const struct etwas_embedded_schema_key *key,
                                          struct etwas_stored_schema **stored)
{
    struct etwas_info_builder builder;
    TRACE_EVENT_INFO *info;
    size_t bytes;
    bool has_traits, is_sound;
    uint32_t error;

    *stored = NULL;
    etwas_builder_begin(&builder);
    memcpy(&builder.head.ProviderGuid, key->head, sizeof builder.head.ProviderGuid);
    memcpy(&builder.head.EventDescriptor, (const uint8_t *)key->head + sizeof(etwas_guid),
           sizeof builder.head.EventDescriptor);
    has_traits = trace_logging_read_traits(key, &builder);
    is_sound = key->schema_bytes == 0 ? trace_logging_make_string_schema(&builder)
                                      : has_traits && trace_logging_read_schema(key, &builder);
    error = etwas_builder_end(&builder, &info, &bytes);
    if (error == ERROR_SUCCESS) {
        error = is_sound ? etwas_schema_make(info, bytes, stored) : ERROR_INVALID_DATA;
    }
    free(info);
    /* A guess is valid only if every property of it can be read. */
    if (*stored != NULL && !(*stored)->is_whole && key->payload_begin > 0) {
        free(*stored);
        *stored = NULL;
        error = ERROR_INVALID_DATA;
    }
    if (*stored != NULL) {
        (*stored)->plan.payload_begin = key->payload_begin;
    }
    return error;
}

/*
 * Finds the items that describe the event. Returns false if it has none and is not a string event.
 */
static bool trace_logging_key_of(const EVENT_RECORD *record, struct etwas_embedded_schema_key *key)
{
    const EVENT_HEADER *header = &record->EventHeader;

    *key =
        (struct etwas_embedded_schema_key){.head = &header->ProviderId, .traits = "", .schema = ""};
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) {
            key->schema = (const void *)(uintptr_t)item->DataPtr;
            key->schema_bytes = item->DataSize;
        } else if (item->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS) {
            key->traits = (const void *)(uintptr_t)item->DataPtr;
            key->traits_bytes = item->DataSize;
        }
    }
    return key->schema_bytes > 0 || (header->Flags & EVENT_HEADER_FLAG_STRING_ONLY) != 0;
}

/* Finds or makes the schema. Stores an invalid one, too, unless it is a guess. */
static uint32_t trace_logging_schema_of(etwas_decoder *decoder,
                                        const struct etwas_embedded_schema_key *key,
                                        const etwas_schema **schema)
{
    struct etwas_stored_schema *stored;
    const struct etwas_embedded_schema *content;
    uint32_t error;
    uint64_t hash;

    content = etwas_store_find_embedded(&decoder->store, key, &hash);
    if (content == NULL) {
        error = trace_logging_make_schema(key, &stored);
        if (error == ERROR_NOT_ENOUGH_MEMORY ||
            (error == ERROR_INVALID_DATA && key->payload_begin > 0)) {
            return error;
        }
        content = etwas_store_add_embedded(&decoder->store, key, hash, stored);
        if (content == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
    }
    if (content->stored == NULL) {
        return ERROR_INVALID_DATA;
    }
    *schema = &content->stored->exact;
    return ERROR_SUCCESS;
}

uint32_t etwas_trace_logging_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                    const etwas_schema **schema)
{
    struct etwas_embedded_schema_key key;

    return trace_logging_key_of(record, &key) ? trace_logging_schema_of(decoder, &key, schema)
                                              : ERROR_NOT_FOUND;
}

uint32_t etwas_trace_logging_payload_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                                            const etwas_schema **schema)
{
    const EVENT_HEADER *header = &record->EventHeader;
    struct etwas_embedded_schema_key key = {.head = &header->ProviderId,
                                            .traits = record->UserData};
    struct etwas_cursor cursor = {.at = key.traits};
    uint32_t error = ERROR_NOT_FOUND;

    if (header->EventDescriptor.Channel != WINEVENT_CHANNEL_TRACELOGGING || cursor.at == NULL) {
        return ERROR_NOT_FOUND;
    }
    cursor.end = cursor.at + record->UserDataLength;
    if (trace_logging_skip_blob(&cursor, &key.traits_bytes)) {
        key.schema = cursor.at;
        if (trace_logging_skip_blob(&cursor, &key.schema_bytes)) {
            key.payload_begin = (uint16_t)(key.traits_bytes + key.schema_bytes);
            error = trace_logging_schema_of(decoder, &key, schema);
        }
    }
    return error == ERROR_INVALID_DATA ? ERROR_NOT_FOUND : error;
}
