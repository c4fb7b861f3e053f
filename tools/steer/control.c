/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas stop` and `etwas flush`.
 */

#include "cli/options.h"
#include "commands.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/summary.h"
#include "steer/wait_notice.h"

#include <stddef.h>
#include <string.h>

static const char *const stop_help[] = {
    "usage: etwas stop SESSION...\n"
    "\n",
    "Stops sessions, whichever process hosts them: their providers are disabled, what\n"
    "is recorded is written, and their files are closed. What a flight recorder has\n"
    "and no snapshot was taken of is gone. A line says what was recorded and lost;\n"
    "a warning why events were lost, or why there was none.\n"
    "\n"
    "  -h, --help   this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one could not be; the others are.\n",
    NULL,
};

static const char *const flush_help[] = {
    "usage: etwas flush SESSION...\n"
    "\n",
    "Has what sessions have recorded until now written to their files, durably. Of a\n"
    "flight recorder this is a snapshot, to the file that 'etwas start' was given.\n"
    "\n"
    "  -h, --help   this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one could not be; the others are.\n",
    NULL,
};

/* ---- one request to each of several ---------------------------------------------------------- */

static const struct option help_alone[] = {
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_none(void *context, int option)
{
    (void)context;
    (void)option;
    return false;
}

/*
 * Stops a session by its name, also if its host does not answer, of which nothing else can be said.
 */
static bool stop(const char *command, const char *name)
{
    static struct etwas_steer_summary summary;
    static struct etwas_steer_block block;
    bool is_stopped;

    if (!etwas_steer_summary_begin(&summary, command, "stopped", name)) {
        return false;
    }
    if (summary.session.has_counts) {
        etwas_session_counts last = summary.session.counts;
        bool is_recorder =
            (summary.session.block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0;

        is_stopped = etwas_steer_stop_with_notice(
            command, name, summary.session.block.properties.Wnode.HistoricalContext, &last);
        if (is_stopped) {
            etwas_steer_summary_print(&summary, &last,
                                      is_recorder ? "" : summary.session.block.file_name);
        }
    } else {
        etwas_steer_prepare(&block);
        is_stopped =
            etwas_steer_control_with_notice(command, name, &block, EVENT_TRACE_CONTROL_STOP);
        if (is_stopped) {
            struct etwas_output *output = etwas_standard_output();

            etwas_output_text(output, "stopped ");
            etwas_text_plain(output, name);
            etwas_output_text(output, ": its process did not say in time what was recorded\n");
        }
    }
    etwas_steer_summary_end(&summary);
    return is_stopped;
}

static bool flush(const char *command, const char *name)
{
    static struct etwas_steer_summary summary;
    static struct etwas_steer_block block;
    bool is_flushed;

    if (!etwas_steer_summary_begin(&summary, command, "flushed", name)) {
        return false;
    }
    if ((summary.session.block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 &&
        summary.session.block.file_name[0] == '\0') {
        etwas_steer_complain(command, name,
                             "it is a flight recorder without a file; 'etwas snapshot' writes one");
        etwas_steer_summary_end(&summary);
        return false;
    }
    etwas_steer_prepare(&block);
    is_flushed = etwas_steer_control_with_notice(command, name, &block, EVENT_TRACE_CONTROL_FLUSH);
    /* Its process may have answered late: where its events go is known only now. */
    if (is_flushed &&
        (summary.session.has_counts || etwas_steer_find_session(command, name, &summary.session))) {
        etwas_steer_summary_print(&summary, NULL, summary.session.block.file_name);
    }
    etwas_steer_summary_end(&summary);
    return is_flushed;
}

static int ask_each(const struct etwas_options *options,
                    bool (*ask)(const char *command, const char *name), int argc, char **argv)
{
    int result;

    if (!etwas_options_read(options, argc, argv, NULL, &result) ||
        !etwas_options_fit(options, optind == argc ? "which session?" : NULL, &result)) {
        return result;
    }
    result = ETWAS_EXIT_FINE;
    for (int i = optind; i < argc; i++) {
        if (!ask(argv[0], argv[i])) {
            result = ETWAS_EXIT_OPEN;
        }
    }
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}

int etwas_command_stop(int argc, char **argv)
{
    static const struct etwas_options options = {"stop", stop_help, help_alone, "h", take_none};

    return ask_each(&options, stop, argc, argv);
}

int etwas_command_flush(int argc, char **argv)
{
    static const struct etwas_options options = {"flush", flush_help, help_alone, "h", take_none};

    return ask_each(&options, flush, argc, argv);
}
