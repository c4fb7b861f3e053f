/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_DIALECT_H
#define ETWAS_TOOLS_SHIP_SCHEMA_DIALECT_H

/* The types of a table's columns, as the server reports them. */

#include "ship/schema/schema.h"

/* The types for which blocks are encoded. Plain numbers, because cursors store them. */
struct etwas_ship_dialect {
    uint32_t modern[ETWAS_SHIP_TABLES]; /* a bit per column: it has its modern type */
};

/* What a server reported about a table. Initialize with zeros. */
struct etwas_ship_known_table {
    uint32_t keys;         /* a bit per column: it exists, or of plain pairs NAME.keys */
    uint32_t values;       /* likewise, or NAME.values */
    uint32_t modern;       /* it has its modern type */
    uint32_t aliases;      /* a bit per alias: it exists */
    uint32_t foreign;      /* a bit per column: its type is wrong */
    char foreign_type[64]; /* type of the first of these; printable, cut if long */
};

/*
 * Takes a row of
 *     select name, type from system.columns where database = … and table = …
 * Accepts any bytes. Columns that are not ours are ignored, since a table may have more.
 */
void etwas_ship_know_column(struct etwas_ship_known_table *known, enum etwas_ship_table table,
                            const char *name, size_t name_bytes, const char *type,
                            size_t type_bytes);

/*
 * Returns whether the server has any of our columns in the table. Otherwise there is no such table.
 */
bool etwas_ship_is_known(const struct etwas_ship_known_table *known);

/*
 * Returns the first missing column, or NULL if all exist. Check this before anything is sent: a
 * server of 18.16 accepts a block with columns that its table lacks, and silently drops them.
 */
const struct etwas_ship_column *etwas_ship_missing_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table);

/*
 * Returns the first column with a `foreign_type`, a type for which no block can be made, or NULL if
 * there is none.
 */
const struct etwas_ship_column *etwas_ship_foreign_column(
    const struct etwas_ship_known_table *known, enum etwas_ship_table table);

/*
 * Reads the major number of "18.16.1" or "26.7.3-stable.1". Returns false if the text is not a
 * version, or if the version is before 18.16 or from 10,000 on.
 */
bool etwas_ship_version_read(const char *text, uint32_t *major);

/* Returns whether a server of that version has the modern types, codecs, TTL and indexes. */
bool etwas_ship_version_is_modern(uint32_t major);

/* Returns the dialect of the tables that --ddl creates on such a server. */
struct etwas_ship_dialect etwas_ship_dialect_of_version(uint32_t major);

#endif
