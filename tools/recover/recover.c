/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas recover`.
 */

#include "recover/recover.h"

#include "cli/command.h"
#include "cli/replace.h"
#include "commands.h"
#include "exit.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The command line. Without --list, --all and --clean it has one source. */
struct request {
    bool list;
    bool all;
    bool clean;
    bool force;
    int form; /* enum etwas_form */
    const char *output;
    const char *folder;
    uint32_t process_id; /* 0: no --pid */
    uint32_t number;     /* from 1; 0: no --number */
    uint32_t found;      /* pool files that were handled */
    enum etwas_exit result;
};

/* Keeps the gravest of several results. */
static void note_result(struct request *request, enum etwas_exit result)
{
    static const uint8_t grave[] = {[ETWAS_EXIT_DONE] = 0,
                                    [ETWAS_EXIT_NO] = 1,
                                    [ETWAS_EXIT_DAMAGED] = 2,
                                    [ETWAS_EXIT_FAILED] = 3,
                                    [ETWAS_EXIT_OUTPUT] = 4};

    if (grave[result] > grave[request->result]) {
        request->result = result;
    }
}

static bool refuse(struct request *request, const char *path, const char *reason, uint32_t code,
                   enum etwas_exit result)
{
    etwas_recover_complain(path, reason, code);
    note_result(request, result);
    return false;
}

/* Returns whether the error is about the trace to be written, and not about its source. */
static bool is_of_output(uint32_t code)
{
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_ACCESS_DENIED:
    case ERROR_NOT_FOUND:
    case ERROR_NOT_SUPPORTED:
    case ERROR_FILE_CORRUPT:
    case ERROR_NOT_ENOUGH_MEMORY:
        return false;
    default:
        return true;
    }
}

/*
 * Returns whether the pool file of a living process was removed. Recovery by name cannot find it
 * then. A memfd never had a name.
 */
static bool is_name_gone(const char *path)
{
    static const char removed[] = ".pool (deleted)";
    char target[ETWAS_RECOVER_PATH_BYTES];
    ssize_t length = strncmp(path, "/proc/", 6) == 0 ? readlink(path, target, sizeof target) : 0;
    ssize_t end = (ssize_t)sizeof removed - 1;

    return length > end && memcmp(target + length - end, removed, (size_t)end) == 0;
}

static void recover(struct request *request, const char *shown, const char *source, uint32_t index,
                    const char *output)
{
    static etwas_recovered recovered;
    uint32_t code;

    if (output != NULL && !etwas_replace_may("etwas recover", output, request->force)) {
        note_result(request, ETWAS_EXIT_OUTPUT);
        return;
    }
    code = etwas_recover(source, index, output, &recovered);
    if (code == ERROR_NOT_FOUND && request->list) {
        refuse(request, shown, etwas_recover_error(code), code, ETWAS_EXIT_NO);
    } else if (code != ERROR_SUCCESS) {
        bool of_output = output != NULL && is_of_output(code);

        refuse(request, of_output ? output : shown, etwas_recover_error(code), code,
               of_output ? ETWAS_EXIT_OUTPUT : ETWAS_EXIT_FAILED);
    } else {
        etwas_recover_show(shown, output, &recovered, request->form == ETWAS_FORM_JSON);
        if (is_name_gone(source) && !etwas_is_quiet) {
            etwas_recover_complain(shown,
                                   "note: somebody has removed its pool file. If its process is "
                                   "killed, nothing is left to recover: -o makes a trace now",
                                   ERROR_SUCCESS);
        }
        if (recovered.damaged_buffers + recovered.missing_buffers != 0) {
            note_result(request, ETWAS_EXIT_DAMAGED);
        }
    }
}

/* ---- the pool files of a folder -------------------------------------------------------------- */

/* The GUID is a part of the name, since two sessions may have the same name. */
static void name_output(const struct request *request, const etwas_recovered *found,
                        char path[ETWAS_RECOVER_PATH_BYTES])
{
    char name[65];

    etwas_recover_file_name(found, name, sizeof name);
    (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "%.4000s/%s-%u-%08x.etl", request->output, name,
                   found->process_id, found->session.Data1);
}

/*
 * Returns whether etwas_recover found out if the pool's process lives. It does so for damaged pools
 * and for those of other releases, too.
 */
static bool is_looked_into(uint32_t code)
{
    switch (code) {
    case ERROR_SUCCESS:
    case ERROR_FILE_CORRUPT:
    case ERROR_NOT_FOUND:
    case ERROR_NOT_SUPPORTED:
        return true;
    default:
        return false;
    }
}

/*
 * Removes a pool file, whatever its contents, unless its process lives. An empty file is kept: a
 * process that creates a pool has not locked it yet. Returns whether the file was removed.
 */
static bool clean(struct request *request, const char *path)
{
    static etwas_recovered found;
    uint32_t code = etwas_recover(path, 0, NULL, &found);
    struct stat facts;

    if (!is_looked_into(code) || stat(path, &facts) != 0) {
        return refuse(request, path, etwas_recover_error(code), code, ETWAS_EXIT_FAILED);
    }
    if (found.is_alive || facts.st_size == 0) {
        return false;
    }
    if (unlink(path) != 0) {
        return refuse(request, path, strerror(errno), ERROR_SUCCESS, ETWAS_EXIT_FAILED);
    }
    etwas_recover_show_removed(path, code == ERROR_SUCCESS ? &found : NULL,
                               etwas_recover_error(code), request->form == ETWAS_FORM_JSON);
    request->found++;
    return true;
}

/* Removes a named pool file. Files without the suffix are refused, which prevents mistakes. */
static void clean_given(struct request *request, const char *path)
{
    if (!etwas_recover_is_pool(path)) {
        refuse(request, path, "it is not called as a pool file is, which ends in .pool",
               ERROR_SUCCESS, ETWAS_EXIT_FAILED);
    } else if (access(path, F_OK) != 0) {
        refuse(request, path, strerror(errno), ERROR_SUCCESS, ETWAS_EXIT_FAILED);
    } else if (!clean(request, path) && request->result == ETWAS_EXIT_DONE) {
        refuse(request, path, "it is in use: its process lives, or has just created it",
               ERROR_SUCCESS, ETWAS_EXIT_FAILED);
    }
}

static void take_found(void *context, const char *path)
{
    static etwas_recovered found;
    struct request *request = context;
    char output[ETWAS_RECOVER_PATH_BYTES];
    uint32_t code;

    if (request->clean) {
        (void)clean(request, path);
        return;
    }
    code = etwas_recover(path, 0, NULL, &found);
    if (code != ERROR_SUCCESS) {
        request->found++;
        refuse(request, path, etwas_recover_error(code), code, ETWAS_EXIT_FAILED);
    } else if (!found.is_alive) {
        request->found++;
        if (request->all) {
            (void)mkdir(request->output, 0777); /* etwas_recover reports an error */
        }
        name_output(request, &found, output);
        recover(request, path, path, 0, request->all ? output : NULL);
    }
}

/*
 * Visits the pool files of --folder, or of all of the user's folders that exist. If there are none,
 * a note names the folders.
 */
static void go_through(struct request *request)
{
    char folder[ETWAS_RECOVER_PATH_BYTES];
    char folders[2 * ETWAS_RECOVER_PATH_BYTES] = "";
    size_t used = 0;

    if (request->folder != NULL && !etwas_recover_each(request->folder, take_found, request)) {
        note_result(request, ETWAS_EXIT_FAILED);
        return;
    }
    for (uint32_t index = 0;
         request->folder == NULL && etwas_crash_safe_folder(index, folder, sizeof folder) == 0;
         index++) {
        if (access(folder, F_OK) == 0 && !etwas_recover_each(folder, take_found, request)) {
            note_result(request, ETWAS_EXIT_FAILED);
        }
        if (used < sizeof folders) {
            used += (size_t)snprintf(folders + used, sizeof folders - used, "%s%s",
                                     used != 0 ? ", " : "", folder);
        }
    }
    if (request->found == 0 && request->result == ETWAS_EXIT_DONE && !etwas_is_quiet) {
        etwas_recover_complain(request->folder != NULL ? request->folder : folders,
                               "note: no process that has ended left anything there",
                               ERROR_SUCCESS);
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

/*
 * Returns which options exclude each other; NULL if none do. An option without effect is an error.
 */
static const char *misuse(const struct request *request, int sources)
{
    bool of_folders = request->all || (request->list && sources == 0);
    bool makes = !request->list && !request->clean;

    if (request->list && (request->clean || request->all)) {
        return "--list: it excludes --clean and --all";
    }
    if (request->clean && (sources != 0) == request->all) {
        return "--clean: it takes the names of pool files, or --all";
    }
    if (request->all && sources != 0) {
        return "--all: it excludes a SOURCE";
    }
    if (!makes && (request->output != NULL || request->force)) {
        return "--output and --force: --list and --clean make no trace";
    }
    if (request->output != NULL && request->output[0] == '\0') {
        return "--output: it is empty";
    }
    if (makes && request->all && request->output == NULL) {
        return "--all: it needs --output FOLDER";
    }
    if (request->force && request->output == NULL) {
        return "--force: it goes with --output";
    }
    if ((request->all || !makes) && (request->process_id != 0 || request->number != 0)) {
        return "--pid and --number: they choose one session; --list, --all and --clean take none";
    }
    if (request->folder != NULL && !of_folders) {
        return "--folder: it goes with --list and --all";
    }
    if (!request->all && makes && sources + (request->process_id != 0) != 1) {
        return "which source? A pool file, a core file or --pid PID; --list shows what there is";
    }
    return NULL;
}

static void recover_one(struct request *request, const char *source)
{
    char path[ETWAS_RECOVER_PATH_BYTES];
    uint32_t index = request->number != 0 ? request->number - 1 : 0;

    if (request->process_id == 0) {
        if (etwas_recover_open(source, path)) {
            recover(request, source, path, index, request->output);
        } else {
            note_result(request, ETWAS_EXIT_FAILED);
        }
    } else if (etwas_recover_of_process(request->process_id, index, path)) {
        recover(request, path, path, 0, request->output);
    } else {
        bool is_there = kill((pid_t)request->process_id, 0) == 0 || errno != ESRCH;

        fprintf(stderr, "etwas recover: process %u: %s\n", request->process_id,
                is_there ? "it has no crash-safe session, or is another user's"
                         : "no such process");
        note_result(request, ETWAS_EXIT_FAILED);
    }
}

static int run_recover(int argc, char **argv)
{
    static struct request request;
    int result;

    if (!etwas_command_read(&etwas_recover_command, argc, argv, &request, &result) ||
        !etwas_command_fits(&etwas_recover_command, misuse(&request, argc - optind), &result)) {
        return result;
    }
    if (optind == argc && request.process_id == 0) {
        go_through(&request);
    } else if (request.process_id != 0) {
        recover_one(&request, NULL);
    }
    for (char **source = argv + optind; source < argv + argc; source++) {
        if (request.clean) {
            clean_given(&request, *source);
        } else {
            recover_one(&request, *source);
        }
    }
    return etwas_output_finish(etwas_standard_output()) ? (int)request.result
                                                        : (int)ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    {.name = "pid",
     .letter = 'p',
     .value = "PID",
     .help = "of a process that lives; it is not stopped or changed",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = INT_MAX,
     ETWAS_PLACE(struct request, process_id)},
    {.name = "number",
     .value = "N",
     .help = "the Nth session of a core file or a process (default: 1)",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = UINT32_MAX - 1,
     ETWAS_PLACE(struct request, number)},
    ETWAS_FLAG_OPTION(struct request, list, "list",
                      "list what dead processes left, or what is in SOURCE"),
    ETWAS_FLAG_OPTION(struct request, all, "all", "a trace of each of these, or --clean all"),
    ETWAS_FLAG_OPTION(struct request, clean, "clean", "remove pool files, recovered or not"),
    {.name = "folder",
     .value = "FOLDER",
     .help = "look there instead of in the user's own folders",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FOLDERS,
     ETWAS_PLACE(struct request, folder)},
    ETWAS_TRACE_OPTIONS(struct request, output, force,
                        "the trace to make; with --all the folder, which is made"),
    ETWAS_JSON_OPTION(struct request, form, "an object a session"),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_recover_command = {
    .name = "recover",
    .summary = "make a trace of what a dead process had in memory",
    .usages =
        (const char *const[]){
            "[-o PATH [--force]] [--number N] SOURCE | --pid PID",
            "--list [SOURCE...] [--folder FOLDER]",
            "--all -o FOLDER [--force] [--folder FOLDER]",
            "--clean SOURCE... | --all [--folder FOLDER]",
            NULL,
        },
    .description = "Makes a trace of what a crash-safe session had in memory when its process "
                   "died. SOURCE is the pool file that it left, or a core file. Without -o it is "
                   "only looked at.",
    .details =
        (const char *const[]){
            "A pool file is called s.GUID.pool. A core file may be compressed with zstd, gzip, xz "
            "or lz4. What the session's own log file has is left out; the two together are the "
            "trace.",
            "--pid looks at a process of the same user that lives. Nothing in it is stopped or "
            "changed.",
            "--all makes a trace SESSION-PID-GUID.etl of each pool file that processes which have "
            "ended left in the user's folders. --clean --all removes all of these, recovered or "
            "not, damaged ones too. --clean shows what it has removed.",
            "The exit status is 1 if there is nothing in a SOURCE of --list. It is 2 if a source "
            "is not there or none, and 3 if buffers are damaged or missing. It is 4 if a trace "
            "could not be written, or is there already.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas recover --list", "Show what processes that have ended left."},
            {"etwas recover -o after.etl /dev/shm/etwas-1000/s.c0ffee00-*.pool",
             "Make a trace of one of them."},
            {"etwas recover --pid 4711 -o now.etl", "Make a trace of a process that lives."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_recover,
};
