/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * Compares the types of a server's table with ours. The server's text is not used for anything
 * else.
 */
#include "ship/schema/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODERN_FROM = 23, /* the first major version with modern types */
    MOST_MAJOR = 9999,
    OLDEST_MAJOR = 18,
    OLDEST_MINOR = 16, /* of OLDEST_MAJOR */
};

static bool is_text(const char *bytes, size_t count, const char *text)
{
    return strlen(text) == count && memcmp(bytes, text, count) == 0;
}

/* The part of a column that a name denotes. */
enum half {
    WHOLE,
    KEYS,
    VALUES,
};

/* Returns whether `name` is the column's name followed by `behind`. */
static bool is_of(const struct etwas_ship_column *column, const char *behind, const char *name,
                  size_t name_bytes)
{
    size_t stem_bytes = strlen(column->name);

    return name_bytes >= stem_bytes && memcmp(name, column->name, stem_bytes) == 0 &&
           is_text(name + stem_bytes, name_bytes - stem_bytes, behind);
}

/* Returns the index of the column with that name, or `count`. */
static uint32_t find_column(const struct etwas_ship_column *columns, uint32_t count,
                            const char *name, size_t name_bytes, enum half *half)
{
    static const char *const behind[] = {
        [WHOLE] = "", [KEYS] = ETWAS_SHIP_KEYS, [VALUES] = ETWAS_SHIP_VALUES};

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = WHOLE; at <= (etwas_ship_is_pairs(columns[i].type) ? VALUES : WHOLE);
             at++) {
            if (is_of(&columns[i], behind[at], name, name_bytes)) {
                *half = (enum half)at;
                return i;
            }
        }
    }
    return count;
}

/*
 * Returns whether the text is the Map of this type, with keys of either kind: a server casts the
 * keys.
 */
static bool is_map(enum etwas_ship_type type, const char *text, size_t bytes)
{
    char plain_keys[64];

    (void)snprintf(plain_keys, sizeof plain_keys, "Map(String, %s)",
                   etwas_ship_type_name(type, false));
    return is_text(text, bytes, etwas_ship_type_name(type, true)) ||
           is_text(text, bytes, plain_keys);
}

static bool is_array(enum etwas_ship_type type, enum half half, const char *text, size_t bytes)
{
    char array[64];

    (void)snprintf(array, sizeof array, "Array(%s)",
                   half == KEYS ? "String" : etwas_ship_type_name(type, false));
    return is_text(text, bytes, array);
}

static void keep_foreign(struct etwas_ship_known_table *known, uint32_t bit, const char *type,
                         size_t type_bytes)
{
    size_t i;

    if (known->foreign == 0) {
        for (i = 0; i < type_bytes && i + 1 < sizeof known->foreign_type; i++) {
            known->foreign_type[i] = type[i] >= ' ' && type[i] <= '~' ? type[i] : '?';
        }
        known->foreign_type[i] = '\0';
    }
    known->foreign |= bit;
}

static void know_pairs(struct etwas_ship_known_table *known, enum etwas_ship_type type,
                       uint32_t bit, enum half half, const char *text, size_t bytes)
{
    known->keys |= half != VALUES ? bit : 0;
    known->values |= half != KEYS ? bit : 0;
    known->modern |= half == WHOLE ? bit : 0;
    if (half == WHOLE ? !is_map(type, text, bytes) : !is_array(type, half, text, bytes)) {
        keep_foreign(known, bit, text, bytes);
    }
}

static void know_single(struct etwas_ship_known_table *known, enum etwas_ship_type type,
                        uint32_t bit, const char *text, size_t bytes)
{
    known->keys |= bit;
    known->values |= bit;
    if (is_text(text, bytes, etwas_ship_type_name(type, false))) {
        return;
    }
    known->modern |= bit;
    if (!is_text(text, bytes, etwas_ship_type_name(type, true))) {
        keep_foreign(known, bit, text, bytes);
    }
}

static void know_alias(struct etwas_ship_known_table *known, enum etwas_ship_table table,
                       const char *name, size_t name_bytes)
{
    uint32_t count;
    const struct etwas_ship_alias *aliases = etwas_ship_aliases(table, &count);

    for (uint32_t i = 0; i < count; i++) {
        known->aliases |= is_text(name, name_bytes, aliases[i].name) ? 1u << i : 0;
    }
}

void etwas_ship_know_column(struct etwas_ship_known_table *known, enum etwas_ship_table table,
                            const char *name, size_t name_bytes, const char *type,
                            size_t type_bytes)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);
    enum half half = WHOLE;
    uint32_t index = find_column(columns, count, name, name_bytes, &half);

    if (index == count) {
        know_alias(known, table, name, name_bytes);
    } else if (etwas_ship_is_pairs(columns[index].type)) {
        know_pairs(known, columns[index].type, 1u << index, half, type, type_bytes);
    } else {
        know_single(known, columns[index].type, 1u << index, type, type_bytes);
    }
}

bool etwas_ship_is_known(const struct etwas_ship_known_table *known)
{
    return (known->keys | known->values) != 0;
}

/* Returns the first column of a set, or NULL if the set is empty. */
static const struct etwas_ship_column *first(enum etwas_ship_table table, uint32_t set)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);

    set &= (uint32_t)((UINT64_C(1) << count) - 1);
    return set == 0 ? NULL : &columns[__builtin_ctz(set)];
}

const struct etwas_ship_column *etwas_ship_missing_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table)
{
    return first(table, ~(known->keys & known->values));
}

const struct etwas_ship_column *etwas_ship_foreign_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table)
{
    return first(table, known->foreign);
}

bool etwas_ship_version_read(const char *text, uint32_t *major)
{
    uint32_t number = 0;
    const char *at = text;

    while (*at >= '0' && *at <= '9' && number <= MOST_MAJOR) {
        number = number * 10 + (uint32_t)(*at++ - '0');
    }
    if (at == text || number > MOST_MAJOR || (*at != '\0' && *at != '.')) {
        return false;
    }
    *major = number;
    return number > OLDEST_MAJOR ||
           (number == OLDEST_MAJOR && (*at == '\0' || strtoul(at + 1, NULL, 10) >= OLDEST_MINOR));
}

bool etwas_ship_version_is_modern(uint32_t major)
{
    return major >= MODERN_FROM;
}

struct etwas_ship_dialect etwas_ship_dialect_of_version(uint32_t major)
{
    struct etwas_ship_dialect dialect = {{0}};

    for (uint32_t table = 0; table < ETWAS_SHIP_TABLES; table++) {
        uint32_t count;
        const struct etwas_ship_column *columns =
            etwas_ship_columns((enum etwas_ship_table)table, &count);

        for (uint32_t i = 0; etwas_ship_version_is_modern(major) && i < count; i++) {
            bool differs = strcmp(etwas_ship_type_name(columns[i].type, true),
                                  etwas_ship_type_name(columns[i].type, false)) != 0;

            dialect.modern[table] |= differs ? 1u << i : 0;
        }
    }
    return dialect;
}
