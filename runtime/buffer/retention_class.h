/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which retention class an event is of, and where its slots are.
 *
 * A session with classes has a table, in which a bit stands for a class: which of them an event's level and
 * type are in, by two look-ups. The lowest bit of both is the class, unless it asks for more. The class
 * says the row of slots: 0 is that of no class, then follow those of the classes.
 *
 * Start fills a table in while its session's gates are closed. A writer that comes from the session
 * before may read anything there: so he bounds the row by the kind of a slot, which he read behind the
 * pointer to the slots that it is used with. Then there is a slot, and its gate tells him the rest.
 */
#ifndef ETWAS_BUFFER_RETENTION_CLASS_H
#define ETWAS_BUFFER_RETENTION_CLASS_H

#include <ck_pr.h>
#include <etwas/classes.h>
#include <stdint.h>

#include "buffer/slot.h"

_Static_assert((int)ETWAS_ROWS == 1 + ETWAS_RETENTION_CLASSES, "a row for each class");

enum {
    ETWAS_CLASS_LEVELS = 256,
    ETWAS_CLASS_TYPES = 257,
    ETWAS_CLASS_NO_TYPE = 256, /* a message's */
};

/* What classes look at. */
struct etwas_class_facts {
    uint64_t guid[2];
    uint64_t keywords;
    uint32_t type;
    uint8_t level;
};

struct etwas_class_table {
    uint8_t by_level[ETWAS_CLASS_LEVELS];
    uint8_t by_type[ETWAS_CLASS_TYPES];
    uint8_t asks_more; /* for a GUID or keywords */
    struct {
        uint64_t guid[2];
        uint64_t keywords;
    } more[ETWAS_RETENTION_CLASSES];
};

/* One for each entry of the session table, at the index that is a handle's lowest byte. */
extern struct etwas_class_table etwas_class_tables[1 + ETWAS_SESSION_ENTRIES]
    __attribute__((visibility("hidden")));

/* With the entry's gates closed. */
void etwas_class_table_fill(uint32_t session, const etwas_retention_class *classes, uint32_t count);

/* Of the classes in `candidates`, whose level and type the event has, the first that it is in: its row. */
uint32_t etwas_class_find_more(const struct etwas_class_table *table, uint32_t candidates,
                               const struct etwas_class_facts *facts);

/* The event's row in the table; not bounded. */
static inline uint32_t etwas_class_row(const struct etwas_class_table *table,
                                       const struct etwas_class_facts *facts)
{
    uint32_t candidates =
        ck_pr_load_8(&table->by_level[facts->level]) & ck_pr_load_8(&table->by_type[facts->type]);

    return __builtin_expect((candidates & ck_pr_load_8(&table->asks_more)) != 0, 0)
               ? etwas_class_find_more(table, candidates, facts)
               : (uint32_t)__builtin_ffs((int)candidates);
}

/* The same, bounded by the rows that a slot of this kind has beside it. */
static inline uint32_t etwas_class_row_of(const struct etwas_class_table *table, uint32_t kind,
                                          const struct etwas_class_facts *facts)
{
    uint32_t row = etwas_class_row(table, facts);

    return row < etwas_kind_rows(kind) ? row : 0;
}

#endif
