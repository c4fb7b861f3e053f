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

/*
 * Says what is wrong with an expression, and where; `event` is the name of one for which it is, or
 * NULL.
 */
void etwas_where_complain(const struct etwas_where *where, const char *event, size_t bytes);

/*
 * Call it after the events. Reports which of the named fields no event had, which field a column
 * hides, and that the condition, if there was one, held for none. `has_all`: all events were read.
 * Returns what the program exits with.
 */
int etwas_where_finish(const struct etwas_where *where, const struct etwas_field_paths *paths,
                       const char *command, bool has_all, int result);

/* What --where is, for the help of a command. */
extern const char etwas_where_help[];

#endif
