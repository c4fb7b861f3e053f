/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Sends blocks and queries as requests. */

#include "ship/wire/send.h"

#include "ship/message.h"
#include "ship/wire/answer.h"
#include "ship/wire/target_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ERROR_BYTES = 64 * 1024, /* of the answer to a block, which is empty on success */
    QUERY_BYTES = 8192,      /* for a block: it names all columns */
};

/* Makes the server answer when it is done, so that the status is final. */
static const char when_done[] = "&wait_end_of_query=1";

/* ---- blocks ---------------------------------------------------------------------------------- */

static void append_to_query(char query[QUERY_BYTES], const char *text)
{
    (void)etwas_ship_http_escape(query, QUERY_BYTES, text);
}

/* Appends text without escapes: the syntax between the parts of a query. */
static void add_plain(char query[QUERY_BYTES], const char *text)
{
    size_t used = strlen(query);
    size_t bytes = strnlen(text, QUERY_BYTES - 1 - used);

    memcpy(query + used, text, bytes);
    query[used + bytes] = '\0';
}

/*
 * Appends "day,time,…": a table may have more columns than the block. In the plain dialect a column
 * of pairs is two columns.
 */
static void add_columns(char query[QUERY_BYTES], const struct etwas_columns *columns)
{
    uint32_t count;
    const struct etwas_ship_column *column = etwas_ship_columns(columns->table, &count);
    uint32_t modern = columns->dialect.modern[columns->table];

    for (uint32_t i = 0; i < count; i++) {
        append_to_query(query, i > 0 ? "," : "");
        append_to_query(query, column[i].name);
        if (etwas_ship_is_pairs(column[i].type) && (modern >> i & 1) == 0) {
            append_to_query(query, ETWAS_SHIP_KEYS ",");
            append_to_query(query, column[i].name);
            append_to_query(query, ETWAS_SHIP_VALUES);
        }
    }
}

static void plain_query(const struct etwas_ship_target *target, const struct etwas_columns *columns,
                        const char *token, char query[QUERY_BYTES])
{
    (void)snprintf(query, QUERY_BYTES, "?query=");
    append_to_query(query, "INSERT INTO ");
    append_to_query(query, target->tables[columns->table]);
    append_to_query(query, " (");
    add_columns(query, columns);
    append_to_query(query, ") FORMAT Native");
    add_plain(query, when_done);
    if (token != NULL) {
        add_plain(query, "&query_id=" ETWAS_SHIP_QUERY_ID);
        append_to_query(query, token);
    }
}

/*
 * Makes a modern server insert the block by itself, not gathered with others, and recognize it by
 * its token.
 */
static void modern_query(const char *plain, const char *token, char query[QUERY_BYTES])
{
    query[0] = '\0';
    add_plain(query, plain);
    add_plain(query, "&async_insert=0");
    if (token != NULL) {
        add_plain(query, "&insert_deduplication_token=");
        append_to_query(query, token);
    }
}

enum etwas_ship_sent etwas_ship_send(struct etwas_ship_target *target, uint32_t shard,
                                     const struct etwas_columns *columns, const char *token)
{
    struct etwas_ship_pack *pack = &target->shards[shard].pack;
    char query[QUERY_BYTES];
    char modern[QUERY_BYTES];
    struct iovec packed;
    struct etwas_ship_attempt attempt = {
        .request = {.pieces = columns->pieces,
                    .piece_count = columns->piece_count,
                    .bytes = columns->total_bytes,
                    .is_gzip = target->options->compresses,
                    .limit_s = ETWAS_SHIP_REQUEST_LIMIT_S,
                    .most_reply_bytes = ERROR_BYTES},
        .query = query,
        .modern_query = modern,
        .is_insert = true,
    };
    struct etwas_ship_reply reply;
    enum etwas_ship_sent sent = etwas_ship_check(target, shard, false);

    if (sent != ETWAS_SHIP_SENT || columns->rows == 0) {
        return sent;
    }
    if (!etwas_ship_rate_keep(&target->rate, target->options->stop, columns->rows)) {
        return ETWAS_SHIP_STOPPED;
    }
    if (target->options->compresses) {
        if (!etwas_ship_pack_make(pack, columns->pieces, columns->piece_count)) {
            etwas_ship_message("--compress", "not enough memory");
            return ETWAS_SHIP_REFUSED;
        }
        packed = (struct iovec){pack->data, pack->used};
        attempt.request.pieces = &packed;
        attempt.request.piece_count = 1;
        attempt.request.bytes = pack->used;
    }
    plain_query(target, columns, token, query);
    modern_query(query, token, modern);
    return etwas_ship_attempt(target, shard, ETWAS_SHIP_ANY, &attempt, &reply);
}

/* ---- questions ------------------------------------------------------------------------------- */

enum etwas_ship_sent etwas_ship_ask_one(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, bool is_hurried,
                                        const struct etwas_ship_question *question)
{
    static char format[] = " format TabSeparated";
    bool answers = question->columns > 0;
    struct iovec pieces[2] = {{(void *)question->sql, strlen(question->sql)},
                              {format, answers ? sizeof format - 1 : 0}};
    const struct etwas_ship_attempt attempt = {
        .request = {.pieces = pieces,
                    .piece_count = 2,
                    .bytes = pieces[0].iov_len + pieces[1].iov_len,
                    .limit_s =
                        question->limit_s != 0 ? question->limit_s : ETWAS_SHIP_REQUEST_LIMIT_S,
                    .most_reply_bytes = ETWAS_SHIP_ANSWER_BYTES},
        .query = "?wait_end_of_query=1",
        .is_insert = !answers,
        .columns = question->columns,
        .is_hurried = is_hurried,
        .error = question->error,
    };
    struct etwas_ship_reply reply;
    enum etwas_ship_sent sent;

    if (question->error != NULL) {
        *question->error = 0;
    }
    sent = etwas_ship_attempt(target, shard, replica, &attempt, &reply);
    if (sent == ETWAS_SHIP_SENT && answers) {
        etwas_ship_answer_rows(reply.text, reply.bytes, question->columns, question->row,
                               question->context);
    }
    return sent;
}

enum etwas_ship_sent etwas_ship_ask(struct etwas_ship_target *target, uint32_t shard, int replica,
                                    const struct etwas_ship_question *question)
{
    enum etwas_ship_sent sent = etwas_ship_check(target, shard, false);

    if (replica != ETWAS_SHIP_EACH) {
        return sent == ETWAS_SHIP_SENT ? etwas_ship_ask_one(target, shard, replica, false, question)
                                       : sent;
    }
    for (uint32_t i = 0; sent == ETWAS_SHIP_SENT && i < target->shards[shard].count; i++) {
        sent = etwas_ship_ask_one(target, shard, (int)i, false, question);
    }
    return sent;
}
