/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* An event of a modern provider as a record: a header of 80 bytes, extended items, data. */
#ifndef ETWAS_PROVIDER_EVENT_RECORD_H
#define ETWAS_PROVIDER_EVENT_RECORD_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "buffer/publish.h"
#include "etl/layout.h"
#include "platform/pair.h"
#include "provider/event_items.h"
#include "provider/event_provider.h"

/* The arguments of an EventWrite function. */
struct etwas_event_arguments {
    const EVENT_DESCRIPTOR *descriptor;
    const etwas_guid *activity; /* NULL: the thread's */
    const etwas_guid *related;  /* NULL: none */
    const EVENT_DATA_DESCRIPTOR *data;
    uint32_t data_count;
    uint16_t header_flags; /* EVENT_HEADER_FLAG_STRING_ONLY, or 0 */
};

enum {
    ETWAS_EVENT_ITEMS = 3,       /* related activity, traits, metadata */
    ETWAS_EVENT_ITEM_PIECES = 3, /* head, data, padding to a multiple of 8 */
    ETWAS_EVENT_PIECES =
        ETWAS_EVENT_ITEMS * ETWAS_EVENT_ITEM_PIECES + 1 + MAX_EVENT_DATA_DESCRIPTORS,
};

/* The record, and the pieces that it points to. Lies on the writer's stack. */
struct etwas_event_record {
    struct etwas_unstamped_record record;
    struct etwas_etl_event_header header;
    struct etwas_etl_extended_item items[ETWAS_EVENT_ITEMS];
    uint32_t item_count;
    uint32_t data_bytes; /* without header and items */
    MOF_FIELD pieces[ETWAS_EVENT_PIECES];
};

/*
 * The metadata of a data descriptor with a metadata type: all its data, or what follows the head of
 * an item. Returns false if the head contradicts the descriptor.
 */
static inline bool etwas_event_metadata_of(const EVENT_DATA_DESCRIPTOR *block,
                                           EVENT_DATA_DESCRIPTOR *metadata)
{
    struct etwas_etl_extended_item item;

    *metadata = *block;
    if (metadata->Type < EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM) {
        return true;
    }
    if (metadata->Size < sizeof item) {
        return false;
    }
    memcpy(&item, (const void *)(uintptr_t)metadata->Ptr, sizeof item);
    metadata->Ptr += sizeof item;
    metadata->Size -= (uint32_t)sizeof item;
    if (item.data_bytes > metadata->Size) {
        return false;
    }
    metadata->Size = item.data_bytes;
    return true;
}

/*
 * Lists what follows the header of an event's record: items, then data. Each length is read once:
 * another thread may change it meanwhile. ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED and
 * ERROR_ARITHMETIC_OVERFLOW as EventWriteEx documents. Async-signal-safe.
 */
uint32_t etwas_event_record_list(struct etwas_event_record *built,
                                 const struct etwas_event_arguments *event, uint32_t options);

/* The first 8 bytes of the record of a listed event. */
static inline uint64_t etwas_event_record_start(const struct etwas_event_record *built,
                                                const struct etwas_event_arguments *event)
{
    const uint64_t flags =
        event->header_flags | (built->item_count != 0 ? ETWAS_ETL_EVENT_EXTENDED_INFO : 0);

    return flags << 32 | etwas_etl_marker(ETWAS_ETL_EVENT_HEADER64, (uint16_t)built->record.bytes);
}

/* Fills in the header of a listed event. Async-signal-safe. */
void etwas_event_record_fill(struct etwas_event_record *built,
                             const struct etwas_event_arguments *event,
                             const struct etwas_recipients *recipients);

/*
 * Makes room for the items of event_items.h, which the record does not have yet: once, before the
 * first etwas_event_record_set_items.
 */
void etwas_event_record_reserve_items(struct etwas_event_record *built);

/*
 * Replaces the record's items of event_items.h with these, and marks the last item. Returns false
 * if the record would be too long; the caller then sets others.
 */
bool etwas_event_record_set_items(struct etwas_event_record *built,
                                  struct etwas_event_items *items);

/*
 * Publishes one event to each session that listens and whose filter lets it pass, with the items
 * that this session requests (R77).
 */

/*
 * Publishes a record that was built without the items of event_items.h. Changes the record and the
 * recipients. The first `recorded` sessions have it already. Returns what EventWriteEx returns.
 * Async-signal-safe.
 */
uint32_t etwas_event_publish(const struct etwas_event_provider *provider,
                             const struct etwas_event_arguments *event,
                             struct etwas_recipients *recipients, uint32_t recorded,
                             struct etwas_event_record *built);

/*
 * Counts an event that is too large for any record in each session that would have got it and does
 * not have it. Async-signal-safe.
 */
void etwas_event_count_too_large(const struct etwas_event_provider *provider,
                                 const struct etwas_event_arguments *event,
                                 struct etwas_recipients *recipients, uint32_t recorded,
                                 const struct etwas_event_record *built);

/*
 * The activity id of a thread (R196), all 0 at first. Only the thread and its own signal handlers
 * read it. They see it whole, because one instruction loads or stores it. Async-signal-safe.
 */

extern _Thread_local uint64_t etwas_activity_words[2];

static inline etwas_guid etwas_activity_id(void)
{
    etwas_guid id;

    etwas_pair_store(&id, etwas_pair_load(etwas_activity_words));
    return id;
}

static inline void etwas_activity_id_set(const etwas_guid *id)
{
    etwas_pair_store(etwas_activity_words, etwas_pair_load(id));
}

#endif
