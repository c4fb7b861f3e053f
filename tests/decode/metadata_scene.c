/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "metadata_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etl/event_metadata.h"

const etwas_guid guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

uint32_t string(struct state *s, const char *text)
{
    return etwas_builder_add_string(&s->builder, text, strlen(text));
}

void begin(struct state *s, const char *opcode)
{
    etwas_builder_begin(&s->builder);
    s->builder.head.ProviderGuid = guid;
    s->builder.head.EventGuid = guid;
    s->builder.head.EventDescriptor.Opcode = 1;
    s->builder.head.DecodingSource = DecodingSourceWbem;
    s->builder.head.ProviderNameOffset = string(s, "shop");
    s->builder.head.TaskNameOffset = string(s, "Order ");
    s->builder.head.OpcodeNameOffset = string(s, opcode);
}

uint16_t add(struct state *s, uint16_t parent, const char *name, uint16_t in_type,
             uint16_t out_type)
{
    return etwas_builder_property(&s->builder, parent,
                                  &(EVENT_PROPERTY_INFO){
                                      .NameOffset = string(s, name),
                                      .nonStructType = {.InType = in_type, .OutType = out_type},
                                      .count = 1,
                                  });
}

void add_kind(struct state *s, const char *name, uint16_t in_type)
{
    uint16_t field = add(s, ETWAS_BUILDER_TOP, name, in_type, 0);

    s->builder.properties[field].info.nonStructType.MapNameOffset = string(s, "Kinds");
}

int open_scene(void **state)
{
    struct state *s = calloc(1, sizeof *s);

    assert_non_null(s);
    assert_int_equal(etwas_decoder_open(&s->decoder), ERROR_SUCCESS);
    begin(s, "Start");
    *state = s;
    return 0;
}

int close_scene(void **state)
{
    struct state *s = *state;
    TRACE_EVENT_INFO *info;
    size_t bytes;

    etwas_builder_end(&s->builder, &info, &bytes);
    free(info);
    etwas_decoder_close(s->decoder);
    free(s);
    return 0;
}

uint32_t learn_record(etwas_decoder *decoder, uint8_t type, const void *bytes, size_t count)
{
    void *exact = malloc(count + (count == 0));
    EVENT_RECORD record = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                        .ProviderId = etwas_etl_metadata_class,
                        .EventDescriptor = {.Opcode = type}},
        .UserData = exact,
        .UserDataLength = (uint16_t)count,
    };
    uint32_t error;

    assert_non_null(exact);
    if (count > 0) {
        memcpy(exact, bytes, count);
    }
    error = learning(decoder, &record);
    free(exact);
    return error;
}

uint32_t learn_event(struct state *s)
{
    TRACE_EVENT_INFO *info;
    size_t bytes;
    uint32_t error;

    assert_int_equal(etwas_builder_end(&s->builder, &info, &bytes), ERROR_SUCCESS);
    error = learn_record(s->decoder, ETWAS_ETL_EVENT_INFO_TYPE, info, bytes);
    free(info);
    begin(s, "Start");
    return error;
}

uint32_t learn_map(etwas_decoder *decoder, MAP_FLAGS flag, const char *const *names,
                   const uint32_t *values, size_t count)
{
    struct etwas_info_builder builder;
    struct etwas_builder_entry *entries = calloc(count, sizeof *entries);
    struct blob *blob = calloc(1, sizeof *blob);
    uint32_t error;
    EVENT_MAP_INFO *map;
    size_t bytes;
    uint32_t name;

    assert_true(entries != NULL && blob != NULL);
    etwas_builder_begin(&builder);
    name = etwas_builder_add_string(&builder, "Kinds", 5);
    for (size_t i = 0; i < count; i++) {
        entries[i] = (struct etwas_builder_entry){
            values[i], etwas_builder_add_string(&builder, names[i], strlen(names[i]))};
    }
    assert_int_equal(etwas_builder_end_map(&builder, name, flag, entries, count, &map, &bytes),
                     ERROR_SUCCESS);
    put_bytes(blob, &guid, sizeof guid);
    put_bytes(blob, map, bytes);
    error = learn_record(decoder, ETWAS_ETL_MAP_INFO_TYPE, blob->bytes, blob->count);
    free(map);
    free(blob);
    free(entries);
    return error;
}

EVENT_RECORD event_of(struct state *s, uint8_t type, uint8_t version)
{
    return (EVENT_RECORD){
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER,
                        .ProviderId = guid,
                        .EventDescriptor = {.Opcode = type, .Version = version}},
        .UserData = s->payload.bytes,
        .UserDataLength = (uint16_t)s->payload.count,
    };
}

const char *line_of(struct state *s, uint8_t type, uint8_t version)
{
    EVENT_RECORD record = event_of(s, type, version);

    return shown(s->decoder, &record);
}
