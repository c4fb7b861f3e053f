/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which files of AutoLoggers exist, in which order, and whether they are trusted. Folder and file
 * must belong to root or to this user, and only their owner may be able to write to them. A program
 * with another user's rights (AT_SECURE) reads no environment, and trusts only root.
 */
#ifndef ETWAS_AUTOLOGGER_FOLDER_H
#define ETWAS_AUTOLOGGER_FOLDER_H

#include <etwas/etwas.h>
#include <etwas/types.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter.h"

struct dirent;

/*
 * Parses the text of an AutoLogger's file (docs/howto/autologger.md): values of the session under
 * ETW's names, then a section for each provider. The file is not trusted: any deviation is an
 * error, and then nothing of it is used.
 */

enum {
    ETWAS_AUTOLOGGER_BYTES = 64 << 10, /* maximum size of a file */
    ETWAS_AUTOLOGGER_PROVIDERS = 64,
    ETWAS_AUTOLOGGER_PATH_BYTES = 4096,
};

struct etwas_autologger_provider {
    etwas_guid guid;
    /* A pattern: providers with matching names are enabled too. Empty: the section has a GUID. */
    char name[ETWAS_FILTER_PROVIDER_NAME_BYTES];
    uint32_t line; /* line where its section begins */
    uint32_t enabled;
    uint32_t level;
    uint32_t property;
    uint64_t match_any;
    uint64_t match_all;
};

struct etwas_autologger {
    uint32_t start;
    uint32_t buffer_size_kb;
    uint32_t clock; /* as Wnode.ClientContext */
    uint32_t file_max;
    uint32_t flush_timer;
    uint32_t log_file_mode;
    uint32_t maximum_file_size;
    uint32_t maximum_buffers;
    uint32_t minimum_buffers;
    char file_name[ETWAS_AUTOLOGGER_PATH_BYTES];    /* separated by `;`; empty: none */
    etwas_wchar programs[ETWAS_FILTER_NAMES_UNITS]; /* `;` between them; empty: none */
    uint32_t provider_count;
    struct etwas_autologger_provider providers[ETWAS_AUTOLOGGER_PROVIDERS];
};

struct etwas_autologger_error {
    uint32_t line;      /* from 1 on */
    const char *reason; /* a part of a sentence, of static storage */
};

/*
 * Parses a text, which need not be terminated. Returns false on an error; *fault says where and
 * why.
 */
bool etwas_autologger_parse(const char *text, size_t bytes, struct etwas_autologger *autologger,
                            struct etwas_autologger_error *fault);

struct etwas_autologger_source {
    char path[PATH_MAX];        /* of the file, or of a folder that is not trusted */
    char session[NAME_MAX + 1]; /* the file's name without its suffix; empty: it is a folder */
    bool is_in_environment;     /* named there; otherwise by the caller, or found in a folder */
    uint32_t code;              /* ERROR_SUCCESS: its text has been read; otherwise why not */
    const char *reason;         /* NULL: the code is sufficient */
    char *text;
    size_t bytes;
};

struct etwas_autologger_search {
    const char *names;       /* remaining names, separated by `:`; NULL: none */
    const char *listed;      /* all names in the environment */
    bool is_one;             /* the only one, whose name may contain `:` */
    uint32_t folder;         /* the next one */
    char path[PATH_MAX];     /* of the folder that is being read */
    int descriptor;          /* of that folder; -1: none */
    struct dirent **entries; /* of that folder */
    int count;
    int next;
};

/*
 * Begins a search for the file of one name. NULL: for those that the environment names and then
 * those in the folders.
 */
void etwas_autologger_search_begin(struct etwas_autologger_search *search, const char *name);

/*
 * Finds the next file. Returns false if there is none. The caller frees the text. A file hides a
 * later one of the same name.
 */
bool etwas_autologger_search_next(struct etwas_autologger_search *search,
                                  struct etwas_autologger_source *source);
void etwas_autologger_source_free(struct etwas_autologger_source *source);
void etwas_autologger_search_end(struct etwas_autologger_search *search);

/*
 * FileMax: limits the number of log files, FILE and FILE.0001 and so on. Replaces the name by that
 * of the first file that does not exist, or else of the oldest.
 */
void etwas_autologger_choose_file(char file_name[ETWAS_AUTOLOGGER_PATH_BYTES], uint32_t file_max);

#endif
