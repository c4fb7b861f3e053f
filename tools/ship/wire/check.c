/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Checks a shard before rows are sent. It must be new enough and have both tables with the columns
 * and types of blocks. Its engine must recognize a repeated block, and its user must be able to
 * insert.
 */

#include "ship/message.h"
#include "ship/wire/answer.h"
#include "ship/wire/target_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SQL_BYTES = 1024,
    ENGINE_BYTES = 8192, /* with its settings, which are checked */
    MOST_WINDOWS = 3,
};

/* The shard that is checked, and its answers. */
struct looked {
    struct etwas_ship_target *target;
    uint32_t shard;
    bool is_hurried;
    const char *url; /* of the replica that answered last */
    struct etwas_ship_known_table known[ETWAS_SHIP_TABLES];
    char engines[ETWAS_SHIP_TABLES][ENGINE_BYTES];
    char names[ETWAS_SHIP_TABLES][ETWAS_SHIP_TABLE_BYTES]; /* for messages: etwas.event */
    bool is_read_only;
    bool has_windows[MOST_WINDOWS]; /* in the settings of the server; index as in `windows` */
};

/*
 * The settings that limit how long a table remembers blocks: by number, with and without
 * replication, and by time.
 */
static const char *const windows[MOST_WINDOWS] = {
    "replicated_deduplication_window",
    "non_replicated_deduplication_window",
    "replicated_deduplication_window_seconds",
};

/* ---- questions ------------------------------------------------------------------------------- */

/* `error` is as in etwas_ship_question. */
static enum etwas_ship_sent ask(struct looked *looked, const char *sql, uint32_t columns,
                                bool (*row)(void *context, const struct etwas_ship_field *fields),
                                uint32_t *error)
{
    const struct etwas_ship_question question = {
        .sql = sql, .columns = columns, .row = row, .context = looked, .error = error};
    enum etwas_ship_sent sent = etwas_ship_ask_one(looked->target, looked->shard, ETWAS_SHIP_ANY,
                                                   looked->is_hurried, &question);

    looked->url = etwas_ship_answered(looked->target, looked->shard)->options.address->url;
    return sent;
}

