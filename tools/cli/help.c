/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints help from the tables of the commands. */

#include "cli/help.h"

#include "cli/guides.h"
#include "cli/suggest.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"

#include <stdio.h>
#include <string.h>

enum {
    COLUMNS = 80,
    LABEL_COLUMNS = 22, /* width of an option and its value; a longer one has a line of its own */
    NAME_COLUMNS = 13,  /* width of a command in the list */
};

/* Writes sentences in lines of at most COLUMNS. */
static void print_wrapped(struct etwas_output *output, const char *text)
{
    size_t used = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, " \n");

        if (used > 0 && used + 1 + length > COLUMNS) {
            etwas_output_char(output, '\n');
            used = 0;
        } else if (used > 0) {
            etwas_output_char(output, ' ');
            used++;
        }
        etwas_output_bytes(output, text, length);
        used += length;
        text += length;
        text += strspn(text, " \n");
    }
    etwas_output_char(output, '\n');
}

static void print_option(struct etwas_output *output, const struct etwas_option *option)
{
    const char *value = option->value != NULL ? option->value : "";
    const char *before = option->value == NULL ? "" : option->is_optional ? "[=" : " ";
    const char letter[] = {'-', option->letter, ',', '\0'};
    char label[96];

    snprintf(label, sizeof label, "  %3s --%s%s%s%s", option->letter != 0 ? letter : "",
             option->name, before, value, option->is_optional ? "]" : "");
    etwas_text_left(output, label, LABEL_COLUMNS - 1);
    if (strlen(label) >= LABEL_COLUMNS) {
        etwas_output_char(output, '\n');
        etwas_output_blanks(output, LABEL_COLUMNS);
    } else {
        etwas_output_char(output, ' ');
    }
    etwas_output_text(output, option->help);
    etwas_output_char(output, '\n');
}

int etwas_help_command(const struct etwas_command *command)
{
    static const struct etwas_option help = {.name = "help", .letter = 'h', .help = "this text"};
    struct etwas_output *output = etwas_standard_output();

    for (size_t i = 0; command->usages[i] != NULL; i++) {
        etwas_output_format(output, "%s etwas %s %s\n", i == 0 ? "usage:" : "      ", command->name,
                            command->usages[i]);
    }
    etwas_output_char(output, '\n');
    print_wrapped(output, command->description);
    for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
        if (option->group != NULL || option == command->options) {
            etwas_output_format(output, "\n%s:\n",
                                option->group != NULL ? option->group : "Options");
        }
        print_option(output, option);
    }
    if (command->options->name == NULL) {
        etwas_output_text(output, "\nOptions:\n");
    }
    print_option(output, &help);
    etwas_output_text(output, "\nExamples:\n");
    for (const struct etwas_example *example = command->examples; example->line != NULL;
         example++) {
        etwas_output_format(output, "  %s\n", example->line);
    }
    return etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

static void print_summary(struct etwas_output *output, const char *name, const char *summary)
{
    etwas_output_text(output, "  ");
    etwas_text_left(output, name, NAME_COLUMNS);
    etwas_output_text(output, summary);
    etwas_output_char(output, '\n');
}

int etwas_help_commands(void)
{
    struct etwas_output *output = etwas_standard_output();

    etwas_output_text(output, "usage: etwas COMMAND [OPTION...] [ARGUMENT...]\n\n");
    print_wrapped(output, "Records events, shows what is in traces (.etl), and controls sessions.");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        if (etwas_commands[i]->group != NULL) {
            etwas_output_format(output, "\n%s:\n", etwas_commands[i]->group);
        }
        print_summary(output, etwas_commands[i]->name, etwas_commands[i]->summary);
    }
    etwas_output_text(output, "\nHelp:\n");
    print_summary(output, "help", "of a command: etwas help COMMAND, or of:");
    for (const struct etwas_guide *guide = etwas_guides; guide->name != NULL; guide++) {
        print_summary(output, guide->name, guide->summary);
    }
    print_summary(output, "--version", "the version, and the libraries it was built with");
    return etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

static int print_guide(const struct etwas_guide *guide)
{
    struct etwas_output *output = etwas_standard_output();

    for (const char *const *part = guide->parts; *part != NULL; part++) {
        etwas_output_text(output, *part);
    }
    return etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

int etwas_help_find(const char *name)
{
    const struct etwas_command *command = etwas_command_find(name);
    struct etwas_suggestion near = {0};

    if (command != NULL) {
        return etwas_help_command(command);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0) {
        return etwas_help_commands();
    }
    for (const struct etwas_guide *guide = etwas_guides; guide->name != NULL; guide++) {
        if (strcmp(guide->name, name) == 0) {
            return print_guide(guide);
        }
        etwas_suggest(&near, name, guide->name);
    }
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        etwas_suggest(&near, name, etwas_commands[i]->name);
    }
    fprintf(stderr, "etwas help: there is no command or guide '%s'", name);
    if (near.name != NULL) {
        fprintf(stderr, ". Did you mean %s?", near.name);
    }
    fputc('\n', stderr);
    return etwas_command_misused(NULL);
}
