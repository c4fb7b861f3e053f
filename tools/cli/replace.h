/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_REPLACE_H
#define ETWAS_TOOLS_CLI_REPLACE_H

/*
 * Files that a command is to make, where there may be some already: none that has anything in it is
 * replaced unless
 * --force says so, none that a session writes is replaced at all, and what was there is there again
 * where nothing begins.
 */

#include <stdbool.h>

/*
 * May a file be made there? True, too, where something else is than a file: the code that opens it
 * says what is wrong with it. False after a message on standard error. `command` is "etwas record"
 * or another.
 */
bool etwas_replace_may(const char *command, const char *path, bool force);

/*
 * The same of all names that a session makes of one with %d; without one it is the name of one
 * file.
 */
bool etwas_replace_may_numbered(const char *command, const char *pattern, bool force);

/* Has a folder nothing in it? So has one that is not there. */
bool etwas_replace_is_empty(const char *folder);

/* A file that the library makes, and that is not there unless all begins. */
struct etwas_replaced {
    char *path;
    char *aside;   /* where what was there is for now; NULL: nothing was */
    bool is_known; /* that the path is free, or was a file */
};

/*
 * As etwas_replace_may. What is there is put aside; of names with %d, if they are `numbered`, the
 * first one.
 */
bool etwas_replace_begin(struct etwas_replaced *replaced, const char *command, const char *path,
                         bool numbered, bool force);

/*
 * What was there goes if the new one `has_begun`, else it comes back. Does nothing where nothing
 * began.
 */
void etwas_replace_end(struct etwas_replaced *replaced, bool has_begun);

#endif
