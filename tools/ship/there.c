/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/there.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SQL_BYTES = 1024
};

/* What is not a number counts as none: who says so has no such table. */
static uint64_t number_of(const struct etwas_ship_field *field)
{
    return strtoull(field->text, NULL, 10);
}

static void keep_most(uint64_t *most, uint64_t number)
{
    *most = number > *most ? number : *most;
}

static bool take_buffers(void *context, const struct etwas_ship_field *fields)
{
    struct etwas_ship_there *there = context;

    keep_most(&there->buffers, number_of(&fields[0]));
    keep_most(&there->last_buffer, number_of(&fields[1]));
    there->has_end = there->has_end || number_of(&fields[2]) != 0;
    there->has_other_end = there->has_other_end || number_of(&fields[3]) != 0;
    there->has_gone = there->has_gone || number_of(&fields[4]) != 0;
    return true;
}

static bool take_events(void *context, const struct etwas_ship_field *fields)
{
    struct etwas_ship_there *there = context;

    keep_most(&there->events, number_of(&fields[0]));
    keep_most(&there->ahead, number_of(&fields[1]));
    return true;
}

/* A time of the table as ns since 1970, whatever its type is there. */
static const char *last_ns(const struct etwas_ship_target *target)
{
    const struct etwas_ship_dialect *dialect = etwas_ship_target_dialect(target);

    return (dialect->modern[ETWAS_SHIP_BUFFERS] >> ETWAS_SHIP_BUFFER_LAST & 1) != 0
               ? "toUnixTimestamp64Nano(last)"
               : "toInt64(last)";
}

static enum etwas_ship_sent ask_buffers(struct etwas_ship_target *target,
                                        const struct etwas_ship_whose *whose,
                                        struct etwas_ship_there *there)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 5, .row = take_buffers, .context = there};
    const char *last = last_ns(target);

    (void)snprintf(sql, sizeof sql,
                   "select countIf(state = 0), maxIf(buffer, state = 0),"
                   " countIf(state in (1, 3) and %s = toInt64(%" PRId64 ")),"
                   " countIf(state in (1, 3) and %s != toInt64(%" PRId64 ")), countIf(state = 2)"
                   " from %s where session = %" PRIu64 " and part = %" PRIu32,
                   last, whose->ended_ns, last, whose->ended_ns,
                   etwas_ship_target_table(target, ETWAS_SHIP_BUFFERS), whose->session,
                   whose->part);
    return etwas_ship_ask(target, etwas_ship_target_shard(target, whose->session), ETWAS_SHIP_EACH,
                          &question);
}

static enum etwas_ship_sent ask_events(struct etwas_ship_target *target,
                                       const struct etwas_ship_whose *whose,
                                       struct etwas_ship_there *there)
{
    char sql[SQL_BYTES];
    struct etwas_ship_question question = {
        .sql = sql, .columns = 2, .row = take_events, .context = there};

    (void)snprintf(sql, sizeof sql,
                   "select count(), uniqExactIf(buffer, pos, buffer > %" PRIu64 ")"
                   " from %s where session = %" PRIu64 " and part = %" PRIu32,
                   there->last_buffer, etwas_ship_target_table(target, ETWAS_SHIP_EVENTS),
                   whose->session, whose->part);
    return etwas_ship_ask(target, etwas_ship_target_shard(target, whose->session), ETWAS_SHIP_EACH,
                          &question);
}

enum etwas_ship_sent etwas_ship_there_ask(struct etwas_ship_target *target,
                                          const struct etwas_ship_whose *whose,
                                          struct etwas_ship_there *there)
{
    enum etwas_ship_sent sent;

    *there = (struct etwas_ship_there){0};
    sent = ask_buffers(target, whose, there);
    return sent == ETWAS_SHIP_SENT ? ask_events(target, whose, there) : sent;
}
