/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SETTINGS_H
#define ETWAS_TOOLS_SHIP_SETTINGS_H

/*
 * The options of `etwas ship`, from its command line and from a settings file (--config). The lines
 * of that file are the long options: NAME = VALUE, or NAME alone. An option of the command line
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
    ETWAS_SHIP_TASK_FILES,   /* finished files, or what there is of others */
    ETWAS_SHIP_TASK_FOLLOW,  /* a folder */
    ETWAS_SHIP_TASK_SESSION, /* a running session's log files */
    ETWAS_SHIP_TASK_PROVE,
    ETWAS_SHIP_TASK_DDL,
};

struct etwas_ship_settings {
    enum etwas_ship_task task;
    /* All but `stop`. Without --server, which --ddl alone may be, it has no shards. */
    struct etwas_ship_options target;
    char database[ETWAS_SHIP_IDENTIFIER_BYTES]; /* what `target` points to */
    char table[ETWAS_SHIP_IDENTIFIER_BYTES];
    uint64_t timeout_ns; /* 0: not told */
    const char *config;  /* or NULL */
    int instead;         /* of sending: ETWAS_SHIP_TASK_PROVE or _DDL; 0: it sends */

    /* What is shipped, by the task. */
    struct etwas_files files;
    const char *follow;
    const char *session;
    const char *host; /* that rows name; this machine's name unless told */

    /* How. */
    const char *state; /* the folder of cursors, or NULL: where they are by themselves */
    const char *pools; /* that of dead processes' pools, or NULL: etwas_crash_safe_folder */
    uint64_t spool_limit_bytes; /* 0: none */
    bool once;                  /* follows until all is sent */
    bool recovers;
    bool deletes; /* files that have arrived */

    /* Options of the proof. */
    uint32_t days; /* before today, UTC */
    int form;      /* enum etwas_form */

    /* Options of the DDL. */
    const char *cluster; /* or NULL: one server */
    uint32_t keep_days;  /* 0: for ever */
    uint32_t major;      /* of the server's version; 0: not told */
};

extern const struct etwas_option etwas_ship_options[];

/*
 * Until the program ends it holds what it has read. False: *result is what the program exits with.
 */
bool etwas_ship_settings_read(int argc, char **argv, struct etwas_ship_settings *settings,
                              int *result);

#endif
