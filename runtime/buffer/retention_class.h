/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The retention class of an event, and the slots of its class row.
 *
 * A session with classes has a table with a byte for each type and level: the class row that the
 * event goes to. Row 0 is for no class; the rows of the classes follow. So one look-up is usually
 * enough. If the first class of this type and level also has a GUID or keywords as conditions, the
 * byte says so, and which classes are possible.
 *
 * A start fills in the table while its session's gates are closed. A writer of the session before
 * may read anything there. So the row is bounded by the kind of a slot, which was read after the
 * pointer to the slots that it is used with. Then there is a slot, and its gate decides the rest.
 */
#ifndef ETWAS_BUFFER_RETENTION_CLASS_H
#define ETWAS_BUFFER_RETENTION_CLASS_H

#include <ck_pr.h>
#include <etwas/classes.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "platform/pair.h"

_Static_assert((int)ETWAS_CLASS_ROWS == 1 + ETWAS_RETENTION_CLASSES, "a row for each class");

enum {
    ETWAS_CLASS_MESSAGE = 1 << 16, /* messages have no type and no level */
    /* the possible classes in the bits below */
    ETWAS_CLASS_UNDECIDED = 1 << ETWAS_RETENTION_CLASSES,
};

/* The attributes of an event by which classes select it. */
struct etwas_class_attributes {
    uint32_t type_and_level; /* etwas_class_of_event, or ETWAS_CLASS_MESSAGE */
    const void *guid;        /* 16 bytes, read if a class has a GUID as condition */
    uint64_t keywords;
};

struct etwas_class_table {
    /* Indexed by type_and_level: a class row, or ETWAS_CLASS_UNDECIDED and the possible classes. */
    uint8_t rows[ETWAS_CLASS_MESSAGE + 1];
    struct {
        uint64_t guid[2];
        uint64_t keywords; /* 0: no condition */
        uint32_t needs_guid;
    } conditions[ETWAS_RETENTION_CLASSES];
};

/*
 * One for each entry of the session table. NULL: the entry has had no session with classes yet; a
 * table is never freed.
 */
extern struct etwas_class_table *etwas_class_tables[1 + ETWAS_SESSION_ENTRIES]
    __attribute__((visibility("hidden")));

/*
 * Allocates the table of an entry, the first time. Returns false if the system has no memory.
 * Control lock held.
 */
bool etwas_class_table_prepare(uint32_t session);

/* Fills in the table. The entry's gates are closed. */
void etwas_class_table_fill(uint32_t session, const etwas_retention_class *classes, uint32_t count);

/* Returns type and level in the order of a classic header. */
static inline uint32_t etwas_class_of_event(uint8_t type, uint8_t level)
{
    return type | (uint32_t)level << 8;
}

/*
 * Returns the row of the first of these classes whose other conditions the event meets; 0: none.
 * `candidates` are classes that match its type and level.
 */
uint32_t etwas_class_find(const struct etwas_class_table *table, uint32_t candidates,
                          const void *guid, uint64_t keywords);

/*
 * Returns the byte of the event in the table at this index, which belongs to a session with
 * classes: a row, or a value greater than the number of classes.
 */
static inline __attribute__((always_inline)) uint32_t etwas_class_lookup(uint32_t index,
                                                                         uint32_t type_and_level)
{
    const struct etwas_class_table *table;

    ck_pr_fence_load(); /* after the kind; pairs with etwas_class_table_fill */
    table = ck_pr_load_ptr(&etwas_class_tables[index]);
    return *(const volatile uint8_t *)&table->rows[type_and_level]; /* widened as it is loaded */
}

/* Decides the row if the byte alone does not; the result is bounded by the kind. */
static inline uint32_t etwas_class_resolve(uint32_t index, uint32_t row, uint32_t kind,
                                           const struct etwas_class_attributes *attributes)
{
    row = (row & ETWAS_CLASS_UNDECIDED) != 0
              ? etwas_class_find(etwas_class_tables[index], row, attributes->guid,
                                 attributes->keywords)
              : 0;
    return row > etwas_kind_classes(kind) ? 0 : row;
}

/* Returns the class row of an event in a session with classes whose slots have this kind. */
static inline __attribute__((always_inline)) uint32_t etwas_class_row(
    uint32_t index, uint32_t kind, const struct etwas_class_attributes *attributes)
{
    uint32_t row = etwas_class_lookup(index, attributes->type_and_level);

    return __builtin_expect(row > etwas_kind_classes(kind), 0)
               ? etwas_class_resolve(index, row, kind, attributes)
               : row;
}

/* The same function, not inlined. */
uint32_t etwas_class_row_of(uint32_t index, uint32_t kind, uint32_t type_and_level,
                            const void *guid, uint64_t keywords);

/* Returns the slot in another class row for a processor's slot of no class. */
static inline struct etwas_slot *etwas_class_slot(struct etwas_slot *slot, uint32_t row)
{
    return (struct etwas_slot *)((uintptr_t)slot + row * etwas_slot_class_row_bytes);
}

#endif
