/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "etl/record.h"

#include <string.h>

#include "etl/layout.h"
#include "etl/own_record.h"

/*
 * What the header type determines: the form of the header, and the size of the payload's pointers.
 */
struct form {
    enum etwas_record_kind kind;
    uint8_t header_bytes; /* 0: there is no such type */
    uint8_t pointer_bytes;
    bool size_is_second; /* the size is the low half of the second u32, not of the first */
};

static const struct form forms[] = {
    [ETWAS_ETL_SYSTEM32] = {ETWAS_RECORD_SYSTEM, 32, 4, true},
    [ETWAS_ETL_SYSTEM64] = {ETWAS_RECORD_SYSTEM, 32, 8, true},
    [ETWAS_ETL_COMPACT32] = {ETWAS_RECORD_COMPACT, 24, 4, true},
    [ETWAS_ETL_COMPACT64] = {ETWAS_RECORD_COMPACT, 24, 8, true},
    [ETWAS_ETL_FULL_HEADER32] = {ETWAS_RECORD_FULL, 48, 4, false},
    [ETWAS_ETL_INSTANCE32] = {ETWAS_RECORD_INSTANCE, 72, 4, false},
    [ETWAS_ETL_TIMED] = {ETWAS_RECORD_OPAQUE, 8, 0, false},
    [ETWAS_ETL_ERROR] = {ETWAS_RECORD_OPAQUE, 8, 0, false},
    [ETWAS_ETL_WNODE] = {ETWAS_RECORD_OPAQUE, 8, 0, false},
    [ETWAS_ETL_PERFINFO32] = {ETWAS_RECORD_PERFINFO, 16, 4, true},
    [ETWAS_ETL_PERFINFO64] = {ETWAS_RECORD_PERFINFO, 16, 8, true},
    [ETWAS_ETL_EVENT_HEADER32] = {ETWAS_RECORD_EVENT, 80, 4, false},
    [ETWAS_ETL_EVENT_HEADER64] = {ETWAS_RECORD_EVENT, 80, 8, false},
    [ETWAS_ETL_FULL_HEADER64] = {ETWAS_RECORD_FULL, 48, 8, false},
    [ETWAS_ETL_INSTANCE64] = {ETWAS_RECORD_INSTANCE, 72, 8, false},
};

static enum etwas_record_measure record_measure_typed(uint32_t first, uint32_t second,
                                                      struct etwas_record *record)
{
    uint32_t type = first >> 16 & 0xFF;
    const struct form *form;

    if (type >= sizeof forms / sizeof forms[0] || forms[type].header_bytes == 0) {
        return ETWAS_RECORD_UNKNOWN;
    }
    form = &forms[type];
    record->kind = form->kind;
    record->header_type = (uint8_t)type;
    record->pointer_bytes = form->pointer_bytes;
    record->header_bytes = form->header_bytes;
    record->size = (form->size_is_second ? second : first) & 0xFFFF;
    /* The API's form of 56 bytes may be on disk with the same type. It is skipped by its size. */
    if (record->kind == ETWAS_RECORD_INSTANCE && record->size >= 56 && record->size < 72) {
        record->kind = ETWAS_RECORD_OPAQUE;
        return ETWAS_RECORD_MEASURED;
    }
    return record->size < record->header_bytes ? ETWAS_RECORD_UNKNOWN : ETWAS_RECORD_MEASURED;
}

enum etwas_record_measure etwas_record_measure(const uint8_t *bytes, struct etwas_record *record)
{
    uint32_t first;
    uint32_t second;

    memcpy(&first, bytes, sizeof first);
    memcpy(&second, bytes + sizeof first, sizeof second);
    *record = (struct etwas_record){.bytes = bytes};
    if (first == ETWAS_ETL_END_OF_DATA) {
        return ETWAS_RECORD_END;
    }
    if (first >> 24 == ETWAS_ETL_MARKER_FLAGS) {
        return record_measure_typed(first, second, record);
    }

    record->header_bytes = 8;
    if (first >> 24 == ETWAS_ETL_MESSAGE_MARKER_FLAGS) {
        record->kind = ETWAS_RECORD_MESSAGE;
        record->size = first & 0xFFFF;
    } else if (first >> 28 == ETWAS_ETL_TIMED_MARKER_NIBBLE) {
        record->kind = ETWAS_RECORD_OPAQUE;
        record->size = first & 0xFFFF;
    } else if (first >> 31 == 0) {
        record->kind = ETWAS_RECORD_OPAQUE;
        record->size = first;
        record->header_bytes = 48; /* a WNODE_HEADER */
    } else {
        return ETWAS_RECORD_UNKNOWN;
    }
    return record->size < record->header_bytes ? ETWAS_RECORD_UNKNOWN : ETWAS_RECORD_MEASURED;
}

