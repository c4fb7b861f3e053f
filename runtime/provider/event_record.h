/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An event of a modern provider as a record: a header of 80 bytes, extended items, data.
 */
#ifndef ETWAS_PROVIDER_EVENT_RECORD_H
#define ETWAS_PROVIDER_EVENT_RECORD_H

#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/publish.h"
#include "etl/layout.h"
#include "provider/event_items.h"
#include "provider/event_provider.h"

/* What a caller says of an event. */
struct etwas_event {
    const EVENT_DESCRIPTOR *descriptor;
    const etwas_guid *activity; /* NULL: the thread's */
    const etwas_guid *related;  /* NULL: none */
    const EVENT_DATA_DESCRIPTOR *data;
    uint32_t data_count;
    uint16_t header_flags; /* EVENT_HEADER_FLAG_STRING_ONLY, or 0 */
};

enum {
    ETWAS_EVENT_ITEMS = 3,       /* related activity, traits, metadata */
    ETWAS_EVENT_ITEM_PIECES = 3, /* head, data, what is missing to a multiple of 8 */
    ETWAS_EVENT_PIECES =
        ETWAS_EVENT_ITEMS * ETWAS_EVENT_ITEM_PIECES + 1 + MAX_EVENT_DATA_DESCRIPTORS,
};

/* The record, and the pieces it points to. Lies on the writer's stack. */
struct etwas_event_record {
    struct etwas_record record;
    struct etwas_etl_event_header header;
    struct etwas_etl_extended_item items[ETWAS_EVENT_ITEMS];
    uint32_t item_count;
    uint32_t data_bytes; /* without header and items */
    MOF_FIELD pieces[ETWAS_EVENT_PIECES];
};

/* The calling thread's activity id (R196), all 0 at first. Async-signal-safe. */
etwas_guid etwas_activity_id(void);

/*
 * Builds the record of an event. ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED and
 * ERROR_ARITHMETIC_OVERFLOW as EventWriteEx says. Async-signal-safe.
 */
uint32_t etwas_event_record_build(struct etwas_event_record *built, const struct etwas_event *event,
                                  const struct etwas_audience *audience);

/*
 * Makes room for the items of event_items.h, of which there are none yet: once, before the first
 * etwas_event_record_set_items.
 */
void etwas_event_record_reserve_items(struct etwas_event_record *built);

/*
 * Gives the record these items instead of those it has; changes which of them is the last. False:
 * it would be too long, and cannot be published.
 */
bool etwas_event_record_set_items(struct etwas_event_record *built,
                                  struct etwas_event_items *items);

#endif
