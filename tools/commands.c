/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What all commands do with their help.
 */

#include "commands.h"

#include "print/output.h"

#include <stdio.h>

int etwas_command_help(const char *const *paragraphs)
{
    struct etwas_output *output = etwas_standard_output();

    for (; *paragraphs != NULL; paragraphs++) {
        etwas_output_text(output, *paragraphs);
    }
    return etwas_output_finish(output) ? ETWAS_EXIT_FINE : ETWAS_EXIT_OUTPUT;
}

int etwas_command_misused(const char *command)
{
    if (command != NULL) {
        fprintf(stderr, "See 'etwas %s --help'.\n", command);
    } else {
        fputs("See 'etwas --help'.\n", stderr);
    }
    return ETWAS_EXIT_USAGE;
}
