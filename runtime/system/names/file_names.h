/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of open files, as /proc shows them. A name is emitted when it is certain that it is the
 * file's: when all events up to the time at which it was read have been handled and the file is
 * still open.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_NAMES_H
#define ETWAS_SYSTEM_NAMES_FILE_NAMES_H

#include "system/names/open_files.h"
#include "system/stream/event_group.h"

/* Finds all open files in /proc, and emits their names. */
void etwas_file_names_scan(struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

/*
 * All events up to this time have been handled: emits names that are certain now, and reads others.
 */
void etwas_file_names_drained(struct etwas_open_files *files,
                              const struct etwas_event_group_host *host, int64_t until_ns);

/* Emits the names of all open files. */
void etwas_file_names_emit(const struct etwas_open_files *files,
                           const struct etwas_event_group_host *host);

#endif
