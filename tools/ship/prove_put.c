/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * What the proof found: a table, with what is wrong below a session that is not complete; or JSON.
 */
#include "ship/prove.h"

#include "print/json.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_HOST_WIDTH = 40,
    NUMBER_WIDTH = 12,
};

/* The columns of the table behind host, session and verdict. */
static const struct {
    const char *title;
    enum etwas_ship_proof_number number;
} table[] = {
    {"attempted", ETWAS_SHIP_PROOF_ATTEMPTED},
    {"recorded", ETWAS_SHIP_PROOF_RECORDED},
    {"overwritten", ETWAS_SHIP_PROOF_OVERWRITTEN},
    {"lost", ETWAS_SHIP_PROOF_LOST},
    {"there", ETWAS_SHIP_PROOF_EVENTS},
    {"gone", ETWAS_SHIP_PROOF_GONE},
};

/* ---- as text --------------------------------------------------------------------------------- */

static void put_title(struct etwas_output *output, size_t host_width)
{
    etwas_output_text(output, "# host");
    etwas_output_blanks(output, host_width - strlen("# host"));
    etwas_output_format(output, " %20s %-10s", "session", "verdict");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        etwas_output_format(output, " %*s", NUMBER_WIDTH, table[i].title);
    }
    etwas_output_char(output, '\n');
}

static void put_reason(struct etwas_output *output, uint64_t count, const char *reason)
{
    etwas_output_format(output, "    %" PRIu64 " %s\n", count, reason);
}

/* Why a session is not complete, by the numbers that say so. */
static void put_reasons(struct etwas_output *output, const struct etwas_ship_proof *proof)
{
    const uint64_t *numbers = proof->numbers;
    uint64_t recorded = numbers[ETWAS_SHIP_PROOF_RECORDED];
    uint64_t there = numbers[ETWAS_SHIP_PROOF_EVENTS];

    if (proof->shards > 1) {
        put_reason(
            output, proof->shards,
            "shards have rows of it, so events may be there twice: --server changed meanwhile");
    }
    if (numbers[ETWAS_SHIP_PROOF_GONE] != 0) {
        put_reason(output, numbers[ETWAS_SHIP_PROOF_GONE],
                   "events went with their files before they were shipped");
    }
    if (numbers[ETWAS_SHIP_PROOF_MISSING] != 0) {
        put_reason(output, numbers[ETWAS_SHIP_PROOF_MISSING], "buffers have no row");
    }
    if (numbers[ETWAS_SHIP_PROOF_WRONG] != 0) {
        put_reason(output, numbers[ETWAS_SHIP_PROOF_WRONG],
                   "buffers do not have each of their events once");
    }
    if (proof->verdict == ETWAS_SHIP_UNFINISHED) {
        etwas_output_text(output, "    it has not told its end: it runs, or was killed and not "
                                  "recovered, or its end is not shipped yet\n");
    }
    if (proof->verdict != ETWAS_SHIP_INCOMPLETE || proof->shards > 1) {
        return;
    }
    if (numbers[ETWAS_SHIP_PROOF_RECOVERED] == 0 &&
        numbers[ETWAS_SHIP_PROOF_PARTS_ENDED] != numbers[ETWAS_SHIP_PROOF_PARTS]) {
        etwas_output_format(output, "    %" PRIu64 " of %" PRIu64 " files told their end\n",
                            numbers[ETWAS_SHIP_PROOF_PARTS_ENDED], numbers[ETWAS_SHIP_PROOF_PARTS]);
    }
    if (there != recorded) {
        put_reason(output, there < recorded ? recorded - there : there - recorded,
                   there < recorded ? "recorded events are not there"
                                    : "events are more than were recorded");
    }
}

static void put_losses(struct etwas_output *output, const struct etwas_ship_proof *proof)
{
    for (uint32_t i = ETWAS_SHIP_PROOF_CAUSES; i < ETWAS_SHIP_PROOF_NUMBERS; i++) {
        if (proof->numbers[i] != 0) {
            put_reason(output, proof->numbers[i], etwas_ship_proof_names[i]);
        }
    }
}

static void put_proof(struct etwas_output *output, const struct etwas_ship_proof *proof,
                      size_t host_width)
{
    size_t bytes = strlen(proof->host);

    etwas_text_utf8(output, ETWAS_TEXT_WORD, proof->host, bytes);
    etwas_output_blanks(output, bytes < host_width ? host_width - bytes : 0);
    etwas_output_char(output, ' ');
    etwas_output_unsigned_wide(output, proof->session, 20);
    etwas_output_format(output, " %-10s", etwas_ship_verdict_word(proof->verdict));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        etwas_output_char(output, ' ');
        etwas_output_unsigned_wide(output, proof->numbers[table[i].number], NUMBER_WIDTH);
    }
    etwas_output_char(output, '\n');
    put_reasons(output, proof);
    put_losses(output, proof);
}

static size_t widest_host(const struct etwas_ship_proofs *proofs)
{
    size_t width = strlen("# host");

    for (size_t i = 0; i < proofs->count; i++) {
        size_t bytes = strlen(proofs->list[i].host);

        width = bytes > width ? bytes : width;
    }
    return width < MOST_HOST_WIDTH ? width : MOST_HOST_WIDTH;
}

void etwas_ship_proofs_print(struct etwas_output *output, const struct etwas_ship_proofs *proofs)
{
    size_t found[ETWAS_SHIP_VERDICTS] = {0};
    size_t host_width = widest_host(proofs);
    const char *before = ": ";

    put_title(output, host_width);
    for (size_t i = 0; i < proofs->count; i++) {
        put_proof(output, &proofs->list[i], host_width);
        found[proofs->list[i].verdict]++;
    }
    etwas_output_format(output, "# %zu session%s", proofs->count, proofs->count == 1 ? "" : "s");
    for (uint32_t i = 0; i < ETWAS_SHIP_VERDICTS; i++) {
        if (found[i] != 0) {
            etwas_output_format(output, "%s%zu %s", before, found[i],
                                etwas_ship_verdict_word((enum etwas_ship_verdict)i));
            before = ", ";
        }
    }
    etwas_output_char(output, '\n');
}

/* ---- as JSON --------------------------------------------------------------------------------- */

void etwas_ship_proofs_print_json(struct etwas_output *output,
                                  const struct etwas_ship_proofs *proofs)
{
    for (size_t i = 0; i < proofs->count; i++) {
        const struct etwas_ship_proof *proof = &proofs->list[i];

        etwas_json_begin(output, "shipped");
        etwas_json_text(output, "host", proof->host);
        etwas_json_number(output, "session_id", proof->session);
        etwas_json_text(output, "verdict", etwas_ship_verdict_word(proof->verdict));
        etwas_json_number(output, "shards", proof->shards);
        for (uint32_t number = 0; number < ETWAS_SHIP_PROOF_NUMBERS; number++) {
            etwas_json_number(output, etwas_ship_proof_names[number], proof->numbers[number]);
        }
        etwas_output_text(output, "}\n");
    }
}
