/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_STOP_H
#define ETWAS_TOOLS_SHIP_RUN_STOP_H

/*
 * The end: SIGTERM, SIGINT or SIGHUP, which from here on are a thread's alone, or when there is
 * nothing more to do.
 */

#include <stdbool.h>

/*
 * A descriptor that is readable from then on (eventfd); -1: there can be none, and signals end the
 * process as ever.
 */
int etwas_ship_stop_open(void);

/* Makes it so. */
bool etwas_ship_stop(int stop);

#endif
