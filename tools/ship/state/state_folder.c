/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/state/state_folder.h"

#include "ship/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * If a service has several folders, the service manager separates them by colons. The first is
 * used.
 */
static int from_manager(char folder[ETWAS_SHIP_STATE_FOLDER_BYTES], const char *folders)
{
    return snprintf(folder, ETWAS_SHIP_STATE_FOLDER_BYTES, "%.*s/", (int)strcspn(folders, ":"),
                    folders);
}

static int from_environment(char folder[ETWAS_SHIP_STATE_FOLDER_BYTES])
{
    static const char *const places[][2] = {
        {"XDG_STATE_HOME", "etwas/ship"},
        {"HOME", ".local/state/etwas/ship"},
    };
    const char *manager = getenv("STATE_DIRECTORY");

    if (manager != NULL && manager[0] == '/') {
        return from_manager(folder, manager);
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *above = getenv(places[i][0]);

        if (above != NULL && above[0] == '/') {
            return snprintf(folder, ETWAS_SHIP_STATE_FOLDER_BYTES, "%s/%s/", above, places[i][1]);
        }
    }
    return -1;
}

bool etwas_ship_state_folder(const char *named, const char *shipped,
                             char folder[ETWAS_SHIP_STATE_FOLDER_BYTES])
{
    int bytes;

    if (named != NULL) {
        bytes = snprintf(folder, ETWAS_SHIP_STATE_FOLDER_BYTES, "%s/", named);
    } else if (shipped != NULL) {
        bytes = snprintf(folder, ETWAS_SHIP_STATE_FOLDER_BYTES, "%s/.ship", shipped);
    } else {
        bytes = from_environment(folder);
    }
    if (bytes < 0 || bytes >= ETWAS_SHIP_STATE_FOLDER_BYTES) {
        etwas_ship_message("--state", bytes < 0 ? "nothing says where to keep what was sent"
                                                : "the folder's path is too long");
        return false;
    }
    return true;
}
