/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_GONE_H
#define ETWAS_TOOLS_SHIP_GONE_H

/*
 * Rows about a file that is there no more: kept as numbers in its cursor until they have arrived.
 */

#include "ship/columns.h"
#include "ship/cursor.h"

#include <stdbool.h>

/* Counts what the file has behind `from`, and keeps the rows that say that it went. False: etwas_ship_file_reason. */
bool etwas_ship_gone_keep(struct etwas_ship_file *file, const struct etwas_ship_place *from,
                          struct etwas_ship_block *block, struct etwas_ship_cursor *cursor);

/* Fills `buffers`, which is emptied before, with the rows that are owed. */
void etwas_ship_gone_rows(const struct etwas_ship_cursor *cursor, struct etwas_columns *buffers);

/*
 * What was in doubt when the file went is known now: the servers have so many of its events. What they have is not gone, and
 * the block that was on its way is, if they have not.
 */
void etwas_ship_gone_settle(struct etwas_ship_cursor *cursor, uint64_t events_there);

#endif
