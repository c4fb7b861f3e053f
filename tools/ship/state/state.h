/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_H
#define ETWAS_TOOLS_SHIP_STATE_H

/*
 * The folder in which a shipper keeps its cursors. It belongs to the user, no other user may write
 * in it, and one process at a time uses it.
 *
 * Each cursor is a file, replaced by write, fsync, rename and fsync of the folder. After a crash
 * the old one or the new one is there. Losing the folder neither loses nor duplicates events,
 * because the servers are queried then.
 *
 * Different threads may read and write cursors of different files at the same time.
 */

#include "ship/state/cursor.h"

#include <stdbool.h>

struct etwas_ship_state;

/*
 * Opens and locks the folder; creates it and the folders above it if necessary. Returns NULL after
 * reporting that it is unusable, belongs to another user, is writable by others, or is used by
 * another process.
 */
struct etwas_ship_state *etwas_ship_state_open(const char *folder);
void etwas_ship_state_close(struct etwas_ship_state *state); /* may be NULL */

/*
 * Reads the cursor of `key`. An invalid one is renamed and reported, and counts as missing. Returns
 * false if there is none.
 */
bool etwas_ship_state_read(struct etwas_ship_state *state, const struct etwas_ship_key *key,
                           struct etwas_ship_cursor *cursor);

/*
 * Finds the cursor of a file that is sent to `target`. Returns false if there is none; *cursor is
 * then that of a file of which nothing was sent.
 */
bool etwas_ship_state_find(struct etwas_ship_state *state, const char *target,
                           const struct etwas_ship_facts *facts, struct etwas_ship_cursor *cursor);

/*
 * Writes the cursor. Returns false with errno if it failed: the old one is still there, or the new
 * one may not be durable.
 */
bool etwas_ship_state_write(struct etwas_ship_state *state, const struct etwas_ship_cursor *cursor);

/*
 * Returns whether the folder was removed. Then nothing can be stored in it, and another process may
 * have a new folder of its name.
 */
bool etwas_ship_state_is_gone(const struct etwas_ship_state *state);

/* Removes the cursor, if there is one. */
void etwas_ship_state_remove(struct etwas_ship_state *state, const struct etwas_ship_key *key);

/*
 * Calls `take` for each cursor for `target`, with its age in seconds, until `take` returns false.
 * Returns false then, or if the folder cannot be read.
 */
bool etwas_ship_state_each(struct etwas_ship_state *state, const char *target,
                           bool (*take)(void *context, const struct etwas_ship_cursor *cursor,
                                        int64_t age_s),
                           void *context);

#endif
