/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_HELP_H
#define ETWAS_TOOLS_CLI_HELP_H

/*
 * What `etwas help` and `etwas COMMAND --help` print.
 */

#include "cli/command.h"

/* Print the help of a command, and the list of commands. Return the exit status. */
int etwas_help_command(const struct etwas_command *command);
int etwas_help_commands(void);

/*
 * Finds the help of a command or of a guide by its name. Prints it, or a message with a suggestion.
 * Returns the exit status.
 */
int etwas_help_find(const char *name);

#endif
