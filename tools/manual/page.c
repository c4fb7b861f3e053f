/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes manual pages in roff. */

#include "cli/guides.h"
#include "manual/manual.h"

#include <ctype.h>
#include <string.h>

/* Writes text, and escapes what roff would take for a request or an escape. */
static void print_roff(struct etwas_output *output, const char *text)
{
    bool begins_line = true;

    for (; *text != '\0'; text++) {
        if (begins_line && (*text == '.' || *text == '\'')) {
            etwas_output_text(output, "\\&");
        }
        if (*text == '\\') {
            etwas_output_text(output, "\\e");
        } else if (*text == '-') {
            etwas_output_text(output, "\\-");
        } else {
            etwas_output_char(output, *text);
        }
        begins_line = *text == '\n';
    }
}

static void print_line(struct etwas_output *output, const char *before, const char *text)
{
    etwas_output_text(output, before);
    print_roff(output, text);
    etwas_output_char(output, '\n');
}

static void print_head(struct etwas_output *output, const char *name, const char *summary,
                       const char *version)
{
    etwas_output_text(output, ".TH ");
    for (const char *letter = name; *letter != '\0'; letter++) {
        if (*letter == '-') {
            etwas_output_char(output, '\\');
        }
        etwas_output_char(output, (char)toupper(*letter));
    }
    etwas_output_format(output, " 1 \"\" \"etwas %s\" \"User commands\"\n.SH NAME\n", version);
    print_roff(output, name);
    etwas_output_text(output, " \\- ");
    print_line(output, "", summary);
}

static void print_option(struct etwas_output *output, const struct etwas_option *option)
{
    etwas_output_text(output, ".TP\n");
    if (option->letter != 0) {
        etwas_output_format(output, "\\fB\\-%c\\fR, ", option->letter);
    }
    etwas_output_text(output, "\\fB\\-\\-");
    print_roff(output, option->name);
    etwas_output_text(output, "\\fR");
    if (option->value != NULL) {
        etwas_output_text(output, option->is_optional ? "[=\\fI" : " \\fI");
        print_roff(output, option->value);
        etwas_output_text(output, option->is_optional ? "\\fR]" : "\\fR");
    }
    print_line(output, "\n", option->help);
    if (option->choices != NULL) {
        etwas_output_text(output, ".br\nOne of");
        for (size_t i = 0; option->choices[i] != NULL; i++) {
            print_roff(output, i == 0 ? " " : ", ");
            print_roff(output, option->choices[i]);
        }
        etwas_output_text(output, ".\n");
    }
}

static void print_options(struct etwas_output *output, const struct etwas_option *options)
{
    etwas_output_text(output, ".SH OPTIONS\n");
    for (; options->name != NULL; options++) {
        if (options->group != NULL) {
            print_line(output, ".SS ", options->group);
        }
        print_option(output, options);
    }
    etwas_output_text(output, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow a short help\n");
}

static void print_examples(struct etwas_output *output, const struct etwas_example *examples)
{
    etwas_output_text(output, ".SH EXAMPLES\n");
    for (; examples->line != NULL; examples++) {
        print_line(output, ".PP\n", examples->purpose);
        print_line(output, ".PP\n.nf\n.RS\n", examples->line);
        etwas_output_text(output, ".RE\n.fi\n");
    }
}

void etwas_manual_page(struct etwas_output *output, const struct etwas_command *command,
                       const char *version)
{
    char name[32] = "etwas-";

    strncat(name, command->name, sizeof name - sizeof "etwas-");
    print_head(output, name, command->summary, version);
    etwas_output_text(output, ".SH SYNOPSIS\n.nf\n");
    for (size_t i = 0; command->usages[i] != NULL; i++) {
        etwas_output_format(output, "\\fBetwas %s\\fR ", command->name);
        print_line(output, "", command->usages[i]);
    }
    print_line(output, ".fi\n.SH DESCRIPTION\n", command->description);
    for (size_t i = 0; command->details != NULL && command->details[i] != NULL; i++) {
        print_line(output, ".PP\n", command->details[i]);
    }
    print_options(output, command->options);
    print_examples(output, command->examples);
    etwas_output_text(output, ".SH EXIT STATUS\nSee \\fBetwas\\fR(1).\n.SH SEE ALSO\n"
                              "\\fBetwas\\fR(1)\n");
}

static void print_status(struct etwas_output *output)
{
    static const char *const statuses[] = {
        "done",
        "done, and the answer is no: a difference, a proof that failed, nothing to write",
        "not done: a wrong call, no such file or session, no permission, no answer",
        "done as far as the input allows: it is damaged; everything readable was used",
        "the output could not be written",
    };

    etwas_output_text(output, ".SH EXIT STATUS\n");
    for (unsigned i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        etwas_output_format(output, ".TP\n.B %u\n", i);
        print_line(output, "", statuses[i]);
    }
    etwas_output_text(output,
                      ".PP\netwas record ends with the status of its program, 126 or 127 where "
                      "that cannot be run. A signal ends a command as the shell expects.\n");
}

void etwas_manual_overview(struct etwas_output *output, const char *version)
{
    print_head(output, "etwas", "record, control and read event traces", version);
    etwas_output_text(output, ".SH SYNOPSIS\n\\fBetwas\\fR COMMAND [OPTION...] [ARGUMENT...]\n"
                              ".SH DESCRIPTION\n"
                              "Records events, shows what is in traces (.etl), and controls "
                              "sessions. Each command has a manual page.\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        if (etwas_commands[i]->group != NULL) {
            print_line(output, ".SS ", etwas_commands[i]->group);
        }
        etwas_output_format(output, ".TP\n\\fBetwas\\-%s\\fR(1)\n", etwas_commands[i]->name);
        print_line(output, "", etwas_commands[i]->summary);
    }
    for (const struct etwas_guide *guide = etwas_guides; guide->name != NULL; guide++) {
        etwas_output_text(output, ".SH ");
        for (const char *letter = guide->name; *letter != '\0'; letter++) {
            etwas_output_char(output, (char)toupper(*letter));
        }
        etwas_output_text(output, "\n.nf\n");
        for (size_t i = 0; guide->parts[i] != NULL; i++) {
            print_roff(output, guide->parts[i]);
        }
        etwas_output_text(output, ".fi\n");
    }
    print_status(output);
}
