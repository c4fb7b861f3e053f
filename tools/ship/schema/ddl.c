/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * Writes the statements for both tables and for the NAME_all tables, which queries read. The
 * deduplication windows are set explicitly: by default a server forgets a block after 100 blocks of
 * all writers together, or after an hour.
 */
#include "ship/schema/ddl.h"

enum {
    WINDOW_BLOCKS = 10000,
    WINDOW_SECONDS = 604800,
};

static const char *const order_by[ETWAS_SHIP_TABLES] = {
    [ETWAS_SHIP_EVENTS] = "session_id, event_class_id, time",
    [ETWAS_SHIP_BUFFERS] = "session_id, part, buffer",
};

static bool is_modern(const struct etwas_ship_ddl *ddl)
{
    return etwas_ship_version_is_modern(ddl->major);
}

static void put_on_cluster(struct etwas_output *output, const struct etwas_ship_ddl *ddl)
{
    if (ddl->cluster != NULL) {
        etwas_output_text(output, " on cluster ");
        etwas_output_text(output, ddl->cluster);
    }
}

/* Writes the table's name without its database. */
static void put_table(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                      enum etwas_ship_table table)
{
    etwas_output_text(output, ddl->table);
    etwas_output_text(output, etwas_ship_table_suffix(table));
}

static void put_full_name(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                          enum etwas_ship_table table, const char *behind)
{
    etwas_output_text(output, ddl->database);
    etwas_output_char(output, '.');
    put_table(output, ddl, table);
    etwas_output_text(output, behind);
}

/* Begins a statement about a table. */
static void begin(struct etwas_output *output, const struct etwas_ship_ddl *ddl, const char *verb,
                  enum etwas_ship_table table, const char *behind)
{
    etwas_output_text(output, verb);
    put_full_name(output, ddl, table, behind);
    put_on_cluster(output, ddl);
}

static void put_type(struct etwas_output *output, const struct etwas_ship_column *column,
                     bool modern)
{
    if (!modern && etwas_ship_is_pairs(column->type)) {
        etwas_output_format(output, "Nested(keys String, values %s)",
                            etwas_ship_type_name(column->type, false));
        return;
    }
    etwas_output_text(output, etwas_ship_type_name(column->type, modern));
    if (modern) {
        etwas_output_format(output, " codec(%s)", column->codec);
    }
}

static void put_alias(struct etwas_output *output, const struct etwas_ship_alias *alias,
                      bool modern)
{
    etwas_output_format(output, "%s Int64 alias %s(%s)", alias->name,
                        modern ? "toUnixTimestamp64Nano" : "toInt64", alias->time);
}

static void put_columns(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                        enum etwas_ship_table table)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);
    uint32_t alias_count;
    const struct etwas_ship_alias *aliases = etwas_ship_aliases(table, &alias_count);

    for (uint32_t i = 0; i < count; i++) {
        etwas_output_format(output, "    %s ", columns[i].name);
        put_type(output, &columns[i], is_modern(ddl));
        etwas_output_text(output, ",\n");
    }
    for (uint32_t i = 0; i < alias_count; i++) {
        etwas_output_text(output, "    ");
        put_alias(output, &aliases[i], is_modern(ddl));
        etwas_output_text(output, i + 1 < alias_count ? ",\n" : "");
    }
    if (is_modern(ddl) && table == ETWAS_SHIP_EVENTS) {
        etwas_output_text(output, ",\n    index time_range time type minmax granularity 1,\n"
                                  "    index activity_bloom activity type bloom_filter(0.01) "
                                  "granularity 4");
    }
    etwas_output_char(output, '\n');
}

static void put_engine(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                       enum etwas_ship_table table)
{
    if (ddl->cluster == NULL) {
        etwas_output_text(output, "engine = MergeTree");
        return;
    }
    etwas_output_format(output, "engine = ReplicatedMergeTree('/%s/{shard}/", ddl->database);
    put_table(output, ddl, table);
    etwas_output_text(output, "', '{replica}')");
}

/*
 * A server without modern types and replication cannot deduplicate blocks, and has no setting for
 * that.
 */
static void put_settings(struct etwas_output *output, const struct etwas_ship_ddl *ddl)
{
    const char *before = "\nsettings";

    if (ddl->cluster != NULL) {
        etwas_output_format(output,
                            "%s replicated_deduplication_window = %d,\n"
                            "    replicated_deduplication_window_seconds = %d",
                            before, WINDOW_BLOCKS, WINDOW_SECONDS);
        before = ",\n   ";
    } else if (is_modern(ddl)) {
        etwas_output_format(output, "%s non_replicated_deduplication_window = %d", before,
                            WINDOW_BLOCKS);
        before = ",\n   ";
    }
    if (is_modern(ddl) && ddl->keep_days != 0) {
        etwas_output_format(output, "%s ttl_only_drop_parts = 1", before);
    }
}

static void create(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                   enum etwas_ship_table table)
{
    begin(output, ddl, "create table if not exists ", table, "");
    etwas_output_text(output, "\n(\n");
    put_columns(output, ddl, table);
    etwas_output_text(output, ")\n");
    put_engine(output, ddl, table);
    etwas_output_format(output, "\npartition by day\norder by (%s)", order_by[table]);
    if (is_modern(ddl) && ddl->keep_days != 0) {
        etwas_output_format(output, "\nttl day + interval %u day", (unsigned)ddl->keep_days);
    }
    put_settings(output, ddl);
    etwas_output_text(output, ";\n\n");
}

