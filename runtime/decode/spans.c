/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Open spans, in chains by the hash of their id. The id of an instance is its class, number and
 * process. That of an activity is its GUID alone, so a chain has the activities of all providers.
 * The hash has a secret seed. So a file can make a chain long only by one activity of many
 * providers, and the length of a chain is bounded.
 */

#include <etwas/decode.h>
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "decode/hash_table.h"
#include "etl/own_record.h"

enum {
    DEFAULT_OPEN = 1 << 20,
    FIRST_OPEN = 256, /* initial capacity; doubled whenever it is full */
    LONGEST_CHAIN = 1024,
    NOBODY = 0, /* in chains entries count from 1 */
    COUNTS = ETWAS_SPANS_LEFT_OUT + 1,
};

struct span_entry {
    etwas_span span;
    uint64_t hash;
    uint32_t next; /* in its chain, or in the list of free entries */
};

struct etwas_spans {
    uint64_t secret;
    uint32_t most;
    uint32_t capacity; /* number of entries, and of chains: a power of two, or 0 */
    uint32_t used;     /* entries that were ever in use */
    uint32_t first_free;
    struct span_entry *entries;
    uint32_t *chains;
    uint64_t newest; /* number of the newest span */
    etwas_span told; /* the span that is returned, as it was before the event */
    uint64_t counts[COUNTS];
};

/* The key of a span. */
struct span_key {
    etwas_guid guid;
    etwas_guid activity;
    uint32_t instance;
    uint32_t process; /* only of an instance */
    uint32_t trace;
};

/* ---- keys ------------------------------------------------------------------------------------ */

static bool span_guid_is_zero(const etwas_guid *guid)
{
    static const etwas_guid none;

    return memcmp(guid, &none, sizeof none) == 0;
}

static const void *span_item_of(const EVENT_RECORD *record, uint16_t type, size_t bytes)
{
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

        if (item->ExtType == type && item->DataSize >= bytes) {
            return (const void *)(uintptr_t)item->DataPtr;
        }
    }
    return NULL;
}

/*
 * If the event is a record of counters, reads the key of the START or END that they belong to,
 * which the record contains. Returns false otherwise.
 */
static bool span_read_counted(const EVENT_RECORD *record, struct span_key *key)
{
    struct etwas_etl_counters counters;

    if (memcmp(&record->EventHeader.ProviderId, &etwas_etl_own_class, sizeof etwas_etl_own_class) !=
            0 ||
        record->EventHeader.EventDescriptor.Opcode != ETWAS_ETL_COUNTERS_TYPE ||
        record->UserDataLength < sizeof counters) {
        return false;
    }
    memcpy(&counters, record->UserData, sizeof counters);
    key->guid = counters.guid;
    key->activity = counters.activity;
    key->instance = counters.instance;
    key->process = span_guid_is_zero(&counters.activity) ? record->EventHeader.ProcessId : 0;
    return true;
}

/* Reads the keys of an event's span and of its parent. Returns false if it belongs to no span. */
static bool span_read_keys(const EVENT_RECORD *record, uint32_t trace, struct span_key *key,
                           struct span_key *parent)
{
    const EVENT_HEADER *header = &record->EventHeader;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    const void *item;

