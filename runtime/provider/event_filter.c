/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/event_filter.h"

#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/recorder.h>
#include <etwas/winerror.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "platform/testpoint.h"
#include "provider/event_provider.h"
#include "provider/event_record.h"
#include "provider/name_pattern.h"

enum {
    IDS_AT = offsetof(EVENT_FILTER_EVENT_ID, Events),
    NAMES_AT = offsetof(EVENT_FILTER_EVENT_NAME, Names),
};

/* ---- what a controller requests -------------------------------------------------------------- */

static bool filter_read_ids(struct etwas_id_filter *ids, const uint8_t *data, uint32_t bytes)
{
    EVENT_FILTER_EVENT_ID head;

    if (bytes < sizeof head) {
        return false;
    }
    memcpy(&head, data, sizeof head);
    if (head.FilterIn > 1 || head.Count == 0 || head.Count > MAX_EVENT_FILTER_EVENT_ID_COUNT ||
        bytes != IDS_AT + head.Count * sizeof head.Events[0]) {
        return false;
    }
    ids->in = head.FilterIn;
    ids->count = head.Count;
    memcpy(ids->ids, data + IDS_AT, bytes - IDS_AT);
    return true;
}

/* Reads the header that filters by level and keyword have in common. */
static bool filter_read_levels(struct etwas_level_filter *levels, const uint8_t *data)
{
    EVENT_FILTER_LEVEL_KW head;

    memcpy(&head, data, offsetof(EVENT_FILTER_LEVEL_KW, FilterIn) + sizeof head.FilterIn);
    levels->match_any_keyword = head.MatchAnyKeyword;
    levels->match_all_keyword = head.MatchAllKeyword;
    levels->level = head.Level;
    levels->in = head.FilterIn;
    return head.FilterIn <= 1;
}

/* Adds a byte to a multiplicative hash that begins with 0. Its upper bits are well distributed. */
static uint32_t name_hash_continue(uint32_t hash, char byte)
{
    return (hash + (uint8_t)byte) * 0x9E3779B1u;
}

static uint32_t name_bucket_of(uint32_t hash)
{
    return hash >> (32 - ETWAS_NAME_BUCKET_BITS);
}

/* Returns the size of a name with its NUL, and its bucket. */
static uint32_t name_measure(const char *text, uint32_t *bucket)
{
    uint32_t hash = 0;
    uint32_t bytes = 0;

    for (; text[bytes] != 0; bytes++) {
        hash = name_hash_continue(hash, text[bytes]);
    }
    *bucket = name_bucket_of(hash);
    return bytes + 1;
}

/* Sorts names, one after the other and all terminated, into buckets. */
static void name_fill_buckets(struct etwas_name_filter *names, const char *text, uint32_t bytes)
{
    uint16_t ends[ETWAS_NAME_BUCKETS]; /* where the next name of each bucket goes */
    uint32_t bucket;
    uint32_t name_bytes;

    for (uint32_t at = 0; at < bytes; at += name_bytes) {
        name_bytes = name_measure(text + at, &bucket);
        names->starts[bucket + 1] += (uint16_t)name_bytes;
    }
    for (bucket = 0; bucket < ETWAS_NAME_BUCKETS; bucket++) {
        ends[bucket] = names->starts[bucket];
        names->starts[bucket + 1] += names->starts[bucket];
    }
    for (uint32_t at = 0; at < bytes; at += name_bytes) {
        name_bytes = name_measure(text + at, &bucket);
        memcpy(names->names + ends[bucket], text + at, name_bytes);
        ends[bucket] += (uint16_t)name_bytes;
    }
}

