/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship_scene.h"

#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/tdh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---------------------------------------------------------------------------------- */

static const GUID class_guid = {0x51a1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID message_guid = {0x51a2, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID unknown_message_guid = {0x51a3, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID modern_guid = {0x51a4, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID late_guid = {0x51a7, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID control_guid = {0x51a6, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

TRACELOGGING_DEFINE_PROVIDER(self_describing, "Ship.Scene",
                             (0x51a5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

static REGHANDLE modern;
static HANDLE instances;

static uint32_t ignore(WMIDPREQUESTCODE code, void *context, uint32_t *reserved, void *buffer)
{
    (void)code, (void)context, (void)reserved, (void)buffer;
    return ERROR_SUCCESS;
}

static void describe(void)
{
    static const etwas_field_description fields[] = {
        {.name = "number", .in_type = TDH_INTYPE_UINT64},
        {.name = "word", .in_type = TDH_INTYPE_ANSISTRING},
    };
    static const etwas_type_description types[] = {
        {.name = "Plain", .type = 10, .fields = fields, .field_count = 2},
        {.name = "Instance", .type = 11, .fields = fields, .field_count = 1}};
    const etwas_class_description description = {
        .guid = &class_guid,
        .provider_name = "scene",
        .name = "Classic",
        .types = types,
        .type_count = 2,
    };

    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_describe_message(&message_guid, 5, "number %llu"), ERROR_SUCCESS);
}

void scene_begin(void)
{
    static TRACE_GUID_REGISTRATION classes[] = {{&class_guid, NULL}};
    static TRACEHANDLE registration;

    if (modern != 0) {
        return;
    }
    describe();
    assert_int_equal(
        RegisterTraceGuidsA(ignore, NULL, &control_guid, 1, classes, NULL, NULL, &registration),
        ERROR_SUCCESS);
    instances = classes[0].RegHandle;
    assert_int_equal(TraceLoggingRegister(self_describing), ERROR_SUCCESS);
    assert_int_equal(EventRegister(&modern_guid, NULL, NULL, &modern), ERROR_SUCCESS);
}

static void enable(etwas_trace_handle session, const GUID *provider)
{
    assert_int_equal(EnableTraceEx2(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
}

void scene_enable(etwas_trace_handle session)
{
    GUID guid = TraceLoggingProviderId(self_describing);

    enable(session, &guid);
    enable(session, &modern_guid);
}

static uint32_t write_plain(etwas_trace_handle session, uint64_t number)
{
    char word[64];
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[2];
    } event = {.header = {.Size = sizeof event, .Guid = class_guid}};

    memset(word, 'a' + (int)(number % 26), sizeof word);
    word[number % sizeof word] = '\0';
    event.header.Class.Type = 10;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &number, sizeof number, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], word, strlen(word) + 1, 0);
    return TraceEvent(session, &event.header);
}

static uint32_t write_instance(etwas_trace_handle session, uint64_t number)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        uint64_t number;
    } event = {.header = {.Size = sizeof event}, .number = number};
    EVENT_INSTANCE_INFO info = {instances, (uint32_t)number};
    EVENT_INSTANCE_INFO parent = {instances, 7};

    event.header.Class.Type = 11;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    return TraceEventInstance(session, &event.header, &info, &parent);
}

static uint32_t write_message(etwas_trace_handle session, const GUID *guid, uint64_t number)
{
    return TraceMessage(session,
                        TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
                        guid, 5, &number, sizeof number, NULL, (size_t)0);
}

static uint32_t write_modern(uint64_t number)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 9, .Level = 4, .Opcode = 3, .Keyword = 0x10};
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, &number, sizeof number);
    return EventWrite(modern, &descriptor, 1, &data);
}

uint32_t scene_write(etwas_trace_handle session, uint64_t number)
{
    switch (number % 6) {
    case 0:
        return write_plain(session, number);
    case 1:
        return write_instance(session, number);
    case 2:
        return write_message(session, &message_guid, number);
    case 3:
        return write_message(session, &unknown_message_guid, number);
    case 4:
        TraceLoggingWrite(self_describing, "Said", TraceLoggingUInt64(number, "number"),
                          TraceLoggingString("x", "word"));
        return ERROR_SUCCESS;
    default:
        return write_modern(number);
    }
}

uint32_t scene_write_late(etwas_trace_handle session, uint64_t number, uint32_t more)
{
    static uint8_t bytes[65000];
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[2];
    } event = {.header = {.Size = sizeof event, .Guid = late_guid}};

    assert_true(more <= sizeof bytes);
    event.header.Class.Type = 1;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &number, sizeof number, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], bytes, more, 0);
    return TraceEvent(session, &event.header);
}

