/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SETTINGS_H
#define ETWAS_TOOLS_SHIP_SETTINGS_H

/*
 * The options of `etwas ship`, from its command line and from a settings file (--config). The lines
 * of that file are the long options: NAME = VALUE, or NAME alone. An option on the command line
 * replaces that of the file.
 */

#include "cli/command.h"
#include "cli/files.h"
#include "commands.h"
#include "ship/wire/target.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_IDENTIFIER_BYTES = 65,
};

enum etwas_ship_task {
    ETWAS_SHIP_TASK_FILES,   /* files, whether they have ended or not */
    ETWAS_SHIP_TASK_FOLLOW,  /* a folder */
    ETWAS_SHIP_TASK_SESSION, /* a running session's log files */
    ETWAS_SHIP_TASK_PROVE,
    ETWAS_SHIP_TASK_DDL,
};

struct etwas_ship_settings {
    enum etwas_ship_task task;
    /* Complete except for `stop`. It has no shards without --server, which only --ddl may lack. */
    struct etwas_ship_options target;
    char database[ETWAS_SHIP_IDENTIFIER_BYTES]; /* `target` points to it */
    char table[ETWAS_SHIP_IDENTIFIER_BYTES];
    uint64_t timeout_ns; /* 0: not given */
    const char *config;  /* or NULL */
    int instead;         /* task instead of sending: _PROVE or _DDL; 0: send */

    /* What is shipped, depending on the task. */
    struct etwas_files files;
    const char *follow;
    const char *session;
    const char *host; /* name of the machine in rows; default: its own name */

    /* How it is shipped. */
    const char *state;          /* folder of cursors, or NULL: the default */
    const char *pools;          /* folder of dead processes' pools; NULL: etwas_crash_safe_folder */
    uint64_t spool_limit_bytes; /* 0: no limit */
    bool once;                  /* ends when all is sent */
    bool recovers;
    bool deletes; /* removes files that have arrived */

    /* Options of --prove. */
    uint32_t days; /* days to look back from today, UTC */
    int form;      /* enum etwas_form */

    /* Options of --ddl. */
    const char *cluster; /* or NULL: a single server */
    uint32_t keep_days;  /* 0: forever */
    uint32_t major;      /* of the server's version; 0: not given */
};

extern const struct etwas_option etwas_ship_options[];

/*
 * Reads the options. The strings stay valid until the program ends. Returns false if the program
 * must exit, with *result.
 */
bool etwas_ship_settings_read(int argc, char **argv, struct etwas_ship_settings *settings,
                              int *result);

#endif