static bool filter_read_names(struct etwas_name_filter *names, const uint8_t *data, uint32_t bytes,
                              bool are_patterns)
{
    char text[MAX_EVENT_FILTER_EVENT_NAME_SIZE]; /* a copy that no other thread changes */
    uint32_t text_bytes = bytes - NAMES_AT;
    uint32_t ends = 0;
    uint16_t count;

    if (bytes <= NAMES_AT || !filter_read_levels(&names->levels, data)) {
        return false;
    }
    memcpy(&count, data + offsetof(EVENT_FILTER_EVENT_NAME, NameCount), sizeof count);
    memcpy(text, data + NAMES_AT, text_bytes);
    for (uint32_t at = 0; at < text_bytes; at++) {
        ends += text[at] == 0 ? 1 : 0;
    }
    if (ends != count || text[text_bytes - 1] != 0) {
        return false;
    }
    if (are_patterns) {
        names->starts[ETWAS_NAME_BUCKETS] = (uint16_t)text_bytes;
        memcpy(names->names, text, text_bytes);
    } else {
        name_fill_buckets(names, text, text_bytes);
    }
    return true;
}

static bool filter_read_provider_name(char name[ETWAS_FILTER_PROVIDER_NAME_BYTES],
                                      const uint8_t *data, uint32_t bytes)
{
    if (bytes < 2 || bytes > ETWAS_FILTER_PROVIDER_NAME_BYTES) {
        return false;
    }
    memcpy(name, data, bytes);
    return strnlen(name, bytes) == bytes - 1;
}

uint32_t etwas_event_filter_add(struct etwas_event_filter *filter,
                                const EVENT_FILTER_DESCRIPTOR *descriptor)
{
    const uint8_t *data = (const uint8_t *)(uintptr_t)descriptor->Ptr;
    uint32_t kind;
    bool sound;

    switch (descriptor->Type) {
    case EVENT_FILTER_TYPE_EVENT_ID:
        kind = ETWAS_FILTER_EVENTS;
        sound = filter_read_ids(&filter->events, data, descriptor->Size);
        break;
    case EVENT_FILTER_TYPE_STACKWALK:
        kind = ETWAS_FILTER_STACKS;
        sound = filter_read_ids(&filter->stacks, data, descriptor->Size);
        break;
    case EVENT_FILTER_TYPE_EVENT_NAME:
        kind = ETWAS_FILTER_NAMES;
        sound = (filter->kinds & ETWAS_FILTER_PATTERNS) == 0 &&
                filter_read_names(&filter->names, data, descriptor->Size, false);
        break;
    case ETWAS_FILTER_TYPE_EVENT_PATTERN:
        kind = ETWAS_FILTER_PATTERNS;
        sound = (filter->kinds & ETWAS_FILTER_NAMES) == 0 &&
                filter_read_names(&filter->names, data, descriptor->Size, true);
        break;
    case ETWAS_FILTER_TYPE_PROVIDER_NAME:
        kind = ETWAS_FILTER_PROVIDER_NAME;
        sound = filter_read_provider_name(filter->provider_name, data, descriptor->Size);
        break;
    case EVENT_FILTER_TYPE_STACKWALK_NAME:
        kind = ETWAS_FILTER_STACK_NAMES;
        sound = filter_read_names(&filter->stack_names, data, descriptor->Size, false);
        break;
    case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
        kind = ETWAS_FILTER_STACK_LEVELS;
        sound = descriptor->Size == sizeof(EVENT_FILTER_LEVEL_KW) &&
                filter_read_levels(&filter->stack_levels, data);
        break;
    case ETWAS_FILTER_TYPE_TRIGGER:
        kind = ETWAS_FILTER_TRIGGERS;
        sound = filter_read_ids(&filter->triggers, data, descriptor->Size);
        break;
    case ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW:
        kind = ETWAS_FILTER_TRIGGER_LEVELS;
        sound = descriptor->Size == sizeof(EVENT_FILTER_LEVEL_KW) &&
                filter_read_levels(&filter->trigger_levels, data);
        break;
    default:
        return ERROR_NOT_SUPPORTED;
    }
    filter->kinds |= kind;
    return sound ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

/* ---- blocks: with the control lock held ------------------------------------------------------ */

_Static_assert(sizeof(struct etwas_event_filter) % sizeof(uint64_t) == 0, "copied by words");

/* A block, and the next unused one. */
struct filter_block {
    struct etwas_event_filter filter; /* first */
    struct filter_block *next;
};

static struct filter_block *unused;

const struct etwas_event_filter *etwas_event_filter_acquire(const struct etwas_event_filter *made)
{
    struct filter_block *block = unused != NULL ? unused : calloc(1, sizeof *block);

    if (block == NULL) {
        return NULL;
    }
    unused = block == unused ? block->next : unused;
    /*
     * A reader that sees a word of the new filter sees that the old one's versions are not in
     * force.
     */
    ck_pr_fence_store();
    for (size_t at = 0; at < sizeof *made; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, (const char *)made + at, sizeof word);
        ck_pr_store_64((uint64_t *)((char *)&block->filter + at), word);
    }
    ck_pr_store_32(&block->filter.kinds, made->kinds & ~(uint32_t)ETWAS_FILTER_PROVIDER_NAME);
    return &block->filter;
}

