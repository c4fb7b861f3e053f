/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which files of AutoLoggers there are, in which order, and whether they are to be believed: folder and file belong to root or to
 * this user, and nobody else may write them. A program that has another user's rights (AT_SECURE) asks no environment, and believes
 * root alone.
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
    char path[PATH_MAX];        /* of the file, or of a folder that is not to be believed */
    char session[NAME_MAX + 1]; /* the file's name without its end; empty: it is a folder */
    bool is_in_environment;     /* named there; else by who asks, or found in a folder */
    uint32_t code;              /* ERROR_SUCCESS: there is its text; else why not */
    const char *reason;         /* NULL: what the code says */
    char *text;
    size_t bytes;
};

struct etwas_autologger_search {
    const char *names;       /* that are left, with `:` between them; NULL: none */
    const char *listed;      /* all that the environment names */
    bool is_one;             /* the only one, which may have a `:` in its name */
    uint32_t folder;         /* which one is next */
    char path[PATH_MAX];     /* of the one that is looked at */
    int descriptor;          /* of the same; -1: none is */
    struct dirent **entries; /* of that */
    int count;
    int next;
};

/* `name`: the only one that is meant; NULL: those that the environment names, then those in the folders. */
void etwas_autologger_search_begin(struct etwas_autologger_search *search, const char *name);

/* False: there is no more. The text is the caller's to free. One that hides another of its name comes instead of it. */
bool etwas_autologger_search_next(struct etwas_autologger_search *search,
                                  struct etwas_autologger_source *source);
void etwas_autologger_source_free(struct etwas_autologger_source *source);
void etwas_autologger_search_end(struct etwas_autologger_search *search);

/*
 * FileMax: there are so many files at most, FILE and FILE.0001 and so on. Makes of the name that of the first which is not
 * there, else of the oldest.
 */
void etwas_autologger_choose_file(char file_name[ETWAS_AUTOLOGGER_PATH_BYTES], uint32_t file_max);

#endif
