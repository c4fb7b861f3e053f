/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_H
#define ETWAS_TOOLS_SHIP_STATE_H

/*
 * The folder in which a shipper keeps its cursors. It is the user's alone, and one process has it
 * at a time.
 *
 * A cursor is a file of its own, replaced by write, fsync, rename and fsync of the folder: what is
 * found after a crash is the old one or the new one. Losing the folder loses no event and doubles
 * none; the servers are asked what they have.
 *
 * Cursors of different files may be read and written by different threads at a time.
 */

#include "ship/state/cursor.h"

#include <stdbool.h>

struct etwas_ship_state;

/*
 * Makes the folder where it is missing, with those above it, and takes it. NULL after a message on
 * standard error: it cannot be had, is not the user's alone, or another process has it.
 */
struct etwas_ship_state *etwas_ship_state_open(const char *folder);
void etwas_ship_state_close(struct etwas_ship_state *state); /* NULL: nothing */

/*
 * The cursor of `key`. One that makes no sense is set aside, which is said, and is as good as none.
 * False: there is none.
 */
bool etwas_ship_state_read(struct etwas_ship_state *state, const struct etwas_ship_key *key,
                           struct etwas_ship_cursor *cursor);

/*
 * The cursor of a file that is sent to `target`. False: there is none, and *cursor is that of one
 * of which nothing was sent.
 */
bool etwas_ship_state_find(struct etwas_ship_state *state, const char *target,
                           const struct etwas_ship_facts *facts, struct etwas_ship_cursor *cursor);

/*
 * False: it could not be written; what was there is there still, or errno says why nothing is
 * known.
 */
bool etwas_ship_state_write(struct etwas_ship_state *state, const struct etwas_ship_cursor *cursor);

/*
 * The folder was removed: nothing can be kept there any more, and another process may have one of
 * its name.
 */
bool etwas_ship_state_is_gone(const struct etwas_ship_state *state);

/* That there is none is fine. */
void etwas_ship_state_remove(struct etwas_ship_state *state, const struct etwas_ship_key *key);

/*
 * Has `take` look at each cursor that is for `target`, and says how old, in seconds, it is. False
 * ends it. False likewise where the folder cannot be read.
 */
bool etwas_ship_state_each(struct etwas_ship_state *state, const char *target,
                           bool (*take)(void *context, const struct etwas_ship_cursor *cursor,
                                        int64_t age_s),
                           void *context);

#endif
