/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/state/server_progress.h"

#include "cli/quiet.h"
#include "ship/message.h"
#include "ship/wait.h"
#include "ship/wire/target_inside.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    SQL_BYTES = 1024,
    MOST_NUMBERS = 6,
    RUNNING_WAIT_MS = 100,
};

struct asking {
    struct etwas_ship_server_progress *progress;
    uint64_t numbers[MOST_NUMBERS];
    uint64_t running; /* running inserts of the file, on all replicas */
    bool is_nonsense; /* a server's answer is impossible */
};

/* ---- answers --------------------------------------------------------------------------------- */

static bool read_numbers(struct asking *asking, const struct etwas_ship_field *fields,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        asking->is_nonsense =
            asking->is_nonsense || !etwas_ship_field_number(&fields[i], &asking->numbers[i]);
    }
    return !asking->is_nonsense;
}

static void keep_most(uint64_t *most, uint64_t number)
{
    *most = number > *most ? number : *most;
}

static bool take_buffers(void *context, const struct etwas_ship_field *fields)
{
    struct asking *asking = context;
    struct etwas_ship_server_progress *progress = asking->progress;
    const uint64_t *numbers = asking->numbers;

    if (!read_numbers(asking, fields, 6)) {
        return false;
    }
    keep_most(&progress->buffers, numbers[0]);
    keep_most(&progress->last_buffer, numbers[1]);
    progress->has_end = progress->has_end || numbers[2] != 0;
    progress->has_other_end = progress->has_other_end || numbers[3] != 0;
    progress->has_gone = progress->has_gone || numbers[4] != 0;
    progress->has_this_gone = progress->has_this_gone || numbers[5] != 0;
    return true;
}

static bool take_events(void *context, const struct etwas_ship_field *fields)
{
    struct asking *asking = context;

    if (!read_numbers(asking, fields, 2) || asking->numbers[1] > asking->numbers[0]) {
        asking->is_nonsense = true;
        return false;
    }
    keep_most(&asking->progress->events, asking->numbers[0]);
    keep_most(&asking->progress->ahead, asking->numbers[1]);
    return true;
}

/* A replica that lags behind the others returns an earlier event, which is sufficient. */
static bool take_last(void *context, const struct etwas_ship_field *fields)
{
    struct asking *asking = context;
    const uint64_t *numbers = asking->numbers;

    if (!read_numbers(asking, fields, 4) || numbers[1] > UINT32_MAX || numbers[3] > UINT32_MAX) {
        asking->is_nonsense = true;
        return false;
    }
    asking->progress->last = (struct etwas_ship_event){.buffer = numbers[0],
                                                       .pos = (uint32_t)numbers[1],
                                                       .unix_ns = (int64_t)numbers[2],
                                                       .error_ns = (uint32_t)numbers[3]};
    return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

static enum etwas_ship_sent ask(struct etwas_ship_target *target, uint64_t session,
                                struct etwas_ship_question *question)
{
    struct asking *asking = question->context;
    uint32_t shard = etwas_ship_target_shard(target, session);
    enum etwas_ship_sent sent = etwas_ship_ask(target, shard, ETWAS_SHIP_EACH, question);

    if (sent == ETWAS_SHIP_SENT && asking->is_nonsense) {
        etwas_ship_message(
            etwas_ship_target_table(target, ETWAS_SHIP_EVENTS),
            "a server answers what cannot be when it is asked what it has of a file");
        return ETWAS_SHIP_REFUSED;
    }
    return sent;
}

static enum etwas_ship_sent ask_buffers(struct etwas_ship_target *target,
                                        const struct etwas_ship_file_key *file_key,
                                        struct asking *asking)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 6, .row = take_buffers, .context = asking};

    (void)snprintf(
        sql, sizeof sql,
        "select countIf(state = 0), maxIf(buffer, state = 0),"
        " countIf(state in (1, 3) and last_unix_time = toInt64(%" PRId64 ")),"
        " countIf(state in (1, 3) and last_unix_time != toInt64(%" PRId64 ")),"
        " countIf(state = 2), countIf(state = 2 and last_unix_time = toInt64(%" PRId64 "))"
        " from %s where session_id = %" PRIu64 " and part = %" PRIu32,
        file_key->ended_ns, file_key->ended_ns, file_key->gone_ns,
        etwas_ship_target_table(target, ETWAS_SHIP_BUFFERS), file_key->session, file_key->part);
    return ask(target, file_key->session, &question);
}

