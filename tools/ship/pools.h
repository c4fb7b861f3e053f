/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_POOLS_H
#define ETWAS_TOOLS_SHIP_POOLS_H

/*
 * What processes that died had in memory (--recover): the pools of sessions whose log file lies in
 * the folder that is followed become files there, SESSION-recovered-POOL.etl, which are shipped as
 * any other. A pool is removed when that has arrived. POOL tells pools apart whose sessions have
 * one GUID, as those of a program do that gives its own: it is of the session and of the pool's
 * file.
 */

#include "ship/run.h"

/* Makes the files of the pools that nobody has any more, and of which there is none yet. */
void etwas_ship_pools_look(struct etwas_ship_run *run);

/* The file that was made of a pool has arrived: the pool goes. */
void etwas_ship_pools_arrived(struct etwas_ship_run *run, const char *path);

#endif
