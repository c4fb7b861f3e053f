/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_TURN_H
#define ETWAS_TOOLS_SHIP_RUN_TURN_H

/*
 * Takes the turns of a file, and handles jobs of it that are done. Dropped files that owe rows are
 * handled by spool.h.
 */

#include "ship/run/run.h"

/* The result of a turn. */
enum etwas_ship_turn {
    ETWAS_SHIP_TURN_TAKEN,  /* something was done */
    ETWAS_SHIP_TURN_PASSED, /* nothing could be done now */
    ETWAS_SHIP_TURN_LAST,   /* the source is finished, and was removed from the list */
};

/* ---- turn.c ---------------------------------------------------------------------------------- */

enum etwas_ship_turn etwas_ship_take_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

/* Handles a job of a source that is done, and frees it. */
void etwas_ship_take_done(struct etwas_ship_run *run, struct etwas_ship_job *job);

/* Postpones the next turn, since there is nothing to do for a while. */
enum etwas_ship_turn etwas_ship_turn_pass(struct etwas_ship_source *source);

/* Finishes a source that is done, or given up (is_unsent). */
enum etwas_ship_turn etwas_ship_turn_finish(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source);

/* Gives up a source, after the reason has been reported. */
enum etwas_ship_turn etwas_ship_turn_give_up(struct etwas_ship_run *run,
                                             struct etwas_ship_source *source);

/*
 * Refuses to send a file that can be read. While a session writes it, that is not reported, since
 * it may be another file soon. Its cursor, which may be another file's, stays as it is.
 */
enum etwas_ship_turn etwas_ship_turn_refuse(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source, const char *reason);

/* Gives a job of the source to its lane. */
void etwas_ship_turn_put(struct etwas_ship_run *run, struct etwas_ship_source *source,
                         struct etwas_ship_job *job, enum etwas_ship_work work);

/* ---- turn_open.c ----------------------------------------------------------------------------- */

/* Takes the turn of a closed source. */
enum etwas_ship_turn etwas_ship_open_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

/* Opens a source, however many are open. */
enum etwas_ship_turn etwas_ship_open_source(struct etwas_ship_run *run,
                                            struct etwas_ship_source *source);

/* ---- turn_resume.c --------------------------------------------------------------------------- */

/*
 * Returns whether sending what was in flight again may duplicate it. Servers may have forgotten it,
 * or its bytes would differ now.
 */
bool etwas_ship_resume_is_doubtful(const struct etwas_ship_run *run,
                                   const struct etwas_ship_source *source);

/* Queries the servers for what they have of the file. */
enum etwas_ship_turn etwas_ship_resume_ask(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source);

/* Resumes where the cursor says, */
void etwas_ship_resume(struct etwas_ship_source *source);

/* or by what the servers have. */
enum etwas_ship_turn etwas_ship_resume_by(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source,
                                          const struct etwas_ship_server_progress *progress);

/* Sends the block, or the end, again that was in flight when the shipper ended. */
enum etwas_ship_turn etwas_ship_resume_sending(struct etwas_ship_run *run,
                                               struct etwas_ship_source *source);

/* ---- turn_read.c ----------------------------------------------------------------------------- */

/* Takes the turn of an open source, when it is known what has arrived. */
enum etwas_ship_turn etwas_ship_read_turn(struct etwas_ship_run *run,
                                          struct etwas_ship_source *source);

#endif
