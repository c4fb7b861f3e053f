/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/retention_class.h"

#include <string.h>

#include "platform/memory.h"

enum {
    LEVELS = 256,
    TYPES = 256,
};
_Static_assert(LEVELS *TYPES == ETWAS_CLASS_MESSAGE, "messages come behind all events");

struct etwas_class_table *etwas_class_tables[1 + ETWAS_SESSION_ENTRIES];

bool etwas_class_table_prepare(uint32_t session)
{
    struct etwas_class_table **table = &etwas_class_tables[1 + session];

    if (*table == NULL) {
        ck_pr_store_ptr(table, etwas_memory_allocate_permanent(sizeof **table));
    }
    return *table != NULL;
}

/* Whether the class takes events of this level. Level 0 means that the event has none. */
static bool class_takes_level(const etwas_retention_class *class, uint32_t level)
{
    return class->level == 0 || (level != 0 && level <= class->level);
}

static bool class_has_conditions(const etwas_retention_class *class)
{
    static const etwas_guid none;

    return class->keywords != 0 || memcmp(&class->guid, &none, sizeof none) != 0;
}

/* Returns the table's byte for events that the classes in `candidates` may select. */
static uint8_t class_table_entry(const etwas_retention_class *classes, uint32_t candidates)
{
    uint32_t first = (uint32_t)__builtin_ffs((int)candidates);

    return (uint8_t)(first != 0 && class_has_conditions(&classes[first - 1])
                         ? ETWAS_CLASS_UNDECIDED | candidates
                         : first);
}

static uint8_t class_table_message_entry(const etwas_retention_class *classes, uint32_t count)
{
    uint32_t candidates = 0;

    for (uint32_t class = 0; class < count; class ++) {
        candidates |= (uint32_t)(classes[class].level == 0 && !classes[class].by_type) << class;
    }
    return class_table_entry(classes, candidates);
}

void etwas_class_table_fill(uint32_t session, const etwas_retention_class *classes, uint32_t count)
{
    struct etwas_class_table *table = etwas_class_tables[1 + session];

    for (uint32_t level = 0; level < LEVELS; level++) {
        for (uint32_t type = 0; type < TYPES; type++) {
            uint32_t candidates = 0;

            for (uint32_t class = 0; class < count; class ++) {
                bool is_one = class_takes_level(&classes[class], level) &&
                              (!classes[class].by_type || classes[class].type == type);

                candidates |= (uint32_t)is_one << class;
            }
            ck_pr_store_8(&table->rows[etwas_class_of_event((uint8_t)type, (uint8_t)level)],
                          class_table_entry(classes, candidates));
        }
    }
    ck_pr_store_8(&table->rows[ETWAS_CLASS_MESSAGE], class_table_message_entry(classes, count));
    for (uint32_t class = 0; class < count; class ++) {
        uint64_t guid[2];

        memcpy(guid, &classes[class].guid, sizeof guid);
        ck_pr_store_64(&table->conditions[class].guid[0], guid[0]);
        ck_pr_store_64(&table->conditions[class].guid[1], guid[1]);
        ck_pr_store_64(&table->conditions[class].keywords, classes[class].keywords);
        ck_pr_store_32(&table->conditions[class].needs_guid, (guid[0] | guid[1]) != 0);
    }
    ck_pr_fence_store(); /* before the kinds that lead to the table; pairs with etwas_class_row */
}

uint32_t etwas_class_find(const struct etwas_class_table *table, uint32_t candidates,
                          const void *guid, uint64_t keywords)
{
    const etwas_pair own = etwas_pair_load(guid);

    for (candidates &= ETWAS_CLASS_UNDECIDED - 1; candidates != 0; candidates &= candidates - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(candidates);
        uint64_t wanted = ck_pr_load_64(&table->conditions[class].keywords);

        if ((wanted == 0 || (wanted & keywords) != 0) &&
            (ck_pr_load_32(&table->conditions[class].needs_guid) == 0 ||
             ((ck_pr_load_64(&table->conditions[class].guid[0]) ^ etwas_pair_first(own)) |
              (ck_pr_load_64(&table->conditions[class].guid[1]) ^ etwas_pair_second(own))) == 0)) {
            return 1 + class;
        }
    }
    return 0;
}

uint32_t etwas_class_row_of(uint32_t index, uint32_t kind, uint32_t type_and_level,
                            const void *guid, uint64_t keywords)
{
    const struct etwas_class_attributes attributes = {type_and_level, guid, keywords};

    return etwas_class_row(index, kind, &attributes);
}
