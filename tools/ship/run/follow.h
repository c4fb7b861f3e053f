/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_FOLLOW_H
#define ETWAS_TOOLS_SHIP_RUN_FOLLOW_H

/*
 * A folder into which sessions write.
 *
 * Its log files are regular files with a log file's name (etwas_files_is_log). Links, pipes and
 * folders are ignored. Files come and go, are renamed, and are replaced.
 */

#include "ship/run/run.h"

/*
 * Calls `take` for each log file of the folder, until it returns false. Returns false if the folder
 * cannot be read.
 */
bool etwas_ship_each_file(const char *folder,
                          bool (*take)(void *context, const char *path, const struct stat *facts),
                          void *context);

/*
 * Adds new files, and drops missing ones that are not open. Returns false if the folder cannot be
 * read, which is reported once as long as the reason is the same.
 */
bool etwas_ship_follow_look(struct etwas_ship_run *run);

#endif
