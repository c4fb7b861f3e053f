/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A payload filter, and a record of a buffer that it judges: u8 flags, u8 comparison, a value that
 * ends with 0; u8 fields, each u8 type, u8 count, u8 length; of a TraceLogging event, which says
 * its fields itself, u16 and its description instead; the payload. Alone and beside another
 * predicate that only the last field can hold.
 */
#include <etwas/evntcons.h>
#include <etwas/tdh.h>
#include <string.h>

#include "etl/layout.h"
#include "provider/payload_filter.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_FIELDS = 6,
    BY_NAME = 1,
    INSTANCE = 2,
    MATCH_ANY = 4,
    SECOND = 8,
    PREDICATES = 2,
};

static const etwas_guid guid = {.Data1 = 0x0FF1CE};

struct asked {
    etwas_payload_filter filter;
    etwas_payload_predicate predicates[PREDICATES];
    etwas_field_description fields[MOST_FIELDS];
    char value[ETWAS_PREDICATE_BYTES + 8]; /* longer ones are refused */
};

static uint16_t count_of(uint8_t chosen)
{
    return chosen == UINT8_MAX ? (uint16_t)ETWAS_BY_FIELD_BEFORE : chosen;
}

static void take_value(struct asked *asked, struct input *input)
{
    size_t length = 0;

    while (length < sizeof asked->value - 1 && (asked->value[length] = (char)take_u8(input)) != 0) {
        length++;
    }
    asked->value[length] = 0;
}

static void take_fields(struct asked *asked, struct input *input)
{
    static const char *const names[MOST_FIELDS] = {"a", "b", "c", "d", "e", "f"};
    uint32_t count = 1 + take_u8(input) % MOST_FIELDS;

    for (uint32_t index = 0; index < count; index++) {
        etwas_field_description *field = &asked->fields[index];

        field->name = names[index];
        field->in_type = take_u8(input);
        field->in_type = (uint16_t)(field->in_type >= 32 ? 268 + field->in_type : field->in_type);
        field->count = count_of(take_u8(input));
        field->length = count_of(take_u8(input));
    }
    asked->filter.fields = asked->fields;
    asked->filter.field_count = count;
    asked->predicates[0].field = names[count - 1];
    asked->predicates[1].field = names[0];
}

static void take_filter(struct asked *asked, struct input *input, uint8_t flags)
{
    static const uint16_t comparisons[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 30, 31, 32};
    uint16_t compare = comparisons[take_u8(input) % (sizeof comparisons / sizeof comparisons[0])];

    *asked = (struct asked){.filter = {.guid = &guid,
                                       .predicates = asked->predicates,
                                       .predicate_count = (flags & SECOND) != 0 ? PREDICATES : 1,
                                       .match_any = flags & MATCH_ANY}};
    take_value(asked, input);
    asked->predicates[0] = (etwas_payload_predicate){"a", asked->value, compare, 0};
    asked->predicates[1] = (etwas_payload_predicate){"b", asked->value, PAYLOADFIELD_ISNOT, 0};
    if ((flags & BY_NAME) != 0) {
        asked->filter.event_name = "e";
    } else {
        take_fields(asked, input);
    }
}

/* ---- the record ------------------------------------------------------------------------------ */

struct record {
    uint8_t *bytes;
    size_t size;
};

/* The allocation ends where it does. */
static void put(struct record *record, const void *data, size_t bytes)
{
    record->bytes = realloc(record->bytes, record->size + bytes + 1);
    MUST(record->bytes != NULL);
    memcpy(record->bytes + record->size, data, bytes);
    record->size += bytes;
    record->bytes = realloc(record->bytes, record->size + (record->size == 0));
    MUST(record->bytes != NULL);
}

static void put_header(struct record *record, struct input *input, uint8_t flags)
{
    struct etwas_etl_event_header event = {.header_type = ETWAS_ETL_EVENT_HEADER64,
                                           .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                           .flags = ETWAS_ETL_EVENT_EXTENDED_INFO,
                                           .provider_id = guid};
    struct etwas_etl_instance_header instance = {.full = {.header_type = ETWAS_ETL_INSTANCE64,
                                                          .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                                                          .guid = guid}};
    struct etwas_etl_extended_item item = {.type = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL};
    uint8_t *description;

    if ((flags & BY_NAME) != 0) {
        description = take_bytes(input, take_u16(input) % 1024, &item.data_bytes);
        item.item_bytes = (uint16_t)etwas_etl_round_up_8(sizeof item + item.data_bytes);
        put(record, &event, sizeof event);
        put(record, &item, sizeof item);
        put(record, description, item.data_bytes);
        put(record, "\0\0\0\0\0\0\0", item.item_bytes - sizeof item - item.data_bytes);
        free(description);
    } else if ((flags & INSTANCE) != 0) {
        put(record, &instance, sizeof instance);
    } else {
        event.flags = 0;
        put(record, &event, sizeof event);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t flags = take_u8(&input);
    struct etwas_compiled_filter *filter;
    struct record record = {0};
    struct asked asked;
    const char *fault;
    uint32_t code;

    take_filter(&asked, &input, flags);
    filter = etwas_payload_filter_compile(&asked.filter, &code, &fault);
    MUST((filter != NULL) == (code == 0) && (filter != NULL || strlen(fault) > 0));
    if (filter != NULL) {
        uint16_t bytes = 0;

        put_header(&record, &input, flags);
        put(&record, input.at, input.left < 4096 ? input.left : 4096);
        bytes = (uint16_t)record.size;
        if (record.bytes[2] == ETWAS_ETL_EVENT_HEADER64) {
            memcpy(record.bytes, &bytes, sizeof bytes);
        }
        MUST(etwas_payload_filter_evaluate(filter, record.bytes, record.size) <=
             ETWAS_PAYLOAD_MALFORMED);
        free(record.bytes);
    }
    free(filter);
    return 0;
}
