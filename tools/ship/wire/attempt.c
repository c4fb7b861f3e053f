/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sends a request until it is answered, to replicas in turn and with waits between, and reports
 * errors.
 */

#include "cli/quiet.h"
#include "ship/message.h"
#include "ship/wire/answer.h"
#include "ship/wire/target_inside.h"

#include <stdio.h>
#include <string.h>

enum {
    SHOWN_BYTES = 400, /* of a server's text */
    LONG_PASSWORD = 4, /* a shorter one may occur in any text by chance */
};

/* ---- what a server's answer is --------------------------------------------------------------- */

/* An answer must also have the expected content. Otherwise the request is sent again. */
static enum etwas_ship_meaning content_means(const struct etwas_ship_attempt *attempt,
                                             const struct etwas_ship_reply *reply)
{
    bool good = attempt->is_insert
                    ? reply->bytes == 0 && reply->is_clickhouse
                    : etwas_ship_answer_is_rows(reply->text, reply->bytes, attempt->columns);

    return good ? ETWAS_SHIP_MEANS_GOOD : ETWAS_SHIP_MEANS_PASSING;
}

static enum etwas_ship_meaning reply_means(const struct etwas_ship_attempt *attempt,
                                           struct etwas_ship_reply *reply)
{
    enum etwas_ship_meaning meaning;

    if (reply->exception == 0) {
        reply->exception = reply->status == 200
                               ? etwas_ship_answer_late_exception(reply->text, reply->bytes)
                               : etwas_ship_answer_exception(reply->text, reply->bytes);
    }
    meaning = etwas_ship_answer_means(reply->status, reply->exception);
    return meaning == ETWAS_SHIP_MEANS_GOOD ? content_means(attempt, reply) : meaning;
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* Returns the server's text for a message, unless it contains the password. */
static const char *words(const struct etwas_ship_target *target,
                         const struct etwas_ship_reply *reply, char shown[SHOWN_BYTES])
{
    const char *password = target->secret.password;
    size_t length = strlen(password);

    if (reply->bytes == 0) {
        return "(no words)";
    }
    if (length >= LONG_PASSWORD && memmem(reply->text, reply->bytes, password, length) != NULL) {
        return "(its words are not shown, since the password is among them)";
    }
    (void)snprintf(shown, SHOWN_BYTES, "%s", reply->text);
    shown[strcspn(shown, "\r\n")] = '\0';
    return shown;
}

static void say_waiting(const struct etwas_ship_target *target, const char *url,
                        const struct etwas_ship_reply *reply)
{
    char shown[SHOWN_BYTES];

    if (reply->came == ETWAS_SHIP_CAME_NOTHING) {
        etwas_ship_message(url, "does not answer: %s; it is tried again until one answers",
                           reply->trouble);
    } else if (reply->came == ETWAS_SHIP_CAME_TOO_LONG || reply->status == 200) {
        etwas_ship_message(url,
                           "answers what ClickHouse would not; it is tried again until it does");
    } else {
        etwas_ship_message(url, "cannot do it now (HTTP %u): %s; it is tried again until it can",
                           reply->status, words(target, reply, shown));
    }
}

static void say_login(const struct etwas_ship_target *target, const char *url, const char *why)
{
    if (target->secret.is_there) {
        etwas_ship_message(url, "does not accept the user '%s' with the password in '%s': %s",
                           target->secret.user, target->secret.path, why);
    } else {
        etwas_ship_message(
            url, "wants a user and a password: %s; --credentials names a file of them", why);
    }
}

static void say_refused(const struct etwas_ship_target *target, const char *url,
                        const struct etwas_ship_attempt *attempt,
                        const struct etwas_ship_reply *reply, enum etwas_ship_meaning meaning)
{
    char shown[SHOWN_BYTES];
    const char *why = words(target, reply, shown);

    switch (meaning) {
    case ETWAS_SHIP_MEANS_LOGIN:
        say_login(target, url, why);
        break;
    case ETWAS_SHIP_MEANS_RIGHTS:
        etwas_ship_message(url, "does not let the user '%s' do this: %s",
                           target->secret.is_there ? target->secret.user : "default", why);
        break;
    case ETWAS_SHIP_MEANS_NO_TABLE:
        etwas_ship_message(url, "lacks a table: %s; 'etwas ship --ddl' prints what makes it", why);
        break;
    case ETWAS_SHIP_MEANS_MOVED:
        etwas_ship_message(url,
                           "answers HTTP %u, to look elsewhere, which is not done: "
                           "--server has to name the server itself",
                           reply->status);
        break;
    case ETWAS_SHIP_MEANS_STRANGER:
        etwas_ship_message(url, "answers HTTP %u, and not as ClickHouse does: %s", reply->status,
                           why);
        break;
    default:
        etwas_ship_message(url,
                           attempt->is_insert
                               ? "refuses rows for good: %s; nothing is skipped, and what "
                                 "has not arrived stays where it is"
                               : "does not do what it is asked: %s",
                           why);
    }
}

/*
 * Reports that the server cannot be used, or that its answer is too long. Returns false if it is
 * none of these.
 */
static bool say_unusable(const char *url, const struct etwas_ship_reply *reply,
                         const struct etwas_ship_attempt *attempt)
{
    if (reply->came == ETWAS_SHIP_CAME_UNTRUSTED) {
        etwas_ship_message(url,
                           "its certificate is not trusted: %s; --ca names a file of those that "
                           "are",
                           reply->trouble);
    } else if (reply->came == ETWAS_SHIP_CAME_BAD_CA) {
        etwas_ship_message(
            url,
            "its certificate cannot be checked: %s; --ca names a file of trusted ones, and the "
            "system's are in the package ca-certificates",
            reply->trouble);
    } else if (reply->came == ETWAS_SHIP_CAME_TOO_LONG && !attempt->is_insert) {
        etwas_ship_message(url, "answers more than %zu bytes", attempt->request.most_reply_bytes);
    } else {
        return false;
    }
    return true;
}

/* ---- one attempt ----------------------------------------------------------------------------- */

static bool open_connection(struct etwas_ship_replica *replica)
{
    if (replica->http == NULL) {
        replica->http = etwas_ship_http_open(&replica->options);
    }
    return replica->http != NULL;
}

/* `deadline_ms` is as in etwas_ship_request. */
static enum etwas_ship_meaning run(struct etwas_ship_replica *replica,
                                   const struct etwas_ship_attempt *attempt, int64_t deadline_ms,
                                   struct etwas_ship_reply *reply)
{
    struct etwas_ship_request request = attempt->request;

