/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas autologger`: what the files of AutoLoggers would start, and what is wrong with
 * them.
 */

#include <etwas/autologger.h>
#include <etwas/winerror.h>

#include "cli/options.h"
#include "commands.h"
#include "print/output.h"
#include "print/text.h"

#include <stdio.h>
#include <string.h>

static const char *const help[] = {
    "usage: etwas autologger [--program PROGRAM] [NAME...]\n"
    "\n",
    "Says of each AutoLogger whether its session would start, or in which line of its\n"
    "file what is wrong. An AutoLogger is a file NAME.autologger in\n"
    "$XDG_CONFIG_HOME/etwas (~/.config/etwas) or /etc/etwas, or one by its path; it\n"
    "has ETW's values of a session, then a section for each provider:\n"
    "\n"
    "  ExecutableName = shop         in these programs, at their first registration\n"
    "  FileName = /var/tmp/shop.etl  of each process one of its own, with _PID\n"
    "  LogFileMode = 0x800           EVENT_TRACE_PRIVATE_LOGGER_MODE; else shared\n"
    "  [Shop.Till]                   a provider, by name or {GUID}\n"
    "  EnableLevel = 4\n"
    "  MatchAnyKeyword = 0x3\n"
    "\n",
    "The others are Start, BufferSize, MinimumBuffers, MaximumBuffers, ClockType,\n"
    "FlushTimer, MaxFileSize, FileMax; of providers Enabled, EnableProperty,\n"
    "MatchAllKeyword (docs/autologger.md). ETWAS_AUTOLOGGER in the environment of a\n"
    "program names those that start in it, whatever it is, with : between them; empty\n"
    "or 0: none does. 'etwas start --autologger' starts one for all programs.\n"
    "\n"
    "  -p, --program PROGRAM  of this program, by the name of its file\n"
    "  -h, --help             this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one is wrong.\n",
    NULL,
};

struct asked {
    const char *program; /* NULL: any */
    bool any;
    bool is_wrong;
};

static bool take_option(void *asked, int option)
{
    if (option == 'p') {
        ((struct asked *)asked)->program = optarg;
    }
    return option == 'p';
}

static void say_text(const char *text)
{
    etwas_text_utf8(etwas_standard_output(), ETWAS_TEXT_PLAIN, text, strlen(text));
}

static void print_report(const etwas_autologger_report *report, void *context)
{
    struct etwas_output *output = etwas_standard_output();
    struct asked *asked = context;

    asked->any = true;
    say_text(report->path);
    if (report->line != 0) {
        etwas_output_format(output, ":%u", report->line);
    }
    if (report->code == ERROR_SUCCESS) {
        etwas_output_text(output, ": starts '");
        say_text(report->session);
        etwas_output_text(output,
                          asked->program != NULL ? "'\n" : "' in the programs that it names\n");
        return;
    }
    etwas_output_text(output, report->code == ERROR_NOT_FOUND ? ": does not start: " : ": ");
    say_text(report->reason);
    etwas_output_char(output, '\n');
    asked->is_wrong = asked->is_wrong || report->code != ERROR_NOT_FOUND;
}

int etwas_command_autologger(int argc, char **argv)
{
    static const struct option named[] = {
        {"program", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"autologger", help, named, "p:h", take_option};
    struct asked asked = {0};
    uint32_t code = ERROR_SUCCESS;
    int result;

    if (!etwas_options_read(&options, argc, argv, &asked, &result)) {
        return result;
    }
    if (optind == argc) {
        code = etwas_autologger_check(NULL, asked.program, print_report, &asked);
    }
    for (int i = optind; i < argc && code == ERROR_SUCCESS; i++) {
        code = etwas_autologger_check(argv[i], asked.program, print_report, &asked);
    }
    if (code != ERROR_SUCCESS) {
        fputs("etwas autologger: not enough memory\n", stderr);
    } else if (!asked.any) {
        fputs("etwas autologger: there is none\n", stderr);
    }
    return !etwas_output_finish(etwas_standard_output()) ? ETWAS_EXIT_OUTPUT
           : code == ERROR_SUCCESS && !asked.is_wrong    ? ETWAS_EXIT_FINE
                                                         : ETWAS_EXIT_OPEN;
}
