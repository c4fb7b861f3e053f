/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas`: looks into event traces (.etl), records the kernel's, examines the clocks
 * they are stamped by, and steers the sessions of the user's processes.
 */

#include "cli/built.h"
#include "cli/files.h"
#include "commands.h"
#include "page/page.h"
#include "print/output.h"
#include "ship/http.h"
#include "trace/descriptions.h"

#include <etwas/etwas.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef ETWAS_LIBCURL
#define HAS_LIBCURL true
#else
#define HAS_LIBCURL false
#endif
#ifdef ETWAS_ZLIB
#define HAS_ZLIB true
#else
#define HAS_ZLIB false
#endif
#ifdef ETWAS_LIBDW
#define HAS_LIBDW true
#else
#define HAS_LIBDW false
#endif
#ifdef ETWAS_CXX_NAMES
#define HAS_CXX_NAMES true
#else
#define HAS_CXX_NAMES false
#endif

static const char *const help[] = {
    "usage: etwas dump [OPTION...] FILE...   show the events, a line for each\n"
    "       etwas stat [OPTION...] FILE...   say what is in a trace, and what is not\n"
    "       etwas schema [OPTION...] FILE... list the events that a trace describes\n"
    "       etwas spans [OPTION...] FILE...  say how long things took, START to END\n"
    "       etwas report [OPTION...] FILE... make a page of a trace, with plots\n"
    "       etwas convert [OPTION...] FILE...  make what other tools read\n"
    "       etwas ship [OPTION...] FILE...   send the events to ClickHouse\n"
    "       etwas diff [OPTION...] A... -- B...  which classes became slower\n"
    "       etwas why [OPTION...] FILE...    say where the time of instances went\n"
    "       etwas advise [OPTION...] FILE... say which buffers a session needs\n"
    "       etwas recover [OPTION...] SOURCE  what a dead process had logged\n"
    "       etwas record [OPTION...] PROGRAM record the kernel while a program runs\n"
    "       etwas clocks [OPTION...]         say which clock to use on this machine\n"
    "       etwas ps [OPTION...]             show sessions and providers that run\n"
    "       etwas start [OPTION...] SESSION  start a session in the background\n"
    "       etwas stop SESSION...            stop sessions, of whatever process\n"
    "       etwas query SESSION...           say all about sessions\n"
    "       etwas tail [OPTION...] SESSION   show a session's events as they come\n"
    "       etwas update OPTION... SESSION   change a session while it runs\n"
    "       etwas flush SESSION...           have written what is recorded\n"
    "       etwas snapshot -o FILE SESSION   write what a flight recorder has\n"
    "       etwas snapshot --all             of all of them at one moment\n"
    "       etwas enable SESSION PROVIDER... enable providers in a session\n"
    "       etwas disable SESSION PROVIDER...  disable them\n"
    "       etwas autologger [NAME...]       say which sessions start by themselves\n"
    "       etwas COMMAND --help             everything about a command\n"
    "       etwas --version\n"
    "\n",
    "Looks into event trace logs (.etl), from etwas or from Windows. What is looked\n"
    "into is never changed. A file is read piece by piece: a large one needs no more\n"
    "memory than a small one. It must be a regular file, not a pipe. A folder stands\n"
    "for the log files in it (*.etl, *.etl.0001, *.etl_PID), of other traces there it\n"
    "is said that they are not read; 1,000 files can be one time line.\n"
    "Output is UTF-8; control characters in names are shown as \\xNN or \\u{N}.\n"
    "\n",
    "Exit codes:\n"
    "  0  all is well; lost events are not damage\n"
    "  1  the command line is wrong, or there is nothing of what is asked for to put\n"
    "     into a file, which is not made\n"
    "  2  a file could not be opened, is not an event trace, or could not be read to\n"
    "     its end; the other files were shown. Or the clocks could not be examined,\n"
    "     or a session could not be started, is not there, or refused\n"
    "  3  a file is damaged; what could be read was shown\n"
    "  4  the output could not be written\n"
    "  5  'etwas stat --prove': events are missing that nobody counts, or no file\n"
    "     says how many there should be\n"
    "  6  'etwas diff': a class differs\n"
    "  7  'etwas ship': it was ended before all events had arrived\n"
    "\n",
    "Examples:\n"
    "  etwas stat service.etl\n"
    "  etwas dump --limit 20 service.etl\n"
    "  etwas report --html page.html service.etl\n"
    "  etwas spans --slowest 3 --from +2 --to +3.5 service.etl\n"
    "  etwas clocks --html clocks.html\n"
    "  etwas dump --where 'size > 1M && duration > 5ms' service.etl\n"
    "  etwas dump --csv --columns time,event,size service.etl >sizes.csv\n"
    "  etwas dump --json service.etl | jq -c 'select(.level <= 2)'\n",
    NULL,
};

struct part {
    const char *name;
    bool is_in;
    const char *use;
    const char *cure;
};

static void put_part(struct etwas_output *output, const struct part *part)
{
    etwas_output_format(output, "%s %s: %s%s%s\n", part->is_in ? "with" : "without", part->name,
                        part->use, part->is_in ? "" : ". ", part->is_in ? "" : part->cure);
}

/*
 * Prints the version, and a line for each library that the command may be built with. Returns what
 * the program exits with.
 */
static int show_version(void)
{
    const struct part parts[] = {
        {"libcurl", HAS_LIBCURL, "etwas ship", ETWAS_BUILT_CURE("libcurl4-openssl-dev")},
        {"zlib", HAS_ZLIB, "etwas ship --compress", ETWAS_BUILT_CURE("zlib1g-dev")},
        {"libdw", HAS_LIBDW, "names of functions, stacks of etwas record --dwarf",
         ETWAS_BUILT_CURE("libdw-dev")},
        {"libstdc++", HAS_CXX_NAMES, "names of C++ as they were written", ETWAS_BUILT_CURE("g++")},
        {"d3", etwas_page_d3.text != NULL, "pages with plots (--html)",
         ETWAS_BUILT_CURE("node-d3")},
    };
    struct etwas_output *output = etwas_standard_output();

    etwas_output_format(output, "etwas %s\n", etwas_version());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put_part(output, &parts[i]);
    }
    if (HAS_LIBCURL && !etwas_ship_http_begin()) {
        etwas_output_text(output,
                          "libcurl is not installed: etwas ship needs it. On Debian install "
                          "libcurl4\n");
    }
    return etwas_output_finish(output) ? ETWAS_EXIT_FINE : ETWAS_EXIT_OUTPUT;
}

static void pass_over(int number)
{
    (void)number;
}

/*
 * A file that may not grow (RLIMIT_FSIZE) is an error of write(2) like a full disk, and is reported
 * as one. A handler does that, since programs that we run inherit the signal as it was.
 */
static void survive_limits(void)
{
    struct sigaction action = {.sa_handler = pass_over, .sa_flags = SA_RESTART};
    struct sigaction before;

    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        (void)sigaction(SIGXFSZ, &action, NULL);
    }
}

struct command {
    const char *name;
    char title[20]; /* what getopt_long calls it in its messages */
    int (*run)(int argc, char **argv);
};

int main(int argc, char **argv)
{
    static struct command commands[] = {
        {"dump", "etwas dump", etwas_command_dump},
        {"stat", "etwas stat", etwas_command_stat},
        {"schema", "etwas schema", etwas_command_schema},
        {"spans", "etwas spans", etwas_command_spans},
        {"report", "etwas report", etwas_command_report},
        {"convert", "etwas convert", etwas_command_convert},
        {"diff", "etwas diff", etwas_command_diff},
        {"why", "etwas why", etwas_command_why},
        {"advise", "etwas advise", etwas_command_advise},
        {"recover", "etwas recover", etwas_command_recover},
        {"record", "etwas record", etwas_command_record},
        {"clocks", "etwas clocks", etwas_command_clocks},
        {"ps", "etwas ps", etwas_command_ps},
        {"start", "etwas start", etwas_command_start},
        {"stop", "etwas stop", etwas_command_stop},
        {"query", "etwas query", etwas_command_query},
        {"tail", "etwas tail", etwas_command_tail},
        {"update", "etwas update", etwas_command_update},
        {"flush", "etwas flush", etwas_command_flush},
        {"snapshot", "etwas snapshot", etwas_command_snapshot},
        {"enable", "etwas enable", etwas_command_enable},
        {"disable", "etwas disable", etwas_command_disable},
        {"autologger", "etwas autologger", etwas_command_autologger},
        {"ship", "etwas ship", etwas_command_ship},
    };
    const char *command = argc > 1 ? argv[1] : "";
    int result;

    survive_limits();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(command, commands[i].name) == 0) {
            argv[1] = commands[i].title;
            result = commands[i].run(argc - 1, argv + 1);
            etwas_files_free();
            return result;
        }
    }
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0 ||
        strcmp(command, "help") == 0) {
        return etwas_command_help(help);
    }
    if (strcmp(command, "--version") == 0 || strcmp(command, "-V") == 0) {
        return show_version();
    }
    if (argc > 1) {
        fprintf(stderr, "etwas: '%s' is not a command\n", command);
    } else {
        fputs("etwas: which command?\n", stderr);
    }
    return etwas_command_misused(NULL);
}
