/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas stop` and `etwas flush`.
 */

#include "cli/command.h"
#include "cli/quiet.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/summary.h"
#include "steer/wait_notice.h"

#include <getopt.h>
#include <stddef.h>

/* The memory of a recorder that was never written is lost when it stops. */
static void note_unwritten(const char *command, const char *name, const etwas_session_counts *last)
{
    if (last->buffers_written == 0 && last->recorded != 0 && !etwas_is_quiet) {
        etwas_steer_complain(command, name,
                             "note: what it had in memory is not written; 'etwas snapshot' writes "
                             "it while it runs");
    }
}

/* Stops a session by its name. If its host does not answer, its counts cannot be printed. */
static bool stop(const char *name)
{
    static const char command[] = "etwas stop";
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
            if (is_recorder) {
                note_unwritten(command, name, &last);
            }
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

static bool flush(const char *name)
{
    static const char command[] = "etwas flush";
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
    /* The host may answer only now; until then the output file is not known. */
    if (is_flushed &&
        (summary.session.has_counts || etwas_steer_find_session(command, name, &summary.session))) {
        etwas_steer_summary_print(&summary, NULL, summary.session.block.file_name);
    }
    etwas_steer_summary_end(&summary);
    return is_flushed;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int ask_each(const struct etwas_command *command, bool (*ask)(const char *name), int argc,
                    char **argv)
{
    int result;

    if (!etwas_command_read(command, argc, argv, NULL, &result) ||
        !etwas_command_fits(command, optind == argc ? "which session?" : NULL, &result)) {
        return result;
    }
    result = ETWAS_EXIT_DONE;
    for (int i = optind; i < argc; i++) {
        if (!ask(argv[i])) {
            result = ETWAS_EXIT_FAILED;
        }
    }
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}

static int run_stop(int argc, char **argv)
{
    return ask_each(&etwas_stop_command, stop, argc, argv);
}

static int run_flush(int argc, char **argv)
{
    return ask_each(&etwas_flush_command, flush, argc, argv);
}

static const struct etwas_option options[] = {ETWAS_QUIET_OPTION, {.name = NULL}};

const struct etwas_command etwas_stop_command = {
    .name = "stop",
    .summary = "stop sessions, of whatever process",
    .usages = (const char *const[]){"[OPTION...] SESSION...", NULL},
    .description =
        "Stops sessions, whichever process hosts them. Their providers are disabled, what is "
        "recorded is written, and their files are closed.",
    .details =
        (const char *const[]){
            "A line says what was recorded and lost. A warning says why events were lost, or why "
            "there was none.",
            "What a flight recorder has in memory is gone, unless etwas snapshot has written it "
            "before.",
            "If one session cannot be stopped, the others are, and the exit status is 2.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas stop shop", "Stop a session."},
            {"etwas snapshot -o now.etl recorder && etwas stop recorder",
             "Keep what a flight recorder has, and stop it."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_stop,
};

const struct etwas_command etwas_flush_command = {
    .name = "flush",
    .summary = "write what sessions have recorded to their files",
    .usages = (const char *const[]){"[OPTION...] SESSION...", NULL},
    .description =
        "Writes what sessions have recorded until now to their files, durably. Logging goes on "
        "meanwhile.",
    .details =
        (const char *const[]){
            "Of a flight recorder this is a snapshot, to the file that etwas start was given.",
            "A line says what was recorded and lost until now.",
            "If one session cannot be flushed, the others are, and the exit status is 2.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas flush shop && etwas dump shop.etl", "Show what a session has recorded so far."},
            {"etwas flush shop till", "Flush two sessions."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_flush,
};
