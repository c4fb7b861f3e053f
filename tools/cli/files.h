/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_FILES_H
#define ETWAS_TOOLS_CLI_FILES_H

/*
 * The files of a command line. A folder among them stands for the log files in it, in the order of
 * their names; not for those of folders in it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct etwas_files {
    char **paths; /* until etwas_files_free: a variable that lasts so long has them */
    uint32_t count;
    struct etwas_files *before; /* that were read before these */
};

/*
 * Those of arguments `first` to `end`, 0 to `most` of them. Returns what is wrong with them; NULL:
 * nothing. A folder without log files stays what it is: who opens it says so. The process may have
 * two descriptors for each afterwards, as far as the system lets it.
 */
const char *etwas_files_read(struct etwas_files *files, char *const *first, char *const *end,
                             uint32_t most);

/*
 * Is a log file called so? NAME.etl, which a new-file set may number, NAME.etl7; NAME.etl.0001 and
 * so on, of an AutoLogger with FileMax; of a private session also with _PID behind these; and no
 * hidden one.
 */
bool etwas_files_is_log(const char *name);

/*
 * Says on standard error which traces of a folder have other names, and how many lie in folders
 * below it: they are not read. `command`: "etwas ship".
 */
void etwas_files_report_others(const char *command, const char *folder);

/* Those that the command has read, the newest first; NULL: none. */
const struct etwas_files *etwas_files_given(void);

/* The command that had them has ended. */
void etwas_files_free(void);

/* What a file is called in its folder: the path's last part. */
static inline const char *etwas_files_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

#endif
