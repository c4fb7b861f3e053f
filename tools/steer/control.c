/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas stop`, `etwas flush` and `etwas snapshot`.
 */

#include "commands.h"
#include "options.h"
#include "steer/session.h"

#include <stddef.h>

static const char *const stop_help[] = {
    "usage: etwas stop SESSION...\n"
    "\n",
    "Stops sessions, whichever process hosts them: their providers are disabled, what\n"
    "is recorded is written, and their files are closed. What a flight recorder has\n"
    "and no snapshot was taken of is gone.\n"
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

static const char *const snapshot_help[] = {
    "usage: etwas snapshot -o FILE SESSION\n"
    "\n",
    "Writes what a flight recorder (etwas start --buffering) has in memory to a file,\n"
    "which is replaced if it is there. Logging goes on meanwhile.\n"
    "\n"
    "  -o, --output FILE   written by the process that hosts the session\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where it could not be written.\n",
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

static int ask_each(const struct etwas_options *options, uint32_t control_code, int argc,
                    char **argv)
{
    static struct etwas_steer_block block;
    int result;

    if (!etwas_options_read(options, argc, argv, NULL, &result) ||
        !etwas_options_fit(options, optind == argc ? "which session?" : NULL, &result)) {
        return result;
    }
    result = ETWAS_EXIT_FINE;
    for (int i = optind; i < argc; i++) {
        etwas_steer_prepare(&block);
        if (!etwas_steer_control(argv[0], argv[i], &block, control_code)) {
            result = ETWAS_EXIT_OPEN;
        }
    }
    return result;
}

int etwas_command_stop(int argc, char **argv)
{
    static const struct etwas_options options = {"stop", stop_help, help_alone, "h", take_none};

    return ask_each(&options, EVENT_TRACE_CONTROL_STOP, argc, argv);
}

int etwas_command_flush(int argc, char **argv)
{
    static const struct etwas_options options = {"flush", flush_help, help_alone, "h", take_none};

    return ask_each(&options, EVENT_TRACE_CONTROL_FLUSH, argc, argv);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static int snapshot(const char *command, const char *name, const char *path)
{
    static struct etwas_steer_block block;

    etwas_steer_prepare(&block);
    if (!etwas_steer_control(command, name, &block, EVENT_TRACE_CONTROL_QUERY)) {
        return ETWAS_EXIT_OPEN;
    }
    /* Any other session would flush to its own file. */
    if ((block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) == 0) {
        etwas_steer_complain(command, name,
                             "it is no flight recorder; 'etwas flush' writes its file");
        return ETWAS_EXIT_OPEN;
    }
    etwas_steer_prepare(&block);
    return etwas_steer_name_file(command, path, block.file_name) &&
                   etwas_steer_control(command, name, &block, EVENT_TRACE_CONTROL_FLUSH)
               ? ETWAS_EXIT_FINE
               : ETWAS_EXIT_OPEN;
}

static bool take_path(void *path, int option)
{
    *(const char **)path = optarg;
    return option == 'o';
}

int etwas_command_snapshot(int argc, char **argv)
{
    static const struct option named[] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"snapshot", snapshot_help, named, "o:h",
                                                 take_path};
    const char *path = NULL;
    const char *wrong = NULL;
    int result;

    if (!etwas_options_read(&options, argc, argv, &path, &result)) {
        return result;
    }
    if (argc - optind != 1) {
        wrong = argc == optind ? "of which session?" : "of one session at a time";
    } else if (path == NULL) {
        wrong = "to which file (-o)?";
    }
    return etwas_options_fit(&options, wrong, &result) ? snapshot(argv[0], argv[optind], path)
                                                       : result;
}
