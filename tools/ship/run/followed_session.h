/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_FOLLOWED_SESSION_H
#define ETWAS_TOOLS_SHIP_RUN_FOLLOWED_SESSION_H

/*
 * A running session with log files that are shipped (--session): where the files are, and whether
 * the session still runs.
 */

#include <etwas/types.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_ship_followed_session {
    const char *name;
    etwas_guid guid;
    uint64_t number;       /* as in rows */
    char folder[PATH_MAX]; /* the folder of its log file */
};

/*
 * Finds the session. Returns false after reporting that it does not run, or has no log file. `host`
 * is as in etwas_ship_file_open.
 */
bool etwas_ship_followed_session_find(struct etwas_ship_followed_session *session, const char *name,
                                      const char *host);

bool etwas_ship_followed_session_runs(const struct etwas_ship_followed_session *session);

#endif
