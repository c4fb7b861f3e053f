/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which retention class an event is of, and where its slots are.
 *
 * A session with classes has a table with a byte for each type and level: the row of the slots that the event
 * goes to, 0 that of no class, then those of the classes. So mostly one look-up says it. Where the first class
 * of this type and level asks for a GUID or keywords, too, the byte says so, and which classes may be.
 *
 * Start fills a table in while its session's gates are closed. A writer that comes from the session
 * before may read anything there: so the row is bounded by the kind of a slot, which was read behind the
 * pointer to the slots that it is used with. Then there is a slot, and its gate tells the rest.
 */
#ifndef ETWAS_BUFFER_RETENTION_CLASS_H
#define ETWAS_BUFFER_RETENTION_CLASS_H

#include <ck_pr.h>
#include <etwas/classes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "platform/pair.h"

_Static_assert((int)ETWAS_CLASS_ROWS == 1 + ETWAS_RETENTION_CLASSES, "a row for each class");

enum {
    ETWAS_CLASS_MESSAGE = 1 << 16,                        /* messages have no type and no level */
    ETWAS_CLASS_UNDECIDED = 1 << ETWAS_RETENTION_CLASSES, /* below it a bit for each class */
};

/* What classes look at. */
struct etwas_class_attributes {
    uint32_t type_and_level; /* etwas_class_of_event, or ETWAS_CLASS_MESSAGE */
    const void *guid;        /* 16 bytes, looked at where a class asks for one */
    uint64_t keywords;
};

struct etwas_class_table {
    /* By type_and_level: a row, or ETWAS_CLASS_UNDECIDED and the classes that it may be of. */
    uint8_t rows[ETWAS_CLASS_MESSAGE + 1];
    struct {
        uint64_t guid[2];
        uint64_t keywords; /* 0: it asks for none */
        uint32_t needs_guid;
    } conditions[ETWAS_RETENTION_CLASSES];
};

/* For each entry of the session table; NULL: no session here had classes yet. Then it stays. */
extern struct etwas_class_table *etwas_class_tables[1 + ETWAS_SESSION_ENTRIES]
    __attribute__((visibility("hidden")));

/* Once for an entry. False when the system has no memory. With the control lock held. */
bool etwas_class_table_prepare(uint32_t session);

/* With the entry's gates closed. */
void etwas_class_table_fill(uint32_t session, const etwas_retention_class *classes, uint32_t count);

/* As a classic header has the two, one behind the other. */
static inline uint32_t etwas_class_of_event(uint8_t type, uint8_t level)
{
    return type | (uint32_t)level << 8;
}

/* Of the candidates, whose type and level the event has, the first that it is in: its row; 0: none. */
uint32_t etwas_class_find(const struct etwas_class_table *table, uint32_t candidates,
                          const void *guid, uint64_t keywords);

/*
 * What the table at the index, that of a session with classes, says of the event: a row, unless it is more than
 * the session has classes.
 */
static inline __attribute__((always_inline)) uint32_t etwas_class_lookup(uint32_t index,
                                                                         uint32_t type_and_level)
{
    const struct etwas_class_table *table;

    ck_pr_fence_load(); /* behind the kind; pairs with etwas_class_table_fill */
    table = ck_pr_load_ptr(&etwas_class_tables[index]);
    return *(const volatile uint8_t *)&table->rows[type_and_level]; /* widened as it is loaded */
}

/* What was no row: bounded by the kind. */
static inline uint32_t etwas_class_resolve(uint32_t index, uint32_t row, uint32_t kind,
                                           const struct etwas_class_attributes *attributes)
{
    row = (row & ETWAS_CLASS_UNDECIDED) != 0
              ? etwas_class_find(etwas_class_tables[index], row, attributes->guid,
                                 attributes->keywords)
              : 0;
    return row > etwas_kind_classes(kind) ? 0 : row;
}

/* The row of an event in a session with classes, whose slots have the kind. */
static inline __attribute__((always_inline)) uint32_t etwas_class_row(
    uint32_t index, uint32_t kind, const struct etwas_class_attributes *attributes)
{
    uint32_t row = etwas_class_lookup(index, attributes->type_and_level);

    return __builtin_expect(row > etwas_kind_classes(kind), 0)
               ? etwas_class_resolve(index, row, kind, attributes)
               : row;
}

/* The same, called. */
uint32_t etwas_class_row_of(uint32_t index, uint32_t kind, uint32_t type_and_level,
                            const void *guid, uint64_t keywords);

/* From a processor's slot of no class to that in another row. */
static inline struct etwas_slot *etwas_class_slot(struct etwas_slot *slot, uint32_t row)
{
    return (struct etwas_slot *)((uintptr_t)slot + row * etwas_slot_class_row_bytes);
}

#endif
