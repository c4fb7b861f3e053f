/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The extended items that a session asks for with EnableProperty: who writes, where from, which
 * event it is. They stand behind the related activity's and before those of the event's metadata,
 * in the order of their types.
 *
 * What is the same for all sessions that record an event is found once, in etwas_event_context.
 */
#ifndef ETWAS_PROVIDER_EVENT_ITEMS_H
#define ETWAS_PROVIDER_EVENT_ITEMS_H

#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stdint.h>

#include "etl/layout.h"
#include "platform/identity.h"
#include "platform/stack.h"

/* The properties that add an item. EVENT_ENABLE_PROPERTY_PSM_KEY adds none: nothing has such a key. */
#define ETWAS_ITEM_PROPERTIES                                                                      \
    (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE | \
     EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |                   \
     EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

/* Instead of EVENT_ENABLE_PROPERTY_STACK_TRACE: one frame, ETWAS_STACK_CUT, where there is no room for the stack. */
#define ETWAS_ITEM_STACK_CUT UINT32_C(0x80000000)

/* A user as Windows writes it: S-1-22-1-<user id>. */
struct etwas_sid {
    uint8_t revision;
    uint8_t sub_authority_count;
    uint8_t authority[6];
    uint32_t sub_authorities[2];
};
_Static_assert(sizeof(struct etwas_sid) == 16, "a SID of two sub-authorities");

/* What the items of one event say. */
struct etwas_event_context {
    uint64_t key;       /* of no other event of the process */
    const void *inside; /* a variable of the frame whose caller the event is from */
};

enum {
    ETWAS_ITEM_HEAD_BYTES = sizeof(struct etwas_etl_extended_item),
    ETWAS_EVENT_ITEMS_BYTES = 6 * ETWAS_ITEM_HEAD_BYTES + sizeof(struct etwas_sid) +
                              (4 + ETWAS_STACK_FRAMES) * sizeof(uint64_t) + ETWAS_CONTAINER_BYTES,
};

/* Items one behind the other, as they lie on disk. */
struct etwas_event_items {
    uint32_t properties; /* whose items these are */
    uint32_t bytes;
    uint32_t last; /* where the last of them begins */
    uint8_t data[ETWAS_EVENT_ITEMS_BYTES] __attribute__((aligned(8)));
};

/* What is the same for all events of the process from here on. With the control lock held. */
void etwas_event_items_set_identity(const struct etwas_identity *identity);

/* Finds what these properties ask of the event that lies at `inside`. Async-signal-safe. */
void etwas_event_context_read(struct etwas_event_context *facts, uint32_t properties,
                              const void *inside);

/* The items of these properties. Async-signal-safe. */
void etwas_event_items_build(struct etwas_event_items *items, uint32_t properties,
                             const struct etwas_event_context *facts);

/* Whether other items follow these. */
void etwas_event_items_end(struct etwas_event_items *items, bool others_follow);

#endif