    *key = (struct span_key){.guid = header->ProviderId, .trace = trace};
    *parent = (struct span_key){.trace = trace};
    if ((header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        return false;
    }
    if ((header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) == 0) {
        item =
            span_item_of(record, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, sizeof parent->activity);
        if (item != NULL) {
            memcpy(&parent->activity, item, sizeof parent->activity);
        }
        key->activity = header->ActivityId;
        return !span_guid_is_zero(&key->activity);
    }
    item = span_item_of(record, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof instance);
    if (item == NULL) {
        return span_read_counted(record, key);
    }
    memcpy(&instance, item, sizeof instance);
    key->instance = instance.InstanceId;
    key->process = header->ProcessId;
    parent->guid = instance.ParentGuid;
    parent->instance = instance.ParentInstanceId;
    parent->process = header->ProcessId;
    return true;
}

static uint64_t span_hash_of(const struct etwas_spans *spans, const struct span_key *key)
{
    const uint32_t ids[] = {key->instance, key->process};

    if (!span_guid_is_zero(&key->activity)) {
        return etwas_hash_bytes(spans->secret, &key->activity, sizeof key->activity);
    }
    return etwas_hash_bytes(etwas_hash_bytes(spans->secret, &key->guid, sizeof key->guid), ids,
                            sizeof ids);
}

static bool span_is_same_instance(const etwas_span *span, const struct span_key *key)
{
    return span_guid_is_zero(&span->activity) && span->instance == key->instance &&
           span->process == key->process && span->trace == key->trace &&
           memcmp(&span->guid, &key->guid, sizeof key->guid) == 0;
}

static bool span_is_same_activity(const etwas_span *span, const struct span_key *key)
{
    return memcmp(&span->activity, &key->activity, sizeof key->activity) == 0;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* The result of a search. */
struct span_position {
    uint32_t *link;   /* the link to the entry; NULL: not found */
    uint32_t nearest; /* the same activity of another provider or trace, the newest such span */
    bool too_long;
};

static struct span_position span_find(const struct etwas_spans *spans, const struct span_key *key,
                                      uint64_t hash)
{
    bool is_activity = !span_guid_is_zero(&key->activity);
    struct span_position found = {NULL, NOBODY, false};
    uint32_t length = 0;
    uint32_t *link;

    if (spans->capacity == 0) {
        return found;
    }
    for (link = &spans->chains[hash & (spans->capacity - 1)]; *link != NOBODY;
         link = &spans->entries[*link - 1].next) {
        const etwas_span *span = &spans->entries[*link - 1].span;

        if (is_activity && span_is_same_activity(span, key)) {
            if (span->trace == key->trace &&
                memcmp(&span->guid, &key->guid, sizeof key->guid) == 0) {
                found.link = link;
                return found;
            }
            if (found.nearest == NOBODY ||
                spans->entries[found.nearest - 1].span.number < span->number) {
                found.nearest = *link;
            }
        } else if (!is_activity && span_is_same_instance(span, key)) {
            found.link = link;
            return found;
        }
        if (++length == LONGEST_CHAIN) {
            found.too_long = true;
            return found;
        }
    }
    return found;
}

static void span_insert(struct etwas_spans *spans, uint32_t index)
{
    uint32_t *chain = &spans->chains[spans->entries[index].hash & (spans->capacity - 1)];

    spans->entries[index].next = *chain;
    *chain = index + 1;
}

/* Called when all entries are in use. Returns false at the limit, or if there is no memory. */
static bool span_grow(struct etwas_spans *spans)
{
    uint32_t capacity = spans->capacity > 0 ? 2 * spans->capacity : FIRST_OPEN;
    struct span_entry *entries;
    uint32_t *chains;

    chains = spans->used < spans->most ? calloc(capacity, sizeof *chains) : NULL;
    entries = chains != NULL ? realloc(spans->entries, capacity * sizeof *entries) : NULL;
    if (entries == NULL) {
        free(chains);
        return false;
    }
    free(spans->chains);
    spans->entries = entries;
    spans->chains = chains;
    spans->capacity = capacity;
    for (uint32_t i = 0; i < spans->used; i++) {
        span_insert(spans, i);
    }
    return true;
}

/* Returns a free entry; NULL: there is none. */
static struct span_entry *span_claim_entry(struct etwas_spans *spans)
{
    uint32_t index = spans->first_free;

    if (index != NOBODY) {
        spans->first_free = spans->entries[index - 1].next;
        return &spans->entries[index - 1];
    }
    if (spans->used == spans->most || (spans->used == spans->capacity && !span_grow(spans))) {
        return NULL;
    }
    return &spans->entries[spans->used++];
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Returns the parent of a span; NULL: it has none, or the parent is not open. */
static const etwas_span *span_parent_of(const struct etwas_spans *spans, const struct span_key *key)
{
    struct span_position found;

    if (span_guid_is_zero(&key->activity) && span_guid_is_zero(&key->guid)) {
        return NULL;
    }
    found = span_find(spans, key, span_hash_of(spans, key));
    if (found.link != NULL) {
        return &spans->entries[*found.link - 1].span;
    }
    return found.nearest != NOBODY ? &spans->entries[found.nearest - 1].span : NULL;
}

/* Opens a span; NULL: it is skipped. */
static const etwas_span *span_start(struct etwas_spans *spans, const EVENT_RECORD *record,
                                    const struct span_key *key, const struct span_key *parent,
                                    int64_t time)
{
    uint64_t hash = span_hash_of(spans, key);
    struct span_position found = span_find(spans, key, hash);
    const etwas_span *found_parent = span_parent_of(spans, parent);
    uint64_t parent_number = found_parent != NULL ? found_parent->number : 0;
    uint32_t parent_place = found_parent != NULL ? found_parent->place : 0;
    struct span_entry *entry;

    if (found.link != NULL) {
        entry = &spans->entries[*found.link - 1];
        spans->counts[ETWAS_SPANS_REPLACED]++;
    } else {
        entry = found.too_long ? NULL : span_claim_entry(spans);
        if (entry == NULL) {
            spans->counts[ETWAS_SPANS_LEFT_OUT]++;
            return NULL;
        }
        entry->hash = hash;
        span_insert(spans, (uint32_t)(entry - spans->entries));
        spans->counts[ETWAS_SPANS_OPEN]++;
    }
    spans->counts[ETWAS_SPANS_STARTED]++;
    entry->span = (etwas_span){
        .number = ++spans->newest,
        .parent = parent_number,
        .guid = key->guid,
        .activity = key->activity,
        .instance = key->instance,
        .trace = key->trace,
        .place = (uint32_t)(entry - spans->entries),
        .parent_place = parent_place,
        .process = record->EventHeader.ProcessId,
        .thread = record->EventHeader.ThreadId,
        .last_thread = record->EventHeader.ThreadId,
        .start = time,
    };
    return &entry->span;
}

static const etwas_span *span_end(struct etwas_spans *spans, const struct span_key *key)
{
    struct span_position found = span_find(spans, key, span_hash_of(spans, key));
    uint32_t index;

    if (found.link == NULL) {
        spans->counts[ETWAS_SPANS_UNMATCHED]++;
        return NULL;
    }
    index = *found.link;
    *found.link = spans->entries[index - 1].next;
    spans->entries[index - 1].next = spans->first_free;
    spans->first_free = index;
    spans->counts[ETWAS_SPANS_OPEN]--;
    spans->counts[ETWAS_SPANS_ENDED]++;
    spans->told = spans->entries[index - 1].span;
    return &spans->told;
}

static const etwas_span *span_count_inside(struct etwas_spans *spans, const EVENT_RECORD *record,
                                           const struct span_key *key)
{
    struct span_position found = span_find(spans, key, span_hash_of(spans, key));
    uint32_t index = found.link != NULL ? *found.link : found.nearest;

    if (index == NOBODY) {
        return NULL;
    }
    spans->told = spans->entries[index - 1].span;
    spans->entries[index - 1].span.last_thread = record->EventHeader.ThreadId;
    return &spans->told;
}

uint32_t etwas_spans_take(etwas_spans *spans, const EVENT_RECORD *record, uint32_t trace,
                          int64_t time, const etwas_span **span)
{
    struct span_key key;
    struct span_key parent;
    uint32_t what;

    *span = NULL;
    if (!span_read_keys(record, trace, &key, &parent)) {
        return ETWAS_SPAN_NONE;
    }
    switch (record->EventHeader.EventDescriptor.Opcode) {
    case EVENT_TRACE_TYPE_START:
        *span = span_start(spans, record, &key, &parent, time);
        what = ETWAS_SPAN_START;
        break;
    case EVENT_TRACE_TYPE_END:
        *span = span_end(spans, &key);
        what = ETWAS_SPAN_END;
        break;
    default:
        *span = span_count_inside(spans, record, &key);
        what = ETWAS_SPAN_INSIDE;
    }
    return *span != NULL ? what : ETWAS_SPAN_NONE;
}

/* ---- all of them ----------------------------------------------------------------------------- */

uint64_t etwas_spans_count(const etwas_spans *spans, uint32_t what)
{
    return what < COUNTS ? spans->counts[what] : 0;
}

uint32_t etwas_spans_open(uint32_t most_open, etwas_spans **spans)
{
    struct etwas_spans *opened;

    if (spans == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    opened = calloc(1, sizeof *opened);
    *spans = opened;
    if (opened == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    opened->most = most_open > 0 && most_open < INT32_MAX ? most_open : DEFAULT_OPEN;
    if (getrandom(&opened->secret, sizeof opened->secret, GRND_NONBLOCK) !=
        (ssize_t)sizeof opened->secret) {
        opened->secret = (uint64_t)(uintptr_t)opened;
    }
    return ERROR_SUCCESS;
}

void etwas_spans_close(etwas_spans *spans)
{
    if (spans != NULL) {
        free(spans->entries);
        free(spans->chains);
        free(spans);
    }
}
