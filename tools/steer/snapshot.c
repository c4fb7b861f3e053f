/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas snapshot`: of one recorder, or of all.
 */

#include "cli/options.h"
#include "cli/replace.h"
#include "commands.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/summary.h"
#include "steer/wait_notice.h"

#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const help[] = {
    "usage: etwas snapshot -o FILE [--force] SESSION\n"
    "       etwas snapshot --all [--to FOLDER] [--last SECONDS]\n"
    "\n",
    "Writes what a flight recorder (etwas start --buffering) has in memory to a file,\n"
    "which is not there yet. Logging goes on meanwhile.\n"
    "\n"
    "  -o, --output FILE   written by the process that hosts the session\n"
    "  -f, --force         a FILE that is there is replaced\n"
    "  -a, --all           of all recorders of the user at one moment: hosted ones,\n"
    "                      those that programs have for themselves and let others\n"
    "                      ask (ETWAS_SHARING_SNAPSHOTS), and what dead processes\n"
    "                      have left ('etwas recover --list')\n"
    "      --to FOLDER     where the files go, NAME-PID.etl; it is made, or is empty:\n"
    "                      etwas-DATE-TIME, in UTC\n"
    "      --last SECONDS  buffers that have something of this time alone: all\n"
    "  -h, --help          this text\n"
    "\n",
    "'etwas dump FOLDER' shows the files as one time line. recorders.txt there says\n"
    "which recorders there were, what became of each, and on its first line the\n"
    "window, as --from and --to of 'etwas dump' take it: files hold whole buffers,\n"
    "and so also what is older. What a dead process had is all there.\n"
    "\n"
    "A process that does not answer in 5 seconds is named, and the others' files are\n"
    "there; it writes its own when it goes on.\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one could not be written, or has not\n"
    "answered; 3 where a session cannot be read; 4 where the folder cannot be had,\n"
    "or recorders.txt not be written.\n"
    "\n"
    "Examples:\n"
    "  etwas snapshot -o now.etl recorder\n"
    "  etwas snapshot --all --to now --last 30\n"
    "  etwas dump now\n",
    NULL,
};

#define NS_A_SECOND 1e9

enum {
    MOST_SECONDS = 1000000000,
    NAME_BYTES = 32,
};

struct request {
    const char *output;
    const char *folder;
    bool is_all;
    bool force;
    uint64_t last_ns; /* 0: all that there is */
};

/* ---- one ------------------------------------------------------------------------------------- */

static int take_one(const char *command, const char *name, const struct request *request)
{
    static struct etwas_steer_summary summary;
    static struct etwas_steer_block block;
    int result = ETWAS_EXIT_OPEN;

    if (!etwas_steer_summary_begin(&summary, command, "took a snapshot of", name)) {
        return ETWAS_EXIT_OPEN;
    }
    /* Any other session would flush to its own file. */
    if ((summary.session.block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) == 0) {
        etwas_steer_complain(command, name,
                             "it is no flight recorder; 'etwas flush' writes its file");
    } else if (!etwas_replace_may(command, request->output, request->force)) {
        result = ETWAS_EXIT_OUTPUT;
    } else {
        etwas_steer_prepare(&block);
        if (etwas_steer_name_file(command, request->output, block.file_name) &&
            etwas_steer_control_with_notice(command, name, &block, EVENT_TRACE_CONTROL_FLUSH)) {
            etwas_steer_summary_print(&summary, NULL, block.file_name);
            result = ETWAS_EXIT_FINE;
        }
    }
    etwas_steer_summary_end(&summary);
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}

/* ---- all ------------------------------------------------------------------------------------- */

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
    uint32_t failed; /* of these */
    uint32_t unread; /* of the latter: entries of the registry */
};

/* A session of which nothing can be read. */
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
    if (!etwas_steer_take_part(command)) {
        return ETWAS_EXIT_OPEN;
    }
    if (!etwas_replace_is_empty(telling.folder)) {
        etwas_steer_complain(command, telling.folder, "there is something in the folder");
        return ETWAS_EXIT_OUTPUT;
    }
    code = etwas_snapshot_all(telling.folder, request->last_ns, report_part, &telling);
    if (code == ERROR_NOT_FOUND && telling.parts == 0) {
        fprintf(stderr, "%s: no recorder runs, and none was left behind\n", command);
    } else if (code != ERROR_SUCCESS && telling.failed == 0) {
        etwas_steer_complain(command, telling.folder, etwas_error_text(code));
        (void)etwas_output_finish(etwas_standard_output());
        return ETWAS_EXIT_OUTPUT;
    }
    if (!etwas_output_finish(etwas_standard_output())) {
        return ETWAS_EXIT_OUTPUT;
    }
    if (code == ERROR_SUCCESS) {
        return ETWAS_EXIT_FINE;
    }
    return telling.unread != 0 && telling.unread == telling.failed ? ETWAS_EXIT_DAMAGED
                                                                   : ETWAS_EXIT_OPEN;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_seconds(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);
    bool is_good = *text >= '0' && *text <= '9' && *end == '\0' && seconds * NS_A_SECOND >= 1 &&
                   seconds <= MOST_SECONDS;

    if (is_good) {
        *ns = (uint64_t)(seconds * NS_A_SECOND);
    } else {
        fprintf(stderr, "etwas snapshot: --last takes seconds, as 30 or 0.5, not '%s'\n", text);
    }
    return is_good;
}

static bool take_option(void *context, int option)
{
    struct request *request = context;

    switch (option) {
    case 'o':
        request->output = optarg;
        return true;
    case 'f':
        request->force = true;
        return true;
    case 'a':
        request->is_all = true;
        return true;
    case 't':
        request->folder = optarg;
        return true;
    case 'l':
        return read_seconds(optarg, &request->last_ns);
    default:
        return false;
    }
}

static const char *misuse(const struct request *request, int sessions)
{
    if (request->is_all) {
        if (sessions != 0 || request->output != NULL || request->force) {
            return "--all takes no session, no -o and no --force";
        }
        return request->folder != NULL && request->folder[0] == '\0' ? "a folder has a name" : NULL;
    }
    if (request->folder != NULL || request->last_ns != 0) {
        return "--to and --last go with --all";
    }
    if (sessions != 1) {
        return sessions == 0 ? "of which session?" : "of one session at a time";
    }
    return request->output == NULL ? "to which file (-o)?" : NULL;
}

int etwas_command_snapshot(int argc, char **argv)
{
    static const struct option named[] = {
        {"output", required_argument, NULL, 'o'},
        {"all", no_argument, NULL, 'a'},
        {"to", required_argument, NULL, 't'},
        {"last", required_argument, NULL, 'l'},
        {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"snapshot", help, named, "o:afh", take_option};
    struct request request = {0};
    int result;

    if (!etwas_options_read(&options, argc, argv, &request, &result) ||
        !etwas_options_fit(&options, misuse(&request, argc - optind), &result)) {
        return result;
    }
    return request.is_all ? take_all(argv[0], &request) : take_one(argv[0], argv[optind], &request);
}
