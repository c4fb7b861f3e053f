/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The extended items that a session requests with EnableProperty: user, terminal session, stack,
 * keys, container. In a record they follow the related activity's item and precede the items of the
 * event's metadata, in the order of their types.
 *
 * What is the same for all sessions that record an event is read once, into etwas_event_context.
 */
#ifndef ETWAS_PROVIDER_EVENT_ITEMS_H
#define ETWAS_PROVIDER_EVENT_ITEMS_H

#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"
#include "platform/identity.h"
#include "platform/stack.h"

/*
 * The properties that add an item. EVENT_ENABLE_PROPERTY_PSM_KEY adds none: Linux has no such key.
 */
#define ETWAS_ITEM_PROPERTIES                                                                      \
    (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE | \
     EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |                   \
     EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

/*
 * Used instead of EVENT_ENABLE_PROPERTY_STACK_TRACE where there is no room for the stack: one
 * frame, ETWAS_STACK_CUT.
 */
#define ETWAS_ITEM_STACK_CUT UINT32_C(0x80000000)

/* A user as Windows writes it: S-1-22-1-<user id>. */
struct etwas_sid {
    uint8_t revision;
    uint8_t sub_authority_count;
    uint8_t authority[6];
    uint32_t sub_authorities[2];
};
_Static_assert(sizeof(struct etwas_sid) == 16, "a SID of two sub-authorities");

/* What the items of one event are made of. */
struct etwas_event_context {
    uint64_t key;       /* unique in the process */
    const void *inside; /* the address of a variable in the frame whose caller logs the event */
};

enum {
    ETWAS_ITEM_HEAD_BYTES = sizeof(struct etwas_etl_extended_item),
    ETWAS_EVENT_ITEMS_BYTES = 6 * ETWAS_ITEM_HEAD_BYTES + sizeof(struct etwas_sid) +
                              (4 + ETWAS_STACK_FRAMES) * sizeof(uint64_t) + ETWAS_CONTAINER_BYTES,
};

/* Items as they lie on disk, one after the other. */
struct etwas_event_items {
    uint32_t properties; /* the properties to which these items belong */
    uint32_t bytes;
    uint32_t last; /* where the last item begins */
    uint8_t data[ETWAS_EVENT_ITEMS_BYTES] __attribute__((aligned(8)));
};

/*
 * Stores what is the same for all later events of the process. The caller holds the control lock.
 */
void etwas_event_items_set_identity(const struct etwas_identity *identity);

/* Reads what these properties need for one event; `inside` as in the struct. Async-signal-safe. */
void etwas_event_context_read(struct etwas_event_context *context, uint32_t properties,
                              const void *inside);

/* Builds the items of these properties. Async-signal-safe. */
void etwas_event_items_build(struct etwas_event_items *items, uint32_t properties,
                             const struct etwas_event_context *context);

/* Stores the key of another event in the items, if they contain a key. */
void etwas_event_items_set_key(struct etwas_event_items *items, uint64_t key);

/*
 * Returns fewer properties for a record that does not fit: first the stack is only marked as cut,
 * then no items are left. An event without its items is worth more than no event.
 */
static inline uint32_t etwas_fewer_properties(uint32_t properties)
{
    return (properties & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0
               ? (properties & ~(uint32_t)EVENT_ENABLE_PROPERTY_STACK_TRACE) | ETWAS_ITEM_STACK_CUT
               : 0;
}

/* Marks in the last item whether other items follow. */
void etwas_event_items_end(struct etwas_event_items *items, bool others_follow);

#endif
