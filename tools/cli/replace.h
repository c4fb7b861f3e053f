/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_REPLACE_H
#define ETWAS_TOOLS_CLI_REPLACE_H

/*
 * Files that a command makes where files may exist. A file that is not empty is replaced only with
 * --force, and a file that a session is writing never. If the command fails to begin, the old file
 * gets its name back.
 */

#include "cli/command.h"

#include <stdbool.h>

/* Reads the name of a trace to make. It must not be -, since a session writes to a file. */
bool etwas_replace_read_path(const struct etwas_option_use *use);

/* The options of a command that makes a trace, for its table, with their members of the request. */
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
 * Returns whether a file may be made at `path`. Returns true also for anything but a file: the code
 * that opens it reports the error. Returns false after a message on standard error. `command` is
 * the name in messages, such as "etwas record".
 */
bool etwas_replace_may(const char *command, const char *path, bool force);

/*
 * Does the same for all files that a session makes from a pattern with %d. A pattern without %d
 * names one file.
 */
bool etwas_replace_may_numbered(const char *command, const char *pattern, bool force);

/* Returns whether a folder is empty. A folder that does not exist counts as empty. */
bool etwas_replace_is_empty(const char *folder);

/* An existing file that the library replaces; it is restored unless everything begins. */
struct etwas_replaced {
    char *path;
    char *aside;   /* temporary name of the old file; NULL: there was none */
    bool is_known; /* it is known that the path is free, or was a file */
};

/*
 * Checks as etwas_replace_may does, and renames the old file; with `numbered` the first file of a
 * pattern with %d.
 */
bool etwas_replace_begin(struct etwas_replaced *replaced, const char *command, const char *path,
                         bool numbered, bool force);

/*
 * Removes the old file if the new one was begun (`has_begun`), else restores it. Does nothing if
 * etwas_replace_begin failed.
 */
void etwas_replace_end(struct etwas_replaced *replaced, bool has_begun);

#endif
