/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_COMMAND_H
#define ETWAS_TOOLS_CLI_COMMAND_H

/*
 * What a command is. Its options are declared once, in a constant table; reading them, the checks
 * of their values, --help, manual pages, completion and the reference come from it.
 */

#include "cli/quiet.h"
#include "print/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_option_type {
    ETWAS_OPTION_FLAG,     /* bool: it becomes true */
    ETWAS_OPTION_SETTING,  /* int: it becomes `setting`; two of one place exclude each other */
    ETWAS_OPTION_TEXT,     /* const char * */
    ETWAS_OPTION_COUNT,    /* uint32_t or uint64_t, from `least` to `most` */
    ETWAS_OPTION_REAL,     /* double, from `least` to `most`: a decimal number */
    ETWAS_OPTION_SIZE,     /* as a count, in bytes; a number alone is in units of `unit` */
    ETWAS_OPTION_DURATION, /* as a count, in ns; a number alone is in units of `unit` ns */
    ETWAS_OPTION_CHOICE,   /* int: the number of the choice */
    ETWAS_OPTION_READ,     /* what `read` makes of it */
};

/* The form of a result: the setting of --json, --csv and --html, in an int. */
enum etwas_form {
    ETWAS_FORM_TEXT,
    ETWAS_FORM_JSON,
    ETWAS_FORM_CSV,
    ETWAS_FORM_HTML,
};

/* How completion finds the values of an option, or the operands of a command. */
enum etwas_value_source {
    ETWAS_VALUES_NONE,
    ETWAS_VALUES_FILES,
    ETWAS_VALUES_FOLDERS,
    ETWAS_VALUES_SESSIONS,  /* that run */
    ETWAS_VALUES_PROVIDERS, /* that are registered */
};

struct etwas_option;

/* An option as it was given. */
struct etwas_option_use {
    const char *command;
    const struct etwas_option *option;
    const char *text; /* NULL: no value was given */
    void *place;
    void *request;
};

struct etwas_option {
    const char *name;  /* long, without dashes; NULL behind the last of a table */
    char letter;       /* 0: none */
    bool is_optional;  /* the value may be left out; it follows = then */
    const char *value; /* what stands for the value, such as FILE; NULL: there is none */
    const char *help;  /* at most ETWAS_OPTION_HELP_CHARACTERS, with unit and default */
    const char *group; /* heading of this option and those behind it; NULL: as before */
    enum etwas_option_type type;
    enum etwas_value_source source;
    int setting;
    uint32_t offset; /* of the place in the request, and its size: ETWAS_PLACE */
    uint32_t bytes;
    void *global; /* the place, if it is none of the request; else NULL */
    uint64_t least;
    uint64_t most; /* 0: none */
    uint64_t unit;
    const char *const *choices; /* NULL behind the last */
    /* Returns false after a message on standard error, as by etwas_option_refuse. */
    bool (*read)(const struct etwas_option_use *use);
};

#define ETWAS_PLACE(type, member)                                                                  \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)

/* Options that mean the same in each command that has them; `place` is a uint32_t or uint64_t. */
#define ETWAS_LIMIT_OPTION(request, member, limit_help)                                            \
    {                                                                                              \
        .name = "limit", .letter = 'n', .value = "N", .help = limit_help,                          \
        .type = ETWAS_OPTION_COUNT, ETWAS_PLACE(request, member),                                  \
    }
#define ETWAS_JSON_OPTION(request, member, json_help)                                              \
    {                                                                                              \
        .name = "json", .help = json_help, .type = ETWAS_OPTION_SETTING,                           \
        .setting = ETWAS_FORM_JSON, ETWAS_PLACE(request, member),                                  \
    }
#define ETWAS_CSV_OPTION(request, member, csv_help)                                                \
    {                                                                                              \
        .name = "csv", .help = csv_help, .type = ETWAS_OPTION_SETTING, .setting = ETWAS_FORM_CSV,  \
        ETWAS_PLACE(request, member),                                                              \
    }
#define ETWAS_HTML_OPTION(request, member, html_help)                                              \
    {                                                                                              \
        .name = "html", .help = html_help, .type = ETWAS_OPTION_SETTING,                           \
        .setting = ETWAS_FORM_HTML, ETWAS_PLACE(request, member),                                  \
    }
#define ETWAS_CLASS_OPTION(request, member)                                                        \
    {                                                                                              \
        .name = "class", .value = "LIST",                                                          \
        .help = "only these classes: PROVIDER/CLASS, CLASS or GUIDs", .type = ETWAS_OPTION_TEXT,   \
        ETWAS_PLACE(request, member),                                                              \
    }
