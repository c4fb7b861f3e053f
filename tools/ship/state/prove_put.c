/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * Writes the results as a table, with the problems below a session that is not complete, or as
 * JSON.
 */
#include "ship/state/prove.h"

#include "print/human.h"
#include "print/json.h"
#include "print/table.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const titles[] = {"# host",      "session", "verdict", "attempted", "recorded",
                                     "overwritten", "lost",    "there",   "gone"};

/* The columns after host, session and verdict. */
static const enum etwas_ship_proof_number shown[] = {
    ETWAS_SHIP_PROOF_ATTEMPTED, ETWAS_SHIP_PROOF_RECORDED, ETWAS_SHIP_PROOF_OVERWRITTEN,
    ETWAS_SHIP_PROOF_LOST,      ETWAS_SHIP_PROOF_EVENTS,   ETWAS_SHIP_PROOF_GONE,
};

/* ---- as text --------------------------------------------------------------------------------- */

static void put_reason(struct etwas_table *table, uint64_t count, const char *reason)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(etwas_table_cell(table), "    %s %s", etwas_human_count(text, count),
                        reason);
    etwas_table_next_line(table);
}

/* Writes why a session is not complete, with numbers. */
static void put_reasons(struct etwas_table *table, const struct etwas_ship_proof *proof)
{
    const uint64_t *numbers = proof->numbers;
    uint64_t recorded = numbers[ETWAS_SHIP_PROOF_RECORDED];
    uint64_t there = numbers[ETWAS_SHIP_PROOF_EVENTS];

    if (proof->shards > 1) {
        put_reason(
            table, proof->shards,
            "shards have rows of it, so events may be there twice: --server changed meanwhile");
    }
    if (numbers[ETWAS_SHIP_PROOF_GONE] != 0) {
        put_reason(table, numbers[ETWAS_SHIP_PROOF_GONE],
                   "events went with their files before they were shipped");
    }
    if (numbers[ETWAS_SHIP_PROOF_MISSING] != 0) {
        put_reason(table, numbers[ETWAS_SHIP_PROOF_MISSING], "buffers have no row");
    }
    if (numbers[ETWAS_SHIP_PROOF_WRONG] != 0) {
        put_reason(table, numbers[ETWAS_SHIP_PROOF_WRONG],
                   "buffers do not have each of their events once");
    }
    if (proof->verdict == ETWAS_SHIP_UNFINISHED) {
        etwas_output_text(etwas_table_cell(table),
                          "    it has not told its end: it runs, or was killed and not recovered, "
                          "or its end is not shipped yet");
        etwas_table_next_line(table);
    }
    if (proof->verdict != ETWAS_SHIP_INCOMPLETE || proof->shards > 1) {
        return;
    }
    if (numbers[ETWAS_SHIP_PROOF_RECOVERED] == 0 &&
        numbers[ETWAS_SHIP_PROOF_PARTS_ENDED] != numbers[ETWAS_SHIP_PROOF_PARTS]) {
        etwas_output_format(etwas_table_cell(table),
                            "    %" PRIu64 " of %" PRIu64 " files told their end",
                            numbers[ETWAS_SHIP_PROOF_PARTS_ENDED], numbers[ETWAS_SHIP_PROOF_PARTS]);
        etwas_table_next_line(table);
    }
    if (there != recorded) {
        put_reason(table, there < recorded ? recorded - there : there - recorded,
                   there < recorded ? "recorded events are not there"
                                    : "events are more than were recorded");
    }
}

static void put_losses(struct etwas_table *table, const struct etwas_ship_proof *proof)
{
    for (uint32_t i = ETWAS_SHIP_PROOF_CAUSES; i < ETWAS_SHIP_PROOF_NUMBERS; i++) {
        if (proof->numbers[i] != 0) {
            put_reason(table, proof->numbers[i], etwas_ship_proof_names[i]);
        }
    }
}

static void put_proof(struct etwas_table *table, const struct etwas_ship_proof *proof)
{
    etwas_text_utf8(etwas_table_cell(table), ETWAS_TEXT_WORD, proof->host, strlen(proof->host));
    etwas_table_next(table);
    etwas_table_format(table, "%" PRIu64, proof->session);
    etwas_table_text(table, etwas_ship_verdict_word(proof->verdict));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        etwas_table_count(table, proof->numbers[shown[i]]);
    }
    put_reasons(table, proof);
    put_losses(table, proof);
}

void etwas_ship_proofs_print(struct etwas_output *output, const struct etwas_ship_proofs *proofs)
{
    size_t found[ETWAS_SHIP_VERDICTS] = {0};
    const char *before = ": ";
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x1FA);
    for (size_t i = 0; i < proofs->count; i++) {
        put_proof(&table, &proofs->list[i]);
        found[proofs->list[i].verdict]++;
    }
    etwas_table_print(&table, output);
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
