/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the options of `etwas ship` from the command line and from --config, and checks whether
 * they fit together.
 */

#include "ship/settings.h"

#include "exit.h"
#include "ship/config.h"
#include "ship/message.h"
#include "trace/input.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PROVE_DAYS = 7,
    MOST_DAYS = 36500,
    SHORT_PATIENCE_S = 10, /* a person waits for the answer */
};

#define NS_A_SECOND UINT64_C(1000000000)

static struct etwas_ship_shard_addresses shards[ETWAS_SHIP_SHARDS];
static char host_name[HOST_NAME_MAX + 1];

/* ---- values ---------------------------------------------------------------------------------- */

/* A refused value is not printed, because it may contain a password. */
static bool read_server(const struct etwas_option_use *use)
{
    struct etwas_ship_options *target = use->place;
    const char *wrong = "there may be 256 shards at most";

    if (target->shard_count < ETWAS_SHIP_SHARDS) {
        wrong = etwas_ship_address_shard(use->text, &shards[target->shard_count]);
    }
    if (wrong != NULL) {
        fprintf(stderr, "etwas %s: --server: %s\n", use->command, wrong);
        return false;
    }
    target->shards = shards;
    target->shard_count++;
    return true;
}

/* Returns whether the text has only letters, digits and _, and does not begin with a digit. */
static bool is_identifier(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') {
            return false;
        }
    }
    return bytes > 0 && bytes < ETWAS_SHIP_IDENTIFIER_BYTES && !isdigit((unsigned char)text[0]);
}

static bool read_table(const struct etwas_option_use *use)
{
    struct etwas_ship_settings *settings = use->request;
    size_t dot = strcspn(use->text, ".");
    const char *table = use->text + dot + 1;

    if (use->text[dot] != '.' || !is_identifier(use->text, dot) ||
        !is_identifier(table, strlen(table))) {
        return etwas_option_refuse(use, "DATABASE.NAME, each of letters, digits and _");
    }
    (void)snprintf(settings->database, sizeof settings->database, "%.*s", (int)dot, use->text);
    (void)snprintf(settings->table, sizeof settings->table, "%s", table);
    return true;
}

static bool read_cluster(const struct etwas_option_use *use)
{
    *(const char **)use->place = use->text;
    return is_identifier(use->text, strlen(use->text)) ||
           etwas_option_refuse(use, "a name of letters, digits and _");
}

static bool read_version(const struct etwas_option_use *use)
{
    return etwas_ship_version_read(use->text, use->place) ||
           etwas_option_refuse(use, "a version from 18.16 on, such as 26.7");
}

/* ---- both places ----------------------------------------------------------------------------- */

/* State while the file is read. `line` holds the options of the command line. */
struct reading {
    const struct etwas_ship_settings *line;
    bool has_task; /* the command line says what to do */
    struct etwas_ship_settings *settings;
    struct etwas_ship_config config;
};

/*
 * Returns whether the option says what to do, or how. The file's value is ignored if the command
 * line says what to do.
 */