#define ETWAS_OUTPUT_OPTIONS(request, member, output_help)                                         \
    {.name = "output",                                                                             \
     .letter = 'o',                                                                                \
     .value = "PATH",                                                                              \
     .help = output_help,                                                                          \
     .type = ETWAS_OPTION_TEXT,                                                                    \
     .source = ETWAS_VALUES_FILES,                                                                 \
     ETWAS_PLACE(request, member.path)},                                                           \
    {                                                                                              \
        .name = "force", .letter = 'f', .help = "replace what is there",                           \
        .type = ETWAS_OPTION_FLAG, ETWAS_PLACE(request, member.force),                             \
    }
/* For commands that have notes or progress to leave out; it stands last in a table. */
#define ETWAS_QUIET_OPTION                                                                         \
    {                                                                                              \
        .name = "quiet", .letter = 'q', .help = "no notes, no progress: errors and losses alone",  \
        .type = ETWAS_OPTION_FLAG, .global = &etwas_is_quiet,                                      \
    }
#define ETWAS_VERBOSE_OPTION(request, member, verbose_help)                                        \
    {                                                                                              \
        .name = "verbose", .letter = 'v', .help = verbose_help, .type = ETWAS_OPTION_FLAG,         \
        ETWAS_PLACE(request, member),                                                              \
    }
/* For commands whose text has headings, or shows what is wrong. */
#define ETWAS_COLOR_OPTION                                                                         \
    {                                                                                              \
        .name = "color", .value = "WHEN", .help = "auto (on a terminal), always, never",           \
        .type = ETWAS_OPTION_CHOICE, .choices = etwas_color_choices, .global = &etwas_color_when,  \
    }
#define ETWAS_FLAG_OPTION(request, member, flag_name, flag_help)                                   \
    {                                                                                              \
        .name = flag_name, .help = flag_help, .type = ETWAS_OPTION_FLAG,                           \
        ETWAS_PLACE(request, member),                                                              \
    }

struct etwas_example {
    const char *line;
    const char *purpose; /* of the manual page */
};

struct etwas_command {
    const char *name;
    const char *group;          /* in the list of commands; NULL: as the one before */
    const char *summary;        /* of the list, at most ETWAS_COMMAND_SUMMARY_CHARACTERS */
    const char *const *usages;  /* what follows "etwas NAME"; NULL behind the last */
    const char *description;    /* sentences: what it does */
    const char *const *details; /* paragraphs of the manual page; NULL behind the last */
    const struct etwas_option *options;
    /* What other commands have and this one lacks on purpose: "--where"; NULL behind the last. */
    const char *const *absent;
    const char *absent_since;             /* why, and what to do instead */
    const struct etwas_example *examples; /* two or more; .line is NULL behind the last */
    enum etwas_value_source operands;
    bool runs_program; /* the first operand ends the options: those behind it are the program's */
    int (*run)(int argc, char **argv); /* argv[0] is a name; returns the exit status */
};

enum {
    ETWAS_OPTION_HELP_CHARACTERS = 58,
    ETWAS_COMMAND_SUMMARY_CHARACTERS = 58,
    ETWAS_COMMAND_OPTIONS = 64, /* at most, with --help */
};

/* All commands, in the order of the list; .name is NULL behind the last. */
extern const struct etwas_command *const etwas_commands[];

/* Returns NULL if there is no such command. */
const struct etwas_command *etwas_command_find(const char *name);

/*
 * Reads all options into `request`. The operands begin at optind then. Returns false with the exit
 * status in *result after --help, or a message about an option.
 */
bool etwas_command_read(const struct etwas_command *command, int argc, char **argv, void *request,
                        int *result);

/*
 * Reads one option that does not stand on the command line. `value` is NULL if it has none; an
 * option that takes none may have yes, or no, which leaves it out. `place` says in messages where
 * it stands, behind the name of the command: "ship: FILE:3". Returns false after a message.
 */
bool etwas_command_set(const struct etwas_command *command, const char *place, const char *name,
                       const char *value, void *request);

/*
 * Reports `wrong`, what is wrong with the options together or with the operands; NULL means that
 * nothing is. Returns as etwas_command_read does.
 */
bool etwas_command_fits(const struct etwas_command *command, const char *wrong, int *result);

/* Reports that the value of an option is not `expected`. Returns false. */
bool etwas_option_refuse(const struct etwas_option_use *use, const char *expected);

/*
 * After a message about the command line: points to the help of the command, or of all if `name`
 * is NULL. Returns the exit status.
 */
int etwas_command_misused(const char *name);

#endif