void etwas_event_filter_release(const struct etwas_event_filter *filter)
{
    struct filter_block *block = (struct filter_block *)(uintptr_t)filter;

    if (block != NULL) {
        block->next = unused;
        unused = block;
    }
}

/* ---- evaluating an event --------------------------------------------------------------------- */

/* The name of a TraceLogging event, in the caller's memory. */
struct event_name {
    bool described; /* the event has metadata */
    const char *text;
    uint32_t bytes; /* with its NUL; 0: it is not terminated */
    uint32_t bucket;
};

/*
 * Finds the event's name in its metadata, which begins with a size of 16 bits, a tag whose last
 * byte has bit 7 clear, and the name with its NUL. Truncated metadata yields a name that no filter
 * has.
 */
static struct event_name event_name_in(const char *metadata, uint32_t bytes)
{
    struct event_name name = {.described = true};
    uint32_t at = sizeof(uint16_t);
    uint32_t hash = 0;
    uint32_t start;

    while (at < bytes && (metadata[at] & 0x80) != 0) {
        at++;
    }
    start = at + 1;
    for (at = start; at < bytes && metadata[at] != 0; at++) {
        hash = name_hash_continue(hash, metadata[at]);
    }
    if (at < bytes) {
        name.text = metadata + start;
        name.bytes = at + 1 - start;
        name.bucket = name_bucket_of(hash);
    }
    return name;
}

static struct event_name event_find_name(const struct etwas_event_arguments *event,
                                         uint32_t options)
{
    for (uint32_t index = 0; index < event->data_count; index++) {
        const EVENT_DATA_DESCRIPTOR *block = &event->data[index];
        EVENT_DATA_DESCRIPTOR metadata;

        if ((options & ETWAS_EVENT_PROVIDER_TYPED) != 0 &&
            (block->Type == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA ||
             block->Type == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM) &&
            etwas_event_metadata_of(block, &metadata)) {
            return event_name_in((const char *)(uintptr_t)metadata.Ptr, metadata.Size);
        }
    }
    return (struct event_name){0};
}

static bool filter_has_id(const struct etwas_id_filter *filter, uint16_t id)
{
    uint32_t count = ck_pr_load_16(&filter->count);

    for (uint32_t index = 0; index < count && index < MAX_EVENT_FILTER_EVENT_ID_COUNT; index++) {
        if (ck_pr_load_16(&filter->ids[index]) == id) {
            return true;
        }
    }
    return false;
}

