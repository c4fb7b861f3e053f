/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_FOLDER_H
#define ETWAS_TOOLS_SHIP_STATE_FOLDER_H

/* Finds the place where cursors are kept. */

#include <limits.h>
#include <stdbool.h>

enum {
    ETWAS_SHIP_STATE_FOLDER_BYTES = PATH_MAX
};

/*
 * Finds the folder of the cursors. The default is in the followed folder, if there is one. So any
 * process that ships files from there to the same target knows what was sent. `named` is the value
 * of --state, and `shipped` the followed folder; both may be NULL. A final slash in the path makes
 * a link be followed. The path in the followed folder has none, because others may be able to put a
 * link there. Returns false after reporting that there is no folder, or that its path is too long.
 */
bool etwas_ship_state_folder(const char *named, const char *shipped,
                             char folder[ETWAS_SHIP_STATE_FOLDER_BYTES]);

#endif
