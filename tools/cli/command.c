/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the options of a command from its table. */

#include "cli/command.h"

#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/value.h"
#include "exit.h"
#include "print/human.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    FIRST_LONG = 256, /* getopt_long's value for the first option of the table */
};

const struct etwas_command *etwas_command_find(const char *name)
{
    for (const struct etwas_command *const *command = etwas_commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0) {
            return *command;
        }
    }
    return NULL;
}

int etwas_command_misused(const char *name)
{
    if (name != NULL) {
        fprintf(stderr, "See 'etwas %s --help'.\n", name);
    } else {
        fputs("See 'etwas --help'.\n", stderr);
    }
    return ETWAS_EXIT_FAILED;
}

bool etwas_command_fits(const struct etwas_command *command, const char *wrong, int *result)
{
    if (wrong != NULL) {
        fprintf(stderr, "etwas %s: %s\n", command->name, wrong);
        *result = etwas_command_misused(command->name);
    }
    return wrong == NULL;
}

bool etwas_option_refuse(const struct etwas_option_use *use, const char *expected)
{
    fprintf(stderr, "etwas %s: --%s: '%s' is not %s\n", use->command, use->option->name, use->text,
            expected);
    return false;
}

/* ---- a value --------------------------------------------------------------------------------- */

/* Writes a bound of an option's values as they are shown. */
static const char *bound_text(char text[ETWAS_HUMAN_CHARACTERS], enum etwas_option_type type,
                              uint64_t bound)
{
    if (type == ETWAS_OPTION_SIZE) {
        return etwas_human_size(text, (double)bound);
    }
    if (type == ETWAS_OPTION_DURATION) {
        return etwas_human_ns(text, (double)bound);
    }
    snprintf(text, ETWAS_HUMAN_CHARACTERS, "%" PRIu64, bound);
    return text;
}

static bool refuse_number(const struct etwas_option_use *use)
{
    static const char *const kinds[] = {
        [ETWAS_OPTION_COUNT] = "a whole number",
        [ETWAS_OPTION_REAL] = "a number",
        [ETWAS_OPTION_SIZE] = "a size such as 64K or 1.5GB",
        [ETWAS_OPTION_DURATION] = "a duration such as 1.5ms or 2s",
    };
    const struct etwas_option *option = use->option;
    char least[ETWAS_HUMAN_CHARACTERS];
    char most[ETWAS_HUMAN_CHARACTERS];
    char expected[160];

    bound_text(least, option->type, option->least);
    bound_text(most, option->type, option->most);
    if (option->most != 0) {
        snprintf(expected, sizeof expected, "%s from %s to %s", kinds[option->type], least, most);
    } else {
        snprintf(expected, sizeof expected, "%s%s%s", kinds[option->type],
                 option->least != 0 ? " of at least " : "", option->least != 0 ? least : "");
    }
    return etwas_option_refuse(use, expected);
}

static bool read_number(const struct etwas_option_use *use)
{
    const struct etwas_option *option = use->option;
    uint64_t most = option->most != 0 ? option->most : UINT64_MAX;
    uint64_t number;
    bool is_read;

    if (option->type == ETWAS_OPTION_COUNT) {
        is_read = etwas_value_count(use->text, &number);
    } else if (option->type == ETWAS_OPTION_SIZE) {
        is_read = etwas_value_size(use->text, option->unit, &number);
    } else {
        is_read = etwas_value_duration(use->text, option->unit, &number);
    }
    if (option->bytes == sizeof(uint32_t) && most > UINT32_MAX) {
        most = UINT32_MAX;
    }
    if (!is_read || number < option->least || number > most) {
        return refuse_number(use);
    }
    if (option->bytes == sizeof(uint32_t)) {
        *(uint32_t *)use->place = (uint32_t)number;
    } else {
        *(uint64_t *)use->place = number;
    }
    return true;
}

static bool read_real(const struct etwas_option_use *use)
{
    double number;

    if (!etwas_value_real(use->text, &number) || number < (double)use->option->least ||
        (use->option->most != 0 && number > (double)use->option->most)) {
        return refuse_number(use);
    }
    *(double *)use->place = number;
    return true;
}

static bool read_choice(const struct etwas_option_use *use)
{
    struct etwas_suggestion near = {0};

    for (int i = 0; use->option->choices[i] != NULL; i++) {
        if (strcmp(use->option->choices[i], use->text) == 0) {
            *(int *)use->place = i;
            return true;
        }
        etwas_suggest(&near, use->text, use->option->choices[i]);
    }
    fprintf(stderr, "etwas %s: --%s: '%s' is none of", use->command, use->option->name, use->text);
    for (int i = 0; use->option->choices[i] != NULL; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", use->option->choices[i]);
    }
    if (near.name != NULL) {
        fprintf(stderr, ". Did you mean %s?", near.name);
    }
    fputc('\n', stderr);
    return false;
}

