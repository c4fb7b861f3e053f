/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/event_items.h"

#include <ck_pr.h>
#include <string.h>

/* ---- what is the same for all events --------------------------------------------------------- */

/*
 * Changed under the control lock, read without it. Each number is one word. The container's name is
 * set once, and stored before its length.
 */
static struct etwas_identity own;

void etwas_event_items_set_identity(const struct etwas_identity *identity)
{
    ck_pr_store_64(&own.start_key, identity->start_key);
    ck_pr_store_32(&own.user_id, identity->user_id);
    ck_pr_store_32(&own.session_id, identity->session_id);
    if (own.container_bytes == 0 && identity->container_bytes != 0) {
        memcpy(own.container, identity->container, sizeof own.container);
        ck_pr_fence_release(); /* pairs with the acquire in items_add_container */
        ck_pr_store_32(&own.container_bytes, identity->container_bytes);
    }
}

/* ---- what differs from event to event -------------------------------------------------------- */

enum {
    KEY_COUNT_BITS = 24, /* the number of a thread's block of keys is above them */
};

static uint64_t blocks; /* given to threads so far */

/*
 * A thread takes keys from a block of its own, from 1 on, and then takes another block. A signal
 * handler that interrupts this takes the key, or the block, first.
 */
static uint64_t items_next_key(void)
{
    static _Thread_local uint64_t next; /* 0, or a block's end: a block is needed */

    for (;;) {
        uint64_t key = ck_pr_load_64(&next);

        if (key % (UINT64_C(1) << KEY_COUNT_BITS) == 0) {
            (void)ck_pr_cas_64(&next, key, (ck_pr_faa_64(&blocks, 1) + 1) << KEY_COUNT_BITS | 1);
        } else if (ck_pr_cas_64(&next, key, key + 1)) {
            return key;
        }
    }
}

void etwas_event_context_read(struct etwas_event_context *context, uint32_t properties,
                              const void *inside)
{
    context->inside = inside;
    if ((properties & EVENT_ENABLE_PROPERTY_EVENT_KEY) != 0) {
        context->key = items_next_key();
    }
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Begins the next item; the caller writes its data after the head. */
static struct etwas_etl_extended_item *items_next(struct etwas_event_items *items)
{
    return (struct etwas_etl_extended_item *)(void *)(items->data + items->bytes);
}

/* Completes an item whose data is written: adds its head, and pads it to a multiple of 8. */
static void items_end_item(struct etwas_event_items *items, uint16_t type, uint32_t bytes)
{
    uint32_t item_bytes = (uint32_t)etwas_etl_round_up_8(ETWAS_ITEM_HEAD_BYTES + (size_t)bytes);
    struct etwas_etl_extended_item *item = items_next(items);

    *item = (struct etwas_etl_extended_item){.item_bytes = (uint16_t)item_bytes,
                                             .type = type,
                                             .linkage = ETWAS_ETL_ITEM_LINKAGE,
                                             .data_bytes = (uint16_t)bytes};
    memset((uint8_t *)(item + 1) + bytes, 0, item_bytes - ETWAS_ITEM_HEAD_BYTES - bytes);
    items->last = items->bytes;
    items->bytes += item_bytes;
}

static void items_add(struct etwas_event_items *items, uint16_t type, const void *data,
                      uint32_t bytes)
{
    memcpy(items_next(items) + 1, data, bytes);
    items_end_item(items, type, bytes);
}

/* Adds a match id, which is 0 because the stack is in one part, and the frames. */
static void items_add_stack(struct etwas_event_items *items, const void *inside)
{
    uint64_t *match_id = (uint64_t *)(void *)(items_next(items) + 1);
    uint32_t frames = etwas_stack_walk(inside, match_id + 1);

    *match_id = 0;
    items_end_item(items, EVENT_HEADER_EXT_TYPE_STACK_TRACE64,
                   (1 + frames) * (uint32_t)sizeof *match_id);
}

static void items_add_cut_stack(struct etwas_event_items *items)
{
    const uint64_t cut[] = {0, ETWAS_STACK_CUT};

    items_add(items, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, cut, sizeof cut);
}

static void items_add_user(struct etwas_event_items *items)
{
    const struct etwas_sid sid = {
        .revision = 1,
        .sub_authority_count = 2,
        .authority = {0, 0, 0, 0, 0, 22},
        .sub_authorities = {1, ck_pr_load_32(&own.user_id)},
    };

    items_add(items, EVENT_HEADER_EXT_TYPE_SID, &sid, sizeof sid);
}

static void items_add_container(struct etwas_event_items *items)
{
    uint32_t bytes = ck_pr_load_32(&own.container_bytes);

    if (bytes != 0) {
        ck_pr_fence_acquire(); /* pairs with the release in etwas_event_items_set_identity */
        items_add(items, EVENT_HEADER_EXT_TYPE_CONTAINER_ID, own.container, bytes);
    }
}

void etwas_event_items_build(struct etwas_event_items *items, uint32_t properties,
                             const struct etwas_event_context *context)
{
    const uint32_t session_id = ck_pr_load_32(&own.session_id);
    const uint64_t start_key = ck_pr_load_64(&own.start_key);

    items->properties = properties;
    items->bytes = 0;
    items->last = 0;
    if ((properties & EVENT_ENABLE_PROPERTY_SID) != 0) {
        items_add_user(items);
    }
    if ((properties & EVENT_ENABLE_PROPERTY_TS_ID) != 0) {
        items_add(items, EVENT_HEADER_EXT_TYPE_TS_ID, &session_id, sizeof session_id);
    }
    if ((properties & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0) {
        items_add_stack(items, context->inside);
    } else if ((properties & ETWAS_ITEM_STACK_CUT) != 0) {
        items_add_cut_stack(items);
    }
    if ((properties & EVENT_ENABLE_PROPERTY_EVENT_KEY) != 0) {
        items_add(items, EVENT_HEADER_EXT_TYPE_EVENT_KEY, &context->key, sizeof context->key);
    }
    if ((properties & EVENT_ENABLE_PROPERTY_PROCESS_START_KEY) != 0) {
        items_add(items, EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, &start_key, sizeof start_key);
    }
    if ((properties & EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING) != 0) {
        items_add_container(items);
    }
}

void etwas_event_items_set_key(struct etwas_event_items *items, uint64_t key)
{
    const struct etwas_etl_extended_item *item;

    for (uint32_t at = 0; at < items->bytes; at += item->item_bytes) {
        item = (const struct etwas_etl_extended_item *)(const void *)(items->data + at);
        if (item->type == EVENT_HEADER_EXT_TYPE_EVENT_KEY) {
            memcpy(items->data + at + sizeof *item, &key, sizeof key);
        }
    }
}

void etwas_event_items_end(struct etwas_event_items *items, bool others_follow)
{
    struct etwas_etl_extended_item *last =
        (struct etwas_etl_extended_item *)(items->data + items->last);

    if (items->bytes != 0) {
        last->linkage = others_follow ? ETWAS_ETL_ITEM_LINKAGE : 0;
    }
}
