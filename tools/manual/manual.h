/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MANUAL_H
#define ETWAS_TOOLS_MANUAL_H

/*
 * What the build generates from the tables of the commands: manual pages, completion, the
 * reference.
 */

#include "cli/command.h"
#include "print/output.h"

/* Print a manual page in roff: that of a command, and etwas(1). `version` is the release. */
void etwas_manual_page(struct etwas_output *output, const struct etwas_command *command,
                       const char *version);
void etwas_manual_overview(struct etwas_output *output, const char *version);

/* Print the completion for a shell. */
void etwas_manual_bash(struct etwas_output *output);
void etwas_manual_zsh(struct etwas_output *output);
void etwas_manual_fish(struct etwas_output *output);

/* Prints docs/reference/commands.md. */
void etwas_manual_reference(struct etwas_output *output);

#endif
