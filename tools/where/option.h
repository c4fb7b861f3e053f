/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_OPTION_H
#define ETWAS_TOOLS_WHERE_OPTION_H

/*
 * The option --where of a command.
 */

#include "where/where.h"

/*
 * Reads the expression. False: it is wrong, and standard error says where. `command` is "dump"
 * or another that has it.
 */
bool etwas_where_option(struct etwas_where *where, const char *command, const char *text,
                        struct etwas_field_paths *paths);

/* What --where is, for the help of a command. */
extern const char etwas_where_help[];

#endif
