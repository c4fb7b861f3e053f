/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_DROPPED_FILES_H
#define ETWAS_TOOLS_SHIP_DROPPED_FILES_H

/*
 * Rows about a file that is there no more: kept as numbers in its cursor until they have arrived.
 */

#include "ship/columns.h"
#include "ship/cursor.h"
#include "ship/server_progress.h"

#include <stdbool.h>

/* The rows that are owed of a file: that it went, and, where it had an end, its totals. */
struct etwas_ship_owed {
    struct etwas_ship_row gone;
    struct etwas_ship_row end;
};

/*
 * Counts what the file has behind `from`; texts of its cursor are not looked at. `rows` is emptied,
 * and of use for nothing afterwards. False: etwas_ship_file_reason says why not.
 */
bool etwas_ship_dropped_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                              struct etwas_columns *rows, struct etwas_ship_owed *owed);

/* Fills `buffers`, which is emptied before, with the rows that are owed. */
void etwas_ship_dropped_rows(const struct etwas_ship_cursor *cursor, struct etwas_columns *buffers);

/*
 * What was in doubt when the file went is known now, by what the servers have of it. What they have
 * is not gone, and the block that was on its way is, if they have not. False: nothing is owed, they
 * have it all.
 */
bool etwas_ship_dropped_account(struct etwas_ship_cursor *cursor,
                                const struct etwas_ship_server_progress *progress);

#endif
