/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_BACKGROUND_OPEN_H
#define ETWAS_TOOLS_SHIP_BACKGROUND_OPEN_H

/*
 * The target of a run is opened by a thread of its own, since no server may be there for long.
 * Meanwhile nothing can be sent or asked, but the spool's limit holds: what goes is counted, and
 * its cursor says that its rows are owed.
 */

#include "ship/run.h"

/* Opens it. As etwas_ship_target_open. */
enum etwas_ship_opened etwas_ship_background_open(struct etwas_ship_run *run,
                                                  const struct etwas_ship_options *options);

#endif
