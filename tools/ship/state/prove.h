/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_PROVE_H
#define ETWAS_TOOLS_SHIP_STATE_PROVE_H

/*
 * `etwas ship --prove`: asks the servers of each host and session whether all of its events are
 * there.
 */

#include "print/output.h"
#include "ship/wire/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was found of a session; words, and when each is right, are in prove_query.c. */
enum etwas_ship_verdict {
    ETWAS_SHIP_COMPLETE,
    ETWAS_SHIP_UNFINISHED, /* what is there is right, but the session has not told its end */
    ETWAS_SHIP_INCOMPLETE,
    ETWAS_SHIP_GONE, /* files went before they were shipped */
    ETWAS_SHIP_VERDICTS,
};

/* Events, unless another word stands there. In the order of the query's answer. */
enum etwas_ship_proof_number {
    ETWAS_SHIP_PROOF_ATTEMPTED,
    ETWAS_SHIP_PROOF_RECORDED,
    ETWAS_SHIP_PROOF_OVERWRITTEN,
    ETWAS_SHIP_PROOF_LOST,
    ETWAS_SHIP_PROOF_EVENTS,     /* that are there */
    ETWAS_SHIP_PROOF_BY_BUFFERS, /* as the rows of buffers say */
    /* buffers: those without a row, although a later buffer has one */
    ETWAS_SHIP_PROOF_MISSING,
    /* buffers: those with events that are not there once each, or with a wrong row */
    ETWAS_SHIP_PROOF_WRONG,
    ETWAS_SHIP_PROOF_GONE,
    ETWAS_SHIP_PROOF_PARTS,       /* files of the session */
    ETWAS_SHIP_PROOF_PARTS_ENDED, /* files that told their end */
    ETWAS_SHIP_PROOF_RECOVERED,   /* 1: it was killed, and recovered */
    ETWAS_SHIP_PROOF_DAMAGES,     /* damages of the files */
    ETWAS_SHIP_PROOF_CAUSES,      /* the first of the causes of losses: */
    ETWAS_SHIP_PROOF_NUMBERS = ETWAS_SHIP_PROOF_CAUSES + 10,
};

/* Their names in JSON and in the query. */
extern const char *const etwas_ship_proof_names[ETWAS_SHIP_PROOF_NUMBERS];

struct etwas_ship_proof {
    char *host; /* any bytes but NUL; freed by etwas_ship_proofs_free */
    uint64_t session;
    enum etwas_ship_verdict verdict;
    uint32_t shards; /* that have rows of it */
    uint64_t numbers[ETWAS_SHIP_PROOF_NUMBERS];
};

/* Zeroed: none. */
struct etwas_ship_proofs {
    struct etwas_ship_proof *list;
    size_t count;
    size_t room;
    const char *wrong; /* what a server's answer has that it should not, or NULL */
};

void etwas_ship_proofs_free(struct etwas_ship_proofs *proofs);

enum {
    ETWAS_SHIP_PROOF_FIELDS = 3 + ETWAS_SHIP_PROOF_NUMBERS, /* host, session, verdict, numbers */
    ETWAS_SHIP_PROOF_QUERY_BYTES = 8192,
};

/*
 * The query, about sessions of which today, or one of `days` days before, has buffers.
 * `local_buffers` is the same as `buffers`, or that table of each shard where `buffers` is over all
 * of them. False: the names are too long.
 */
bool etwas_ship_proof_query(char query[ETWAS_SHIP_PROOF_QUERY_BYTES], const char *events,
                            const char *buffers, const char *local_buffers, uint32_t days);

struct etwas_ship_field;

/* Takes a row of its answer, as of etwas_ship_question; `context` is a struct etwas_ship_proofs. */
bool etwas_ship_proof_row(void *context, const struct etwas_ship_field *fields);

/*
 * Sorts them by host and session, and makes one of those of one session, which two shards have
 * told.
 */
void etwas_ship_proofs_join(struct etwas_ship_proofs *proofs);

/* The word for a verdict, in the query's answer and in ours. */
const char *etwas_ship_verdict_word(enum etwas_ship_verdict verdict);

/* Writes them: a table, with what is wrong below a session; an object a line. */
void etwas_ship_proofs_print(struct etwas_output *output, const struct etwas_ship_proofs *proofs);
void etwas_ship_proofs_print_json(struct etwas_output *output,
                                  const struct etwas_ship_proofs *proofs);

struct etwas_ship_prove {
    uint32_t days; /* so many, of which today (UTC) is the last; 0 is 1 */
    bool is_json;
};

/*
 * Asks every shard, and writes what was found to standard output. Returns ETWAS_EXIT_DONE,
 * ETWAS_EXIT_NO (a session is not complete, or there is none), ETWAS_EXIT_FAILED (a server did
 * not answer; said on standard error) or ETWAS_EXIT_OUTPUT.
 */
int etwas_ship_prove(struct etwas_ship_target *target, const struct etwas_ship_prove *prove);

#endif
