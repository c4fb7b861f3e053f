/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_POOLS_H
#define ETWAS_TOOLS_SHIP_RUN_POOLS_H

/*
 * Recovers the memory of processes that died (--recover). The pool of a session with a log file in
 * the followed folder becomes a file there, SESSION-recovered-POOL.etl, which is shipped like any
 * other. The pool is removed when that file has arrived. POOL is derived from the session and from
 * the pool's file. It distinguishes sessions with the same GUID, which a program may set itself.
 */

#include "ship/run/run.h"

/* Recovers the pools that no process holds, unless their files exist already. */
void etwas_ship_pools_look(struct etwas_ship_run *run);

/* Removes the pool of a recovered file that has arrived. */
void etwas_ship_pools_arrived(struct etwas_ship_run *run, const char *path);

#endif