void scene_describe_late(const char *name)
{
    static const etwas_field_description fields[] = {
        {.name = "number", .in_type = TDH_INTYPE_UINT64},
    };
    const etwas_type_description types[] = {
        {.name = name, .type = 1, .fields = fields, .field_count = 1}};
    const etwas_class_description description = {
        .guid = &late_guid,
        .provider_name = "scene",
        .name = "Late",
        .types = types,
        .type_count = 1,
    };

    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static struct etwas_columns *columns_new(enum etwas_ship_table table)
{
    struct etwas_ship_dialect dialect = etwas_ship_dialect_of_version(18);
    struct etwas_columns *columns = malloc(sizeof *columns);

    assert_non_null(columns);
    etwas_columns_open(columns, table, &dialect);
    return columns;
}

struct etwas_ship_block block_open(void)
{
    return (struct etwas_ship_block){.events = columns_new(ETWAS_SHIP_EVENTS),
                                     .buffers = columns_new(ETWAS_SHIP_BUFFERS)};
}

void block_close(struct etwas_ship_block *block)
{
    etwas_columns_close(block->events);
    etwas_columns_close(block->buffers);
    free(block->events);
    free(block->buffers);
}

uint8_t *block_bytes(const struct etwas_ship_block *block, size_t *bytes)
{
    struct etwas_columns *const both[] = {block->events, block->buffers};
    uint8_t *all;

    *bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_true(etwas_columns_finish(both[i]));
        *bytes += both[i]->total_bytes;
    }
    all = malloc(*bytes + 1);
    assert_non_null(all);
    *bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < both[i]->piece_count; k++) {
            memcpy(all + *bytes, both[i]->pieces[k].iov_base, both[i]->pieces[k].iov_len);
            *bytes += both[i]->pieces[k].iov_len;
        }
    }
    return all;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void rows_begin(struct rows *rows, const struct etwas_columns *columns)
{
    memset(rows, 0, sizeof *rows);
    rows->columns = columns;
}

/* A string at *at, which moves behind it. */
static struct shipped_bytes next_string(const struct etwas_columns_bytes *bytes, size_t *at)
{
    struct shipped_bytes string = {NULL, 0};
    unsigned shift = 0;

    do {
        assert_true(*at < bytes->used);
        string.bytes |= (size_t)(bytes->data[*at] & 0x7F) << shift;
        shift += 7;
    } while ((bytes->data[(*at)++] & 0x80) != 0);
    assert_true(string.bytes <= bytes->used - *at);
    string.data = bytes->data + *at;
    *at += string.bytes;
    return string;
}

static void next_pairs(struct rows *rows, uint32_t column, struct shipped_pairs *pairs)
{
    const struct etwas_columns_column *of = &rows->columns->column[column];
    uint64_t end = ((const uint64_t *)(const void *)of->ends.data)[rows->row];

    pairs->count = 0;
    for (; rows->pairs[column] < end; rows->pairs[column]++) {
        struct shipped_bytes key = next_string(&of->keys, &rows->keys_at[column]);
        struct shipped_bytes value = {of->values.data + rows->at[column], 8};

        if (column == ETWAS_SHIP_EVENT_TEXTS) {
            value = next_string(&of->values, &rows->at[column]);
        } else {
            rows->at[column] += 8;
        }
        assert_true(pairs->count < MOST_PAIRS);
        pairs->list[pairs->count++] =
            (struct shipped_pair){(const char *)key.data, key.bytes, value.data, value.bytes};
    }
}

static void copy(const struct rows *rows, uint32_t column, void *to, size_t width)
{
    memcpy(to, rows->columns->column[column].values.data + rows->row * width, width);
}

