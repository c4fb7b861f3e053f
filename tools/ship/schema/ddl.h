/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_DDL_H
#define ETWAS_TOOLS_SHIP_SCHEMA_DDL_H

/*
 * The statements that create the tables, or add to existing tables what they lack. No statement
 * ever removes rows or columns.
 */

#include "print/output.h"
#include "ship/schema/dialect.h"

/* What a server has of the tables, and of NAME_all, through which they are read. */
struct etwas_ship_known_tables {
    struct etwas_ship_known_table own[ETWAS_SHIP_TABLES];
    struct etwas_ship_known_table all[ETWAS_SHIP_TABLES];
};

struct etwas_ship_ddl {
    const char *database; /* identifiers: letters, digits and _ */
    const char *table;
    const char *cluster; /* NULL: one server, no replication */
    uint32_t major;      /* of the server's version */
    uint32_t keep_days;  /* 0: for ever */
    /* What exists already; NULL: unknown, treated as nothing. */
    const struct etwas_ship_known_tables *known;
};

/*
 * Writes the statements, each followed by a semicolon and an empty line, as clickhouse-client
 * --multiquery accepts them.
 */
void etwas_ship_ddl_write(struct etwas_output *output, const struct etwas_ship_ddl *ddl);

#endif
