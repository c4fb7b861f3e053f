/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads which tables a server has, so that --ddl can add what they lack. */

#include "ship/run/known_tables.h"

#include "exit.h"
#include "ship/wire/send.h"

#include <stdio.h>
#include <string.h>

enum {
    SQL_BYTES = 2048,
};

struct asked {
    const struct etwas_ship_ddl *ddl;
    struct etwas_ship_known_tables *known;
};

/* Returns the table of this name, or NULL if it is none of ours. */
static struct etwas_ship_known_table *find_table(const struct asked *asked, const char *name,
                                                 enum etwas_ship_table *table)
{
    size_t bytes = strlen(asked->ddl->table);

    if (strncmp(name, asked->ddl->table, bytes) != 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        const char *suffix = etwas_ship_table_suffix((enum etwas_ship_table)i);
        size_t suffix_bytes = strlen(suffix);

        *table = (enum etwas_ship_table)i;
        if (strcmp(name + bytes, suffix) == 0) {
            return &asked->known->own[i];
        }
        if (strncmp(name + bytes, suffix, suffix_bytes) == 0 &&
            strcmp(name + bytes + suffix_bytes, "_all") == 0) {
            return &asked->known->all[i];
        }
    }
    return NULL;
}

static bool take_row(void *context, const struct etwas_ship_field *fields)
{
    enum etwas_ship_table table;
    struct etwas_ship_known_table *known = find_table(context, fields[0].text, &table);

    if (known != NULL) {
        etwas_ship_know_column(known, table, fields[1].text, fields[1].bytes, fields[2].text,
                               fields[2].bytes);
    }
    return true;
}

/*
 * Database and table are identifiers, so they cannot end a string in SQL. Returns false after
 * reporting an error.
 */
static bool ask(struct etwas_ship_target *target, struct asked *asked)
{
    const char *table = asked->ddl->table;
    char sql[SQL_BYTES];
    const struct etwas_ship_question question = {
        .sql = sql, .columns = 3, .row = take_row, .context = asked};

    (void)snprintf(sql, sizeof sql,
                   "select table, name, type from system.columns where database = '%s' and table "
                   "in ('%s', '%s_all', '%s_buffer', '%s_buffer_all')",
                   asked->ddl->database, table, table, table, table);
    return etwas_ship_ask(target, 0, ETWAS_SHIP_ANY, &question) == ETWAS_SHIP_SENT;
}

int etwas_ship_ddl(struct etwas_ship_target *target, const struct etwas_ship_ddl *ddl)
{
    struct etwas_output *output = etwas_standard_output();
    struct etwas_ship_known_tables known = {.own = {{0}}};
    struct etwas_ship_ddl asked_ddl = *ddl;
    struct asked asked = {.ddl = ddl, .known = &known};

    if (target != NULL) {
        if (!ask(target, &asked)) {
            return ETWAS_EXIT_FAILED;
        }
        asked_ddl.major = etwas_ship_target_version(target) / 1000;
        asked_ddl.known = &known;
    }
    etwas_ship_ddl_write(output, &asked_ddl);
    return etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}
