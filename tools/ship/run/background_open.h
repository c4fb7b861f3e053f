/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_BACKGROUND_OPEN_H
#define ETWAS_TOOLS_SHIP_RUN_BACKGROUND_OPEN_H

/*
 * Opens the target of a run in a thread of its own, since servers may not answer for long. Nothing
 * can be sent or queried meanwhile, but the spool's limit is kept. Files beyond it are counted and
 * removed, and their cursors say that rows about them are owed.
 */

#include "ship/run/run.h"

/* Opens the target; returns as etwas_ship_target_open does. */
enum etwas_ship_opened etwas_ship_background_open(struct etwas_ship_run *run,
                                                  const struct etwas_ship_options *options);

#endif
