/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The command `etwas snapshot`: writes the memory of one flight recorder, or of all. */

#include "cli/command.h"
#include "cli/no_room.h"
#include "cli/replace.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/summary.h"
#include "steer/wait_notice.h"

#include <etwas/etwas.h>
#include <getopt.h>
#include <stdio.h>
#include <time.h>

#define NS_A_SECOND UINT64_C(1000000000)

enum {
    NAME_BYTES = 32,
};

struct request {
    struct {
        const char *path;
        bool force;
    } output;
    const char *folder;
    bool is_all;
    uint64_t last_ns; /* 0: all events in memory */
};

/* ---- one recorder ---------------------------------------------------------------------------- */

/* Without --output the snapshot goes to the file that the recorder was started with. */
static int take_one(const char *command, const char *name, const struct request *request)
{
    static struct etwas_steer_summary summary;
    static struct etwas_steer_block block;
    const char *path = request->output.path;
    int result = ETWAS_EXIT_FAILED;

    if (!etwas_steer_summary_begin(&summary, command, "took a snapshot of", name)) {
        return ETWAS_EXIT_FAILED;
    }
    path = path != NULL ? path : summary.session.block.file_name;
    /* Any other session would flush to its own file. */
    if ((summary.session.block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) == 0) {
        etwas_steer_complain(command, name,
                             "it is no flight recorder; 'etwas flush' writes its file");
    } else if (request->output.path == NULL && path[0] == '\0') {
        etwas_steer_complain(command, name,
                             "it was started without a file for its snapshots: --output names one");
    } else if (!etwas_replace_may(command, path, request->output.force)) {
        result = ETWAS_EXIT_OUTPUT;
    } else {
        etwas_steer_prepare(&block);
        if (etwas_steer_name_file(command, path, block.file_name) &&
            etwas_steer_control_with_notice(command, name, &block, EVENT_TRACE_CONTROL_FLUSH)) {
            etwas_steer_summary_print(&summary, NULL, block.file_name);
            result = ETWAS_EXIT_DONE;
        }
    }
    etwas_steer_summary_end(&summary);
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}

/* ---- all recorders --------------------------------------------------------------------------- */

static void name_folder(char name[NAME_BYTES])
{
    const time_t now = time(NULL);
    struct tm parts;

    (void)strftime(name, NAME_BYTES, "etwas-%Y%m%d-%H%M%S", gmtime_r(&now, &parts));
}

struct telling {
    const char *command;
    const char *folder;
    uint32_t parts;
    uint32_t failed; /* parts that failed */
    uint32_t unread; /* entries of the registry among these */
};

/* Returns whether nothing of the session could be read. */
static bool is_unread(const etwas_snapshot_part *part)
{
    return part->session_name[0] == '\0' && !part->is_dead;
}

static const char *reason(const etwas_snapshot_part *part)
{
    if (is_unread(part)) {
        return part->code == ERROR_NOT_SUPPORTED
                   ? "a session of another release; if it is a recorder, that release's etwas "
                     "takes its snapshot"
                   : "what a session's process says of it cannot be read, nor whether it is a "
                     "recorder; restart it";
    }
    if (part->code == ERROR_TIMEOUT) {
        return "its process has not answered in 5 seconds; it writes the file when it goes on";
    }
    return part->code == ERROR_WMI_INSTANCE_NOT_FOUND ? "it has ended"
                                                      : etwas_steer_reason(part->code);
}

static void report_part(const etwas_snapshot_part *part, void *context)
{
    struct telling *telling = context;
    struct etwas_output *output = etwas_standard_output();

    telling->parts++;
    if (part->code != ERROR_SUCCESS) {
        telling->failed++;
        telling->unread += is_unread(part);
        etwas_steer_complain(telling->command, part->log_file, reason(part));
        return;
    }
    etwas_text_plain(output, telling->folder);
    etwas_output_char(output, '/');
    etwas_text_plain(output, part->log_file);
    etwas_output_text(output, part->is_dead ? ": recovered\n" : "\n");
}

