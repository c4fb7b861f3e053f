/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SPOOL_H
#define ETWAS_TOOLS_SHIP_RUN_SPOOL_H

/*
 * The files as a queue. Files that have arrived may be removed (--delete). If there is more than
 * the limit (--spool-limit), the oldest files are removed, whether they have arrived or not.
 *
 * If not all of a file has arrived, its events are counted first. Rows about them are stored in its
 * cursor, which is written before the file is removed. From then on a source without a file owes
 * these rows.
 */

#include "ship/run/turn.h"

/* Call it when all of the file has arrived. */
void etwas_ship_spool_arrived(struct etwas_ship_run *run, struct etwas_ship_source *source);

/*
 * Removes the file, unless another one has its name by now. Reports an error if it cannot be
 * removed.
 */
void etwas_ship_spool_remove(const struct etwas_ship_source *source);

/* Removes files beyond the limit, after the folder was read. */
void etwas_ship_spool_limit(struct etwas_ship_run *run);

/*
 * Call it each round. Adds files that were dropped in an earlier run and still owe their rows, once
 * the previous ones are done.
 */
void etwas_ship_spool_owed(struct etwas_ship_run *run);

/* Take the turn of a source without a file, and handle a job of it that is done. */
enum etwas_ship_turn etwas_ship_spool_turn(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source);
void etwas_ship_spool_done(struct etwas_ship_run *run, struct etwas_ship_source *source,
                           const struct etwas_ship_job *job);

#endif
