/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SPOOL_H
#define ETWAS_TOOLS_SHIP_RUN_SPOOL_H

/*
 * The files as a queue: what has arrived may go (--delete), and where there is more than there may
 * be (--spool-limit) the oldest goes, arrived or not.
 *
 * What goes before it has arrived is counted first, and the rows that say so are kept in its
 * cursor, which is written before the file is removed: from then on a source without a file owes
 * them.
 */

#include "ship/run/turn.h"

/* All of the file has arrived. */
void etwas_ship_spool_arrived(struct etwas_ship_run *run, struct etwas_ship_source *source);

/* Removes the file, unless another one has its name by now; that it cannot be is said. */
void etwas_ship_spool_remove(const struct etwas_ship_source *source);

/* Removes files beyond the limit, after the folder was read. */
void etwas_ship_spool_limit(struct etwas_ship_run *run);

/*
 * Each round: files that went in an earlier run, and still owe their rows, when none is left of
 * those before.
 */
void etwas_ship_spool_owed(struct etwas_ship_run *run);

/* The turn of a source without a file, and what follows when a job of it is done. */
enum etwas_ship_turn etwas_ship_spool_turn(struct etwas_ship_run *run,
                                           struct etwas_ship_source *source);
void etwas_ship_spool_done(struct etwas_ship_run *run, struct etwas_ship_source *source,
                           const struct etwas_ship_job *job);

#endif