/* Returns the option that was given before for the same variable with another setting, or NULL. */
static const struct etwas_option *find_other_setting(const struct etwas_command *command,
                                                     const struct etwas_option *option,
                                                     uint64_t given)
{
    for (const struct etwas_option *other = command->options; other->name != NULL; other++) {
        if ((given >> (other - command->options) & 1) != 0 && other != option &&
            other->type == ETWAS_OPTION_SETTING && other->offset == option->offset &&
            other->setting != option->setting) {
            return other;
        }
    }
    return NULL;
}

static bool read_setting(const struct etwas_command *command, const struct etwas_option_use *use,
                         uint64_t given)
{
    const struct etwas_option *other = find_other_setting(command, use->option, given);

    if (other != NULL) {
        fprintf(stderr, "etwas %s: --%s and --%s exclude each other\n", command->name, other->name,
                use->option->name);
        return false;
    }
    *(int *)use->place = use->option->setting;
    return true;
}

static bool read_value(const struct etwas_command *command, const struct etwas_option_use *use,
                       uint64_t given)
{
    switch (use->option->type) {
    case ETWAS_OPTION_FLAG:
        *(bool *)use->place = true;
        return true;
    case ETWAS_OPTION_SETTING:
        return read_setting(command, use, given);
    case ETWAS_OPTION_TEXT:
        *(const char **)use->place = use->text;
        return true;
    case ETWAS_OPTION_CHOICE:
        return read_choice(use);
    case ETWAS_OPTION_REAL:
        return read_real(use);
    case ETWAS_OPTION_READ:
        return use->option->read(use);
    default:
        return read_number(use);
    }
}

/* ---- unknown options ------------------------------------------------------------------------- */

/* `word` includes its dashes. */
static bool refuse_name(const struct etwas_command *command, const char *place, const char *word)
{
    struct etwas_suggestion near = {0};
    const char *named = NULL; /* the option whose value has this name: --to FORMAT */

    for (const char *const *absent = command->absent; absent != NULL && *absent != NULL; absent++) {
        if (strcmp(word, *absent) == 0) {
            fprintf(stderr, "etwas %s: %s: %s\n", place, word, command->absent_since);
            return false;
        }
    }
    for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
        if (word[1] == '-') {
            etwas_suggest(&near, word + 2, option->name);
            named = option->value != NULL && strcasecmp(option->value, word + 2) == 0 ? option->name
                                                                                      : named;
        }
    }
    near.name = near.name != NULL ? near.name : named;
    fprintf(stderr, "etwas %s: there is no option %s", place, word);
    if (near.name != NULL) {
        fprintf(stderr, ". Did you mean --%s?", near.name);
    }
    fputc('\n', stderr);
    return false;
}

/* Copies the word that getopt_long has refused: "--limt" or "-y". */
static void refused_word(char word[32], char *const *argv)
{
    if (optopt > 0 && optopt < FIRST_LONG) {
        snprintf(word, 32, "-%c", optopt);
    } else {
        const char *given = argv[optind - 1];

        snprintf(word, 32, "%.*s", (int)strcspn(given, "="), given);
    }
}

/*
 * Returns the next option with this beginning, from *at on; NULL if there is none. --help follows
 * those of the table.
 */
static const char *next_like(const struct etwas_command *command, const char *start, int *at)
{
    while (*at >= 0) {
        const char *name = command->options[*at].name;

        *at = name != NULL ? *at + 1 : -1;
        name = name != NULL ? name : "help";
        if (strncmp(name, start, strlen(start)) == 0) {
            return name;
        }
    }
    return NULL;
}

/* Reports that several options begin as "--c" does. If not, returns false and prints nothing. */
static bool report_ambiguous(const struct etwas_command *command, const char *word)
{
    const char *before = "";
    const char *name;
    int at = 0;

    if (strncmp(word, "--", 2) != 0 || next_like(command, word + 2, &at) == NULL ||
        next_like(command, word + 2, &at) == NULL) {
        return false;
    }
    fprintf(stderr, "etwas %s: %s is the beginning of", command->name, word);
    at = 0;
    while ((name = next_like(command, word + 2, &at)) != NULL) {
        fprintf(stderr, "%s --%s", before, name);
        before = ",";
    }
    fputc('\n', stderr);
    return true;
}

