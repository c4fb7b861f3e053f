/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * One record in a buffer: its kind, its length, and where its payload begins.
 *
 * There are two steps, because a record may continue after what was read so far. Measuring needs
 * its first 8 bytes and returns its length; parsing needs all of it.
 *
 * Recovery (recover/) uses these functions, too, so that it counts what the reader delivers.
 */
#ifndef ETWAS_ETL_RECORD_H
#define ETWAS_ETL_RECORD_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

enum etwas_record_kind {
    ETWAS_RECORD_SYSTEM,
    ETWAS_RECORD_COMPACT,
    ETWAS_RECORD_PERFINFO,
    ETWAS_RECORD_FULL,
    ETWAS_RECORD_INSTANCE,
    ETWAS_RECORD_EVENT,
    ETWAS_RECORD_MESSAGE,
    ETWAS_RECORD_OPAQUE, /* an obsolete form: its size is known, nothing else */
};

enum {
    ETWAS_RECORD_MEASURE_BYTES = 8,
    /* The most extended items a record may have; ETW defines 18 kinds. */
    ETWAS_RECORD_ITEMS_LIMIT = 64,
};

struct etwas_record {
    enum etwas_record_kind kind;
    uint8_t header_type;   /* ETWAS_ETL_SYSTEM32 … as on disk; 0 for MESSAGE and OPAQUE */
    uint8_t pointer_bytes; /* in the payload: 4, 8, or 0 if the record does not say */
    bool has_stamp;
    bool own;              /* written by etwas for itself: neither delivered nor counted */
    uint32_t size;         /* as stored, not rounded */
    uint32_t header_bytes; /* fixed header: where optional fields, items or the payload begin */
    uint32_t payload_at;   /* from the record's start; payload_at <= size */
    int64_t stamp;         /* raw */
    const uint8_t *bytes;
};

enum etwas_record_measure {
    ETWAS_RECORD_MEASURED,
    ETWAS_RECORD_END,     /* the end-of-data marker */
    ETWAS_RECORD_UNKNOWN, /* an invalid marker or size: the next record cannot be found */
};

/*
 * Fills kind, header_type, size and header_bytes from the first 8 bytes. The size is at least that
 * of the header and at least 8; the caller checks whether it fits in the buffer.
 */
enum etwas_record_measure etwas_record_measure(const uint8_t *bytes, struct etwas_record *record);

/*
 * Fills the rest from the whole record, `record->size` bytes. Returns false if the contents are
 * invalid (extensions, items or optional fields exceed the record); the size is still right.
 */
bool etwas_record_parse(const uint8_t *bytes, struct etwas_record *record);

/*
 * Returns whether the reader delivers a whole record as an event: it is valid and not one of etwas'
 * own. Async-signal-safe.
 */
static inline bool etwas_record_is_event(const uint8_t *bytes)
{
    struct etwas_record record;

    return etwas_record_measure(bytes, &record) == ETWAS_RECORD_MEASURED &&
           etwas_record_parse(bytes, &record) && !record.own;
}

#endif
