/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas autologger`: shows what the files of AutoLoggers would start, and errors in
 * them.
 */

#include <etwas/autologger.h>
#include <etwas/winerror.h>

#include "cli/command.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

struct asked {
    const char *program; /* NULL: any program */
    bool any;
    bool is_wrong;
};

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

static int run_autologger(int argc, char **argv)
{
    struct asked asked = {0};
    uint32_t code = ERROR_SUCCESS;
    int result;

    if (!etwas_command_read(&etwas_autologger_command, argc, argv, &asked, &result)) {
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
           : code == ERROR_SUCCESS && !asked.is_wrong    ? ETWAS_EXIT_DONE
                                                         : ETWAS_EXIT_FAILED;
}

static const struct etwas_option options[] = {
    {.name = "process",
     .value = "NAME",
     .help = "what starts in the program of this name",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FILES,
     ETWAS_PLACE(struct asked, program)},
    {.name = NULL},
};

const struct etwas_command etwas_autologger_command = {
    .name = "autologger",
    .summary = "say which sessions start by themselves",
    .usages = (const char *const[]){"[OPTION...] [NAME...]", NULL},
    .description =
        "Says of each AutoLogger whether its session would start, or in which line of its file "
        "what is wrong. Without NAME these are all that there are.",
    .details =
        (const char *const[]){
            "An AutoLogger is a file NAME.autologger in $XDG_CONFIG_HOME/etwas (~/.config/etwas) "
            "or in /etc/etwas, or one by its path. It has ETW's values of a session as NAME = "
            "VALUE, and then a section [PROVIDER] for each provider, by name or {GUID}.",
            "'ExecutableName = shop' starts the session in these programs, at their first "
            "registration. 'FileName = /var/tmp/shop.etl' is the log file. 'LogFileMode = 0x800' "
            "(EVENT_TRACE_PRIVATE_LOGGER_MODE) gives each process a session of its own, whose file "
            "has _PID behind its name. Without it one session is shared.",
            "The other values of a session are Start, BufferSize, MinimumBuffers, MaximumBuffers, "
            "ClockType, FlushTimer, MaxFileSize and FileMax. Those of a provider are Enabled, "
            "EnableLevel, EnableProperty, MatchAnyKeyword and MatchAllKeyword: see "
            "docs/howto/autologger.md.",
            "ETWAS_AUTOLOGGER in the environment of a program names those that start in it, "
            "whatever it is, with a colon between them. If it is empty or 0, none does. etwas "
            "start --autologger starts one for all programs.",
            "If one is wrong, the exit status is 2.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas autologger", "Check all that there are."},
            {"etwas autologger --process shop", "Find which would start in a program."},
            {"etwas autologger ./debug.autologger", "Check one before it is installed."},
            {NULL, NULL},
        },
    .run = run_autologger,
};
