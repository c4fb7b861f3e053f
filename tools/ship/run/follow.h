/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_FOLLOW_H
#define ETWAS_TOOLS_SHIP_RUN_FOLLOW_H

/*
 * A folder into which sessions write: what is in it by now.
 *
 * Its log files are regular files that are called so (etwas_files_is_log); links, pipes and folders
 * are passed over. Files come and go, get other names, and are replaced.
 */

#include "ship/run/run.h"

/* Each log file of the folder, until `take` says false. False: the folder cannot be read. */
bool etwas_ship_each_file(const char *folder,
                          bool (*take)(void *context, const char *path, const struct stat *facts),
                          void *context);

/*
 * Adds what has come, and drops what has gone and was not begun. False: the folder cannot be read,
 * which was said once for as long as the reason is the same.
 */
bool etwas_ship_follow_look(struct etwas_ship_run *run);

#endif
