/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SUMMARY_H
#define ETWAS_TOOLS_STEER_SUMMARY_H

/*
 * The line in which a command says what it has done with a session: what that has recorded and lost
 * until then, and where. Losses are warnings on standard error, and so is why nothing was recorded
 * although a provider was enabled.
 */

#include "steer/running.h"

#include <stdbool.h>

struct etwas_steer_summary {
    const char *command; /* "etwas stop" */
    const char *verb;    /* "stopped" */
    const char *name;
    struct etwas_steer_found_session session; /* as it was before */
    char unwritten[256];                      /* why its process cannot write */
    struct etwas_steer_found found;           /* looked for where nothing was recorded */
};

/*
 * Reads the session before the command acts. Returns false after a message on standard error: there
 * is no such session.
 */
bool etwas_steer_summary_begin(struct etwas_steer_summary *summary, const char *command,
                               const char *verb, const char *name);

/*
 * Prints the line after the command has acted, and frees what etwas_steer_summary_begin has
 * allocated. `counts` are the newest that are known; NULL: the session is asked. `file` is where
 * the events are; "" is nowhere.
 */
void etwas_steer_summary_print(struct etwas_steer_summary *summary,
                               const etwas_session_counts *counts, const char *file);

/* Frees the same without a line, if nothing was done or nothing is to be printed. */
void etwas_steer_summary_end(struct etwas_steer_summary *summary);

#endif