static enum etwas_ship_sent ask_events(struct etwas_ship_target *target,
                                       const struct etwas_ship_file_key *file_key,
                                       struct asking *asking)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 2, .row = take_events, .context = asking};

    (void)snprintf(sql, sizeof sql,
                   "select count(), uniqExactIf(buffer, position, buffer > %" PRIu64 ")"
                   " from %s where session_id = %" PRIu64 " and part = %" PRIu32,
                   asking->progress->last_buffer,
                   etwas_ship_target_table(target, ETWAS_SHIP_EVENTS), file_key->session,
                   file_key->part);
    return ask(target, file_key->session, &question);
}

static enum etwas_ship_sent ask_last(struct etwas_ship_target *target,
                                     const struct etwas_ship_file_key *file_key,
                                     struct asking *asking)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 4, .row = take_last, .context = asking};

    (void)snprintf(
        sql, sizeof sql,
        "select buffer, position, toUInt64(unix_time), time_error from %s where session_id = "
        "%" PRIu64 " and part = %" PRIu32 " order by buffer desc, position desc limit 1",
        etwas_ship_target_table(target, ETWAS_SHIP_EVENTS), file_key->session, file_key->part);
    return ask(target, file_key->session, &question);
}

/* ---- inserts that still run ------------------------------------------------------------------ */

static bool take_running(void *context, const struct etwas_ship_field *fields)
{
    struct asking *asking = context;

    if (read_numbers(asking, fields, 1)) {
        asking->running += asking->numbers[0];
    }
    return !asking->is_nonsense;
}

static enum etwas_ship_sent ask_running(struct etwas_ship_target *target,
                                        const struct etwas_ship_file_key *file_key,
                                        struct asking *asking)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 1, .row = take_running, .context = asking};

    (void)snprintf(sql, sizeof sql,
                   "select count() from system.processes where query_id like '" ETWAS_SHIP_QUERY_ID
                       ETWAS_SHIP_FILE_TOKEN "%%'",
                   file_key->session, file_key->part);
    asking->running = 0;
    return ask(target, file_key->session, &question);
}

/*
 * A server continues an insert whose shipper was killed. Its rows may appear after an answer that
 * did not count them. So the servers are queried when no insert of the file runs any more.
 */
static enum etwas_ship_sent wait_for_running(struct etwas_ship_target *target,
                                             const struct etwas_ship_file_key *file_key,
                                             struct asking *asking)
{
    const struct etwas_ship_options *options = target->options;
    const char *table = etwas_ship_target_table(target, ETWAS_SHIP_EVENTS);
    int64_t began_ms = etwas_ship_now_ms();
    bool is_said = false;

    for (;;) {
        enum etwas_ship_sent sent = ask_running(target, file_key, asking);

        if (sent != ETWAS_SHIP_SENT || asking->running == 0) {
            return sent;
        }
        if (options->patience_s != ETWAS_SHIP_FOR_EVER &&
            etwas_ship_now_ms() - began_ms > options->patience_s * INT64_C(1000)) {
            etwas_ship_message(table,
                               "an insert of a killed shipper has not ended within %u s "
                               "(--timeout)",
                               options->patience_s);
            return ETWAS_SHIP_REFUSED;
        }
        if (!is_said && !etwas_is_quiet) {
            etwas_ship_message(table, "an insert of a killed shipper still runs; waiting for it");
            is_said = true;
        }
        if (!etwas_ship_wait_ms(options->stop, RUNNING_WAIT_MS)) {
            return ETWAS_SHIP_STOPPED;
        }
    }
}

enum etwas_ship_sent etwas_ship_server_progress_ask(struct etwas_ship_target *target,
                                                    const struct etwas_ship_file_key *file_key,
                                                    struct etwas_ship_server_progress *progress)
{
    struct asking asking = {.progress = progress};
    enum etwas_ship_sent sent;

    *progress = (struct etwas_ship_server_progress){0};
    sent = wait_for_running(target, file_key, &asking);
    if (sent == ETWAS_SHIP_SENT) {
        sent = ask_buffers(target, file_key, &asking);
    }
    if (sent == ETWAS_SHIP_SENT) {
        sent = ask_events(target, file_key, &asking);
    }
    return sent == ETWAS_SHIP_SENT && progress->events != 0 ? ask_last(target, file_key, &asking)
                                                            : sent;
}
