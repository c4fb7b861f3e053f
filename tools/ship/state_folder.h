/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_FOLDER_H
#define ETWAS_TOOLS_SHIP_STATE_FOLDER_H

/*
 * Where cursors are kept where nobody says it.
 */

#include "ship/settings.h"

#include <limits.h>
#include <stdbool.h>

enum {
    ETWAS_SHIP_STATE_FOLDER_BYTES = PATH_MAX
};

/* False after a message: there is none, or its path is too long. */
bool etwas_ship_state_folder(const struct etwas_ship_settings *settings,
                             char folder[ETWAS_SHIP_STATE_FOLDER_BYTES]);

#endif
