/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_POOLS_H
#define ETWAS_TOOLS_SHIP_RUN_POOLS_H

/*
 * The memory of processes that died (--recover). The pool of a session with a log file in the
 * followed folder becomes a file there, SESSION-recovered-POOL.etl, which is shipped as any other.
 * A pool is removed when that file has arrived. POOL distinguishes pools of sessions with one GUID,
 * as a program has that sets its own: it is derived from the session and from the pool's file.
 */

#include "ship/run/run.h"

/* Makes the files of the pools that nobody has any more, and of which there is none yet. */
void etwas_ship_pools_look(struct etwas_ship_run *run);

/* The file that was made of a pool has arrived: the pool goes. */
void etwas_ship_pools_arrived(struct etwas_ship_run *run, const char *path);

#endif
