/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/retention_class.h"

#include <stdbool.h>
#include <string.h>

struct etwas_class_table etwas_class_tables[1 + ETWAS_SESSION_ENTRIES];

static bool is_zero(const uint64_t guid[2])
{
    return (guid[0] | guid[1]) == 0;
}

/* Level 0 is of who says none. */
static bool takes_level(const etwas_retention_class *class, uint32_t level)
{
    return class->level == 0 || (level != 0 && level <= class->level);
}

static bool takes_type(const etwas_retention_class *class, uint32_t type)
{
    return !class->by_type || class->type == type;
}

void etwas_class_table_fill(uint32_t session, const etwas_retention_class *classes, uint32_t count)
{
    struct etwas_class_table *table = &etwas_class_tables[1 + session];
    uint32_t asks_more = 0;

    for (uint32_t level = 0; level < ETWAS_CLASS_LEVELS; level++) {
        uint32_t bits = 0;

        for (uint32_t class = 0; class < count; class ++) {
            bits |= (uint32_t)takes_level(&classes[class], level) << class;
        }
        ck_pr_store_8(&table->by_level[level], (uint8_t)bits);
    }
    for (uint32_t type = 0; type < ETWAS_CLASS_TYPES; type++) {
        uint32_t bits = 0;

        for (uint32_t class = 0; class < count; class ++) {
            bits |= (uint32_t)takes_type(&classes[class], type) << class;
        }
        ck_pr_store_8(&table->by_type[type], (uint8_t)bits);
    }
    for (uint32_t class = 0; class < count; class ++) {
        uint64_t guid[2];

        memcpy(guid, &classes[class].guid, sizeof guid);
        ck_pr_store_64(&table->more[class].guid[0], guid[0]);
        ck_pr_store_64(&table->more[class].guid[1], guid[1]);
        ck_pr_store_64(&table->more[class].keywords, classes[class].keywords);
        asks_more |= (uint32_t)(!is_zero(guid) || classes[class].keywords != 0) << class;
    }
    ck_pr_store_8(&table->asks_more, (uint8_t)asks_more);
}

static bool has_more(const struct etwas_class_table *table, uint32_t class,
                     const struct etwas_class_facts *facts)
{
    const uint64_t guid[2] = {ck_pr_load_64(&table->more[class].guid[0]),
                              ck_pr_load_64(&table->more[class].guid[1])};
    uint64_t keywords = ck_pr_load_64(&table->more[class].keywords);

    return (is_zero(guid) || (guid[0] == facts->guid[0] && guid[1] == facts->guid[1])) &&
           (keywords == 0 || (keywords & facts->keywords) != 0);
}

uint32_t etwas_class_find_more(const struct etwas_class_table *table, uint32_t candidates,
                               const struct etwas_class_facts *facts)
{
    /* Never more than there are, whatever a table has that is just filled in. */
    for (candidates &= (1u << ETWAS_RETENTION_CLASSES) - 1; candidates != 0;
         candidates &= candidates - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(candidates);

        if (has_more(table, class, facts)) {
            return 1 + class;
        }
    }
    return 0;
}
