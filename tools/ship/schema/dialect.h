/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_DIALECT_H
#define ETWAS_TOOLS_SHIP_SCHEMA_DIALECT_H

/*
 * Which types a table has, by what the server says of it.
 */

#include "ship/schema/schema.h"

/* What blocks are encoded for. Plain numbers: it is kept in cursors. */
struct etwas_ship_dialect {
    uint32_t modern[ETWAS_SHIP_TABLES]; /* a bit a column: it has its modern type */
};

/* What a server said of a table. Begin with zeros. */
struct etwas_ship_known_table {
    uint32_t keys;         /* a bit a column: it is there, or of plain pairs NAME.keys */
    uint32_t values;       /* likewise, or NAME.values */
    uint32_t modern;       /* has its modern type */
    uint32_t aliases;      /* a bit an alias: it is there */
    uint32_t foreign;      /* has a type that it should not have */
    char foreign_type[64]; /* of the first of these; printable, cut where it is long */
};

/*
 * Takes a row of
 *     select name, type from system.columns where database = … and table = …
 * Any bytes will do. Columns that are not ours are ignored: a table may have more.
 */
void etwas_ship_know_column(struct etwas_ship_known_table *known, enum etwas_ship_table table,
                            const char *name, size_t name_bytes, const char *type,
                            size_t type_bytes);

/* Has the server any column of ours in it? Else there is no such table. */
bool etwas_ship_is_known(const struct etwas_ship_known_table *known);

/*
 * The first column that is not there; NULL: all are. To be looked at before anything is sent: a
 * server of 18.16 takes a block with columns that its table lacks, and drops them without a word.
 */
const struct etwas_ship_column *etwas_ship_missing_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table);

/*
 * Returns the first column with a `foreign_type`, a type that no block can be made for, or NULL if
 * there is none.
 */
const struct etwas_ship_column *etwas_ship_foreign_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table);

/*
 * The major number of "18.16.1" or "26.7.3-stable.1". False: it is none, before 18.16, or not
 * before 10,000.
 */
bool etwas_ship_version_read(const char *text, uint32_t *major);

/* Does a server of that version have the modern types, codecs, TTL and indexes? */
bool etwas_ship_version_is_modern(uint32_t major);

/* What the tables have that --ddl makes for such a server. */
struct etwas_ship_dialect etwas_ship_dialect_of_version(uint32_t major);

#endif
