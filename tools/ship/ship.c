/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The command `etwas ship`. */

#include "cli/command.h"
#include "exit.h"
#include "ship/run/known_tables.h"
#include "ship/run/run.h"
#include "ship/settings.h"
#include "ship/state/prove.h"

#include <stddef.h>

/*
 * Opens the target to query. Sets *target to NULL if statements are written for a given version,
 * without a server. Returns false after reporting an error.
 */
static bool open_target(const struct etwas_ship_settings *settings,
                        struct etwas_ship_target **target)
{
    *target = NULL;
    return settings->target.shard_count == 0 ||
           etwas_ship_target_open(&settings->target, target) == ETWAS_SHIP_OPENED;
}

static int prove(struct etwas_ship_target *target, const struct etwas_ship_settings *settings)
{
    const struct etwas_ship_prove how = {.days = settings->days,
                                         .is_json = settings->form == ETWAS_FORM_JSON};

    return etwas_ship_prove(target, &how);
}

static int write_ddl(struct etwas_ship_target *target, const struct etwas_ship_settings *settings)
{
    const struct etwas_ship_ddl ddl = {
        .database = settings->target.database,
        .table = settings->target.table,
        .cluster = settings->cluster,
        .major = settings->major,
        .keep_days = settings->keep_days,
    };

    return etwas_ship_ddl(target, &ddl);
}

static int run_ship(int argc, char **argv)
{
    static struct etwas_ship_settings settings;
    struct etwas_ship_target *target;
    int result;

    if (!etwas_ship_settings_read(argc, argv, &settings, &result)) {
        return result;
    }
    if (settings.task != ETWAS_SHIP_TASK_PROVE && settings.task != ETWAS_SHIP_TASK_DDL) {
        return etwas_ship_run(&settings);
    }
    if (!open_target(&settings, &target)) {
        return ETWAS_EXIT_FAILED;
    }
    result = settings.task == ETWAS_SHIP_TASK_PROVE ? prove(target, &settings)
                                                    : write_ddl(target, &settings);
    etwas_ship_target_close(target);
    return result;
}

const struct etwas_command etwas_ship_command = {
    .name = "ship",
    .summary = "send events to ClickHouse, each exactly once",
    .usages =
        (const char *const[]){
            "--server URL FILE... | --follow FOLDER | --prove | --ddl",
            NULL,
        },
    .description = "Sends the events of traces to a ClickHouse server, each exactly once.",
    .details =
        (const char *const[]){
            "What was sent is remembered, block by block. After any doubt the same block is sent "
            "again, which the server knows by its hash. The files are the queue: a server that is "
            "slow or away costs disk, and whoever logs knows nothing of it.",
            "All events of a file are sent. --prove compares them with what the session counted, "
            "so nothing is chosen on the way. etwas convert --to etl --where makes a file of some "
            "events, which can be sent.",
            "FILE is sent as far as it is there, also one without an end. --follow sends the log "
            "files in FOLDER (*.etl, *.etl.0001, *.etl_PID) as they come and grow, until SIGTERM "
            "or SIGINT. At most one block a second is not full.",
            "--recover also sends what processes that died had in memory of sessions whose log "
            "file is there, as etwas-recover(1) does. --pools says where that lies, if not in the "
            "user's runtime folder.",
            "If there is more than --spool-limit, such as 500M or 20G, the oldest files go, those "
            "that have arrived first. What had not arrived is counted, and the server told.",
            "URL is http[s]://HOST:PORT of the replicas of a shard, with commas between them. "
            "--server is given again for each further shard. Sessions are spread over the shards. "
            "The rows of buffers go to the table NAME_buffer beside the one of --table.",
            "The file of --credentials may be readable by its owner alone. Without the option it "
            "is $CREDENTIALS_DIRECTORY/etwas-ship.",
            "--timeout is one deadline for all attempts, for a server that is away or does not "
            "answer. Without it --prove and --ddl wait 10 s.",
            "What was sent is kept in .ship of the folder that is followed, or of that of the "
            "session's log file. Else it is in $STATE_DIRECTORY, $XDG_STATE_HOME/etwas/ship or "
            "~/.local/state/etwas/ship. --state names another folder.",
            "In the file of --config an option without a value stands alone, or as NAME = yes. An "
            "option of the command line replaces that of the file. What to do is taken from the "
            "file only if the command line does not say it.",
            "--prove says of a session complete: each event that was recorded is there, once. "
            "unfinished: it has not told its end; it runs, or was killed and not recovered. "
            "incomplete: not all is there that should be. gone: files went before they were sent "
            "(--spool-limit).",
            "The exit status is 1 if --prove finds that not all is there. It is 1 also if sending "
            "was ended with events left that have not arrived; the same command goes on where it "
            "was. It is 2 also if a server refuses.",
            NULL,
        },
    .options = etwas_ship_options,
    .absent = (const char *const[]){"--where", "-w", "--from", "--until", "--pid", "-p",
                                    "--process", "--tid", "--cpu", NULL},
    .absent_since =
        "all events of a file are sent: --prove compares them with what the session counted, and "
        "after a doubt a block is sent again as it was. 'etwas convert --to etl --where EXPR -o "
        "PART.etl FILE' makes a file of some of them, which can be sent",
    .examples =
        (const struct etwas_example[]){
            {"etwas ship --ddl --server-version 24.8 --keep-days 30",
             "Write the statements that make the tables."},
            {"etwas ship --server https://db1:8443 --follow /var/log/shop --recover",
             "Send what a service logs, as it logs it."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_ship,
};