/* Kernel records: one u64 and up to seven more may lie between header and payload. */
static bool record_parse_extension(struct etwas_record *record)
{
    uint16_t version;
    uint32_t counters;

    memcpy(&version, record->bytes, sizeof version);
    record->payload_at = record->header_bytes;
    if ((version & ETWAS_ETL_EXTENSION_PEBS) != 0) {
        record->payload_at += 8;
    }
    counters = (uint32_t)(version & ETWAS_ETL_EXTENSION_COUNTERS_MASK) >>
               ETWAS_ETL_EXTENSION_COUNTERS_SHIFT;
    record->payload_at += 8 * counters;
    return record->payload_at <= record->size;
}

static bool record_parse_items(struct etwas_record *record)
{
    struct etwas_etl_event_header header;
    struct etwas_etl_extended_item item;
    unsigned items = 0;

    memcpy(&header, record->bytes, sizeof header);
    record->payload_at = record->header_bytes;
    if ((header.flags & ETWAS_ETL_EVENT_EXTENDED_INFO) == 0) {
        return true;
    }
    do {
        if (record->size - record->payload_at < sizeof item ||
            items++ == ETWAS_RECORD_ITEMS_LIMIT) {
            return false;
        }
        memcpy(&item, record->bytes + record->payload_at, sizeof item);
        if (item.item_bytes % 8 != 0 || item.item_bytes > record->size - record->payload_at ||
            item.item_bytes < sizeof item + item.data_bytes) {
            return false;
        }
        record->payload_at += item.item_bytes;
    } while ((item.linkage & ETWAS_ETL_ITEM_LINKAGE) != 0);
    return true;
}

/* The optional fields of a trace message, in the order of their flags. */
static bool record_parse_message(struct etwas_record *record)
{
    struct etwas_etl_message_header header;
    uint16_t options;
    uint32_t at;

    memcpy(&header, record->bytes, sizeof header);
    options = header.option_flags;
    at = etwas_etl_message_stamp_at(options);
    if (etwas_etl_message_has_stamp(options)) {
        if (record->size - record->header_bytes < at - record->header_bytes + 8) {
            return false;
        }
        memcpy(&record->stamp, record->bytes + at, sizeof record->stamp);
        record->has_stamp = true;
        at += 8;
    }
    if ((options & TRACE_MESSAGE_SYSTEMINFO) != 0) {
        at += 8;
    }
    record->payload_at = at;
    record->pointer_bytes = (options & TRACE_MESSAGE_POINTER64) != 0   ? 8
                            : (options & TRACE_MESSAGE_POINTER32) != 0 ? 4
                                                                       : 0;
    return at <= record->size;
}

static bool record_parse_body(struct etwas_record *record)
{
    switch (record->kind) {
    case ETWAS_RECORD_SYSTEM:
    case ETWAS_RECORD_COMPACT:
    case ETWAS_RECORD_PERFINFO:
        return record_parse_extension(record);
    case ETWAS_RECORD_EVENT:
        return record_parse_items(record);
    case ETWAS_RECORD_MESSAGE:
        return record_parse_message(record);
    default:
        record->payload_at = record->header_bytes;
        return true;
    }
}

bool etwas_record_parse(const uint8_t *bytes, struct etwas_record *record)
{
    record->bytes = bytes;
    if (record->kind == ETWAS_RECORD_OPAQUE) {
        return false;
    }
    if (record->kind != ETWAS_RECORD_MESSAGE) {
        size_t at = record->kind == ETWAS_RECORD_PERFINFO
                        ? offsetof(struct etwas_etl_perfinfo_header, time_stamp)
                        : offsetof(struct etwas_etl_full_header, time_stamp);

        memcpy(&record->stamp, bytes + at, sizeof record->stamp);
        record->has_stamp = true;
    }
    if (record->kind == ETWAS_RECORD_FULL) {
        struct etwas_etl_full_header header;

        memcpy(&header, bytes, sizeof header);
        record->own = etwas_etl_is_own_record(&header);
    }
    return record_parse_body(record);
}
