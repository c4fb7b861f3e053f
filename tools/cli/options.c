/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "cli/options.h"

#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool etwas_options_read(const struct etwas_options *options, int argc, char **argv, void *context,
                        int *result)
{
    int option;

    while ((option = getopt_long(argc, argv, options->letters, options->named, NULL)) != -1) {
        if (option == 'h') {
            *result = etwas_command_help(options->help);
            return false;
        }
        if (!options->take(context, option)) {
            *result = etwas_command_misused(options->command);
            return false;
        }
    }
    return true;
}

bool etwas_options_fit(const struct etwas_options *options, const char *wrong, int *result)
{
    if (wrong != NULL) {
        fprintf(stderr, "etwas %s: %s\n", options->command, wrong);
        *result = etwas_command_misused(options->command);
    }
    return wrong == NULL;
}

bool etwas_options_number(const char *command, const char *option, uint32_t least, uint32_t most,
                          uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(optarg, &end, 10);

    *number = (uint32_t)value;
    if (*optarg < '0' || *optarg > '9' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "etwas %s: %s takes a number from %" PRIu32 " to %" PRIu32 ", not '%s'\n",
                command, option, least, most, optarg);
        return false;
    }
    return true;
}
