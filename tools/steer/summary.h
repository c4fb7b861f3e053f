/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_SUMMARY_H
#define ETWAS_TOOLS_STEER_SUMMARY_H

/*
 * What a command has done with a session, in a line: what it has recorded and lost until then, and
 * where. Losses, and why nothing was recorded although a provider was enabled, are warnings on
 * standard error.
 */

#include "steer/running.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_steer_summary {
    const char *command; /* "etwas stop" */
    const char *verb;    /* "stopped" */
    const char *name;
    struct etwas_steer_found_session session; /* as it was before */
    struct etwas_steer_found found;           /* looked for where nothing was recorded */
};

/* Before it is done. False after a message on standard error: there is no such session. */
bool etwas_steer_summary_begin(struct etwas_steer_summary *summary, const char *command,
                               const char *verb, const char *name);

/*
 * After it. `counts`: what is known of them since; NULL: the session is asked. `file`: where it is,
 * "" nowhere. Gives back what etwas_steer_summary_begin has taken.
 */
void etwas_steer_summary_print(struct etwas_steer_summary *summary,
                               const etwas_session_counts *counts, const char *file);

/* Instead of that where nothing was done, or nothing is to be said. */
void etwas_steer_summary_end(struct etwas_steer_summary *summary);

#endif
