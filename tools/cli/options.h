/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_OPTIONS_H
#define ETWAS_TOOLS_CLI_OPTIONS_H

/* The options of a command. What is wrong with them is reported on standard error. */

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_options {
    const char *command;
    const char *const *help;    /* as of etwas_command_help; for -h and --help */
    const struct option *named; /* as of getopt_long, as is the next */
    const char *letters;
    /*
     * Reads one option; its value is in optarg. Returns false if there is no such option, or after
     * it has reported what is wrong with the value.
     */
    bool (*take)(void *context, int option);
};

/*
 * Reads all options; the files, or other names, begin at optind. Returns false with the exit code
 * of the program in *result.
 */
bool etwas_options_read(const struct etwas_options *options, int argc, char **argv, void *context,
                        int *result);

/*
 * Reports `wrong`, what is wrong with the options together or with the files; NULL means that
 * nothing is. Returns as etwas_options_read does.
 */
bool etwas_options_fit(const struct etwas_options *options, const char *wrong, int *result);

/* Reads an option's value that is a whole number. Returns false if it is none, or out of range. */
bool etwas_options_number(const char *command, const char *option, uint32_t least, uint32_t most,
                          uint32_t *number);

#endif
