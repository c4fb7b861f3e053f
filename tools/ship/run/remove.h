/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_REMOVE_H
#define ETWAS_TOOLS_SHIP_RUN_REMOVE_H

/* Removes files from folders that other processes may change at the same time. */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Removes the file if it still matches `facts` and no process writes it. Otherwise returns false
 * with errno 0. Also returns false, with errno, if it cannot be removed.
 */
bool etwas_ship_remove(const char *path, const struct stat *facts);

#endif
