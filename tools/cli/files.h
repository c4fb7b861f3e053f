/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_FILES_H
#define ETWAS_TOOLS_CLI_FILES_H

/*
 * The files of a command line. A folder stands for the log files in it, in the order of their
 * names, but not for those of folders in it.
 */

#include "cli/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct etwas_files {
    char **paths; /* until etwas_files_free: a variable that lasts so long has them */
    uint32_t count;
    struct etwas_files *before; /* that the command read before these */
    char wrong[48];             /* what etwas_files_read returns may be in it */
};

/*
 * Reads the arguments from `first` to before `end`; 0 to `most` of them are allowed. Returns what
 * is wrong with them, or NULL. A folder without log files stays in the list as it is, so that
 * opening it reports the error. Afterwards the process may have two descriptors for each file, as
 * far as the system allows, and its mask of new files (umask) takes away what others may not do
 * with one of these. The caller frees `files`.
 */
const char *etwas_files_read(struct etwas_files *files, char *const *first, char *const *end,
                             uint32_t most);

/*
 * Reads the options of a command into `request`, and its operands as files, `most` at most. Returns
 * false with the exit status in *result after --help, or a message.
 */
bool etwas_files_read_command(struct etwas_files *files, const struct etwas_command *command,
                              int argc, char **argv, uint32_t most, void *request, int *result);

/*
 * Returns whether a log file has such a name: NAME.etl, which a new-file set may number, as
 * NAME.etl7; NAME.etl.0001 and so on, of an AutoLogger with FileMax; the same with _PID behind it,
 * of a private session. Hidden files are none.
 */
bool etwas_files_is_log(const char *name);

/*
 * Reports on standard error which traces of a folder have other names, and how many lie in folders
 * below it: they are not read.
 */
void etwas_files_report_others(const char *folder);

/* Frees all lists, at the end of the command. */
void etwas_files_free(void);

/* Returns the name of a file in its folder: the last part of the path. */
static inline const char *etwas_files_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

#endif
