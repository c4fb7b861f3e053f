/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The options of `etwas ship`, of the command line and of --config, and whether they fit each
 * other.
 */

#include "ship/settings.h"

#include "cli/options.h"
#include "commands.h"
#include "ship/config.h"
#include "ship/help.h"
#include "ship/message.h"
#include "steer/number.h"
#include "trace/input.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ONCE = 256,
    RECOVER,
    POOLS,
    DELETE,
    SPOOL_LIMIT,
    TABLE,
    CREDENTIALS,
    CA,
    COMPRESS,
    RATE,
    PATIENCE,
    AT_LEAST_ONCE,
    HOST,
    STATE,
    CONFIG,
    PROVE,
    DAYS,
    JSON,
    DDL,
    SERVER_VERSION,
    CLUSTER,
    KEEP_DAYS,

    PROVE_DAYS = 7,
    SHORT_PATIENCE_S = 10, /* for a person that waits for the answer */
    IDENTIFIER_BYTES = 65,
};

static const struct option named[] = {
    {"to", required_argument, NULL, 't'},
    {"follow", required_argument, NULL, 'f'},
    {"session", required_argument, NULL, 'S'},
    {"once", no_argument, NULL, ONCE},
    {"recover", no_argument, NULL, RECOVER},
    {"pools", required_argument, NULL, POOLS},
    {"delete", no_argument, NULL, DELETE},
    {"spool-limit", required_argument, NULL, SPOOL_LIMIT},
    {"table", required_argument, NULL, TABLE},
    {"credentials", required_argument, NULL, CREDENTIALS},
    {"ca", required_argument, NULL, CA},
    {"compress", no_argument, NULL, COMPRESS},
    {"rate", required_argument, NULL, RATE},
    {"patience", required_argument, NULL, PATIENCE},
    {"at-least-once", no_argument, NULL, AT_LEAST_ONCE},
    {"host", required_argument, NULL, HOST},
    {"state", required_argument, NULL, STATE},
    {"config", required_argument, NULL, CONFIG},
    {"prove", no_argument, NULL, PROVE},
    {"days", required_argument, NULL, DAYS},
    {"json", no_argument, NULL, JSON},
    {"ddl", no_argument, NULL, DDL},
    {"server-version", required_argument, NULL, SERVER_VERSION},
    {"cluster", required_argument, NULL, CLUSTER},
    {"keep-days", required_argument, NULL, KEEP_DAYS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* What is read, and from where. */
struct reading {
    struct etwas_ship_settings *settings;
    struct etwas_ship_config config;
    const char *config_path;
    bool in_config;
    bool has_task; /* the command line says what to do */
    bool proves;
    bool makes_ddl;
    uint64_t given; /* by the command line: a bit an option of `named` */
    uint64_t known; /* by it or by the file */
};

static struct etwas_ship_shard_addresses shards[ETWAS_SHIP_SHARDS];
static char names[3][IDENTIFIER_BYTES]; /* database, table, cluster */
static char host_name[HOST_NAME_MAX + 1];

_Static_assert(sizeof named / sizeof *named <= 64, "a bit each");

static uint64_t bit_of(int option)
{
    for (uint32_t i = 0; named[i].name != NULL; i++) {
        if (named[i].val == option) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

static const char *name_of(int option)
{
    for (uint32_t i = 0; named[i].name != NULL; i++) {
        if (named[i].val == option) {
            return named[i].name;
        }
    }
    return "";
}

/*
 * "etwas ship: --rate: takes …", or of a line of the file. `value` is NULL where it is not to be
 * seen.
 */
static bool wrong(const struct reading *reading, int option, const char *what, const char *value)
{
    char subject[ETWAS_SHIP_PLACE_BYTES + 32];

    (void)snprintf(subject, sizeof subject, "%s%s%s",
                   reading->in_config ? reading->config.place : "",
                   reading->in_config ? ": " : "--", name_of(option));
    if (value == NULL) {
        etwas_ship_message(subject, "%s", what);
    } else {
        etwas_ship_message(subject, "%s, not '%.200s'", what, value);
    }
    return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool take_to(const struct reading *reading)
{
    struct etwas_ship_options *target = &reading->settings->target;
    const char *what;

    if (target->shard_count == ETWAS_SHIP_SHARDS) {
        return wrong(reading, 't', "is there 256 times at most", NULL);
    }
    what = etwas_ship_address_shard(optarg, &shards[target->shard_count]);
    if (what != NULL) {
        return wrong(reading, 't', what, NULL); /* a password may be in it */
    }
    target->shards = shards;
    target->shard_count++;
    return true;
}

/* Letters, digits and _, no digit first. */
static bool take_identifier(const char *text, size_t bytes, char name[IDENTIFIER_BYTES])
{
    for (size_t i = 0; i < bytes; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') {
            return false;
        }
    }
    if (bytes == 0 || bytes >= IDENTIFIER_BYTES || isdigit((unsigned char)text[0])) {
        return false;
    }
    memcpy(name, text, bytes);
    name[bytes] = '\0';
    return true;
}

static bool take_table(const struct reading *reading)
{
    size_t dot = strcspn(optarg, ".");

    return (optarg[dot] == '.' && take_identifier(optarg, dot, names[0]) &&
            take_identifier(optarg + dot + 1, strlen(optarg + dot + 1), names[1])) ||
           wrong(reading, TABLE, "takes DATABASE.NAME, each of letters, digits and _", optarg);
}

static bool take_cluster(const struct reading *reading)
{
    reading->settings->cluster = names[2];
    return take_identifier(optarg, strlen(optarg), names[2]) ||
           wrong(reading, CLUSTER, "takes a name of letters, digits and _", optarg);
}

static bool take_number(const struct reading *reading, int option, uint32_t most, uint32_t *number)
{
    char what[64];

    (void)snprintf(what, sizeof what, "takes a number from 1 to %u", most);
    return etwas_steer_number_32(optarg, 1, most, number) || wrong(reading, option, what, optarg);
}

static bool take_rate(const struct reading *reading)
{
    return etwas_steer_number(optarg, 1, UINT64_C(1000000000000),
                              &reading->settings->target.rows_per_s) ||
           wrong(reading, RATE, "takes a number of rows from 1 on", optarg);
}

/* 500M: powers of 1,000, and with an i behind of 1,024. */
static bool take_size(const struct reading *reading)
{
    static const char units[] = "kMGT";
    char digits[24];
    size_t count = strspn(optarg, "0123456789");
    const char *unit = optarg[count] != '\0' ? strchr(units, optarg[count]) : NULL;
    const char *end = optarg + count + (unit != NULL);
    uint64_t factor = *end == 'i' ? 1024 : 1000;
    uint64_t size = 0;
    bool good = count > 0 && count < sizeof digits &&
                (*end == 'i' ? unit != NULL && end[1] == '\0' : *end == '\0');

    (void)snprintf(digits, sizeof digits, "%.*s", (int)(count < sizeof digits ? count : 0), optarg);
    good = good && etwas_steer_number(digits, 1, UINT64_MAX, &size);
    for (const char *at = units; good && unit != NULL && at <= unit; at++) {
        good = !__builtin_mul_overflow(size, factor, &size);
    }
    reading->settings->spool_limit_bytes = size;
    return good || wrong(reading, SPOOL_LIMIT, "takes a size, as 500M or 20G", optarg);
}

static bool take_version(const struct reading *reading)
{
    return etwas_ship_version_read(optarg, &reading->settings->major) ||
           wrong(reading, SERVER_VERSION, "takes a version from 18.16 on, as 26.7", optarg);
}

static bool take_valued(const struct reading *reading, int option)
{
    struct etwas_ship_settings *settings = reading->settings;

    switch (option) {
    case 't':
        return take_to(reading);
    case SPOOL_LIMIT:
        return take_size(reading);
    case TABLE:
        return take_table(reading);
    case RATE:
        return take_rate(reading);
    case PATIENCE:
        return take_number(reading, option, ETWAS_SHIP_FOR_EVER - 1, &settings->target.patience_s);
    case DAYS:
        return take_number(reading, option, 36500, &settings->days);
    case KEEP_DAYS:
        return take_number(reading, option, 36500, &settings->keep_days);
    case SERVER_VERSION:
        return take_version(reading);
    case CLUSTER:
        return take_cluster(reading);
    default: /* getopt_long has said what is wrong */
        return false;
    }
}

/* Where the text is kept as it is; NULL: it is not of these. */
static const char **text_of(struct reading *reading, int option)
{
    struct etwas_ship_settings *settings = reading->settings;

    switch (option) {
    case 'f':
        return &settings->follow;
    case 'S':
        return &settings->session;
    case POOLS:
        return &settings->pools;
    case CREDENTIALS:
        return &settings->target.credentials;
    case CA:
        return &settings->target.ca;
    case HOST:
        return &settings->host;
    case STATE:
        return &settings->state;
    case CONFIG:
        return &reading->config_path;
    default:
        return NULL;
    }
}

static bool *flag_of(struct reading *reading, int option)
{
    struct etwas_ship_settings *settings = reading->settings;

    switch (option) {
    case ONCE:
        return &settings->once;
    case RECOVER:
        return &settings->recovers;
    case DELETE:
        return &settings->deletes;
    case COMPRESS:
        return &settings->target.compresses;
    case AT_LEAST_ONCE:
        return &settings->target.at_least_once;
    case PROVE:
        return &reading->proves;
    case JSON:
        return &settings->is_json;
    case DDL:
        return &reading->makes_ddl;
    default:
        return NULL;
    }
}

static bool take_any(struct reading *reading, int option)
{
    const char **text = text_of(reading, option);
    bool *flag = flag_of(reading, option);

    reading->known |= bit_of(option);
    if (text != NULL) {
        *text = optarg;
        return *optarg != '\0' || wrong(reading, option, "takes a name", NULL);
    }
    if (flag != NULL) {
        *flag = true;
        return true;
    }
    return take_valued(reading, option);
}

/* ---- both places ----------------------------------------------------------------------------- */

/* What to do, and how that is done: of the file only where the command line does not say what. */
static bool is_of_task(int option)
{
    switch (option) {
    case 'f':
    case 'S':
    case ONCE:
    case RECOVER:
    case POOLS:
    case DELETE:
    case SPOOL_LIMIT:
    case STATE:
    case PROVE:
    case DAYS:
    case JSON:
    case DDL:
    case SERVER_VERSION:
    case CLUSTER:
    case KEEP_DAYS:
        return true;
    default:
        return false;
    }
}

static bool take_of_line(void *context, int option)
{
    struct reading *reading = context;

    reading->given |= bit_of(option);
    return take_any(reading, option);
}

static bool take_of_config(void *context, int option)
{
    struct reading *reading = context;

    if (option == CONFIG || option == 'h') {
        return wrong(reading, option, "is for the command line alone", NULL);
    }
    if ((reading->given & bit_of(option)) != 0 || (reading->has_task && is_of_task(option))) {
        return true;
    }
    return take_any(reading, option);
}

/* ---- together -------------------------------------------------------------------------------- */

static bool knows(const struct reading *reading, int option)
{
    return (reading->known & bit_of(option)) != 0;
}

static const char *task_of(struct reading *reading)
{
    struct etwas_ship_settings *settings = reading->settings;
    int count = (settings->files.count > 0) + (settings->follow != NULL) +
                (settings->session != NULL) + (int)reading->proves + (int)reading->makes_ddl;

    if (count != 1) {
        return count == 0 ? "what shall be sent? FILE, --follow or --session; or --prove or --ddl"
                          : "FILE, --follow, --session, --prove and --ddl do not go together";
    }
    settings->task = settings->files.count > 0   ? ETWAS_SHIP_TASK_FILES
                     : settings->follow != NULL  ? ETWAS_SHIP_TASK_FOLLOW
                     : settings->session != NULL ? ETWAS_SHIP_TASK_SESSION
                     : reading->proves           ? ETWAS_SHIP_TASK_PROVE
                                                 : ETWAS_SHIP_TASK_DDL;
    return NULL;
}

/* What belongs to one thing, and stands beside another. */
static const char *astray(const struct reading *reading)
{
    enum etwas_ship_task task = reading->settings->task;

    if (task != ETWAS_SHIP_TASK_FOLLOW &&
        (knows(reading, ONCE) || knows(reading, RECOVER) || knows(reading, SPOOL_LIMIT))) {
        return "--once, --recover and --spool-limit go with --follow";
    }
    if (knows(reading, POOLS) && !knows(reading, RECOVER)) {
        return "--pools goes with --recover";
    }
    if (knows(reading, DELETE) && task >= ETWAS_SHIP_TASK_PROVE) {
        return "--delete goes with what is sent";
    }
    if (task != ETWAS_SHIP_TASK_PROVE && (knows(reading, DAYS) || knows(reading, JSON))) {
        return "--days and --json go with --prove";
    }
    if (task != ETWAS_SHIP_TASK_DDL &&
        (knows(reading, SERVER_VERSION) || knows(reading, CLUSTER) || knows(reading, KEEP_DAYS))) {
        return "--server-version, --cluster and --keep-days go with --ddl";
    }
    return NULL;
}

static const char *where_to(const struct reading *reading)
{
    bool is_ddl = reading->settings->task == ETWAS_SHIP_TASK_DDL;

    if (is_ddl && knows(reading, 't') == knows(reading, SERVER_VERSION)) {
        return "--ddl goes with one of --to and --server-version";
    }
    return !is_ddl && !knows(reading, 't') ? "where to? --to https://HOST:PORT" : NULL;
}

static const char *finish(struct reading *reading)
{
    struct etwas_ship_settings *settings = reading->settings;
    const char *misuse = task_of(reading);

    misuse = misuse != NULL ? misuse : astray(reading);
    misuse = misuse != NULL ? misuse : where_to(reading);
    settings->target.purpose = settings->task == ETWAS_SHIP_TASK_PROVE ? ETWAS_SHIP_TO_READ
                               : settings->task == ETWAS_SHIP_TASK_DDL ? ETWAS_SHIP_TO_CREATE
                                                                       : ETWAS_SHIP_TO_INSERT;
    if (settings->target.patience_s == 0) {
        settings->target.patience_s = settings->target.purpose == ETWAS_SHIP_TO_INSERT
                                          ? ETWAS_SHIP_FOR_EVER
                                          : SHORT_PATIENCE_S;
    }
    if (settings->host == NULL) {
        (void)gethostname(host_name, sizeof host_name - 1);
        settings->host = host_name;
    }
    return misuse;
}

bool etwas_ship_settings_read(int argc, char **argv, struct etwas_ship_settings *settings,
                              int *result)
{
    static const struct etwas_options options = {"ship", etwas_ship_help, named, "t:f:S:h",
                                                 take_of_line};
    static struct reading reading;
    static struct etwas_files files;
    const char *misuse;

    memset(settings, 0, sizeof *settings);
    reading = (struct reading){.settings = settings};
    reading.config.named = named;
    reading.config.take = take_of_config;
    reading.config.context = &reading;
    settings->days = PROVE_DAYS;
    settings->target.stop = -1;
    settings->target.database = strcpy(names[0], "etwas");
    settings->target.table = strcpy(names[1], "event");
    if (!etwas_options_read(&options, argc, argv, &reading, result)) {
        return false;
    }
    misuse = optind < argc ? etwas_files_read(&files, argv + optind, argv + argc, ETWAS_INPUT_FILES)
                           : NULL;
    settings->files = files;
    reading.has_task = files.count > 0 || settings->follow != NULL || settings->session != NULL ||
                       reading.proves || reading.makes_ddl;
    reading.in_config = reading.config_path != NULL;
    if (reading.in_config && !etwas_ship_config_read(&reading.config, reading.config_path)) {
        *result = etwas_command_misused(options.command);
        return false;
    }
    return etwas_options_fit(&options, misuse != NULL ? misuse : finish(&reading), result);
}
