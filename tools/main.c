/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas`: examines event traces (.etl), records the kernel's events, examines the
 * clocks of time stamps, and controls the sessions of the user's processes.
 */

#include "cli/built.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "exit.h"
#include "page/page.h"
#include "print/output.h"
#include "ship/wire/http.h"
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
#ifdef ETWAS_JANSSON
#define HAS_JANSSON true
#else
#define HAS_JANSSON false
#endif
#ifdef ETWAS_CXX_NAMES
#define HAS_CXX_NAMES true
#else
#define HAS_CXX_NAMES false
#endif

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

/* Prints the version, and a line for each optional library. Returns the exit status. */
static int show_version(void)
{
    const struct part parts[] = {
        {"libcurl", HAS_LIBCURL, "etwas ship", ETWAS_BUILT_CURE("libcurl4-openssl-dev")},
        {"zlib", HAS_ZLIB, "etwas ship --compress", ETWAS_BUILT_CURE("zlib1g-dev")},
        {"libdw", HAS_LIBDW, "names of functions, stacks of etwas record --dwarf",
         ETWAS_BUILT_CURE("libdw-dev")},
        {"libstdc++", HAS_CXX_NAMES, "names of C++ as they were written", ETWAS_BUILT_CURE("g++")},
        {"jansson", HAS_JANSSON, "etwas clocks --compare", ETWAS_BUILT_CURE("libjansson-dev")},
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
    return etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

static void pass_over(int number)
{
    (void)number;
}

/*
 * Exceeding RLIMIT_FSIZE becomes an error of write(2), and is reported like a full disk. A handler
 * is used instead of SIG_IGN, which programs that we run would inherit.
 */
static void survive_limits(void)
{
    struct sigaction action = {.sa_handler = pass_over, .sa_flags = SA_RESTART};
    struct sigaction before;

    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        (void)sigaction(SIGXFSZ, &action, NULL);
    }
}

static int report_unknown(const char *name)
{
    struct etwas_suggestion near = {0};

    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        etwas_suggest(&near, name, etwas_commands[i]->name);
    }
    fprintf(stderr, "etwas: there is no command '%s'", name);
    if (near.name != NULL) {
        fprintf(stderr, ". Did you mean %s?", near.name);
    }
    fputc('\n', stderr);
    return etwas_command_misused(NULL);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    const struct etwas_command *command = etwas_command_find(name);
    static char program[32];
    int result;

    survive_limits();
    if (command != NULL) {
        (void)snprintf(program, sizeof program, "etwas %s", command->name);
        etwas_output_program = program;
        result = command->run(argc - 1, argv + 1);
        etwas_files_free();
        return result;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return show_version();
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return argc > 2 ? etwas_help_find(argv[2]) : etwas_help_commands();
    }
    return report_unknown(name);
}
