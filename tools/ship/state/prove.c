/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * Queries each shard for its own tables, since a session is on one shard. A replica may lag behind
 * the others. If one reports missing events, the next ones are queried, for a few seconds in all.
 */
#include "ship/state/prove.h"

#include "exit.h"
#include "ship/message.h"
#include "ship/wire/send.h"

#include <stdlib.h>
#include <time.h>

enum {
    TRIES = 6, /* a second apart */
};

/* Appends the answer of a shard. Returns false after reporting that there is none. */
static bool ask_shard(struct etwas_ship_target *target, uint32_t shard, const char *query,
                      struct etwas_ship_proofs *proofs)
{
    const struct etwas_ship_question question = {
        .sql = query,
        .columns = ETWAS_SHIP_PROOF_FIELDS,
        .row = etwas_ship_proof_row,
        .context = proofs,
    };

    if (etwas_ship_ask(target, shard, ETWAS_SHIP_ANY, &question) != ETWAS_SHIP_SENT) {
        return false;
    }
    if (proofs->wrong != NULL) {
        etwas_ship_message("--prove", "what a server answers %s", proofs->wrong);
        return false;
    }
    return true;
}

static bool has_incomplete(const struct etwas_ship_proofs *proofs, size_t from)
{
    for (size_t i = from; i < proofs->count; i++) {
        if (proofs->list[i].verdict == ETWAS_SHIP_INCOMPLETE) {
            return true;
        }
    }
    return false;
}

static void forget(struct etwas_ship_proofs *proofs, size_t from)
{
    while (proofs->count > from) {
        free(proofs->list[--proofs->count].host);
    }
}

static bool prove_shard(struct etwas_ship_target *target, uint32_t shard, const char *query,
                        struct etwas_ship_proofs *proofs)
{
    const struct timespec second = {.tv_sec = 1};
    uint32_t tries = etwas_ship_target_replicas(target, shard) > 1 ? TRIES : 1;
    size_t from = proofs->count;

    while (ask_shard(target, shard, query, proofs)) {
        if (--tries == 0 || !has_incomplete(proofs, from)) {
            return true;
        }
        forget(proofs, from);
        etwas_ship_target_turn(target, shard);
        (void)nanosleep(&second, NULL);
    }
    return false;
}

static int judge(const struct etwas_ship_proofs *proofs)
{
    for (size_t i = 0; i < proofs->count; i++) {
        if (proofs->list[i].verdict != ETWAS_SHIP_COMPLETE) {
            return ETWAS_EXIT_NO;
        }
    }
    return proofs->count != 0 ? ETWAS_EXIT_DONE : ETWAS_EXIT_NO;
}

int etwas_ship_prove(struct etwas_ship_target *target, const struct etwas_ship_prove *prove)
{
    struct etwas_output *output = etwas_standard_output();
    struct etwas_ship_proofs proofs = {.count = 0};
    char query[ETWAS_SHIP_PROOF_QUERY_BYTES];
    int result = ETWAS_EXIT_FAILED;
    const char *buffers = etwas_ship_target_table(target, ETWAS_SHIP_BUFFERS);
    bool is_asked =
        etwas_ship_proof_query(query, etwas_ship_target_table(target, ETWAS_SHIP_EVENTS), buffers,
                               buffers, prove->days != 0 ? prove->days - 1 : 0);

    for (uint32_t i = 0; is_asked && i < etwas_ship_target_shards(target); i++) {
        is_asked = prove_shard(target, i, query, &proofs);
    }
    if (is_asked) {
        etwas_ship_proofs_join(&proofs);
        (prove->is_json ? etwas_ship_proofs_print_json : etwas_ship_proofs_print)(output, &proofs);
        result = etwas_output_finish(output) ? judge(&proofs) : ETWAS_EXIT_OUTPUT;
    }
    etwas_ship_proofs_free(&proofs);
    return result;
}