/*
 * Returns whether NAME_all is dropped and created again. Before version 23, `alter` on a cluster
 * works for replicated tables only, which NAME_all is not. It has no rows of its own, so nothing is
 * lost.
 */
static bool is_made_again(const struct etwas_ship_ddl *ddl, enum etwas_ship_table table,
                          const struct etwas_ship_known_table *all)
{
    uint32_t alias_count;

    (void)etwas_ship_aliases(table, &alias_count);
    return ddl->cluster != NULL && !is_modern(ddl) && etwas_ship_is_known(all) &&
           (etwas_ship_missing_column(all, table) != NULL ||
            (~all->aliases & ((1u << alias_count) - 1)) != 0);
}

static void drop_all(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                     enum etwas_ship_table table)
{
    begin(output, ddl, "drop table if exists ", table, "_all");
    etwas_output_text(output, ";\n\n");
}

/*
 * Queries use NAME_all on a single server, too, so that they need no change when it becomes a
 * cluster.
 */
static void create_all(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                       enum etwas_ship_table table)
{
    begin(output, ddl, "create table if not exists ", table, "_all");
    etwas_output_text(output, " as ");
    put_full_name(output, ddl, table, "");
    if (ddl->cluster != NULL) {
        etwas_output_format(output, "\nengine = Distributed(%s, %s, ", ddl->cluster, ddl->database);
        put_table(output, ddl, table);
        etwas_output_text(output, ", session_id);\n\n");
    } else {
        etwas_output_format(output, "\nengine = Merge(%s, '^", ddl->database);
        put_table(output, ddl, table);
        etwas_output_text(output, "$');\n\n");
    }
}

static void begin_adding(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                         enum etwas_ship_table table, const char *behind)
{
    begin(output, ddl, "alter table ", table, behind);
    etwas_output_format(output, " add column %s", is_modern(ddl) ? "if not exists " : "");
}

/* `half` is the missing half of plain pairs if the other one exists, else "". */
static void add_column(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                       const struct etwas_ship_column *column, const char *half)
{
    etwas_output_format(output, "%s%s ", column->name, half);
    if (half[0] == '\0') {
        put_type(output, column, is_modern(ddl));
    } else {
        etwas_output_format(output, "Array(%s)",
                            strcmp(half, ETWAS_SHIP_KEYS) == 0
                                ? "String"
                                : etwas_ship_type_name(column->type, false));
    }
    etwas_output_text(output, ";\n\n");
}

/*
 * Adds the columns that an existing table lacks, at its end. Their order does not matter, since
 * blocks name their columns.
 */
static void add_columns(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                        enum etwas_ship_table table, const char *behind,
                        const struct etwas_ship_known_table *known)
{
    uint32_t count;
    const struct etwas_ship_column *columns = etwas_ship_columns(table, &count);

    for (uint32_t i = 0; i < count; i++) {
        bool has_keys = (known->keys >> i & 1) != 0;
        bool has_values = (known->values >> i & 1) != 0;

        if (!has_keys || !has_values) {
            begin_adding(output, ddl, table, behind);
            add_column(output, ddl, &columns[i],
                       has_keys     ? ETWAS_SHIP_VALUES
                       : has_values ? ETWAS_SHIP_KEYS
                                    : "");
        }
    }
}

/*
 * The aliases follow the types of the table: on a modern server, too, its times may have the plain
 * type.
 */
static void add_aliases(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                        enum etwas_ship_table table, const char *behind,
                        const struct etwas_ship_known_table *known)
{
    uint32_t count;
    const struct etwas_ship_alias *aliases = etwas_ship_aliases(table, &count);
    uint32_t time = table == ETWAS_SHIP_EVENTS ? (uint32_t)ETWAS_SHIP_EVENT_TIME
                                               : (uint32_t)ETWAS_SHIP_BUFFER_FIRST_TIME;

    for (uint32_t i = 0; i < count; i++) {
        if ((known->aliases >> i & 1) == 0) {
            begin_adding(output, ddl, table, behind);
            put_alias(output, &aliases[i], (known->modern >> (time + i) & 1) != 0);
            etwas_output_text(output, ";\n\n");
        }
    }
}

static void add_table(struct etwas_output *output, const struct etwas_ship_ddl *ddl,
                      enum etwas_ship_table table, const char *behind,
                      const struct etwas_ship_known_table *known)
{
    if (etwas_ship_is_known(known)) {
        add_columns(output, ddl, table, behind, known);
        add_aliases(output, ddl, table, behind, known);
    }
}

void etwas_ship_ddl_write(struct etwas_output *output, const struct etwas_ship_ddl *ddl)
{
    static const struct etwas_ship_known_tables nothing;
    const struct etwas_ship_known_tables *known = ddl->known != NULL ? ddl->known : &nothing;

    etwas_output_format(output, "create database if not exists %s", ddl->database);
    put_on_cluster(output, ddl);
    etwas_output_text(output, ";\n\n");
    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        enum etwas_ship_table table = (enum etwas_ship_table)i;

        create(output, ddl, table);
        add_table(output, ddl, table, "", &known->own[i]);
        if (is_made_again(ddl, table, &known->all[i])) {
            drop_all(output, ddl, table);
            create_all(output, ddl, table);
        } else {
            create_all(output, ddl, table);
            add_table(output, ddl, table, "_all", &known->all[i]);
        }
    }
}
