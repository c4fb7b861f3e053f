/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Opens, queries and closes a target. */

#include "ship/wire/target.h"

#include "cli/built.h"
#include "ship/message.h"
#include "ship/wire/target_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static const char server_option[] = "--server";

/* ---- made ------------------------------------------------------------------------------------ */

static void set_up_shard(struct etwas_ship_target *target, uint32_t index)
{
    const struct etwas_ship_options *options = target->options;
    const struct etwas_ship_shard_addresses *addresses = &options->shards[index];
    struct etwas_ship_shard *shard = &target->shards[index];

    shard->count = addresses->count;
    if (getrandom(&shard->chance, sizeof shard->chance, 0) != sizeof shard->chance) {
        shard->chance = (uint32_t)time(NULL);
    }
    shard->chance |= 1; /* never 0 */
    for (uint32_t i = 0; i < shard->count; i++) {
        shard->replicas[i].options = (struct etwas_ship_http_options){
            &addresses->replicas[i], &target->secret, options->ca, options->stop};
    }
}

/* Makes `etwas`.`event`. Identifiers need no other escapes. */
static void name_tables(struct etwas_ship_target *target)
{
    const struct etwas_ship_options *options = target->options;

    for (uint32_t i = 0; i < ETWAS_SHIP_TABLES; i++) {
        (void)snprintf(target->tables[i], ETWAS_SHIP_TABLE_BYTES, "`%s`.`%s%s`", options->database,
                       options->table, etwas_ship_table_suffix((enum etwas_ship_table)i));
    }
}

/* Makes "https://db1:8443 https://db3:8443 etwas.event". */
char *etwas_ship_target_make_name(const struct etwas_ship_options *options)
{
    size_t bytes = ETWAS_SHIP_TABLE_BYTES + (size_t)options->shard_count * ETWAS_SHIP_URL_BYTES;
    size_t used = 0;
    char *name = malloc(bytes);

    if (name == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < options->shard_count; i++) {
        used +=
            (size_t)snprintf(name + used, bytes - used, "%s ", options->shards[i].replicas[0].url);
    }
    (void)snprintf(name + used, bytes - used, "%s.%s", options->database, options->table);
    return name;
}

static struct etwas_ship_target *make(const struct etwas_ship_options *options)
{
    struct etwas_ship_target *target =
        calloc(1, sizeof *target + (size_t)options->shard_count * sizeof(struct etwas_ship_shard));

    if (target == NULL) {
        return NULL;
    }
    target->options = options;
    target->shard_count = options->shard_count;
    target->rate.rows_per_s = options->rows_per_s;
    (void)pthread_mutex_init(&target->rate.lock, NULL);
    (void)pthread_mutex_init(&target->lock, NULL);
    for (uint32_t i = 0; i < target->shard_count; i++) {
        set_up_shard(target, i);
    }
    name_tables(target);
    return target;
}

void etwas_ship_target_close(struct etwas_ship_target *target)
{
    if (target == NULL) {
        return;
    }
    for (uint32_t i = 0; i < target->shard_count; i++) {
        struct etwas_ship_shard *shard = &target->shards[i];

        for (uint32_t j = 0; j < shard->count; j++) {
            etwas_ship_http_close(shard->replicas[j].http);
        }
        etwas_ship_pack_free(&shard->pack);
    }
    etwas_ship_secret_forget(&target->secret);
    (void)pthread_mutex_destroy(&target->rate.lock);
    (void)pthread_mutex_destroy(&target->lock);
    free(target);
}

/* ---- opened ---------------------------------------------------------------------------------- */

/* Returns false after reporting what this build lacks. */
static bool can(const struct etwas_ship_options *options)
{
#ifdef ETWAS_LIBCURL
    static const char no_curl[] = "no server is reached without libcurl, which is not installed. "
                                  "On Debian install libcurl4";
#else
    static const char no_curl[] = "no server is reached without libcurl, and this etwas was built "
                                  "without it. " ETWAS_BUILT_CURE("libcurl4-openssl-dev");
#endif

    if (!etwas_ship_http_begin()) {
        etwas_ship_message(server_option, "%s", no_curl);
        return false;
    }
    if (options->compresses && !etwas_ship_pack_is_there()) {
        etwas_ship_message("--compress",
                           "this etwas was built without zlib. " ETWAS_BUILT_CURE("zlib1g-dev"));
        return false;
    }
    return true;
}