#define COPY(column, member)                                                                       \
    copy(rows, ETWAS_SHIP_EVENT_##column, &event->member, sizeof event->member)

bool rows_next_event(struct rows *rows, struct shipped_event *event)
{
    const struct etwas_columns_column *columns = rows->columns->column;

    if (rows->row == rows->columns->rows) {
        return false;
    }
    COPY(DAY, day);
    COPY(TIME, time);
    COPY(TIME_ERROR, error);
    COPY(SESSION, session);
    COPY(PART, part);
    COPY(CPU, cpu);
    COPY(BUFFER, buffer);
    COPY(POSITION, pos);
    COPY(PID, pid);
    COPY(TID, tid);
    COPY(PROVIDER_ID, provider);
    COPY(CLASS_ID, class_guid);
    COPY(OPCODE, type);
    COPY(LEVEL, level);
    COPY(ID, id);
    COPY(KEYWORD, keyword);
    COPY(INSTANCE, instance);
    COPY(PARENT_INSTANCE, parent);
    COPY(ACTIVITY, activity);
    COPY(RELATED_ACTIVITY, related);
    event->host =
        next_string(&columns[ETWAS_SHIP_EVENT_HOST].values, &rows->at[ETWAS_SHIP_EVENT_HOST]);
    event->name =
        next_string(&columns[ETWAS_SHIP_EVENT_EVENT].values, &rows->at[ETWAS_SHIP_EVENT_EVENT]);
    event->payload =
        next_string(&columns[ETWAS_SHIP_EVENT_PAYLOAD].values, &rows->at[ETWAS_SHIP_EVENT_PAYLOAD]);
    next_pairs(rows, ETWAS_SHIP_EVENT_INTS, &event->ints);
    next_pairs(rows, ETWAS_SHIP_EVENT_REALS, &event->reals);
    next_pairs(rows, ETWAS_SHIP_EVENT_TEXTS, &event->texts);
    rows->row++;
    return true;
}

uint64_t buffer_value(const struct etwas_columns *buffers, uint32_t row, uint32_t column)
{
    uint32_t count;
    size_t width =
        etwas_ship_type_bytes(etwas_ship_columns(ETWAS_SHIP_BUFFERS, &count)[column].type);
    uint64_t value = 0;

    assert_true(row < buffers->rows && width <= sizeof value);
    memcpy(&value, buffers->column[column].values.data + row * width, width);
    return value;
}

static const struct shipped_pair *find_pair(const struct shipped_pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (pairs->list[i].key_bytes == strlen(key) &&
            memcmp(pairs->list[i].key, key, strlen(key)) == 0) {
            return &pairs->list[i];
        }
    }
    return NULL;
}

bool has_int(const struct shipped_event *event, const char *key, int64_t *value)
{
    const struct shipped_pair *pair = find_pair(&event->ints, key);

    if (pair != NULL) {
        memcpy(value, pair->value, sizeof *value);
    }
    return pair != NULL;
}

bool has_real(const struct shipped_event *event, const char *key, double *value)
{
    const struct shipped_pair *pair = find_pair(&event->reals, key);

    if (pair != NULL) {
        memcpy(value, pair->value, sizeof *value);
    }
    return pair != NULL;
}

static const char *as_string(const uint8_t *data, size_t bytes)
{
    static char text[70000];

    assert_true(bytes < sizeof text);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    return text;
}

const char *text_of(const struct shipped_event *event, const char *key)
{
    const struct shipped_pair *pair = find_pair(&event->texts, key);

    return pair != NULL ? as_string(pair->value, pair->value_bytes) : NULL;
}

const char *name_of(const struct shipped_event *event)
{
    return as_string(event->name.data, event->name.bytes);
}

uint64_t number_of(const struct shipped_event *event)
{
    int64_t number = 0;
    const char *text = text_of(event, "message");

    if (text != NULL) {
        unsigned long long said = 0;

        assert_int_equal(sscanf(text, "number %llu", &said), 1);
        return said;
    }
    if (!has_int(event, "number", &number)) {
        assert_int_equal(event->payload.bytes, sizeof number);
        memcpy(&number, event->payload.data, sizeof number);
    }
    return (uint64_t)number;
}
