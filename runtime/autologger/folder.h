/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which files of AutoLoggers there are, in which order, and whether they are trusted: folder and
 * file must belong to root or to this user, and be writable by nobody else. A program with another
 * user's rights (AT_SECURE) reads no environment, and trusts root alone.
 */
#ifndef ETWAS_AUTOLOGGER_FOLDER_H
#define ETWAS_AUTOLOGGER_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "autologger/file.h"

struct dirent;

struct etwas_autologger_source {
    char path[PATH_MAX];        /* of the file, or of a folder that is not trusted */
    char session[NAME_MAX + 1]; /* the file's name without its end; empty: it is a folder */
    bool is_in_environment;     /* named there; else by the caller, or found in a folder */
    uint32_t code;              /* ERROR_SUCCESS: its text has been read; else why not */
    const char *reason;         /* NULL: the code says it all */
    char *text;
    size_t bytes;
};

struct etwas_autologger_search {
    const char *names;       /* remaining names, with `:` between them; NULL: none */
    const char *listed;      /* all that the environment names */
    bool is_one;             /* the only one, which may have a `:` in its name */
    uint32_t folder;         /* which one is next */
    char path[PATH_MAX];     /* of the folder that is being read */
    int descriptor;          /* of the same; -1: none is */
    struct dirent **entries; /* of that */
    int count;
    int next;
};

/*
 * Begins a search for the file of one name, or, with NULL, for those that the environment names and
 * then those in the folders.
 */
void etwas_autologger_search_begin(struct etwas_autologger_search *search, const char *name);

/*
 * Finds the next file. False: there is none. The caller frees the text. A file hides a later one of
 * the same name.
 */
bool etwas_autologger_search_next(struct etwas_autologger_search *search,
                                  struct etwas_autologger_source *source);
void etwas_autologger_source_free(struct etwas_autologger_source *source);
void etwas_autologger_search_end(struct etwas_autologger_search *search);

/*
 * FileMax: there are at most so many log files, FILE and FILE.0001 and so on. Replaces the name by
 * that of the first which does not exist, else of the oldest.
 */
void etwas_autologger_choose_file(char file_name[ETWAS_AUTOLOGGER_PATH_BYTES], uint32_t file_max);

#endif
