/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas recover`.
 */

#include "recover/recover.h"

#include "cli/options.h"
#include "cli/replace.h"
#include "commands.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas recover [-o FILE [--force]] [--number N] SOURCE | --pid PID\n"
    "       etwas recover --list [SOURCE...] [--folder FOLDER]\n"
    "       etwas recover --all -o FOLDER [--force] [--folder FOLDER]\n"
    "       etwas recover --clean SOURCE... | --all [--folder FOLDER]\n"
    "\n",
    "Makes a trace of what a crash-safe session had in memory when its process died.\n"
    "SOURCE is the pool file that it left (s.GUID.pool), or a core file, also one\n"
    "compressed with zstd, gzip, xz or lz4. What the session's own log file has is\n"
    "left out; the two together are the trace. Without -o it is only looked at.\n"
    "\n",
    "  -o, --output FILE    the trace to be made; with --all the folder for them\n"
    "  -f, --force          a trace that is there is replaced\n"
    "  -p, --pid PID        of a process of the same user that lives: nothing in it\n"
    "                       is stopped or changed\n"
    "  -n, --number N       the Nth session of a core file or a process: 1\n"
    "  -l, --list           what processes that have ended left in the user's\n"
    "                       folders, or what is in SOURCE\n"
    "  -a, --all            makes a trace of each of these, SESSION-PID-GUID.etl\n"
    "  -c, --clean          removes pool files, or with --all all of these, recovered\n"
    "                       or not, damaged ones too, and shows what it has removed\n"
    "      --folder FOLDER  another folder than the user's own ones\n"
    "  -j, --json           one JSON object a session\n"
    "  -h, --help           this text\n"
    "\n",
    "JSON keys: source, output (with -o), removed (with --clean; reason: why nothing\n"
    "more is known of it), session, guid, process, alive, other_boot (of the machine,\n"
    "or it is another one), place (where the buffers lay: memfd, memory, which is a\n"
    "file there, or disk: a file on one, which costs writers a page fault for each\n"
    "page that was written back), file_system, touches (pages that the flusher\n"
    "touched there in the writers' place), longest_touch_ns, slow_touches (of a\n"
    "millisecond and more), log_file, attempted (by the session's count: what its log\n"
    "files have, events, overwritten, lost and unfinished are so much if its process\n"
    "is dead), events, in_log_file, overwritten, lost, unfinished (hidden behind a\n"
    "record that was not finished), schemas (descriptions), schemas_left_out,\n"
    "damaged_buffers, passed_buffers, missing_buffers, settling (attempted, lost and\n"
    "overwritten may be wrong by a few buffers).\n"
    "\n",
    "Exit codes: 0 done; 1 there is nothing in a SOURCE of --list; 2 not done: the\n"
    "command line is wrong, or a source is not there or none; 3 done, but buffers are\n"
    "damaged or missing; 4 a trace could not be written, or is there already.\n"
    "\n",
    "Examples:\n"
    "  etwas recover --list\n"
    "  etwas recover -o after.etl /dev/shm/etwas-1000/s.c0ffee00-*.pool\n"
    "  etwas recover --pid 4711 -o now.etl\n",
    NULL,
};

/* What is asked for; without any of these it is one source. */
struct request {
    bool list;
    bool all;
    bool clean;
    bool force;
    bool json;
    const char *output;
    const char *process_id; /* NULL: none is asked for */
    const char *folder;
    uint32_t number; /* from 1; 0: none is asked for */
    uint32_t found;  /* of what processes left */
    enum etwas_exit result;
};

/* The gravest of several results counts. */
static void note_result(struct request *request, enum etwas_exit result)
{
    static const uint8_t grave[] = {[ETWAS_EXIT_FINE] = 0,
                                    [ETWAS_EXIT_NO] = 1,
                                    [ETWAS_EXIT_DAMAGED] = 2,
                                    [ETWAS_EXIT_OPEN] = 3,
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

/* Is it the trace that is to be made which is at fault, and not what it is made of? */
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
 * Returns whether the pool's file of a living process was removed; recovery by name cannot find it
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
        refuse(request, shown, etwas_recover_error(code), code,
               output != NULL && is_of_output(code) ? ETWAS_EXIT_OUTPUT : ETWAS_EXIT_OPEN);
    } else {
        etwas_recover_show(shown, output, &recovered, request->json);
        if (is_name_gone(source)) {
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

/* ---- those of a folder ----------------------------------------------------------------------- */

/* Two sessions may have the same name; not the same GUID. */
static void name_output(const struct request *request, const etwas_recovered *found,
                        char path[ETWAS_RECOVER_PATH_BYTES])
{
    char name[65];

    etwas_recover_file_name(found, name, sizeof name);
    (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "%.4000s/%s-%u-%08x.etl", request->output, name,
                   found->process_id, found->session.Data1);
}

/*
 * Is it known of a pool file whether its process lives? That is so of damaged ones, and of other
 * releases' too.
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
 * Nobody has it open, whatever is in it: but a process that makes one has not locked it while it is
 * empty. False: it stays.
 */
static bool clean(struct request *request, const char *path)
{
    static etwas_recovered found;
    uint32_t code = etwas_recover(path, 0, NULL, &found);
    struct stat facts;

    if (!is_looked_into(code) || stat(path, &facts) != 0) {
        return refuse(request, path, etwas_recover_error(code), code, ETWAS_EXIT_OPEN);
    }
    if (found.is_alive || facts.st_size == 0) {
        return false;
    }
    if (unlink(path) != 0) {
        return refuse(request, path, strerror(errno), ERROR_SUCCESS, ETWAS_EXIT_OPEN);
    }
    etwas_recover_show_removed(path, code == ERROR_SUCCESS ? &found : NULL,
                               etwas_recover_error(code), request->json);
    request->found++;
    return true;
}

/* Others' files have other names, and are not removed by mistake. */
static void clean_given(struct request *request, const char *path)
{
    if (!etwas_recover_is_pool(path)) {
        refuse(request, path, "it is not called as a pool file is, which ends in .pool",
               ERROR_SUCCESS, ETWAS_EXIT_OPEN);
    } else if (access(path, F_OK) != 0) {
        refuse(request, path, strerror(errno), ERROR_SUCCESS, ETWAS_EXIT_OPEN);
    } else if (!clean(request, path) && request->result == ETWAS_EXIT_FINE) {
        refuse(request, path, "it is in use: its process lives", ERROR_SUCCESS, ETWAS_EXIT_OPEN);
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
        refuse(request, path, etwas_recover_error(code), code, ETWAS_EXIT_OPEN);
    } else if (!found.is_alive) {
        request->found++;
        name_output(request, &found, output);
        recover(request, path, path, 0, request->all ? output : NULL);
    }
}

/*
 * Without --folder those of the user that there are. Where nothing is, it is said where was looked.
 */
static void go_through(struct request *request)
{
    char folder[ETWAS_RECOVER_PATH_BYTES];
    char folders[2 * ETWAS_RECOVER_PATH_BYTES] = "";
    size_t used = 0;

    if (request->folder != NULL && !etwas_recover_each(request->folder, take_found, request)) {
        note_result(request, ETWAS_EXIT_OPEN);
        return;
    }
    for (uint32_t index = 0;
         request->folder == NULL && etwas_crash_safe_folder(index, folder, sizeof folder) == 0;
         index++) {
        if (access(folder, F_OK) == 0 && !etwas_recover_each(folder, take_found, request)) {
            note_result(request, ETWAS_EXIT_OPEN);
        }
        if (used < sizeof folders) {
            used += (size_t)snprintf(folders + used, sizeof folders - used, "%s%s",
                                     used != 0 ? ", " : "", folder);
        }
    }
    if (request->found == 0 && request->result == ETWAS_EXIT_FINE) {
        etwas_recover_complain(request->folder != NULL ? request->folder : folders,
                               "note: no process that has ended left anything there",
                               ERROR_SUCCESS);
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    FOLDER = 256
};

static bool take_option(void *context, int option)
{
    struct request *request = context;
    uint32_t process;

    switch (option) {
    case 'o':
        request->output = optarg;
        return true;
    case 'f':
        request->force = true;
        return true;
    case 'p':
        request->process_id = optarg;
        return etwas_options_number("recover", "--pid", 1, INT_MAX, &process);
    case 'n':
        return etwas_options_number("recover", "--number", 1, UINT32_MAX - 1, &request->number);
    case 'l':
        request->list = true;
        return true;
    case 'a':
        request->all = true;
        return true;
    case 'c':
        request->clean = true;
        return true;
    case FOLDER:
        request->folder = optarg;
        return true;
    case 'j':
        request->json = true;
        return true;
    default: /* getopt_long has said what is wrong */
        return false;
    }
}

/*
 * What is wrong with the options together; NULL: nothing. None that says something is passed over.
 */
static const char *misuse(const struct request *request, int sources)
{
    bool of_folders = request->all || (request->list && sources == 0);
    bool makes = !request->list && !request->clean;

    if (request->list && (request->clean || request->all)) {
        return "--list goes with neither --clean nor --all";
    }
    if (request->clean && (sources != 0) == request->all) {
        return "--clean takes the names of pool files, or --all";
    }
    if (request->all && sources != 0) {
        return "--all takes no source";
    }
    if (!makes && (request->output != NULL || request->force)) {
        return "--list and --clean make no trace: -o and --force go with what does";
    }
    if (request->output != NULL && request->output[0] == '\0') {
        return "a file has a name";
    }
    if (makes && request->all && request->output == NULL) {
        return "--all needs -o FOLDER";
    }
    if (request->force && request->output == NULL) {
        return "--force goes with -o";
    }
    if ((request->all || !makes) && (request->process_id != NULL || request->number != 0)) {
        return "--pid and --number choose one session: --list, --all and --clean take none";
    }
    if (request->folder != NULL && !of_folders) {
        return "--folder goes with --list and --all";
    }
    if (!request->all && makes && sources + (request->process_id != NULL) != 1) {
        return "one source is needed";
    }
    return NULL;
}

static void recover_one(struct request *request, const char *source)
{
    char path[ETWAS_RECOVER_PATH_BYTES];
    uint32_t index = request->number != 0 ? request->number - 1 : 0;

    if (request->process_id == NULL) {
        if (etwas_recover_open(source, path)) {
            recover(request, source, path, index, request->output);
        } else {
            note_result(request, ETWAS_EXIT_OPEN);
        }
    } else if (etwas_recover_of_process(request->process_id, index, path)) {
        recover(request, path, path, 0, request->output);
    } else {
        fprintf(stderr,
                "etwas recover: process %s has no crash-safe session, or is another user's\n",
                request->process_id);
        note_result(request, ETWAS_EXIT_OPEN);
    }
}

int etwas_command_recover(int argc, char **argv)
{
    static const struct option named[] = {{"output", required_argument, NULL, 'o'},
                                          {"force", no_argument, NULL, 'f'},
                                          {"pid", required_argument, NULL, 'p'},
                                          {"number", required_argument, NULL, 'n'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"all", no_argument, NULL, 'a'},
                                          {"clean", no_argument, NULL, 'c'},
                                          {"folder", required_argument, NULL, FOLDER},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const struct etwas_options options = {"recover", help, named, "o:fp:n:lacjh",
                                                 take_option};
    struct request request = {.output = NULL};
    int end;

    if (!etwas_options_read(&options, argc, argv, &request, &end) ||
        !etwas_options_fit(&options, misuse(&request, argc - optind), &end)) {
        return end == ETWAS_EXIT_USAGE ? ETWAS_EXIT_OPEN : end;
    }
    if (optind == argc && request.process_id == NULL) {
        go_through(&request);
    } else if (request.process_id != NULL) {
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
