/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/payload_filter.h"

#include <etwas/evntcons.h>
#include <etwas/tdh.h>
#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>

#include "etl/cursor.h"
#include "etl/layout.h"
#include "etl/record.h"
#include "provider/describe_class.h"

enum {
    GUID_AT = offsetof(struct etwas_etl_full_header, guid), /* of a class or of a provider */
};
_Static_assert(GUID_AT == offsetof(struct etwas_etl_event_header, provider_id),
               "one place for all kinds of events");

/* ---- the predicates -------------------------------------------------------------------------- */

/* What is known so far of the event under evaluation. */
struct evaluated {
    const struct etwas_compiled_filter *filter;
    uint32_t open; /* predicates with a field that has not been read yet: a bit each */
    bool holds;    /* one of those read so far holds */
    bool fails;
};

static bool filter_is_decided(const struct evaluated *evaluated)
{
    return evaluated->open == 0 ||
           (evaluated->filter->match_any ? evaluated->holds : evaluated->fails);
}

static enum etwas_payload_result filter_result_of(const struct evaluated *evaluated)
{
    if (!filter_is_decided(evaluated)) {
        return ETWAS_PAYLOAD_MALFORMED;
    }
    return (evaluated->filter->match_any ? evaluated->holds : !evaluated->fails)
               ? ETWAS_PAYLOAD_MATCHES
               : ETWAS_PAYLOAD_NO_MATCH;
}

/* Tests a predicate whose field was read. If the values cannot be compared, it stays open. */
static void filter_test_field(struct evaluated *evaluated, uint32_t index,
                              enum etwas_payload_kind kind, const struct etwas_payload_value *value)
{
    const struct etwas_predicate *predicate = &evaluated->filter->wanted[index].predicate;

    if (etwas_predicate_accepts(predicate, kind)) {
        bool holds = etwas_predicate_holds(predicate, kind, value);

        evaluated->open &= ~(1u << index);
        evaluated->holds = evaluated->holds || holds;
        evaluated->fails = evaluated->fails || !holds;
    }
}

/* ---- fields of a layout known beforehand ----------------------------------------------------- */

static enum etwas_payload_result filter_evaluate_by_layout(struct evaluated *evaluated,
                                                           const struct etwas_cursor *payload)
{
    const struct etwas_compiled_filter *filter = evaluated->filter;
    struct etwas_payload_cursor cursor = {.at = payload->at, .end = payload->end};

    for (uint32_t field = 0; field < filter->layout_count && !filter_is_decided(evaluated);
         field++) {
        struct etwas_payload_value value;

        if (!etwas_payload_next(&cursor, &filter->layouts[field], &value)) {
            break;
        }
        for (uint32_t index = 0; index < filter->wanted_count; index++) {
            if (filter->wanted[index].index == field) {
                filter_test_field(evaluated, index,
                                  etwas_payload_kind(filter->layouts[field].in_type), &value);
            }
        }
    }
    return filter_result_of(evaluated);
}

/* ---- fields described by the event's own metadata: TraceLogging ------------------------------ */

/*
 * Metadata after the event's name, field by field: name 0; u8 in; [u8 out if in & 0x80]; [tag if
 * out & 0x80]; [u16 count if it is constant]; [u16 bytes, bytes if it is custom]. A tag ends with a
 * byte below 0x80.
 */
enum {
    TYPE_MASK = 0x1F,
    COUNT_MASK = 0x60,
    COUNT_CONSTANT = 0x20,
    COUNT_IN_PAYLOAD = 0x40,
    COUNT_CUSTOM = 0x60,
    MORE = 0x80,
    TYPE_STRUCT = 24,
};

struct metadata_field {
    const char *name;
    size_t name_bytes;
    uint8_t in;
    uint16_t count;
};

static bool metadata_skip_tag(struct etwas_cursor *span)
{
    uint8_t byte = MORE;

    while ((byte & MORE) != 0) {
        if (!etwas_cursor_u8(span, &byte)) {
            return false;
        }
    }
    return true;
}

