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
 * In the folder that is shipped, if one is, so that whoever ships its files to one place knows what
 * the others have sent. `named`: by --state; `shipped`: the folder; both may be NULL. Behind a
 * slash at its end a link is followed: where others may write into the folder, they may put one
 * there. False after a message: there is none, or its path is too long.
 */
bool etwas_ship_state_folder(const char *named, const char *shipped,
                             char folder[ETWAS_SHIP_STATE_FOLDER_BYTES]);

#endif
