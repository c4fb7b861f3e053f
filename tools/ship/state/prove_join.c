/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * Merges what several shards report about one session. It should be on one shard, whose events
 * cannot be duplicated elsewhere. If two shards have rows of it, these rows were not compared with
 * each other.
 */
#include "ship/state/prove.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    const struct etwas_ship_proof *one = left;
    const struct etwas_ship_proof *other = right;
    int order = strcmp(one->host, other->host);

    if (order != 0) {
        return order;
    }
    return one->session < other->session ? -1 : one->session > other->session;
}

/*
 * Parts are numbered for all shards together, and a session is either recovered or not. So these
 * numbers are not added.
 */
static bool is_greatest(uint32_t number)
{
    return number == ETWAS_SHIP_PROOF_PARTS || number == ETWAS_SHIP_PROOF_RECOVERED;
}

static void add_proof(struct etwas_ship_proof *sum, struct etwas_ship_proof *more)
{
    for (uint32_t i = 0; i < ETWAS_SHIP_PROOF_NUMBERS; i++) {
        uint64_t number = more->numbers[i];

        if (!is_greatest(i)) {
            sum->numbers[i] += number;
        } else if (number > sum->numbers[i]) {
            sum->numbers[i] = number;
        }
    }
    sum->shards += more->shards;
    if (sum->verdict != ETWAS_SHIP_GONE) {
        sum->verdict = more->verdict == ETWAS_SHIP_GONE ? ETWAS_SHIP_GONE : ETWAS_SHIP_INCOMPLETE;
    }
    free(more->host);
}

void etwas_ship_proofs_join(struct etwas_ship_proofs *proofs)
{
    size_t count = 0;

    if (proofs->count > 1) {
        qsort(proofs->list, proofs->count, sizeof *proofs->list, compare);
    }
    for (size_t i = 0; i < proofs->count; i++) {
        if (count != 0 && compare(&proofs->list[count - 1], &proofs->list[i]) == 0) {
            add_proof(&proofs->list[count - 1], &proofs->list[i]);
        } else {
            proofs->list[count++] = proofs->list[i];
        }
    }
    proofs->count = count;
}