static bool filter_matches_level(const struct etwas_level_filter *filter,
                                 const EVENT_DESCRIPTOR *descriptor)
{
    uint64_t any = ck_pr_load_64(&filter->match_any_keyword);
    uint64_t all = ck_pr_load_64(&filter->match_all_keyword);
    uint64_t keyword = descriptor->Keyword;
    uint8_t level = ck_pr_load_8(&filter->level);

    return (level == 0 || descriptor->Level <= level) &&
           (keyword == 0 || ((any == 0 || (keyword & any) != 0) && (keyword & all) == all));
}

static bool filter_has_name(const struct etwas_name_filter *filter, const struct event_name *name)
{
    uint32_t at = ck_pr_load_16(&filter->starts[name->bucket]);
    uint32_t end = ck_pr_load_16(&filter->starts[name->bucket + 1]);
    uint32_t length = 0; /* of the current name so far */
    bool differs = false;

    for (; at < end && at < MAX_EVENT_FILTER_EVENT_NAME_SIZE; at++) {
        char byte = (char)ck_pr_load_8((const uint8_t *)&filter->names[at]);

        differs = differs || length >= name->bytes || byte != name->text[length];
        length++;
        if (byte == 0) {
            if (!differs) {
                return true;
            }
            differs = false;
            length = 0;
        }
    }
    return false;
}

/* Each filter decides only about events of its kind, and lets the others pass. */
static bool filter_passes_id(const struct etwas_id_filter *filter,
                             const struct etwas_event_arguments *event,
                             const struct event_name *name)
{
    return name->described ||
           filter_has_id(filter, event->descriptor->Id) == (ck_pr_load_8(&filter->in) != 0);
}

static bool filter_passes_name(const struct etwas_name_filter *filter,
                               const struct etwas_event_arguments *event,
                               const struct event_name *name)
{
    return !name->described || !filter_matches_level(&filter->levels, event->descriptor) ||
           filter_has_name(filter, name) == (ck_pr_load_8(&filter->levels.in) != 0);
}

static bool filter_has_pattern(const struct etwas_name_filter *filter,
                               const struct event_name *name)
{
    uint32_t end = ck_pr_load_16(&filter->starts[ETWAS_NAME_BUCKETS]);
    uint32_t start = 0;

    for (uint32_t at = 0; name->bytes != 0 && at < end && at < MAX_EVENT_FILTER_EVENT_NAME_SIZE;
         at++) {
        if (ck_pr_load_8((const uint8_t *)&filter->names[at]) != 0) {
            continue;
        }
        if (etwas_name_pattern_matches(&filter->names[start], at - start, name->text, false)) {
            return true;
        }
        start = at + 1;
    }
    return false;
}

/* An event without metadata has no name; if there is a filter by id, that filter decides. */
static bool filter_passes_pattern(const struct etwas_name_filter *filter, uint32_t kinds,
                                  const struct etwas_event_arguments *event,
                                  const struct event_name *name)
{
    return (!name->described && (kinds & ETWAS_FILTER_EVENTS) != 0) ||
           !filter_matches_level(&filter->levels, event->descriptor) ||
           filter_has_pattern(filter, name) == (ck_pr_load_8(&filter->levels.in) != 0);
}

enum {
    PASSES = 1 << 0,
    HAS_STACK = 1 << 1,
    IS_TRIGGER = 1 << 2,
};

/* Whether an event is a trigger; if there are both filters, it has to pass both. */
static bool filter_is_trigger(const struct etwas_event_filter *filter, uint32_t kinds,
                              const struct etwas_event_arguments *event,
                              const struct event_name *name)
{
    return (kinds & (ETWAS_FILTER_TRIGGERS | ETWAS_FILTER_TRIGGER_LEVELS)) != 0 &&
           ((kinds & ETWAS_FILTER_TRIGGERS) == 0 ||
            (!name->described && filter_passes_id(&filter->triggers, event, name))) &&
           ((kinds & ETWAS_FILTER_TRIGGER_LEVELS) == 0 ||
            filter_matches_level(&filter->trigger_levels, event->descriptor) ==
                (ck_pr_load_8(&filter->trigger_levels.in) != 0));
}

