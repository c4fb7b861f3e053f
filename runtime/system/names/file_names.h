/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What open files are called, as /proc shows it. A name is told when it is certain to be the file's:
 * when all that happened until it was looked up was taken, and the file is still open.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_NAMES_H
#define ETWAS_SYSTEM_NAMES_FILE_NAMES_H

#include "system/names/open_files.h"
#include "system/stream/event_group.h"

/* All open files that /proc shows, and what they are called. */
void etwas_file_names_find(struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

/* All that happened until then was taken: tells names, and looks up others. */
void etwas_file_names_drained(struct etwas_open_files *files,
                              const struct etwas_event_group_host *host, int64_t until_ns);

/* The names of all that are open. */
void etwas_file_names_emit(const struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

#endif