static bool metadata_read_field(struct etwas_cursor *schema, struct metadata_field *field)
{
    uint8_t out = 0;

    *field = (struct metadata_field){0};
    if (!etwas_cursor_name(schema, &field->name, &field->name_bytes) ||
        !etwas_cursor_u8(schema, &field->in) ||
        ((field->in & MORE) != 0 && !etwas_cursor_u8(schema, &out)) ||
        ((out & MORE) != 0 && !metadata_skip_tag(schema))) {
        return false;
    }
    return (field->in & COUNT_CONSTANT) == 0 || etwas_cursor_u16(schema, &field->count);
}

/*
 * Makes the layout of a field. Returns false if the payload cannot be read past it, as with an
 * array of structs.
 */
static bool metadata_layout_of(const struct metadata_field *field, struct etwas_cursor *payload,
                               struct etwas_payload_layout *layout)
{
    uint8_t type = field->in & TYPE_MASK;
    uint8_t count = field->in & COUNT_MASK;

    *layout = (struct etwas_payload_layout){
        .in_type = type == TDH_INTYPE_BINARY ? TDH_INTYPE_MANIFEST_COUNTEDBINARY : type,
        .is_array = count != 0,
        .count = field->count,
    };
    if (count == COUNT_CUSTOM || type == TYPE_STRUCT || etwas_in_type(layout->in_type) == NULL) {
        return false;
    }
    return count != COUNT_IN_PAYLOAD || etwas_cursor_u16(payload, &layout->count);
}

static void filter_test_field_by_name(struct evaluated *evaluated,
                                      const struct metadata_field *field,
                                      const struct etwas_payload_layout *layout,
                                      const struct etwas_payload_value *value)
{
    const struct etwas_compiled_filter *filter = evaluated->filter;

    for (uint32_t index = 0; index < filter->wanted_count && !layout->is_array; index++) {
        const struct etwas_filter_field *wanted = &filter->wanted[index];

        if ((evaluated->open & 1u << index) != 0 && wanted->name_bytes == field->name_bytes &&
            memcmp(wanted->name, field->name, field->name_bytes) == 0) {
            filter_test_field(evaluated, index, etwas_payload_kind(layout->in_type), value);
        }
    }
}

/*
 * `schema` begins after the event's name. The members of a struct are treated as the event's
 * fields.
 */
static enum etwas_payload_result filter_evaluate_by_name(struct evaluated *evaluated,
                                                         struct etwas_cursor *schema,
                                                         struct etwas_cursor *payload)
{
    struct metadata_field field;

    while (!filter_is_decided(evaluated) && etwas_cursor_left(schema) != 0 &&
           metadata_read_field(schema, &field)) {
        struct etwas_payload_cursor cursor;
        struct etwas_payload_layout layout;
        struct etwas_payload_value value;

        if ((field.in & (TYPE_MASK | COUNT_MASK)) == TYPE_STRUCT) {
            continue;
        }
        if (!metadata_layout_of(&field, payload, &layout)) {
            break;
        }
        cursor = (struct etwas_payload_cursor){.at = payload->at, .end = payload->end};
        if (!etwas_payload_next(&cursor, &layout, &value)) {
            break;
        }
        payload->at = cursor.at;
        filter_test_field_by_name(evaluated, &field, &layout, &value);
    }
    return filter_result_of(evaluated);
}

/* ---- records --------------------------------------------------------------------------------- */

/*
 * Moves *payload past the items of an event; *schema becomes the contents of its description.
 * Returns false if the items are invalid, in which case no reader delivers the event either.
 */
static bool record_skip_items(const uint8_t *bytes, size_t size, struct etwas_cursor *payload,
                              struct etwas_cursor *schema)
{
    struct etwas_etl_extended_item item;
    struct etwas_record record;

    if (etwas_record_measure(bytes, &record) != ETWAS_RECORD_MEASURED) {
        return false;
    }
    record.size = (uint32_t)size;
    if (!etwas_record_parse(bytes, &record)) {
        return false;
    }
    for (; payload->at < bytes + record.payload_at; payload->at += item.item_bytes) {
        memcpy(&item, payload->at, sizeof item);
        if (item.type == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) {
            *schema = (struct etwas_cursor){payload->at + sizeof item,
                                            payload->at + sizeof item + item.data_bytes};
        }
    }
    return true;
}

/*
 * Opens a description (u16 bytes of all; tag; name 0) and skips the event's name. Returns whether
 * it is the filter's event.
 */