    request.deadline_ms = deadline_ms;
    request.query = attempt->modern_query != NULL && replica->version >= ETWAS_SHIP_MODERN_INSERTS
                        ? attempt->modern_query
                        : attempt->query;
    etwas_ship_http_run(replica->http, &request, reply);
    if (reply->came == ETWAS_SHIP_CAME_REPLY) {
        return reply_means(attempt, reply);
    }
    replica->version = 0;
    return ETWAS_SHIP_MEANS_PASSING;
}

/*
 * A server that was away may be another one now. Its version is queried first, so that no megabytes
 * are sent to a server that cannot take them.
 */
static enum etwas_ship_meaning ask_version(struct etwas_ship_replica *replica, int64_t deadline_ms,
                                           struct etwas_ship_reply *reply)
{
    static char sql[] = "select version() format TabSeparated";
    struct iovec piece = {sql, sizeof sql - 1};
    const struct etwas_ship_attempt attempt = {
        .request = {.pieces = &piece,
                    .piece_count = 1,
                    .bytes = sizeof sql - 1,
                    .limit_s = ETWAS_SHIP_REQUEST_LIMIT_S,
                    .most_reply_bytes = 4096},
        .query = "?wait_end_of_query=1",
        .columns = 1,
    };
    enum etwas_ship_meaning meaning = run(replica, &attempt, deadline_ms, reply);

    if (meaning == ETWAS_SHIP_MEANS_GOOD) {
        replica->version = etwas_ship_answer_version(reply->text);
        meaning = replica->version != 0 ? meaning : ETWAS_SHIP_MEANS_PASSING;
    }
    return meaning;
}

static enum etwas_ship_meaning attempt_once(struct etwas_ship_replica *replica,
                                            const struct etwas_ship_attempt *attempt,
                                            int64_t deadline_ms, struct etwas_ship_reply *reply)
{
    enum etwas_ship_meaning meaning = ETWAS_SHIP_MEANS_GOOD;

    if (!open_connection(replica)) {
        memset(reply, 0, sizeof *reply);
        reply->came = ETWAS_SHIP_CAME_NOTHING;
        (void)snprintf(reply->trouble, sizeof reply->trouble, "not enough memory");
        return ETWAS_SHIP_MEANS_PASSING;
    }
    if (replica->version == 0) {
        meaning = ask_version(replica, deadline_ms, reply);
    }
    return meaning == ETWAS_SHIP_MEANS_GOOD ? run(replica, attempt, deadline_ms, reply) : meaning;
}

/* ---- and all of them ------------------------------------------------------------------------- */

/* xorshift: the waits of an attempt, and those of different hosts, must differ. */
static uint32_t next_chance(struct etwas_ship_shard *shard)
{
    uint32_t chance = shard->chance;

    chance ^= chance << 13;
    chance ^= chance >> 17;
    chance ^= chance << 5;
    shard->chance = chance;
    return chance;
}

struct timeout {
    struct etwas_ship_wait wait;
    int64_t began_ms;
    int64_t end_ms; /* of all attempts; 0: never */
};

static struct timeout timeout_of(const struct etwas_ship_target *target)
{
    uint32_t patience_s = target->options->patience_s;
    int64_t now_ms = etwas_ship_now_ms();