static int take_all(const char *command, const struct request *request)
{
    char made[NAME_BYTES];
    struct telling telling = {.command = command, .folder = request->folder};
    uint32_t code;

    if (telling.folder == NULL) {
        name_folder(made);
        telling.folder = made;
    }
    if (!etwas_steer_look(command)) {
        return ETWAS_EXIT_FAILED;
    }
    if (!etwas_replace_is_empty(telling.folder)) {
        etwas_steer_complain(command, telling.folder,
                             "there is something in the folder. Name another one with --folder");
        return ETWAS_EXIT_OUTPUT;
    }
    code = etwas_snapshot_all(telling.folder, request->last_ns, report_part, &telling);
    if (code == ERROR_NOT_FOUND && telling.parts == 0) {
        fprintf(stderr, "%s: no recorder runs, and none was left behind\n", command);
    } else if (code != ERROR_SUCCESS && telling.failed == 0) {
        etwas_steer_complain(command, telling.folder, etwas_no_room_error_text(code));
        (void)etwas_output_finish(etwas_standard_output());
        return ETWAS_EXIT_OUTPUT;
    }
    if (!etwas_output_finish(etwas_standard_output())) {
        return ETWAS_EXIT_OUTPUT;
    }
    if (code == ERROR_SUCCESS) {
        return ETWAS_EXIT_DONE;
    }
    return telling.unread != 0 && telling.unread == telling.failed ? ETWAS_EXIT_DAMAGED
                                                                   : ETWAS_EXIT_FAILED;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const char *misuse(const struct request *request, int sessions)
{
    if (request->is_all) {
        if (sessions != 0 || request->output.path != NULL || request->output.force) {
            return "--all takes no session, no --output and no --force: --folder says where the "
                   "snapshots go";
        }
        return request->folder != NULL && request->folder[0] == '\0'
                   ? "--folder: a folder has a name"
                   : NULL;
    }
    if (request->folder != NULL || request->last_ns != 0) {
        return "--folder and --last go with --all";
    }
    if (sessions != 1) {
        return sessions == 0 ? "which session?" : "one session at a time";
    }
    return NULL;
}

static int run_snapshot(int argc, char **argv)
{
    static const char command[] = "etwas snapshot";
    struct request request = {0};
    int result;

    if (!etwas_command_read(&etwas_snapshot_command, argc, argv, &request, &result) ||
        !etwas_command_fits(&etwas_snapshot_command, misuse(&request, argc - optind), &result)) {
        return result;
    }
    return request.is_all ? take_all(command, &request) : take_one(command, argv[optind], &request);
}

static const struct etwas_option options[] = {
    ETWAS_TRACE_OPTIONS(struct request, output.path, output.force,
                        "the file, which the session's process writes"),
    {.name = "all",
     .group = "All recorders",
     .help = "of all recorders of the user at one moment",
     .type = ETWAS_OPTION_FLAG,
     ETWAS_PLACE(struct request, is_all)},
    {.name = "folder",
     .value = "FOLDER",
     .help = "where the files go (etwas-DATE-TIME, in UTC)",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FOLDERS,
     ETWAS_PLACE(struct request, folder)},
    {.name = "last",
     .value = "DURATION",
     .help = "buffers with something of this time, in s (all)",
     .type = ETWAS_OPTION_DURATION,
     .least = 1,
     .most = NS_A_SECOND * NS_A_SECOND,
     .unit = NS_A_SECOND,
     ETWAS_PLACE(struct request, last_ns)},
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_snapshot_command = {
    .name = "snapshot",
    .summary = "write what flight recorders have in memory to files",
    .usages =
        (const char *const[]){
            "[-o PATH] [--force] SESSION",
            "--all [--folder FOLDER] [--last DURATION]",
            NULL,
        },
    .description =
        "Writes what a flight recorder has in memory to a file, or what all have to a folder. "
        "Logging goes on meanwhile.",
    .details =
        (const char *const[]){
            "etwas start --buffering starts a flight recorder. Without -o the file is the one that "
            "-o "
            "of etwas start has named.",
            "All recorders are hosted ones, those that programs have for themselves and let others "
            "ask (ETWAS_SHARING_SNAPSHOTS), and what dead processes have left: see etwas recover "
            "--list.",
            "The folder is made, or is empty. Its files are called NAME-PID.etl, and etwas dump "
            "FOLDER shows them as one time line.",
            "The file recorders.txt in the folder says which recorders there were, and what became "
            "of each. Its first line is the window, as --from and --until of etwas dump take it.",
            "Files hold whole buffers, and so also what is older than the window. What a dead "
            "process had is all there.",
            "A process that does not answer in 5 seconds is named, and the others' files are "
            "there. It writes its own when it goes on.",
            "If a file could not be written, or a process has not answered, the exit status is 2. "
            "If a session cannot be read, it is 3. If the folder cannot be had, or recorders.txt "
            "cannot be written, it is 4.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas snapshot -o now.etl recorder", "Write what one recorder has."},
            {"etwas snapshot --all --folder now --last 30s",
             "Write the last 30 seconds of all recorders."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_snapshot,
};