static bool is_of_task(const char *name)
{
    static const char *const names[] = {
        "follow", "session", "once", "recover", "pools",   "delete",    "spool-limit",    "state",
        "prove",  "days",    "json", "ddl",     "cluster", "keep-days", "server-version",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_line(void *context, const char *name, const char *value)
{
    struct reading *reading = context;
    char place[ETWAS_SHIP_PLACE_BYTES + sizeof "ship: "];

    if (strcmp(name, "config") == 0) {
        etwas_ship_message(reading->config.place, "--config: it is for the command line alone");
        return false;
    }
    if ((reading->has_task && is_of_task(name)) ||
        (reading->line->target.shard_count != 0 && strcmp(name, "server") == 0)) {
        return true;
    }
    (void)snprintf(place, sizeof place, "ship: %s", reading->config.place);
    return etwas_command_set(&etwas_ship_command, place, name, value, reading->settings);
}

/* ---- together -------------------------------------------------------------------------------- */

static const char *task_of(struct etwas_ship_settings *settings)
{
    int count = (settings->files.count > 0) + (settings->follow != NULL) +
                (settings->session != NULL) + (settings->instead != 0);

    if (count != 1) {
        return count == 0 ? "what shall be sent? FILE, --follow or --session; or --prove or --ddl"
                          : "FILE, --follow, --session, --prove and --ddl exclude each other";
    }
    settings->task = settings->follow != NULL    ? ETWAS_SHIP_TASK_FOLLOW
                     : settings->session != NULL ? ETWAS_SHIP_TASK_SESSION
                                                 : (enum etwas_ship_task)settings->instead;
    return NULL;
}

/* Returns a message about an option that does not go with the task, or NULL. */
static const char *astray(const struct etwas_ship_settings *settings)
{
    enum etwas_ship_task task = settings->task;

    if (task != ETWAS_SHIP_TASK_FOLLOW &&
        (settings->once || settings->recovers || settings->spool_limit_bytes != 0)) {
        return "--once, --recover and --spool-limit go with --follow";
    }
    if (settings->pools != NULL && !settings->recovers) {
        return "--pools goes with --recover";
    }
    if (settings->deletes && task >= ETWAS_SHIP_TASK_PROVE) {
        return "--delete goes with what is sent";
    }
    if (task != ETWAS_SHIP_TASK_PROVE &&
        (settings->days != 0 || settings->form != ETWAS_FORM_TEXT)) {
        return "--days and --json go with --prove";
    }
    if (task != ETWAS_SHIP_TASK_DDL &&
        (settings->major != 0 || settings->cluster != NULL || settings->keep_days != 0)) {
        return "--server-version, --cluster and --keep-days go with --ddl";
    }
    return NULL;
}

static const char *where_to(const struct etwas_ship_settings *settings)
{
    bool has_server = settings->target.shard_count != 0;
    bool is_ddl = settings->task == ETWAS_SHIP_TASK_DDL;

    if (is_ddl && has_server == (settings->major != 0)) {
        return "--ddl goes with one of --server and --server-version";
    }
    return !is_ddl && !has_server ? "where to? --server https://HOST:PORT says it" : NULL;
}

static const char *empty_name(const struct etwas_ship_settings *settings)
{
    static char wrong[48];

    for (const struct etwas_option *option = etwas_ship_options; option->name != NULL; option++) {
        const void *place = (const char *)settings + option->offset;
        const char *name = option->type == ETWAS_OPTION_TEXT ? *(const char *const *)place : NULL;

        if (name != NULL && name[0] == '\0') {
            (void)snprintf(wrong, sizeof wrong, "--%s: it is empty", option->name);
            return wrong;
        }
    }
    return NULL;
}

static void complete(struct etwas_ship_settings *settings)
{
    struct etwas_ship_options *target = &settings->target;

    target->stop = -1;
    target->database = settings->database[0] != '\0' ? settings->database : "etwas";
    target->table = settings->table[0] != '\0' ? settings->table : "event";
    target->purpose = settings->task == ETWAS_SHIP_TASK_PROVE ? ETWAS_SHIP_TO_READ
                      : settings->task == ETWAS_SHIP_TASK_DDL ? ETWAS_SHIP_TO_CREATE
                                                              : ETWAS_SHIP_TO_INSERT;
    target->patience_s = (uint32_t)((settings->timeout_ns + NS_A_SECOND - 1) / NS_A_SECOND);
    if (settings->timeout_ns == 0) {
        target->patience_s = target->purpose == ETWAS_SHIP_TO_INSERT ? (uint32_t)ETWAS_SHIP_FOR_EVER
                                                                     : SHORT_PATIENCE_S;
    }
    settings->days = settings->days != 0 ? settings->days : PROVE_DAYS;
    if (settings->host == NULL) {
        (void)gethostname(host_name, sizeof host_name - 1);
        settings->host = host_name;
    }
}

static const char *finish(struct etwas_ship_settings *settings)
{
    const char *misuse = task_of(settings);

    misuse = misuse != NULL ? misuse : empty_name(settings);
    misuse = misuse != NULL ? misuse : astray(settings);
    misuse = misuse != NULL ? misuse : where_to(settings);
    complete(settings);
    return misuse;
}

/* Returns false after reporting an error. */
static bool read_config(const struct etwas_ship_settings *line, bool has_files,
                        struct etwas_ship_settings *settings)
{
    static struct reading reading;

    reading.line = line;
    reading.has_task =
        has_files || line->follow != NULL || line->session != NULL || line->instead != 0;
    reading.settings = settings;
    reading.config.take = take_line;
    reading.config.context = &reading;
    return etwas_ship_config_read(&reading.config, line->config);
}

/*
 * Reads the command line twice: first for the name of the file, then to override the file's
 * options.
 */
bool etwas_ship_settings_read(int argc, char **argv, struct etwas_ship_settings *settings,
                              int *result)
{
    static struct etwas_ship_settings line;
    static struct etwas_files files;
    const char *misuse = NULL;

    memset(&line, 0, sizeof line);
    memset(settings, 0, sizeof *settings);
    if (!etwas_command_read(&etwas_ship_command, argc, argv, &line, result)) {
        return false;
    }
    if (optind < argc) {
        misuse = etwas_files_read(&files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    }
    if (line.config == NULL) {
        *settings = line;
    } else {
        if (!read_config(&line, files.count > 0, settings)) {
            *result = etwas_command_misused(etwas_ship_command.name);
            return false;
        }
        optind = 0;
        (void)etwas_command_read(&etwas_ship_command, argc, argv, settings, result);
    }
    settings->files = files;
    return etwas_command_fits(&etwas_ship_command, misuse != NULL ? misuse : finish(settings),
                              result);
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct etwas_option etwas_ship_options[] = {
    {.name = "follow",
     .value = "FOLDER",
     .help = "send the log files in it, as they come and grow",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FOLDERS,
     ETWAS_PLACE(struct etwas_ship_settings, follow)},
    {.name = "session",
     .value = "NAME",
     .help = "send the log files of a running session, until it ends",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_SESSIONS,
     ETWAS_PLACE(struct etwas_ship_settings, session)},
    ETWAS_FLAG_OPTION(struct etwas_ship_settings, once, "once",
                      "with --follow: until all that is there has arrived"),
    ETWAS_FLAG_OPTION(struct etwas_ship_settings, recovers, "recover",
                      "with --follow: what dead processes left, too"),
    {.name = "pools",
     .value = "FOLDER",
     .help = "with --recover: where they left it",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FOLDERS,
     ETWAS_PLACE(struct etwas_ship_settings, pools)},
    ETWAS_FLAG_OPTION(struct etwas_ship_settings, deletes, "delete",
                      "remove files that have arrived whole"),
    {.name = "spool-limit",
     .value = "SIZE",
     .help = "with --follow: the oldest files beyond it go (bytes)",
     .type = ETWAS_OPTION_SIZE,
     .unit = 1,
     .least = 1,
     ETWAS_PLACE(struct etwas_ship_settings, spool_limit_bytes)},
    {.name = "server",
     .value = "URL",
     .help = "replicas of a shard, with commas; again for each shard",
     .type = ETWAS_OPTION_READ,
     .read = read_server,
     ETWAS_PLACE(struct etwas_ship_settings, target)},
    {.name = "table",
     .value = "TABLE",
     .help = "DATABASE.NAME (default: etwas.event)",
     .type = ETWAS_OPTION_READ,
     .read = read_table},
    {.name = "credentials",
     .value = "FILE",
     .help = "lines user=NAME and password=WORD",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FILES,
     ETWAS_PLACE(struct etwas_ship_settings, target.credentials)},
    {.name = "ca",
     .value = "FILE",
     .help = "trust these certificates, not the system's",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FILES,
     ETWAS_PLACE(struct etwas_ship_settings, target.ca)},
    ETWAS_FLAG_OPTION(struct etwas_ship_settings, target.compresses, "compress",
                      "send blocks compressed by gzip"),
    {.name = "rate",
     .value = "N",
     .help = "at most N rows a second (default: no limit)",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = UINT64_C(1000000000000),
     ETWAS_PLACE(struct etwas_ship_settings, target.rows_per_s)},
    {.name = "timeout",
     .value = "DURATION",
     .help = "wait so long for a server (s, default: for ever)",
     .type = ETWAS_OPTION_DURATION,
     .unit = NS_A_SECOND,
     .least = 1,
     .most = (ETWAS_SHIP_FOR_EVER - 1) * NS_A_SECOND,
     ETWAS_PLACE(struct etwas_ship_settings, timeout_ns)},
    ETWAS_FLAG_OPTION(struct etwas_ship_settings, target.at_least_once, "at-least-once",
                      "also to servers that cannot drop what they have"),
    {.name = "host",
     .value = "NAME",
     .help = "what rows call this machine (default: its name)",
     .type = ETWAS_OPTION_TEXT,
     ETWAS_PLACE(struct etwas_ship_settings, host)},
    {.name = "state",
     .value = "FOLDER",
     .help = "where to keep what was sent: etwas-ship(1)",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FOLDERS,
     ETWAS_PLACE(struct etwas_ship_settings, state)},
    {.name = "config",
     .value = "FILE",
     .help = "lines NAME = VALUE: long options without dashes",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FILES,
     ETWAS_PLACE(struct etwas_ship_settings, config)},
    {.name = "prove",
     .help = "say of each host and session whether all has arrived",
     .type = ETWAS_OPTION_SETTING,
     .setting = ETWAS_SHIP_TASK_PROVE,
     ETWAS_PLACE(struct etwas_ship_settings, instead)},
    {.name = "days",
     .value = "N",
     .help = "with --prove: of so many days (default: 7)",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = MOST_DAYS,
     ETWAS_PLACE(struct etwas_ship_settings, days)},
    ETWAS_JSON_OPTION(struct etwas_ship_settings, form, "with --prove: an object a session"),
    {.name = "ddl",
     .help = "write the statements that make the tables",
     .type = ETWAS_OPTION_SETTING,
     .setting = ETWAS_SHIP_TASK_DDL,
     ETWAS_PLACE(struct etwas_ship_settings, instead)},
    {.name = "server-version",
     .value = "VERSION",
     .help = "with --ddl: for that version, such as 26.7",
     .type = ETWAS_OPTION_READ,
     .read = read_version,
     ETWAS_PLACE(struct etwas_ship_settings, major)},
    {.name = "cluster",
     .value = "NAME",
     .help = "with --ddl: on all servers of it, with replicas",
     .type = ETWAS_OPTION_READ,
     .read = read_cluster,
     ETWAS_PLACE(struct etwas_ship_settings, cluster)},
    {.name = "keep-days",
     .value = "N",
     .help = "with --ddl: the server forgets what is older",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = MOST_DAYS,
     ETWAS_PLACE(struct etwas_ship_settings, keep_days)},
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};
