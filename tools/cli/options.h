/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_OPTIONS_H
#define ETWAS_TOOLS_CLI_OPTIONS_H

/*
 * The command line of a command. What is wrong with it is said on standard error.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_options {
    const char *command;
    const char *const *help;    /* as of etwas_command_help; for -h and --help */
    const struct option *named; /* as of getopt_long, as is the next */
    const char *letters;
    /*
     * Takes one, its value in optarg. False: there is none such, or what is wrong with its value
     * has been said.
     */
    bool (*take)(void *context, int option);
};

/*
 * Takes all; the files, or other names, begin at optind. False: *result is what the program exits
 * with.
 */
bool etwas_options_read(const struct etwas_options *options, int argc, char **argv, void *context,
                        int *result);

/*
 * `wrong` is what is wrong with the options together, or with the files; NULL: nothing. Else as the
 * first.
 */
bool etwas_options_fit(const struct etwas_options *options, const char *wrong, int *result);

/* The value of one, which is a whole number. False: it is not, or out of its range. */
bool etwas_options_number(const char *command, const char *option, uint32_t least, uint32_t most,
                          uint32_t *number);

#endif