/*
 * Warns that an unencrypted password can be read on the network, unless the server is on this
 * machine.
 */
static void say_open_password(const struct etwas_ship_target *target)
{
    for (uint32_t i = 0; i < target->shard_count; i++) {
        for (uint32_t j = 0; j < target->shards[i].count; j++) {
            const struct etwas_ship_address *address =
                target->shards[i].replicas[j].options.address;
            bool is_here = strcmp(address->host, "localhost") == 0 ||
                           strcmp(address->host, "::1") == 0 ||
                           strncmp(address->host, "127.", 4) == 0;

            if (target->secret.password[0] != '\0' && !address->is_tls && !is_here) {
                etwas_ship_message(address->url,
                                   "gets the password as everybody on the way can read "
                                   "it; https:// would hide it");
                return;
            }
        }
    }
}

/*
 * A shard that is away is checked at its first use, so that the others get their rows meanwhile. At
 * least one must answer, because its types determine the blocks. For queries only, all must answer.
 */
static enum etwas_ship_sent look_at_each(struct etwas_ship_target *target)
{
    bool may_be_away = target->options->purpose == ETWAS_SHIP_TO_INSERT && target->shard_count > 1;
    uint32_t checked = 0;

    for (uint32_t i = 0; i < target->shard_count; i++) {
        enum etwas_ship_sent sent = etwas_ship_check(target, i, may_be_away);

        if (sent != ETWAS_SHIP_SENT && !(may_be_away && target->shards[i].is_away)) {
            return sent;
        }
        checked += sent == ETWAS_SHIP_SENT;
    }
    return checked > 0 ? ETWAS_SHIP_SENT : etwas_ship_check(target, 0, false);
}

static enum etwas_ship_sent look_at_shards(struct etwas_ship_target *target)
{
    enum etwas_ship_sent sent;

    if (target->options->patience_s != ETWAS_SHIP_FOR_EVER) {
        target->open_end_ms = etwas_ship_now_ms() + target->options->patience_s * INT64_C(1000);
    }
    sent = look_at_each(target);
    target->open_end_ms = 0;
    return sent;
}

enum etwas_ship_opened etwas_ship_target_open(const struct etwas_ship_options *options,
                                              struct etwas_ship_target **target)
{
    static const enum etwas_ship_opened opened[] = {
        [ETWAS_SHIP_SENT] = ETWAS_SHIP_OPENED,
        [ETWAS_SHIP_STOPPED] = ETWAS_SHIP_OPEN_STOPPED,
        [ETWAS_SHIP_REFUSED] = ETWAS_SHIP_OPEN_REFUSED,
    };
    enum etwas_ship_opened result;

    *target = NULL;
    if (!can(options)) {
        return ETWAS_SHIP_OPEN_REFUSED;
    }
    *target = make(options);
    if (*target == NULL) {
        etwas_ship_message(server_option, "not enough memory");
        return ETWAS_SHIP_OPEN_REFUSED;
    }
    if (etwas_ship_secret_read(options->credentials, &(*target)->secret)) {
        say_open_password(*target);
        result = opened[look_at_shards(*target)];
    } else {
        result = ETWAS_SHIP_OPEN_REFUSED;
    }
    if (result != ETWAS_SHIP_OPENED) {
        etwas_ship_target_close(*target);
        *target = NULL;
    }
    return result;
}

/* ---- asked ----------------------------------------------------------------------------------- */

uint32_t etwas_ship_target_shards(const struct etwas_ship_target *target)
{
    return target->shard_count;
}

uint32_t etwas_ship_target_replicas(const struct etwas_ship_target *target, uint32_t shard)
{
    return target->shards[shard].count;
}

void etwas_ship_target_turn(struct etwas_ship_target *target, uint32_t shard)
{
    struct etwas_ship_shard *own = &target->shards[shard];

    own->current = (own->current + 1) % own->count;
}

uint32_t etwas_ship_target_shard(const struct etwas_ship_target *target, uint64_t session)
{
    return (uint32_t)(session % target->shard_count);
}

const char *etwas_ship_target_table(const struct etwas_ship_target *target,
                                    enum etwas_ship_table table)
{
    return target->tables[table];
}

uint32_t etwas_ship_target_version(const struct etwas_ship_target *target)
{
    return target->version;
}

const struct etwas_ship_dialect *etwas_ship_target_dialect(const struct etwas_ship_target *target)
{
    return &target->dialect;
}