/* Finds the table with this name. Returns false if it is none of ours. */
static bool find_table(const struct looked *looked, const char *name, enum etwas_ship_table *table)
{
    const char *own = looked->target->options->table;
    size_t bytes = strlen(own);

    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        *table = (enum etwas_ship_table)i;
        if (strncmp(name, own, bytes) == 0 &&
            strcmp(name + bytes, etwas_ship_table_suffix(*table)) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_column(void *context, const struct etwas_ship_field *fields)
{
    struct looked *looked = context;
    enum etwas_ship_table table;

    if (find_table(looked, fields[0].text, &table)) {
        etwas_ship_know_column(&looked->known[table], table, fields[1].text, fields[1].bytes,
                               fields[2].text, fields[2].bytes);
    }
    return true;
}

static bool take_engine(void *context, const struct etwas_ship_field *fields)
{
    struct looked *looked = context;
    enum etwas_ship_table table;

    if (find_table(looked, fields[0].text, &table)) {
        (void)snprintf(looked->engines[table], ENGINE_BYTES, "%s", fields[1].text);
    }
    return true;
}

static bool take_window(void *context, const struct etwas_ship_field *fields)
{
    struct looked *looked = context;

    for (uint32_t i = 0; i < MOST_WINDOWS; i++) {
        looked->has_windows[i] =
            looked->has_windows[i] ||
            (strcmp(fields[0].text, windows[i]) == 0 && strcmp(fields[1].text, "0") != 0);
    }
    return true;
}

static bool take_read_only(void *context, const struct etwas_ship_field *fields)
{
    struct looked *looked = context;

    looked->is_read_only = strcmp(fields[0].text, "0") != 0;
    return true;
}

/* Database and table are identifiers, so they cannot end a string in SQL. */
static enum etwas_ship_sent ask_columns(struct looked *looked)
{
    const struct etwas_ship_options *options = looked->target->options;
    char sql[SQL_BYTES];

    (void)snprintf(
        sql, sizeof sql,
        "select table, name, type from system.columns where database = '%s' and table in "
        "('%s%s', '%s%s')",
        options->database, options->table, etwas_ship_table_suffix(ETWAS_SHIP_EVENTS),
        options->table, etwas_ship_table_suffix(ETWAS_SHIP_BUFFERS));
    return ask(looked, sql, 3, take_column, NULL);
}

/* The user may lack the right to read the settings. */
static enum etwas_ship_sent ask_windows(struct looked *looked)
{
    uint32_t error;
    enum etwas_ship_sent sent =
        ask(looked,
            "select name, value from system.merge_tree_settings where changed and name like "
            "'%deduplication_window%'",
            2, take_window, &error);

    return sent == ETWAS_SHIP_REFUSED && error != 0 ? ETWAS_SHIP_SENT : sent;
}

static enum etwas_ship_sent ask_engines(struct looked *looked)
{
    const struct etwas_ship_options *options = looked->target->options;
    char sql[SQL_BYTES];
    enum etwas_ship_sent sent;

    (void)snprintf(sql, sizeof sql,
                   "select name, engine_full from system.tables where database = '%s' and name in "
                   "('%s%s', '%s%s')",
                   options->database, options->table, etwas_ship_table_suffix(ETWAS_SHIP_EVENTS),
                   options->table, etwas_ship_table_suffix(ETWAS_SHIP_BUFFERS));
    sent = ask(looked, sql, 2, take_engine, NULL);
    if (sent == ETWAS_SHIP_SENT) {
        sent = ask(looked, "select value from system.settings where name = 'readonly'", 1,
                   take_read_only, NULL);
    }
    return sent == ETWAS_SHIP_SENT ? ask_windows(looked) : sent;
}

/* ---- judgements ------------------------------------------------------------------------------ */

static bool is_new_enough(const struct looked *looked)
{
    uint32_t version = etwas_ship_answered(looked->target, looked->shard)->version;

    if (version < ETWAS_SHIP_OLDEST_VERSION) {
        etwas_ship_message(looked->url, "is ClickHouse %u.%u; 18.16 is the oldest that will do",
                           version / 1000, version % 1000);
        return false;
    }
    return true;
}

static bool has_table(const struct looked *looked, enum etwas_ship_table table)
{
    const struct etwas_ship_known_table *known = &looked->known[table];
    const char *name = looked->names[table];
    const struct etwas_ship_column *column;

    if (!etwas_ship_is_known(known)) {
        etwas_ship_message(
            looked->url,
            "has no table %s, one with none of its columns, or hides it from this user; "
            "'etwas ship --ddl' prints what makes it",
            name);
        return false;
    }
    column = etwas_ship_missing_column(known, table);
    if (column != NULL) {
        etwas_ship_message(
            looked->url,
            "has a table %s without the column %s; 'etwas ship --ddl --server URL' prints "
            "what adds it",
            name, column->name);
        return false;
    }
    column = etwas_ship_foreign_column(known, table);
    if (column != NULL) {
        etwas_ship_message(looked->url, "has a table %s whose column %s is %s, which no block is",
                           name, column->name, known->foreign_type);
        return false;
    }
    return true;
}

/*
 * Returns whether the engine is ReplicatedMergeTree or similar, or the SharedMergeTree of a cloud.
 */
static bool is_replicated(const char *engine)
{
    return strncmp(engine, "Replicated", 10) == 0 || strncmp(engine, "Shared", 6) == 0;
}

/* Returns whether the window is not 0, in the settings of the table or else of the server. */
static bool has_window(const struct looked *looked, const char *engine, uint32_t window)
{
    uint64_t value = 0;

    return etwas_ship_answer_setting(engine, windows[window], &value) ? value != 0
                                                                      : looked->has_windows[window];
}

static bool is_set_to_none(const char *engine, uint32_t window)
{
    uint64_t value = 1;

    return etwas_ship_answer_setting(engine, windows[window], &value) && value == 0;
}

static void say_windows(const struct looked *looked, enum etwas_ship_table table)
{
    for (uint32_t i = 0; i < MOST_WINDOWS; i += 2) {
        if (!has_window(looked, looked->engines[table], i)) {
            etwas_ship_message(
                looked->url,
                "the table %s does not say %s: by itself the server knows too few blocks, "
                "or too shortly; 'etwas ship --ddl' has what to set",
                looked->names[table], windows[i]);
        }
    }
}

/* Reports that the table does not remember blocks, and how to change that. */
static void say_forgetful(const struct looked *looked, enum etwas_ship_table table)
{
    const char *engine = looked->engines[table];
    const char *name = looked->names[table];
    char cure[ETWAS_SHIP_TABLE_BYTES + 128] = "it has to be replicated";

    if (is_replicated(engine)) {
        (void)snprintf(cure, sizeof cure, "its %s is 0", windows[0]);
    } else if (etwas_ship_answered(looked->target, looked->shard)->version >=
                   ETWAS_SHIP_MODERN_INSERTS &&
               strncmp(engine, "MergeTree", 9) == 0) {
        (void)snprintf(cure, sizeof cure,
                       "it has to be replicated, or 'alter table %s modify setting %s = 10000'",
                       name, windows[1]);
    }
    etwas_ship_message(
        looked->url,
        "the table %s (%.*s) does not know a block that is sent again, so rows may come "
        "twice: %s; or --at-least-once takes that",
        name, (int)strcspn(engine, " ("), engine, cure);
}

/* Returns whether the table recognizes a repeated block, or that is not required. */
static bool is_exact(const struct looked *looked, enum etwas_ship_table table)
{
    const char *engine = looked->engines[table];
    bool replicated = is_replicated(engine);
    bool knows = replicated ? !is_set_to_none(engine, 0) : has_window(looked, engine, 1);

    if (!knows && !looked->target->options->at_least_once) {
        say_forgetful(looked, table);
        return false;
    }
    if (replicated && knows) {
        say_windows(looked, table);
    }
    return true;
}

static bool takes_rows(const struct looked *looked, enum etwas_ship_table table)
{
    const char *engine = looked->engines[table];
    const char *name = looked->names[table];

    if (strncmp(engine, "Distributed", 11) == 0) {
        etwas_ship_message(
            looked->url,
            "the table %s is Distributed, which answers before it has the rows: --table "
            "has to name the one of each shard",
            name);
        return false;
    }
    if (!is_replicated(engine) && looked->target->shards[looked->shard].count > 1) {
        etwas_ship_message(
            looked->url,
            "the table %s (%.*s) is not replicated: addresses with commas between are of "
            "one shard's replicas; another shard has a --server of its own",
            name, (int)strcspn(engine, " ("), engine);
        return false;
    }
    return is_exact(looked, table);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/*
 * Combines what the shards have in common. Returns false after reporting that this one has other
 * types.
 */
static bool agree(struct looked *looked)
{
    struct etwas_ship_target *target = looked->target;
    uint32_t version = etwas_ship_answered(target, looked->shard)->version;
    struct etwas_ship_dialect dialect = {{0}};
    bool agrees;

    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        dialect.modern[i] = looked->known[i].modern;
    }
    (void)pthread_mutex_lock(&target->lock);
    if (target->version == 0 || version < target->version) {
        target->version = version;
    }
    agrees = !target->has_dialect || memcmp(&dialect, &target->dialect, sizeof dialect) == 0;
    if (!target->has_dialect && target->options->purpose != ETWAS_SHIP_TO_CREATE) {
        target->dialect = dialect;
        target->has_dialect = true;
    }
    (void)pthread_mutex_unlock(&target->lock);
    if (!agrees) {
        etwas_ship_message(looked->url, "has tables with other types than the first shard's");
    }
    return agrees;
}

static enum etwas_ship_sent look_at_tables(struct looked *looked)
{
    bool inserts = looked->target->options->purpose == ETWAS_SHIP_TO_INSERT;
    enum etwas_ship_sent sent = ask_columns(looked);

    if (sent == ETWAS_SHIP_SENT && inserts) {
        sent = ask_engines(looked);
    }
    if (sent != ETWAS_SHIP_SENT) {
        return sent;
    }
    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        enum etwas_ship_table table = (enum etwas_ship_table)i;

        if (!has_table(looked, table) || (inserts && !takes_rows(looked, table))) {
            return ETWAS_SHIP_REFUSED;
        }
    }
    if (inserts && looked->is_read_only) {
        const struct etwas_ship_secret *secret = &looked->target->secret;

        etwas_ship_message(looked->url,
                           "lets the user '%s' only read: it has to be one who may insert",
                           secret->is_there ? secret->user : "default");
        return ETWAS_SHIP_REFUSED;
    }
    return ETWAS_SHIP_SENT;
}

static bool take_nothing(void *context, const struct etwas_ship_field *fields)
{
    (void)context;
    (void)fields;
    return true;
}

static enum etwas_ship_sent check_target(struct looked *looked)
{
    enum etwas_ship_sent sent = ask(looked, "select 1", 1, take_nothing, NULL);

    if (sent == ETWAS_SHIP_SENT && !is_new_enough(looked)) {
        sent = ETWAS_SHIP_REFUSED;
    }
    if (sent == ETWAS_SHIP_SENT && looked->target->options->purpose != ETWAS_SHIP_TO_CREATE) {
        sent = look_at_tables(looked);
    }
    return sent == ETWAS_SHIP_SENT && !agree(looked) ? ETWAS_SHIP_REFUSED : sent;
}

enum etwas_ship_sent etwas_ship_check(struct etwas_ship_target *target, uint32_t shard,
                                      bool is_hurried)
{
    struct looked *looked;
    enum etwas_ship_sent sent;

    if (target->shards[shard].is_checked) {
        return ETWAS_SHIP_SENT;
    }
    looked = calloc(1, sizeof *looked);
    if (looked == NULL) {
        etwas_ship_message("check", "not enough memory");
        return ETWAS_SHIP_REFUSED;
    }
    looked->target = target;
    looked->shard = shard;
    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        (void)snprintf(looked->names[i], ETWAS_SHIP_TABLE_BYTES, "%s.%s%s",
                       target->options->database, target->options->table,
                       etwas_ship_table_suffix((enum etwas_ship_table)i));
    }
    looked->is_hurried = is_hurried;
    sent = check_target(looked);
    free(looked);
    target->shards[shard].is_checked = sent == ETWAS_SHIP_SENT;
    return sent;
}
