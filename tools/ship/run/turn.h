/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_TURN_H
#define ETWAS_TOOLS_SHIP_RUN_TURN_H

/*
 * What is done for a file when it is its turn, and when a job of it is done. Files of which only
 * rows are left are the spool's (spool.h).
 */

#include "ship/run/run.h"

/* What became of a turn. */
enum etwas_ship_turn {
    ETWAS_SHIP_TURN_TAKEN,  /* something was done */
    ETWAS_SHIP_TURN_PASSED, /* nothing could be done now */
    ETWAS_SHIP_TURN_LAST,   /* the source is finished, and gone from the list */
};

/* ---- turn.c ---------------------------------------------------------------------------------- */

enum etwas_ship_turn etwas_ship_take_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

/* A job of a source is done; the job is free afterwards. */
void etwas_ship_take_done(struct etwas_ship_run *run, struct etwas_ship_job *job);

/* There is nothing to do for a while. */
enum etwas_ship_turn etwas_ship_turn_pass(struct etwas_ship_source *source);

/* All is done with it, or nothing can be (is_unsent). */
enum etwas_ship_turn etwas_ship_turn_finish(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source);

/* Nothing more can be done with it, and it has been said why. */
enum etwas_ship_turn etwas_ship_turn_give_up(struct etwas_ship_run *run,
                                             struct etwas_ship_source *source);

/*
 * It is not to be sent, though it can be read. While a session writes it that is not said: it may
 * be another one by then. Its cursor, which may be another file's, stays as it is.
 */
enum etwas_ship_turn etwas_ship_turn_refuse(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source, const char *reason);

/* A job of the source goes to its lane. */
void etwas_ship_turn_put(struct etwas_ship_run *run, struct etwas_ship_source *source,
                         struct etwas_ship_job *job, enum etwas_ship_work work);

/* ---- turn_open.c ----------------------------------------------------------------------------- */

/* The turn of a source that is closed. */
enum etwas_ship_turn etwas_ship_open_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

/* Opens it, however many are open. */
enum etwas_ship_turn etwas_ship_open_source(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source);

/* ---- turn_resume.c --------------------------------------------------------------------------- */

/*
 * Where servers may have forgotten the block on its way, or it would be another one, sending it
 * again may double it.
 */
bool etwas_ship_resume_is_doubtful(const struct etwas_ship_run *run,
                                   const struct etwas_ship_source *source);

/* Has the servers asked what they have of it. */
enum etwas_ship_turn etwas_ship_resume_ask(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source);

/* It goes on where its cursor says, */
void etwas_ship_resume(struct etwas_ship_source *source);

/* or by what the servers have of it. */
enum etwas_ship_turn etwas_ship_resume_by(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source,
                                          const struct etwas_ship_server_progress *progress);

/* The block, or the end, that was on its way when the shipper ended, once more. */
enum etwas_ship_turn etwas_ship_resume_sending(struct etwas_ship_run *run,
                                               struct etwas_ship_source *source);

/* ---- turn_read.c ----------------------------------------------------------------------------- */

/* The turn of a source that is open, and of which it is known what has arrived. */
enum etwas_ship_turn etwas_ship_read_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

#endif
