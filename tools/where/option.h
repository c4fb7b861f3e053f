/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_OPTION_H
#define ETWAS_TOOLS_WHERE_OPTION_H

/* The options of a command that select events: --where, --pid and the like. */

#include "cli/command.h"
#include "where/where.h"

/*
 * Reads the expression into a struct etwas_where, whose `paths` must be set; for etwas_option.read.
 */
bool etwas_where_read_option(const struct etwas_option_use *use);

/* Reads an option such as --pid: values of the property of that name; for etwas_option.read. */
bool etwas_where_read_choice(const struct etwas_option_use *use);

/* These options for the table of a command; `member` is the struct etwas_where of its request. */
#define ETWAS_WHERE_OPTIONS(request, member)                                                       \
    {.name = "where",                                                                              \
     .letter = 'w',                                                                                \
     .value = "EXPR",                                                                              \
     .help = "only events for which EXPR holds: etwas help conditions",                            \
     .type = ETWAS_OPTION_READ,                                                                    \
     .read = etwas_where_read_option,                                                              \
     ETWAS_PLACE(request, member)},                                                                \
        {.name = "pid",                                                                            \
         .letter = 'p',                                                                            \
         .value = "LIST",                                                                          \
         .help = "only events of these processes",                                                 \
         .type = ETWAS_OPTION_READ,                                                                \
         .read = etwas_where_read_choice,                                                          \
         ETWAS_PLACE(request, member)},                                                            \
        {.name = "process",                                                                        \
         .value = "NAME",                                                                          \
         .help = "only of processes of this name; or NAME,NAME",                                   \
         .type = ETWAS_OPTION_READ,                                                                \
         .read = etwas_where_read_choice,                                                          \
         ETWAS_PLACE(request, member)},                                                            \
        {.name = "tid",                                                                            \
         .value = "LIST",                                                                          \
         .help = "only events of these threads",                                                   \
         .type = ETWAS_OPTION_READ,                                                                \
         .read = etwas_where_read_choice,                                                          \
         ETWAS_PLACE(request, member)},                                                            \
    {                                                                                              \
        .name = "cpu", .value = "LIST", .help = "only events of these processors",                 \
        .type = ETWAS_OPTION_READ, .read = etwas_where_read_choice, ETWAS_PLACE(request, member),  \
    }

/*
 * Reports what is wrong with an expression, and where. `event` is the name of the event for which
 * it is wrong, or NULL.
 */
void etwas_where_complain(const struct etwas_where *where, const char *event, size_t bytes);

/*
 * Reports which of the named fields no event had, which field a column hides, and that the
 * condition held for no event. Call it after the events. `has_all`: all events were read. Returns
 * the exit status.
 */
int etwas_where_finish(const struct etwas_where *where, const struct etwas_field_paths *paths,
                       const char *command, bool has_all, int result);

/* The text of the help guide "conditions": what an expression may be. */
extern const char etwas_where_help[];

#endif
