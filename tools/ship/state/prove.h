/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_PROVE_H
#define ETWAS_TOOLS_SHIP_STATE_PROVE_H

/*
 * `etwas ship --prove`: queries the servers whether all events of each host and session are there.
 */

#include "print/output.h"
#include "ship/wire/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result for a session. Its words and conditions are in prove_query.c. */
enum etwas_ship_verdict {
    ETWAS_SHIP_COMPLETE,
    ETWAS_SHIP_UNFINISHED, /* what is there is right, but the session's end is missing */
    ETWAS_SHIP_INCOMPLETE,
    ETWAS_SHIP_GONE, /* files were dropped before they were shipped */
    ETWAS_SHIP_VERDICTS,
};

/* Numbers of events, unless noted otherwise, in the order of the query's answer. */
enum etwas_ship_proof_number {
    ETWAS_SHIP_PROOF_ATTEMPTED,
    ETWAS_SHIP_PROOF_RECORDED,
    ETWAS_SHIP_PROOF_OVERWRITTEN,
    ETWAS_SHIP_PROOF_LOST,
    ETWAS_SHIP_PROOF_EVENTS,     /* that are there */
    ETWAS_SHIP_PROOF_BY_BUFFERS, /* according to the rows of buffers */
    /* number of buffers without a row, although a later buffer has one */
    ETWAS_SHIP_PROOF_MISSING,
    /* number of buffers whose events are not there exactly once, or whose row is wrong */
    ETWAS_SHIP_PROOF_WRONG,
    ETWAS_SHIP_PROOF_GONE,
    ETWAS_SHIP_PROOF_PARTS,       /* files of the session */
    ETWAS_SHIP_PROOF_PARTS_ENDED, /* files whose end was shipped */
    ETWAS_SHIP_PROOF_RECOVERED,   /* 1: the session was killed, and recovered */
    ETWAS_SHIP_PROOF_DAMAGES,     /* damages in the files */
    ETWAS_SHIP_PROOF_CAUSES,      /* the first of the causes of loss: */
    ETWAS_SHIP_PROOF_NUMBERS = ETWAS_SHIP_PROOF_CAUSES + 10,
};

/* Their names in JSON and in the query. */
extern const char *const etwas_ship_proof_names[ETWAS_SHIP_PROOF_NUMBERS];

struct etwas_ship_proof {
    char *host; /* any bytes but NUL; freed by etwas_ship_proofs_free */
    uint64_t session;
    enum etwas_ship_verdict verdict;
    uint32_t shards; /* number of shards with rows of it */
    uint64_t numbers[ETWAS_SHIP_PROOF_NUMBERS];
};

/* Zeroed: none. */
struct etwas_ship_proofs {
    struct etwas_ship_proof *list;
    size_t count;
    size_t room;
    const char *wrong; /* what is wrong with a server's answer, or NULL */
};

void etwas_ship_proofs_free(struct etwas_ship_proofs *proofs);

enum {
    ETWAS_SHIP_PROOF_FIELDS = 3 + ETWAS_SHIP_PROOF_NUMBERS, /* host, session, verdict, numbers */
    ETWAS_SHIP_PROOF_QUERY_BYTES = 8192,
};

/*
 * Makes the query, for sessions with buffers of today or of the `days` days before. `local_buffers`
 * is the same as `buffers`. If `buffers` is a table over all shards, it is the table of each shard.
 * Returns false if the names are too long.
 */
bool etwas_ship_proof_query(char query[ETWAS_SHIP_PROOF_QUERY_BYTES], const char *events,
                            const char *buffers, const char *local_buffers, uint32_t days);

struct etwas_ship_field;

/* Takes a row of the answer, as in etwas_ship_question; `context` is a struct etwas_ship_proofs. */
bool etwas_ship_proof_row(void *context, const struct etwas_ship_field *fields);

/* Sorts them by host and session, and merges those of a session that several shards have. */
void etwas_ship_proofs_join(struct etwas_ship_proofs *proofs);

/* Returns the word for a verdict, in the query's answer and in the output. */
const char *etwas_ship_verdict_word(enum etwas_ship_verdict verdict);

/* Write them as a table, with the problems below each session, or as a JSON object per line. */
void etwas_ship_proofs_print(struct etwas_output *output, const struct etwas_ship_proofs *proofs);
void etwas_ship_proofs_print_json(struct etwas_output *output,
                                  const struct etwas_ship_proofs *proofs);

struct etwas_ship_prove {
    uint32_t days; /* number of days up to today (UTC); 0 is 1 */
    bool is_json;
};

/*
 * Queries every shard, and writes the results to standard output. Returns ETWAS_EXIT_DONE,
 * ETWAS_EXIT_NO (a session is not complete, or there is none), ETWAS_EXIT_FAILED (a server did not
 * answer; reported on standard error) or ETWAS_EXIT_OUTPUT.
 */
int etwas_ship_prove(struct etwas_ship_target *target, const struct etwas_ship_prove *prove);

#endif