static bool filter_is_event_named(const struct etwas_compiled_filter *filter,
                                  struct etwas_cursor *schema)
{
    const char *name;
    size_t name_bytes;
    uint16_t bytes;

    if (!etwas_cursor_u16(schema, &bytes) || bytes < sizeof bytes ||
        bytes - sizeof bytes > etwas_cursor_left(schema)) {
        return false;
    }
    schema->end = schema->at + (bytes - sizeof bytes);
    return metadata_skip_tag(schema) && etwas_cursor_name(schema, &name, &name_bytes) &&
           name_bytes == filter->event_name_bytes &&
           memcmp(name, filter->event_name, name_bytes) == 0;
}

static enum etwas_payload_result filter_evaluate_modern(struct evaluated *evaluated,
                                                        const uint8_t *record, size_t bytes)
{
    const struct etwas_compiled_filter *filter = evaluated->filter;
    struct etwas_etl_event_header header;
    struct etwas_cursor payload = {record + sizeof header, record + bytes};
    struct etwas_cursor schema = {NULL, NULL};

    if (bytes < sizeof header) {
        return ETWAS_PAYLOAD_OTHER_EVENT;
    }
    memcpy(&header, record, sizeof header);
    if (!filter->by_name && (header.id != filter->event || header.version != filter->version)) {
        return ETWAS_PAYLOAD_OTHER_EVENT;
    }
    if ((header.flags & ETWAS_ETL_EVENT_EXTENDED_INFO) != 0 &&
        !record_skip_items(record, bytes, &payload, &schema)) {
        return ETWAS_PAYLOAD_MALFORMED;
    }
    if (filter->by_name) {
        return filter_is_event_named(filter, &schema)
                   ? filter_evaluate_by_name(evaluated, &schema, &payload)
                   : ETWAS_PAYLOAD_OTHER_EVENT;
    }
    /* To a filter by id, an event with a name is another event. */
    return schema.at != NULL ? ETWAS_PAYLOAD_OTHER_EVENT
                             : filter_evaluate_by_layout(evaluated, &payload);
}

static enum etwas_payload_result filter_evaluate_classic(struct evaluated *evaluated,
                                                         const uint8_t *record, size_t bytes,
                                                         size_t header_bytes)
{
    const struct etwas_compiled_filter *filter = evaluated->filter;
    const struct etwas_cursor payload = {record + header_bytes, record + bytes};
    struct etwas_etl_full_header header;

    if (bytes < header_bytes || filter->by_name) {
        return ETWAS_PAYLOAD_OTHER_EVENT;
    }
    memcpy(&header, record, sizeof header);
    return header.type == filter->event && header.version == filter->version
               ? filter_evaluate_by_layout(evaluated, &payload)
               : ETWAS_PAYLOAD_OTHER_EVENT;
}

enum etwas_payload_result etwas_payload_filter_evaluate(const struct etwas_compiled_filter *filter,
                                                        const uint8_t *record, size_t bytes)
{
    struct evaluated evaluated = {.filter = filter, .open = (1u << filter->wanted_count) - 1};

    /* Most events are not the filter's. This check alone finds that. */
    if (bytes < sizeof(struct etwas_etl_full_header) ||
        memcmp(record + GUID_AT, &filter->guid, sizeof filter->guid) != 0 ||
        record[offsetof(struct etwas_etl_full_header, marker_flags)] != ETWAS_ETL_MARKER_FLAGS) {
        return ETWAS_PAYLOAD_OTHER_EVENT;
    }
    switch (record[offsetof(struct etwas_etl_full_header, header_type)]) {
    case ETWAS_ETL_EVENT_HEADER64:
        return filter_evaluate_modern(&evaluated, record, bytes);
    case ETWAS_ETL_FULL_HEADER64:
        return filter_evaluate_classic(&evaluated, record, bytes,
                                       sizeof(struct etwas_etl_full_header));
    case ETWAS_ETL_INSTANCE64:
        return filter_evaluate_classic(&evaluated, record, bytes,
                                       sizeof(struct etwas_etl_instance_header));
    default:
        return ETWAS_PAYLOAD_OTHER_EVENT;
    }
}
