/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The program etwas-host: starts a session for all programs of its user, and ends with it. `etwas
 * start` runs it in the background, a service manager in the foreground.
 */

#include "cli/guides.h"
#include "cli/no_room.h"
#include "exit.h"
#include "host/host.h"
#include "print/human.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/session.h"
#include "steer/start_request.h"

#include <errno.h>
#include <etwas/etwas.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: etwas-host [OPTION...] SESSION\n"
    "       etwas-host --autologger NAME\n"
    "\n"
    "Starts a session and keeps it until somebody stops it ('etwas stop'), its file\n"
    "is full, or SIGINT, SIGTERM or SIGHUP comes. Programs of the same user log into\n"
    "it, whichever they are. 'etwas start' runs it in the background; a service\n"
    "manager is told when the session runs (Type=notify of systemd).\n"
    "\n"
    "Its options are those of 'etwas start': see 'etwas start --help'.\n";

/* The command that etwas-host reads its command line with. */
const struct etwas_command *const etwas_commands[] = {&etwas_start_command, NULL};
const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

static const char *command = "etwas-host"; /* in messages */

/* Says on the line when the session will end by itself, since no message can be printed then. */
static void say_until(struct etwas_output *output, const EVENT_TRACE_PROPERTIES *properties)
{
    const uint32_t endless =
        EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_BUFFERING_MODE;
    const bool in_kb = (properties->LogFileMode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0;
    char size[ETWAS_HUMAN_CHARACTERS];

    if (properties->MaximumFileSize != 0 && (properties->LogFileMode & endless) == 0) {
        etwas_output_format(output, ", and ends when that has %s",
                            etwas_human_size(size, (double)properties->MaximumFileSize *
                                                       (in_kb ? 1024 : 1024 * 1024)));
    }
}

/* Prints where the session is, and on a second line if no other process can log to it. */
static void say_runs(const struct etwas_steer_block *block, TRACEHANDLE session)
{
    etwas_session_counts counts;
    const char *reason = etwas_counts(session, &counts) == ERROR_SUCCESS
                             ? etwas_steer_unshared_reason(&counts)
                             : NULL;
    struct etwas_output *output = etwas_standard_output();

    etwas_text_plain(output, block->session_name);
    etwas_output_format(output, ": runs in process %ld", (long)getpid());
    if ((block->properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0) {
        etwas_output_text(output, ", in memory");
        if (block->file_name[0] != '\0') {
            etwas_output_text(output, "; snapshots go to ");
            etwas_text_plain(output, block->file_name);
        }
    } else if (block->file_name[0] != '\0') {
        etwas_output_text(output, ", to ");
        etwas_text_plain(output, block->file_name);
        say_until(output, &block->properties);
    }
    etwas_output_char(output, '\n');
    if (reason != NULL) {
        etwas_text_plain(output, block->session_name);
        etwas_output_format(output, ": other processes do not log into it: %s\n", reason);
    }
}

/* Returns false if events were lost because the file could not be written. */
static bool say_ended(const struct etwas_steer_block *block, TRACEHANDLE session)
{
    struct etwas_output *output = etwas_standard_output();
    char recorded[ETWAS_HUMAN_CHARACTERS];
    char lost[ETWAS_HUMAN_CHARACTERS];
    etwas_session_counts counts = {.lost_write_error = 0};
    char unwritten[256];

    if (etwas_counts(session, &counts) == ERROR_SUCCESS) {
        etwas_text_plain(output, block->session_name);
        etwas_output_format(output, ": has ended, %s event%s, %s lost\n",
                            etwas_human_count(recorded, counts.recorded),
                            etwas_human_plural(counts.recorded),
                            etwas_human_count(lost, counts.lost));
        etwas_output_flush(output);
    }
    if (counts.lost_write_error != 0) {
        (void)snprintf(unwritten, sizeof unwritten,
                       "events are lost since the file could not be written: %s, or the disk fails",
                       etwas_no_room_reason(0));
        etwas_steer_complain(command, block->session_name, unwritten);
    }
    return counts.lost_write_error == 0;
}

static int host(const struct etwas_steer_start_request *request, bool in_background)
{
    static struct etwas_steer_block block; /* as it was at the start */
    TRACEHANDLE session;

    etwas_host_block_signals();
    if (!etwas_steer_start_request_start(request, command, &session)) {
        return ETWAS_EXIT_FAILED;
    }
    /*
     * Leaves the current folder, which may then be removed. This comes after reading the
     * environment, which may have relative paths.
     */
    if (in_background && chdir("/") != 0) {
        fprintf(stderr, "%s: /: %s\n", command, strerror(errno));
        return ETWAS_EXIT_FAILED;
    }
    if (in_background) {
        etwas_output_char(etwas_standard_output(), ETWAS_HOST_RUNS);
    }
    etwas_steer_prepare(&block);
    (void)ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY);
    say_runs(&block, session);
    etwas_output_flush(etwas_standard_output());
    if (in_background) {
        etwas_host_let_go();
    }
    etwas_host_notify("READY=1");
    if (!etwas_host_serve(session)) {
        etwas_steer_complain(command, request->name, "there is no thread to be had");
        return ETWAS_EXIT_FAILED;
    }
    return say_ended(&block, session) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
    /* An internal option, with which `etwas start` runs this program in the background. */
    bool in_background = argc > 1 && strcmp(argv[1], "--background") == 0;
    static struct etwas_steer_start_request request;
    int result;

    if (in_background) {
        command = "etwas start";
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        etwas_output_text(etwas_standard_output(), help);
        return etwas_output_finish(etwas_standard_output()) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
    }
    return etwas_steer_start_request_read(&request, argc, argv, &result)
               ? host(&request, in_background)
               : result;
}