static bool report_unknown(const struct etwas_command *command, char *const *argv)
{
    char word[32];

    refused_word(word, argv);
    if (optopt >= FIRST_LONG) {
        const char *name = command->options[optopt - FIRST_LONG].name;

        fprintf(stderr, "etwas %s: --%s takes no value\n", command->name,
                name != NULL ? name : "help");
        return false;
    }
    return !report_ambiguous(command, word) && refuse_name(command, command->name, word);
}

/* ---- all options ----------------------------------------------------------------------------- */

/*
 * The arguments of getopt_long. `letters` begins with a colon, so that it reports which option
 * lacks a value.
 */
struct getopt_tables {
    char letters[3 * ETWAS_COMMAND_OPTIONS + 4];
    struct option named[ETWAS_COMMAND_OPTIONS + 1];
};

static void make_tables(struct getopt_tables *tables, const struct etwas_command *command)
{
    const struct etwas_option *options = command->options;
    char *letter = tables->letters;
    int i = 0;

    if (command->runs_program) {
        *letter++ = '+';
    }
    *letter++ = ':';
    for (; options[i].name != NULL; i++) {
        int argument = options[i].value == NULL ? no_argument
                       : options[i].is_optional ? optional_argument
                                                : required_argument;

        tables->named[i] = (struct option){options[i].name, argument, NULL, FIRST_LONG + i};
        if (options[i].letter != 0) {
            *letter++ = options[i].letter;
            *letter = ':';
            letter[1] = ':';
            letter += argument == no_argument ? 0 : argument == required_argument ? 1 : 2;
        }
    }
    tables->named[i] = (struct option){"help", no_argument, NULL, FIRST_LONG + i};
    tables->named[i + 1] = (struct option){NULL, 0, NULL, 0};
    *letter++ = 'h';
    *letter = '\0';
}

/* --help follows the options of the table. */
static bool is_help(const struct etwas_option *options, int found)
{
    return found == 'h' || (found >= FIRST_LONG && options[found - FIRST_LONG].name == NULL);
}

static void *place_of(const struct etwas_option *option, void *request)
{
    return option->global != NULL ? option->global : (char *)request + option->offset;
}

/* Returns the option of the table for a result of getopt_long, or for optopt. */
static const struct etwas_option *find_option(const struct etwas_option *options, int found)
{
    if (found >= FIRST_LONG) {
        return &options[found - FIRST_LONG];
    }
    while (options->letter != found) {
        options++;
    }
    return options;
}

static bool read_option(const struct etwas_command *command, int found, char *const *argv,
                        void *request, uint64_t *given)
{
    struct etwas_option_use use = {.command = command->name, .text = optarg, .request = request};

    if (found == '?') {
        return report_unknown(command, argv);
    }
    use.option = find_option(command->options, found == ':' ? optopt : found);
    if (found == ':') {
        fprintf(stderr, "etwas %s: --%s needs a value: %s\n", command->name, use.option->name,
                use.option->value);
        return false;
    }
    use.place = place_of(use.option, request);
    if (!read_value(command, &use, *given)) {
        return false;
    }
    *given |= UINT64_C(1) << (use.option - command->options);
    return true;
}

bool etwas_command_read(const struct etwas_command *command, int argc, char **argv, void *request,
                        int *result)
{
    struct getopt_tables tables;
    uint64_t given = 0;
    int found;

    make_tables(&tables, command);
    opterr = 0;
    while ((found = getopt_long(argc, argv, tables.letters, tables.named, NULL)) != -1) {
        if (is_help(command->options, found)) {
            *result = etwas_help_command(command);
            return false;
        }
        if (!read_option(command, found, argv, request, &given)) {
            *result = etwas_command_misused(command->name);
            return false;
        }
    }
    return true;
}

bool etwas_command_set(const struct etwas_command *command, const char *place, const char *name,
                       const char *value, void *request)
{
    struct etwas_option_use use = {.command = place, .text = value, .request = request};
    char word[32];

    for (use.option = command->options; use.option->name != NULL; use.option++) {
        if (strcmp(use.option->name, name) == 0) {
            break;
        }
    }
    if (use.option->name == NULL) {
        snprintf(word, sizeof word, "--%s", name);
        return refuse_name(command, place, word);
    }
    if (value == NULL && use.option->value != NULL && !use.option->is_optional) {
        fprintf(stderr, "etwas %s: --%s needs a value: %s\n", place, name, use.option->value);
        return false;
    }
    if (value != NULL && use.option->value == NULL && strcmp(value, "yes") != 0) {
        return strcmp(value, "no") == 0 || etwas_option_refuse(&use, "yes or no");
    }
    use.place = place_of(use.option, request);
    return read_value(command, &use, 0);
}
