/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_STOP_H
#define ETWAS_TOOLS_SHIP_RUN_STOP_H

/*
 * The end of a run: by SIGTERM, SIGINT or SIGHUP, which a separate thread receives, or because
 * nothing is left to do.
 */

#include <stdbool.h>

/*
 * Returns a descriptor (eventfd) that becomes readable at the end. -1: there is none, and signals
 * end the process as usual.
 */
int etwas_ship_stop_open(void);

/* Makes the descriptor readable. */
bool etwas_ship_stop(int stop);

#endif
