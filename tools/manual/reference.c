/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes the reference of the commands in Markdown. */

#include "cli/guides.h"
#include "manual/manual.h"

/* Writes text, and escapes what Markdown would take for HTML or the end of a table's cell. */
static void print_markdown(struct etwas_output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<') {
            etwas_output_text(output, "&lt;");
        } else {
            if (*text == '|' || *text == '*' || *text == '_' || *text == '[') {
                etwas_output_char(output, '\\');
            }
            etwas_output_char(output, *text);
        }
    }
}

static void print_option(struct etwas_output *output, const struct etwas_option *option)
{
    etwas_output_text(output, "| `");
    if (option->letter != 0) {
        etwas_output_format(output, "-%c, ", option->letter);
    }
    etwas_output_format(output, "--%s", option->name);
    if (option->value != NULL) {
        etwas_output_format(output, option->is_optional ? "[=%s]" : " %s", option->value);
    }
    etwas_output_text(output, "` | ");
    print_markdown(output, option->help);
    etwas_output_text(output, " |\n");
}

static void print_command(struct etwas_output *output, const struct etwas_command *command)
{
    etwas_output_format(output, "\n## etwas %s\n\n```\n", command->name);
    for (size_t i = 0; command->usages[i] != NULL; i++) {
        etwas_output_format(output, "etwas %s %s\n", command->name, command->usages[i]);
    }
    etwas_output_text(output, "```\n\n");
    print_markdown(output, command->description);
    etwas_output_text(output, "\n\n| Option | |\n| --- | --- |\n");
    for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
        print_option(output, option);
    }
    etwas_output_text(output, "| `-h, --help` | a short help |\n");
    for (size_t i = 0; command->details != NULL && command->details[i] != NULL; i++) {
        etwas_output_char(output, '\n');
        print_markdown(output, command->details[i]);
        etwas_output_char(output, '\n');
    }
    etwas_output_text(output, "\nExamples:\n\n```\n");
    for (const struct etwas_example *example = command->examples; example->line != NULL;
         example++) {
        etwas_output_format(output, "# %s\n%s\n", example->purpose, example->line);
    }
    etwas_output_text(output, "```\n");
}

static void print_guide(struct etwas_output *output, const struct etwas_guide *guide)
{
    etwas_output_format(output, "\n## etwas help %s\n\n```\n", guide->name);
    for (size_t i = 0; guide->parts[i] != NULL; i++) {
        etwas_output_text(output, guide->parts[i]);
    }
    etwas_output_text(output, "```\n");
}

void etwas_manual_reference(struct etwas_output *output)
{
    etwas_output_text(output,
                      "# Commands\n\nThe build makes this page of the tables of the commands; the "
                      "test `manual_pages` compares it. What they exit with is in "
                      "[exit-status.md](exit-status.md), the keys of `--json` in "
                      "[json.md](json.md).\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        print_command(output, etwas_commands[i]);
    }
    for (const struct etwas_guide *guide = etwas_guides; guide->name != NULL; guide++) {
        print_guide(output, guide);
    }
}
