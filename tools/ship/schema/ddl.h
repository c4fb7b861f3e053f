/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_DDL_H
#define ETWAS_TOOLS_SHIP_SCHEMA_DDL_H

/*
 * The statements that make the tables, or add to tables that are there what they lack. None ever
 * takes rows or columns away.
 */

#include "print/output.h"
#include "ship/schema/dialect.h"

/* A table and the one to read it by, NAME_all. */
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
    /* What is there; NULL: not known, as if there were nothing. */
    const struct etwas_ship_known_tables *known;
};

/*
 * Writes the statements, a semicolon and an empty line behind each: what clickhouse-client
 * --multiquery takes.
 */
void etwas_ship_ddl_write(struct etwas_output *output, const struct etwas_ship_ddl *ddl);

#endif
