/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas stop` and `etwas flush`.
 */

#include "commands.h"
#include "options.h"
#include "steer/patience.h"

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
        if (!etwas_steer_control_patiently(argv[0], argv[i], &block, control_code)) {
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
