/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_REPLACE_H
#define ETWAS_TOOLS_CLI_REPLACE_H

/*
 * Files that a command makes where there may be files already. A file that has anything in it is
 * replaced only if the option --force is given, and a file that a session writes is never replaced.
 * If the command does not begin, the old file gets its name back.
 */

#include "cli/command.h"

#include <stdbool.h>

/* Reads the name of a trace to make: not -, since a session writes to a file. */
bool etwas_replace_read_path(const struct etwas_option_use *use);

/* The options in the table of a command that makes a trace; their members of its request. */
#define ETWAS_TRACE_OPTIONS(request, path_member, force_member, output_help)                       \
    {.name = "output",                                                                             \
     .letter = 'o',                                                                                \
     .value = "PATH",                                                                              \
     .help = output_help,                                                                          \
     .type = ETWAS_OPTION_READ,                                                                    \
     .read = etwas_replace_read_path,                                                              \
     .source = ETWAS_VALUES_FILES,                                                                 \
     ETWAS_PLACE(request, path_member)},                                                           \
    {                                                                                              \
        .name = "force", .letter = 'f', .help = "replace what is there",                           \
        .type = ETWAS_OPTION_FLAG, ETWAS_PLACE(request, force_member),                             \
    }

/*
 * Returns whether a file may be made at `path`. Also returns true where something else than a file
 * is: the code that opens it reports what is wrong. Returns false after a message on standard
 * error. `command` is the command's name for messages, such as "etwas record".
 */
bool etwas_replace_may(const char *command, const char *path, bool force);

/*
 * Does the same for all file names that a session makes of a pattern with %d. A pattern without %d
 * is the name of one file.
 */
bool etwas_replace_may_numbered(const char *command, const char *pattern, bool force);

/* Returns whether a folder is empty. A folder that does not exist counts as empty. */
bool etwas_replace_is_empty(const char *folder);

/* A file that the library makes; it is removed again unless everything begins. */
struct etwas_replaced {
    char *path;
    char *aside;   /* where what was there is for now; NULL: nothing was */
    bool is_known; /* that the path is free, or was a file */
};

/*
 * Checks as etwas_replace_may does, and moves the old file aside: with `numbered` the first file of
 * a pattern with %d.
 */
bool etwas_replace_begin(struct etwas_replaced *replaced, const char *command, const char *path,
                         bool numbered, bool force);

/*
 * Removes the old file if the new one has begun (`has_begun`), else gives the old one its name
 * back. Does nothing where etwas_replace_begin failed.
 */
void etwas_replace_end(struct etwas_replaced *replaced, bool has_begun);

#endif
