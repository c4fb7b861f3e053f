/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_COMMAND_H
#define ETWAS_TOOLS_CLI_COMMAND_H

/*
 * The definition of a command. Its options are declared once, in a constant table. Reading them,
 * the checks of their values, --help, manual pages, completion and the reference are based on it.
 */

#include "cli/quiet.h"
#include "print/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_option_type {
    ETWAS_OPTION_FLAG,     /* bool: set to true */
    ETWAS_OPTION_SETTING,  /* int: set to `setting`; two for the same variable exclude each other */
    ETWAS_OPTION_TEXT,     /* const char * */
    ETWAS_OPTION_COUNT,    /* uint32_t or uint64_t, from `least` to `most` */
    ETWAS_OPTION_REAL,     /* double, from `least` to `most`: a decimal number */
    ETWAS_OPTION_SIZE,     /* as COUNT, in bytes; a number without a unit is in units of `unit` */
    ETWAS_OPTION_DURATION, /* as COUNT, in ns; a number without a unit is in units of `unit` ns */
    ETWAS_OPTION_CHOICE,   /* int: the index of the choice */
    ETWAS_OPTION_READ,     /* any: `read` parses it */
};

/* The form of a result: an int that --json, --csv and --html set. */
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
    ETWAS_VALUES_SESSIONS,  /* running ones */
    ETWAS_VALUES_PROVIDERS, /* registered ones */
};

struct etwas_option;

/* An option on the command line. */
struct etwas_option_use {
    const char *command;
    const struct etwas_option *option;
    const char *text; /* NULL: it has no value */
    void *place;
    void *request;
};

struct etwas_option {
    const char *name;  /* long, without dashes; NULL ends a table */
    char letter;       /* 0: none */
    bool is_optional;  /* the value is optional; it then follows = */
    const char *value; /* placeholder for the value, such as FILE; NULL: it takes none */
    const char *help;  /* at most ETWAS_OPTION_HELP_CHARACTERS, including unit and default */
    const char *group; /* heading of this option and the following ones; NULL: unchanged */
    enum etwas_option_type type;
    enum etwas_value_source source;
    int setting;
    uint32_t offset; /* offset of the variable in the request, and its size: ETWAS_PLACE */
    uint32_t bytes;
    void *global; /* the variable if it is not in the request; else NULL */
    uint64_t least;
    uint64_t most; /* 0: none */
    uint64_t unit;
    const char *const *choices; /* ends with NULL */
    /* Returns false after a message on standard error, as etwas_option_refuse does. */
    bool (*read)(const struct etwas_option_use *use);
};

#define ETWAS_PLACE(type, member)                                                                  \
    .offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)

/*
 * Options that have the same meaning in each command with them; `place` is a uint32_t or uint64_t.
 */
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
/* For commands that print notes or progress; it is last in a table. */
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
/* For commands whose text has headings or marks errors. */
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
    const char *purpose; /* in the manual page */
};

struct etwas_command {
    const char *name;
    const char *group;          /* in the list of commands; NULL: unchanged */
    const char *summary;        /* in the list, at most ETWAS_COMMAND_SUMMARY_CHARACTERS */
    const char *const *usages;  /* what follows "etwas NAME"; ends with NULL */
    const char *description;    /* sentences that say what it does */
    const char *const *details; /* paragraphs of the manual page; ends with NULL */
    const struct etwas_option *options;
    /*
     * Options of other commands that this one lacks on purpose, such as "--where"; ends with NULL.
     */
    const char *const *absent;
    const char *absent_since;             /* the reason, and what to do instead */
    const struct etwas_example *examples; /* at least two; the last has .line NULL */
    enum etwas_value_source operands;
    bool runs_program; /* the first operand ends the options: the rest belongs to the program */
    int (*run)(int argc, char **argv); /* argv[0] is a name; returns the exit status */
};

enum {
    ETWAS_OPTION_HELP_CHARACTERS = 58,
    ETWAS_COMMAND_SUMMARY_CHARACTERS = 58,
    ETWAS_COMMAND_OPTIONS = 64, /* at most, including --help */
};

/* All commands, in the order of the list; the last has .name NULL. */
extern const struct etwas_command *const etwas_commands[];

/* Returns NULL if there is no such command. */
const struct etwas_command *etwas_command_find(const char *name);

/*
 * Reads all options into `request`; afterwards the operands begin at optind. After --help, or a
 * message about an option, returns false with the exit status in *result.
 */
bool etwas_command_read(const struct etwas_command *command, int argc, char **argv, void *request,
                        int *result);

/*
 * Reads one option from elsewhere than the command line. `value` is NULL if there is none; for an
 * option without a value it may be yes, or no, which has no effect. `place` names the source in
 * messages, after the command: "ship: FILE:3". Returns false after a message.
 */
bool etwas_command_set(const struct etwas_command *command, const char *place, const char *name,
                       const char *value, void *request);

/*
 * Reports `wrong`, an error in the combination of options or in the operands; NULL means none.
 * Returns as etwas_command_read does.
 */
bool etwas_command_fits(const struct etwas_command *command, const char *wrong, int *result);

/* Reports that the value of an option is not `expected`. Returns false. */
bool etwas_option_refuse(const struct etwas_option_use *use, const char *expected);

/*
 * Points to the help of the command, or of all if `name` is NULL, after a message about the command
 * line. Returns the exit status.
 */
int etwas_command_misused(const char *name);

#endif