    return (struct timeout){.began_ms = now_ms,
                            .end_ms = target->open_end_ms != 0 ? target->open_end_ms
                                      : patience_s != ETWAS_SHIP_FOR_EVER
                                          ? now_ms + patience_s * INT64_C(1000)
                                          : 0};
}

/*
 * Divides the remaining time by the number of untried servers: `others` shards, and this shard's
 * other replicas. So a replica that hangs cannot use all of it.
 */
static int64_t deadline_of(const struct timeout *timeout, uint32_t replicas, uint32_t others)
{
    int64_t now_ms = etwas_ship_now_ms();
    uint32_t untried = timeout->wait.count < replicas ? replicas - timeout->wait.count : 1;

    return timeout->end_ms != 0 ? now_ms + (timeout->end_ms - now_ms) / (untried + others) : 0;
}

/* Waits before the next attempt. Returns ETWAS_SHIP_SENT, or else why there is none. */
static enum etwas_ship_sent wait_for_next(const struct etwas_ship_options *options, const char *url,
                                          struct etwas_ship_shard *shard, bool is_hurried,
                                          struct timeout *timeout)
{
    uint32_t ms = etwas_ship_wait_next_ms(&timeout->wait, next_chance(shard));

    if (is_hurried && timeout->wait.count >= shard->count) {
        shard->is_away = true;
        return ETWAS_SHIP_REFUSED;
    }
    if (timeout->end_ms != 0 && etwas_ship_now_ms() + ms > timeout->end_ms) {
        etwas_ship_message(url, "has not answered as it should within %u s (--timeout)",
                           options->patience_s);
        return ETWAS_SHIP_REFUSED;
    }
    return etwas_ship_wait_ms(options->stop, ms) ? ETWAS_SHIP_SENT : ETWAS_SHIP_STOPPED;
}

enum etwas_ship_sent etwas_ship_attempt(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, const struct etwas_ship_attempt *attempt,
                                        struct etwas_ship_reply *reply)
{
    struct etwas_ship_shard *own = &target->shards[shard];
    struct timeout timeout = timeout_of(target);
    uint32_t others = attempt->is_hurried ? target->shard_count - shard - 1 : 0;
    enum etwas_ship_sent sent;
    enum etwas_ship_meaning meaning;
    const char *url;

    own->is_away = false;
    for (;;) {
        uint32_t index = replica >= 0 ? (uint32_t)replica : own->current;

        url = own->replicas[index].options.address->url;
        meaning = attempt_once(&own->replicas[index], attempt,
                               deadline_of(&timeout, replica >= 0 ? 1 : own->count, others), reply);
        if (reply->came == ETWAS_SHIP_CAME_STOP) {
            return ETWAS_SHIP_STOPPED;
        }
        if (meaning != ETWAS_SHIP_MEANS_PASSING || say_unusable(url, reply, attempt)) {
            own->current = index;
            break;
        }
        if (timeout.wait.count == 0) {
            say_waiting(target, url, reply);
        }
        own->current = (index + 1) % own->count;
        sent = wait_for_next(target->options, url, own, attempt->is_hurried, &timeout);
        if (sent != ETWAS_SHIP_SENT) {
            return sent;
        }
    }
    if (meaning == ETWAS_SHIP_MEANS_GOOD && timeout.wait.count > 0 && !etwas_is_quiet) {
        etwas_ship_message(url, "answers after %.1f s; it goes on",
                           (double)(etwas_ship_now_ms() - timeout.began_ms) / 1000);
    }
    if (meaning == ETWAS_SHIP_MEANS_GOOD) {
        return ETWAS_SHIP_SENT;
    }
    if (attempt->error != NULL && reply->exception != 0) {
        *attempt->error = reply->exception;
    } else if (meaning != ETWAS_SHIP_MEANS_PASSING) {
        say_refused(target, url, attempt, reply, meaning);
    }
    return ETWAS_SHIP_REFUSED;
}
