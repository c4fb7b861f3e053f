/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_FILES_H
#define ETWAS_TOOLS_CLI_FILES_H

/* The files of a command line. A folder stands for the log files directly in it, sorted by name. */

#include "cli/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct etwas_files {
    char **paths; /* owned until etwas_files_free */
    uint32_t count;
    struct etwas_files *before; /* the list that the command read before */
    char wrong[48];             /* buffer for the result of etwas_files_read */
};

/*
 * Reads the arguments from `first` to before `end`, of which 0 to `most` are allowed. Returns what
 * is wrong with them, or NULL. A folder without log files stays in the list, so that opening it
 * reports the error. Raises the limit of open files to two for each file, as far as the system
 * allows. Sets the umask so that new files are not more accessible than these. `files` must live
 * until etwas_files_free.
 */
const char *etwas_files_read(struct etwas_files *files, char *const *first, char *const *end,
                             uint32_t most);

/*
 * Reads the options of a command into `request`, and its operands as files, at most `most`. After
 * --help, or a message, returns false with the exit status in *result.
 */
bool etwas_files_read_command(struct etwas_files *files, const struct etwas_command *command,
                              int argc, char **argv, uint32_t most, void *request, int *result);

/*
 * Returns whether a name is that of a log file. It is NAME.etl, with a number in a new-file set,
 * such as NAME.etl7, or NAME.etl.0001 and so on for an AutoLogger with FileMax. A private session
 * appends _PID. Hidden files are not log files.
 */
bool etwas_files_is_log(const char *name);

/*
 * Reports on standard error the traces of a folder that are not read: those with other names, and
 * the number in folders below it.
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
