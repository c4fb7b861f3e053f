/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas recover`.
 */

#include "recover/recover.h"

#include "commands.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas recover [-o FILE] SOURCE\n"
    "       etwas recover [-o FILE] --pid PID\n"
    "       etwas recover --list | --all -o FOLDER | --clean  [--folder FOLDER]\n"
    "\n",
    "Makes a trace of what a crash-safe session had in memory when its process died.\n"
    "SOURCE is the pool file that it left (s.GUID.pool), or a core file, also one\n"
    "compressed with zstd, gzip, xz or lz4. What the session's own log file has is\n"
    "left out; the two together are the trace. Without -o it is only looked at.\n"
    "\n",
    "  -o, --output FILE    the trace to be made; with --all the folder for them\n"
    "  -p, --pid PID        of a process of the same user that lives: nothing in it\n"
    "                       is stopped or changed\n"
    "  -n, --number N       the Nth session of a core file or a process: 1\n"
    "  -l, --list           what processes that have ended left in the user's folders\n"
    "  -a, --all            makes a trace of each of these, SESSION-PID-GUID.etl,\n"
    "                       unless there is one\n"
    "  -c, --clean          removes these, recovered or not, damaged ones too\n"
    "  -f, --folder FOLDER  another folder than the user's own ones\n"
    "  -j, --json           one JSON object a session\n"
    "  -h, --help           this text\n"
    "\n",
    "JSON keys: source, output (with -o), session, guid, process, alive, other_boot\n"
    "(of the machine, or it is another one), place (where the buffers lay: memfd,\n"
    "memory, which is a file there, or disk: a file on one, which costs writers a page\n"
    "fault for each page that was written back), file_system, touches (pages that the\n"
    "flusher touched there in the writers' place), longest_touch_ns, slow_touches (of a\n"
    "millisecond and more), log_file, attempted (by the session's count: what its log\n"
    "files have, events, overwritten, lost and unfinished are so much if its process\n"
    "is dead), events, in_log_file, overwritten, lost, unfinished (hidden behind a\n"
    "record that was not finished), schemas (descriptions), schemas_left_out,\n"
    "damaged_buffers, passed_buffers, missing_buffers, settling (attempted, lost and\n"
    "overwritten may be wrong by a few buffers).\n"
    "\n",
    "Exit codes: see 'etwas --help'; 3 where buffers are damaged or missing.\n"
    "\n",
    "Examples:\n"
    "  etwas recover --list\n"
    "  etwas recover -o after.etl /dev/shm/etwas-1000/s.c0ffee00-*.pool\n"
    "  etwas recover --pid 4711 -o now.etl\n",
    NULL,
};

enum action {
    ONE,
    LIST,
    ALL,
    CLEAN
};

struct request {
    enum action action;
    const char *output;
    const char *process_id;
    const char *folder;
    uint32_t number; /* from 1 */
    bool json;
    enum etwas_exit result;
};

static void note(struct request *request, enum etwas_exit result)
{
    if (request->result == ETWAS_EXIT_FINE || result == ETWAS_EXIT_OPEN) {
        request->result = result;
    }
}

static void recover(struct request *request, const char *shown, const char *source, uint32_t index,
                    const char *output)
{
    static etwas_recovered recovered;
    uint32_t code = etwas_recover(source, index, output, &recovered);

    if (code != ERROR_SUCCESS) {
        etwas_recover_complain(shown, etwas_recover_error(code), code);
        note(request, ETWAS_EXIT_OPEN);
        return;
    }
    etwas_recover_show(shown, output, &recovered, request->json);
    if (recovered.damaged_buffers + recovered.missing_buffers != 0) {
        note(request, ETWAS_EXIT_DAMAGED);
    }
}

/* ---- those of a folder ----------------------------------------------------------------------- */

/* A session's name may be anything, and two sessions may have the same; not the same GUID. No character is cut in two. */
static void name_output(const struct request *request, const etwas_recovered *found,
                        char path[ETWAS_RECOVER_PATH_BYTES])
{
    char name[65];
    size_t length = strnlen(found->session_name, sizeof name - 1);

    while (length != 0 && ((unsigned char)found->session_name[length] & 0xC0) == 0x80) {
        length--;
    }
    memcpy(name, found->session_name, length);
    name[length] = '\0';
    for (char *character = name; *character != '\0'; character++) {
        if (*character == '/' || (unsigned char)*character < ' ' || *character == '\x7F') {
            *character = '_';
        }
    }
    (void)snprintf(path, ETWAS_RECOVER_PATH_BYTES, "%.4000s/%s-%u-%08x.etl", request->output, name,
                   found->process_id, found->session.Data1);
}

/* Nobody has it open, whatever is in it: but who makes one has not locked it while it is empty. */
static void clean(struct request *request, const char *path, const etwas_recovered *found)
{
    struct stat facts;

    if (found->is_alive || stat(path, &facts) != 0 || facts.st_size == 0) {
        return;
    }
    if (unlink(path) != 0) {
        etwas_recover_complain(path, strerror(errno), ERROR_SUCCESS);
        note(request, ETWAS_EXIT_OPEN);
    }
}

static void take_found(void *context, const char *path)
{
    static etwas_recovered found;
    struct request *request = context;
    char output[ETWAS_RECOVER_PATH_BYTES];
    uint32_t code = etwas_recover(path, 0, NULL, &found);

    if (request->action == CLEAN && code != ERROR_ACCESS_DENIED) {
        clean(request, path, &found);
        return;
    }
    if (code != ERROR_SUCCESS) {
        etwas_recover_complain(path, etwas_recover_error(code), code);
        note(request, ETWAS_EXIT_OPEN);
        return;
    }
    if (found.is_alive) {
        return;
    }
    name_output(request, &found, output);
    if (request->action == ALL && access(output, F_OK) == 0) {
        etwas_recover_complain(output, "is there already", ERROR_SUCCESS);
        note(request, ETWAS_EXIT_OUTPUT);
        return;
    }
    recover(request, path, path, 0, request->action == ALL ? output : NULL);
}

/* Without --folder those of the user that there are. */
static void go_through(struct request *request)
{
    char folder[ETWAS_RECOVER_PATH_BYTES];

    if (request->folder != NULL) {
        if (!etwas_recover_each(request->folder, take_found, request)) {
            note(request, ETWAS_EXIT_OPEN);
        }
        return;
    }
    for (uint32_t index = 0; etwas_crash_safe_folder(index, folder, sizeof folder) == 0; index++) {
        if (access(folder, F_OK) == 0 && !etwas_recover_each(folder, take_found, request)) {
            note(request, ETWAS_EXIT_OPEN);
        }
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

/* 0: it is none. */
static uint32_t read_number(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    return *text >= '1' && *text <= '9' && *end == '\0' && number < UINT32_MAX ? (uint32_t)number
                                                                               : 0;
}

static int read_options(int argc, char **argv, struct request *request)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"pid", required_argument, NULL, 'p'},
        {"number", required_argument, NULL, 'n'}, {"list", no_argument, NULL, 'l'},
        {"all", no_argument, NULL, 'a'},          {"clean", no_argument, NULL, 'c'},
        {"folder", required_argument, NULL, 'f'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "o:p:n:lacf:jh", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            request->output = optarg;
            break;
        case 'p':
            request->process_id = optarg;
            break;
        case 'n':
            request->number = read_number(optarg);
            break;
        case 'l':
            request->action = LIST;
            break;
        case 'a':
            request->action = ALL;
            break;
        case 'c':
            request->action = CLEAN;
            break;
        case 'f':
            request->folder = optarg;
            break;
        case 'j':
            request->json = true;
            break;
        case 'h':
            return etwas_command_help(help);
        default:
            return etwas_command_misused("etwas recover");
        }
    }
    return -1;
}

static bool is_possible(const struct request *request, int sources)
{
    const char *wrong = NULL;

    if (request->number == 0) {
        wrong = "--number counts from 1";
    } else if (request->action != ONE && (sources != 0 || request->process_id != NULL)) {
        wrong = "--list, --all and --clean take no source";
    } else if (request->action == ALL && request->output == NULL) {
        wrong = "--all needs -o FOLDER";
    } else if (request->action == ONE && sources + (request->process_id != NULL) != 1) {
        wrong = "one source is needed";
    } else if (request->process_id != NULL &&
               strspn(request->process_id, "0123456789") != strlen(request->process_id)) {
        wrong = "--pid takes a number";
    }
    if (wrong != NULL) {
        fprintf(stderr, "etwas recover: %s\n", wrong);
    }
    return wrong == NULL;
}

int etwas_command_recover(int argc, char **argv)
{
    struct request request = {.number = 1};
    char path[ETWAS_RECOVER_PATH_BYTES];
    int end = read_options(argc, argv, &request);

    if (end >= 0) {
        return end;
    }
    if (!is_possible(&request, argc - optind)) {
        return etwas_command_misused("etwas recover");
    }
    if (request.action != ONE) {
        go_through(&request);
    } else if (request.process_id != NULL) {
        if (etwas_recover_of_process(request.process_id, request.number - 1, path)) {
            recover(&request, path, path, 0, request.output);
        } else {
            fprintf(stderr,
                    "etwas recover: process %s has no crash-safe session, or is another user's\n",
                    request.process_id);
            note(&request, ETWAS_EXIT_OPEN);
        }
    } else if (etwas_recover_open(argv[optind], path)) {
        recover(&request, argv[optind], path, request.number - 1, request.output);
    } else {
        note(&request, ETWAS_EXIT_OPEN);
    }
    return etwas_output_finish(etwas_standard_output()) ? (int)request.result
                                                        : (int)ETWAS_EXIT_OUTPUT;
}