static uint32_t filter_evaluate(const struct etwas_event_filter *filter,
                                const struct etwas_event_arguments *event,
                                const struct event_name *name)
{
    uint32_t kinds = ck_pr_load_32(&filter->kinds);
    uint32_t verdict = PASSES | HAS_STACK;

    if (((kinds & ETWAS_FILTER_EVENTS) != 0 && !filter_passes_id(&filter->events, event, name)) ||
        ((kinds & ETWAS_FILTER_NAMES) != 0 && !filter_passes_name(&filter->names, event, name)) ||
        ((kinds & ETWAS_FILTER_PATTERNS) != 0 &&
         !filter_passes_pattern(&filter->names, kinds, event, name))) {
        verdict &= ~(uint32_t)PASSES;
    }
    if (((kinds & ETWAS_FILTER_STACKS) != 0 && !filter_passes_id(&filter->stacks, event, name)) ||
        ((kinds & ETWAS_FILTER_STACK_NAMES) != 0 &&
         !filter_passes_name(&filter->stack_names, event, name)) ||
        ((kinds & ETWAS_FILTER_STACK_LEVELS) != 0 &&
         filter_matches_level(&filter->stack_levels, event->descriptor) !=
             (ck_pr_load_8(&filter->stack_levels.in) != 0))) {
        verdict &= ~(uint32_t)HAS_STACK;
    }
    return filter_is_trigger(filter, kinds, event, name) ? verdict | IS_TRIGGER : verdict;
}

/* Evaluates the filter that a session has now; without one every event passes. */
static uint32_t filter_evaluate_for(const struct etwas_event_provider *provider, uint64_t session,
                                    const struct etwas_event_arguments *event,
                                    const struct event_name *name)
{
    uint32_t state = ck_pr_load_32(&provider->state);

    for (;;) {
        const uint32_t turn = etwas_event_provider_list_index(state);
        const struct etwas_listener *list = provider->listeners[turn];
        uint32_t verdict = PASSES | HAS_STACK;
        uint32_t now;

        ck_pr_fence_acquire();
        for (uint32_t index = 0; index < ETWAS_LISTENERS; index++) {
            const struct etwas_event_filter *filter = ck_pr_load_ptr(
                &etwas_event_provider_filters[provider - etwas_event_providers][turn][index]);

            if (ck_pr_load_64(&list[index].session) == session && filter != NULL) {
                ETWAS_TESTPOINT(ETWAS_POINT_FILTER_FOUND);
                verdict = filter_evaluate(filter, event, name);
            }
        }
        ck_pr_fence_acquire();
        now = ck_pr_load_32(&provider->state);
        if (now == state) {
            return verdict;
        }
        state = now;
    }
}

void etwas_event_filter_apply(const struct etwas_event_provider *provider, uint32_t options,
                              const struct etwas_event_arguments *event,
                              struct etwas_recipients *recipients)
{
    const struct event_name name = event_find_name(event, options);
    uint32_t kept = 0;

    for (uint32_t index = 0; index < recipients->count; index++) {
        uint32_t verdict = PASSES | HAS_STACK;

        if ((recipients->sessions[index].flags & ETWAS_LISTENER_FILTERED) != 0) {
            verdict =
                filter_evaluate_for(provider, recipients->sessions[index].session, event, &name);
        }
        if ((verdict & PASSES) != 0) {
            recipients->sessions[kept] = recipients->sessions[index];
            if ((verdict & IS_TRIGGER) != 0) {
                recipients->sessions[kept].flags |= ETWAS_LISTENER_TRIGGERS;
            }
            if ((verdict & HAS_STACK) == 0) {
                recipients->sessions[kept].flags &=
                    ~(EVENT_ENABLE_PROPERTY_STACK_TRACE << ETWAS_LISTENER_PROPERTY_SHIFT);
            }
            kept++;
        }
    }
    recipients->count = kept;
}
