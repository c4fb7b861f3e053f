/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas guid`.
 */

#include "cli/command.h"
#include "commands.h"
#include "exit.h"
#include "print/text.h"

#include <etwas/etwas.h>
#include <getopt.h>
#include <stdio.h>

static int run_guid(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    int result = ETWAS_EXIT_DONE;

    if (!etwas_command_read(&etwas_guid_command, argc, argv, NULL, &result) ||
        !etwas_command_fits(&etwas_guid_command, optind == argc ? "which name?" : NULL, &result)) {
        return result;
    }
    for (int i = optind; i < argc; i++) {
        etwas_guid guid;

        if (etwas_name_guid(argv[i], &guid) == ERROR_SUCCESS) {
            etwas_text_guid(output, &guid);
            etwas_output_char(output, '\n');
        } else {
            fprintf(stderr, "etwas guid: '%s': it is no name: it is empty, too long or not UTF-8\n",
                    argv[i]);
            result = ETWAS_EXIT_FAILED;
        }
    }
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    {.name = NULL},
};

const struct etwas_command etwas_guid_command = {
    .name = "guid",
    .summary = "print the GUID that a provider has by its name",
    .usages = (const char *const[]){"NAME...", NULL},
    .description =
        "Prints the GUID that a provider has by its name, a line each, as TraceLogging and "
        "EventSource compute it.",
    .details =
        (const char *const[]){
            "A provider whose GUID was chosen by hand has another. etwas ps shows the GUIDs of "
            "providers that are registered now.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas guid Shop.Till", "Print the GUID of a provider."},
            {"etwas guid Shop.Till Shop.Stock", "Print those of two."},
            {NULL, NULL},
        },
    .run = run_guid,
};
