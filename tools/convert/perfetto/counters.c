/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that have only numbers also set counters: one for each field in each process. Numbers that
 * measure nothing are excluded: ids, codes, addresses, numbers with names, and instance ids.
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "math/hash_index.h"

#include <etwas/tdh.h>
#include <stdlib.h>

enum {
    MOST = 1 << 16, /* limit of counters */
    DESCRIPTOR_COUNTER = 8,
    EVENT_VALUE = 12, /* value for EVENT_VALUE_TRACK; the last two are for doubles */
    EVENT_VALUE_TRACK = 31,
    EVENT_DOUBLE_TRACK = 45,
    EVENT_DOUBLE = 46,
};

struct counter {
    uint64_t key;
    uint32_t uuid;
};

struct etwas_perfetto_counters {
    struct counter *all;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
};

/* ---- which events have counters -------------------------------------------------------------- */

static bool is_decimal(uint16_t out_type)
{
    switch (out_type) {
    case TDH_OUTTYPE_NULL:
    case TDH_OUTTYPE_BYTE:
    case TDH_OUTTYPE_UNSIGNEDBYTE:
    case TDH_OUTTYPE_SHORT:
    case TDH_OUTTYPE_UNSIGNEDSHORT:
    case TDH_OUTTYPE_INT:
    case TDH_OUTTYPE_UNSIGNEDINT:
    case TDH_OUTTYPE_LONG:
    case TDH_OUTTYPE_UNSIGNEDLONG:
    case TDH_OUTTYPE_FLOAT:
    case TDH_OUTTYPE_DOUBLE:
        return true;
    default:
        return false;
    }
}

static bool is_quantity(const etwas_schema_field *field)
{
    if ((field->info->Flags & (PropertyStruct | PropertyParamCount)) != 0 ||
        field->info->count != 1 || field->map != NULL) {
        return false;
    }
    switch (field->info->nonStructType.InType) {
    case TDH_INTYPE_INT8:
    case TDH_INTYPE_UINT8:
    case TDH_INTYPE_INT16:
    case TDH_INTYPE_UINT16:
    case TDH_INTYPE_INT32:
    case TDH_INTYPE_UINT32:
    case TDH_INTYPE_INT64:
    case TDH_INTYPE_UINT64:
    case TDH_INTYPE_FLOAT:
    case TDH_INTYPE_DOUBLE:
        return is_decimal(field->info->nonStructType.OutType);
    default:
        return false;
    }
}

bool etwas_perfetto_is_counter(const etwas_schema *schema)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (!is_quantity(&schema->fields[i])) {
            return false;
        }
    }
    return schema->field_count > 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

static void put_track(struct etwas_perfetto *perfetto, uint64_t uuid, uint64_t parent,
                      const struct etwas_perfetto_schema *schema, uint32_t field)
{
    static const char dot[] = ".";
    const struct etwas_perfetto_name *event = schema->event;
    const struct etwas_perfetto_name *name = schema->fields[field];
    size_t began = etwas_perfetto_begin_track(perfetto, uuid, parent);

    etwas_wire_tag(&perfetto->packet, DESCRIPTOR_NAME, ETWAS_WIRE_LENGTH);
    etwas_wire_varint(&perfetto->packet, event->bytes + sizeof dot - 1 + name->bytes);
    etwas_wire_raw(&perfetto->packet, event->text, event->bytes);
    etwas_wire_raw(&perfetto->packet, dot, sizeof dot - 1);
    etwas_wire_raw(&perfetto->packet, name->text, name->bytes);
    etwas_wire_bytes(&perfetto->packet, DESCRIPTOR_COUNTER, NULL, 0);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_put_packet(perfetto);
}

/* Returns NULL if the counter is new. */
static const struct counter *find_counter(const struct etwas_perfetto_counters *counters,
                                          uint64_t key)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&counters->places, key, &place);

    while (number != 0 && counters->all[number - 1].key != key) {
        number = etwas_hash_index_next(&counters->places, &place);
    }
    return number != 0 ? &counters->all[number - 1] : NULL;
}

/* Returns the uuid of a counter, made if it is new; 0 if there are too many or memory runs out. */
static uint32_t counter_of(struct etwas_perfetto *perfetto, uint32_t process_track,
                           const struct etwas_perfetto_schema *schema, uint32_t field)
{
    uint64_t key = ((uint64_t)(uintptr_t)schema->schema_texts << 8) ^
                   ((uint64_t)process_track << 40) ^ (field + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct etwas_perfetto_counters *counters = perfetto->counters;
    const struct counter *known;

    if (counters == NULL) {
        counters = perfetto->counters = calloc(1, sizeof *counters);
    }
    known = counters != NULL ? find_counter(counters, key) : NULL;
    if (known != NULL) {
        return known->uuid;
    }
    if (counters != NULL && counters->count >= MOST) {
        return 0;
    }
    if (counters == NULL ||
        !etwas_array_reserve(&counters->all, &counters->capacity, counters->count + 1,
                             sizeof *counters->all) ||
        !etwas_hash_index_add(&counters->places, key, counters->count + 1)) {
        perfetto->convert->out_of_memory = true;
        return 0;
    }
    counters->all[counters->count++] = (struct counter){key, ++perfetto->uuid};
    put_track(perfetto, perfetto->uuid, perfetto->tracks[process_track].uuid, schema, field);
    return counters->all[counters->count - 1].uuid;
}

static void put_value(struct etwas_perfetto *perfetto, uint32_t uuid, const etwas_value *value)
{
    etwas_number number = {.u = 0};
    uint32_t kind = etwas_value_number(value, &number);

    if (kind == ETWAS_VALUE_FLOAT) {
        etwas_wire_number(&perfetto->event, EVENT_DOUBLE_TRACK, uuid);
        etwas_wire_double(&perfetto->event, EVENT_DOUBLE, number.f);
    } else if (kind == ETWAS_VALUE_UNSIGNED && number.u > INT64_MAX) {
        etwas_wire_number(&perfetto->event, EVENT_DOUBLE_TRACK, uuid);
        etwas_wire_double(&perfetto->event, EVENT_DOUBLE, (double)number.u);
    } else if (kind == ETWAS_VALUE_UNSIGNED || kind == ETWAS_VALUE_SIGNED) {
        etwas_wire_number(&perfetto->event, EVENT_VALUE_TRACK, uuid);
        etwas_wire_number(&perfetto->event, EVENT_VALUE, number.u);
    }
}

void etwas_perfetto_put_counters(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_schema *schema, uint32_t track)
{
    const struct etwas_convert *convert = perfetto->convert;
    etwas_fields fields;
    etwas_value value;

    if (!schema->is_counter || convert->current.event.has_instance) {
        return;
    }
    etwas_fields_begin(&fields, schema->schema_texts->schema, convert->current.record);
    while (etwas_fields_next(&fields, &value)) {
        uint32_t uuid;

        if (value.token == ETWAS_TOKEN_VALUE) {
            uuid = counter_of(perfetto, perfetto->tracks[track].process_track, schema,
                              (uint32_t)(value.field - schema->schema_texts->schema->fields));
            if (uuid != 0) {
                put_value(perfetto, uuid, &value);
            }
        }
    }
}

void etwas_perfetto_counters_close(struct etwas_perfetto *perfetto)
{
    if (perfetto->counters != NULL) {
        free(perfetto->counters->all);
        etwas_hash_index_clear(&perfetto->counters->places);
    }
    free(perfetto->counters);
}
