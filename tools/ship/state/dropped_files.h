/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_DROPPED_FILES_H
#define ETWAS_TOOLS_SHIP_STATE_DROPPED_FILES_H

/*
 * Rows about dropped files: files that were removed before all of them had arrived. The numbers in
 * these rows are in the file's cursor until the rows have arrived.
 */

#include "ship/schema/columns.h"
#include "ship/state/cursor.h"
#include "ship/state/server_progress.h"

#include <stdbool.h>

/* The owed rows of a file: that it was dropped, and its totals if it had an end. */
struct etwas_ship_owed {
    struct etwas_ship_row gone;
    struct etwas_ship_row end;
};

/*
 * Counts the events of the file after `from`. The texts of the owed rows are in its cursor. Uses
 * `rows` as scratch memory, which must be reset before further use. Returns false if it failed;
 * etwas_ship_file_reason says why.
 */
bool etwas_ship_dropped_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                              struct etwas_columns *rows, struct etwas_ship_owed *owed);

/* Empties `buffers`, and fills it with the owed rows. */
void etwas_ship_dropped_rows(const struct etwas_ship_cursor *cursor, struct etwas_columns *buffers);

/*
 * Corrects the owed rows by what the servers have, if that was in doubt when the file was dropped.
 * Events that they have were not dropped. The block in flight was dropped if they do not have it.
 * Returns false if they have everything, and nothing is owed.
 */
bool etwas_ship_dropped_account(struct etwas_ship_cursor *cursor,
                                const struct etwas_ship_server_progress *progress);

#endif
