/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_REMOVE_H
#define ETWAS_TOOLS_SHIP_RUN_REMOVE_H

/*
 * Removes files, of folders in which others may do as they like meanwhile.
 */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Removes the file, if it is as `facts` say and nobody writes it. False: it is not, and errno is 0;
 * or errno says why it cannot be removed.
 */
bool etwas_ship_remove(const char *path, const struct stat *facts);

#endif
