/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SUMMARY_H
#define ETWAS_TOOLS_STEER_SUMMARY_H

/*
 * The line in which a command reports what it has done with a session: what was recorded and lost
 * so far, and where the file is. Losses are warnings on standard error, as is the reason if a
 * provider was enabled but nothing was recorded.
 */

#include "steer/running.h"

#include <stdbool.h>

struct etwas_steer_summary {
    const char *command; /* "etwas stop" */
    const char *verb;    /* "stopped" */
    const char *name;
    struct etwas_steer_found_session session; /* its state before */
    char unwritten[256];                      /* why the host cannot write */
    struct etwas_steer_found found;           /* filled if nothing was recorded */
};

/*
 * Reads the session before the command acts. Returns false after a message on standard error if
 * there is no such session.
 */
bool etwas_steer_summary_begin(struct etwas_steer_summary *summary, const char *command,
                               const char *verb, const char *name);

/*
 * Prints the line after the command has acted, and frees what etwas_steer_summary_begin allocated.
 * `counts` are the latest counts; NULL: queries them. `file` has the events; "" if there is none.
 */
void etwas_steer_summary_print(struct etwas_steer_summary *summary,
                               const etwas_session_counts *counts, const char *file);

/* Frees the same without printing, if nothing was done or nothing is to be printed. */
void etwas_steer_summary_end(struct etwas_steer_summary *summary);

#endif
