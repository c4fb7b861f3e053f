/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_FOLDER_H
#define ETWAS_TOOLS_SHIP_STATE_FOLDER_H

/*
 * Where cursors are kept where nobody says it.
 */

#include <limits.h>
#include <stdbool.h>

enum {
    ETWAS_SHIP_STATE_FOLDER_BYTES = PATH_MAX
};

/*
 * Finds the folder of the cursors. If a folder is shipped, they are there by default: then any
 * process that ships its files to the same place knows what others have sent. `named` is that of
 * --state, and `shipped` the folder; both may be NULL. A slash at its end makes a link be followed:
 * if others may write into the folder, they may put one there. Returns false after a message if
 * there is none, or if its path is too long.
 */
bool etwas_ship_state_folder(const char *named, const char *shipped,
                             char folder[ETWAS_SHIP_STATE_FOLDER_BYTES]);

#endif
