/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes completion for bash, zsh and fish: commands, options, values of options, files, and the
 * names of sessions and providers, for which the shell runs `etwas`.
 */

#include "cli/guides.h"
#include "manual/manual.h"

#include <stdio.h>

/* Returns a shell command that prints names that are only known at run time, one a line. */
static const char *command_of_source(enum etwas_value_source source)
{
    switch (source) {
    case ETWAS_VALUES_SESSIONS:
        return "etwas ps --json 2>/dev/null | sed -n 's/^{.*\"session\": "
               "*\"\\([^\"]*\\)\".*/\\1/p'";
    case ETWAS_VALUES_PROVIDERS:
        return "etwas ps --json 2>/dev/null | sed -n 's/^{.*\"provider\": "
               "*\"\\([^\"]*\\)\".*/\\1/p'";
    default:
        return NULL;
    }
}

static void print_names(struct etwas_output *output)
{
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        etwas_output_format(output, "%s%s", i == 0 ? "" : " ", etwas_commands[i]->name);
    }
    etwas_output_text(output, " help");
}

/* Prints the further arguments of `help`. */
static void print_guides(struct etwas_output *output)
{
    for (const struct etwas_guide *guide = etwas_guides; guide->name != NULL; guide++) {
        etwas_output_format(output, " %s", guide->name);
    }
}

static void print_choices(struct etwas_output *output, const struct etwas_option *option)
{
    for (size_t i = 0; option->choices[i] != NULL; i++) {
        etwas_output_format(output, "%s%s", i == 0 ? "" : " ", option->choices[i]);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* Prints the inside of COMPREPLY=( ). */
static void print_bash_source(struct etwas_output *output, enum etwas_value_source source)
{
    const char *command = command_of_source(source);

    if (source == ETWAS_VALUES_FILES) {
        etwas_output_text(output, "compgen -f -- \"$word\"");
    } else if (source == ETWAS_VALUES_FOLDERS) {
        etwas_output_text(output, "compgen -d -- \"$word\"");
    } else if (command != NULL) {
        etwas_output_format(output, "compgen -W \"$(%s)\" -- \"$word\"", command);
    }
}

static void print_bash_values(struct etwas_output *output, const struct etwas_command *command)
{
    for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
        if (option->value == NULL || option->is_optional) {
            continue;
        }
        etwas_output_format(output, "    %s:--%s", command->name, option->name);
        if (option->letter != 0) {
            etwas_output_format(output, " | %s:-%c", command->name, option->letter);
        }
        etwas_output_text(output, ") ");
        if (option->choices != NULL) {
            etwas_output_text(output, "mapfile -t COMPREPLY < <(compgen -W \"");
            print_choices(output, option);
            etwas_output_text(output, "\" -- \"$word\"); ");
        } else if (option->source != ETWAS_VALUES_NONE) {
            etwas_output_text(output, "mapfile -t COMPREPLY < <(");
            print_bash_source(output, option->source);
            etwas_output_text(output, "); ");
        }
        etwas_output_text(output, "return ;;\n");
    }
}

static void print_bash_command(struct etwas_output *output, const struct etwas_command *command)
{
    etwas_output_format(output, "    %s:-*) mapfile -t COMPREPLY < <(compgen -W \"", command->name);
    for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
        etwas_output_format(output, "--%s ", option->name);
    }
    etwas_output_text(output, "--help\" -- \"$word\") ;;\n");
    if (command->operands != ETWAS_VALUES_NONE) {
        etwas_output_format(output, "    %s:*) mapfile -t COMPREPLY < <(", command->name);
        print_bash_source(output, command->operands);
        etwas_output_text(output, ") ;;\n");
    }
}

void etwas_manual_bash(struct etwas_output *output)
{
    etwas_output_text(output, "# bash completion for etwas\n\n_etwas() {\n"
                              "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                              "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                              "    local name=${COMP_WORDS[1]}\n"
                              "    COMPREPLY=()\n"
                              "    if ((COMP_CWORD == 1)); then\n"
                              "        mapfile -t COMPREPLY < <(compgen -W \"");
    print_names(output);
    etwas_output_text(output, "\" -- \"$word\")\n        return\n    fi\n"
                              "    case $name:$before in\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        print_bash_values(output, etwas_commands[i]);
    }
    etwas_output_text(output, "    esac\n    case $name:$word in\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        print_bash_command(output, etwas_commands[i]);
    }
    etwas_output_text(output, "    help:*) mapfile -t COMPREPLY < <(compgen -W \"");
    print_names(output);
    print_guides(output);
    etwas_output_text(output, "\" -- \"$word\") ;;\n    esac\n}\n\n"
                              "complete -o filenames -F _etwas etwas\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Writes a text inside '...' for _arguments, and escapes what would end it. */
static void print_zsh_text(struct etwas_output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            etwas_output_text(output, "'\\''");
        } else {
            if (*text == ':' || *text == '[' || *text == ']') {
                etwas_output_char(output, '\\');
            }
            etwas_output_char(output, *text);
        }
    }
}

static void print_zsh_source(struct etwas_output *output, enum etwas_value_source source)
{
    static const char *const actions[] = {
        [ETWAS_VALUES_NONE] = " ",
        [ETWAS_VALUES_FILES] = "_files",
        [ETWAS_VALUES_FOLDERS] = "_files -/",
        [ETWAS_VALUES_SESSIONS] = "_etwas_sessions",
        [ETWAS_VALUES_PROVIDERS] = "_etwas_providers",
    };

    etwas_output_text(output, actions[source]);
}

static void print_zsh_form(struct etwas_output *output, const struct etwas_option *option,
                           const char *before)
{
    etwas_output_format(output, " \\\n            '*%s", before);
    etwas_output_char(output, '[');
    print_zsh_text(output, option->help);
    etwas_output_char(output, ']');
    if (option->value != NULL) {
        etwas_output_text(output, option->is_optional ? "::" : ":");
        print_zsh_text(output, option->value);
        etwas_output_char(output, ':');
        if (option->choices != NULL) {
            etwas_output_char(output, '(');
            print_choices(output, option);
            etwas_output_char(output, ')');
        } else {
            print_zsh_source(output, option->source);
        }
    }
    etwas_output_char(output, '\'');
}

static void print_zsh_option(struct etwas_output *output, const struct etwas_option *option)
{
    const char *joint = option->value == NULL ? "" : option->is_optional ? "=-" : "=";
    char form[64];

    if (option->letter != 0) {
        const char letter[] = {'-', option->letter, '\0'};

        print_zsh_form(output, option, letter);
    }
    snprintf(form, sizeof form, "--%s%s", option->name, joint);
    print_zsh_form(output, option, form);
}

static void print_zsh_list(struct etwas_output *output, const char *name,
                           enum etwas_value_source source)
{
    etwas_output_format(output,
                        "_etwas_%s() {\n    local -a found\n    found=(${(f)\"$(%s)\"})\n"
                        "    compadd -a found\n}\n\n",
                        name, command_of_source(source));
}

void etwas_manual_zsh(struct etwas_output *output)
{
    etwas_output_text(output, "#compdef etwas\n\n");
    print_zsh_list(output, "sessions", ETWAS_VALUES_SESSIONS);
    print_zsh_list(output, "providers", ETWAS_VALUES_PROVIDERS);
    etwas_output_text(output, "_etwas_commands() {\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        etwas_output_format(output, "        '%s:", etwas_commands[i]->name);
        print_zsh_text(output, etwas_commands[i]->summary);
        etwas_output_text(output, "'\n");
    }
    etwas_output_text(output, "        'help:help of a command or a guide'\n    )\n"
                              "    _describe command commands\n}\n\n"
                              "if ((CURRENT == 2)); then\n    _etwas_commands\nelse\n"
                              "    local name=$words[2]\n    shift words\n    ((CURRENT--))\n"
                              "    case $name in\n");
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        etwas_output_format(output, "    %s)\n        _arguments -S", etwas_commands[i]->name);
        for (const struct etwas_option *option = etwas_commands[i]->options; option->name != NULL;
             option++) {
            print_zsh_option(output, option);
        }
        etwas_output_text(output, " \\\n            '--help[a short help]' \\\n            '*::");
        etwas_output_text(output, "argument:");
        print_zsh_source(output, etwas_commands[i]->operands);
        etwas_output_text(output, "' ;;\n");
    }
    etwas_output_text(output, "    help) _etwas_commands; compadd --");
    print_guides(output);
    etwas_output_text(output, " ;;\n    esac\nfi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void print_fish_text(struct etwas_output *output, const char *text)
{
    etwas_output_char(output, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') {
            etwas_output_char(output, '\\');
        }
        etwas_output_char(output, *text);
    }
    etwas_output_char(output, '\'');
}

static void print_fish_source(struct etwas_output *output, enum etwas_value_source source)
{
    if (source == ETWAS_VALUES_FOLDERS) {
        etwas_output_text(output, " -a '(__fish_complete_directories)'");
    } else if (command_of_source(source) != NULL) {
        etwas_output_format(output, " -a '(__etwas_%s)'",
                            source == ETWAS_VALUES_SESSIONS ? "sessions" : "providers");
    }
}

static void print_fish_option(struct etwas_output *output, const char *command,
                              const struct etwas_option *option)
{
    etwas_output_format(output, "complete -c etwas -n '__etwas_command %s' -l %s", command,
                        option->name);
    if (option->letter != 0) {
        etwas_output_format(output, " -s %c", option->letter);
    }
    if (option->value != NULL && !option->is_optional) {
        etwas_output_text(output, option->source == ETWAS_VALUES_FILES ? " -r -F" : " -x");
    }
    if (option->choices != NULL) {
        etwas_output_text(output, " -a '");
        print_choices(output, option);
        etwas_output_char(output, '\'');
    } else {
        print_fish_source(output, option->source);
    }
    etwas_output_text(output, " -d ");
    print_fish_text(output, option->help);
    etwas_output_char(output, '\n');
}

static void print_fish_list(struct etwas_output *output, const char *name,
                            enum etwas_value_source source)
{
    etwas_output_format(output, "function __etwas_%s\n    %s\nend\n", name,
                        command_of_source(source));
}

void etwas_manual_fish(struct etwas_output *output)
{
    etwas_output_text(output, "# fish completion for etwas\n"
                              "function __etwas_command\n"
                              "    set -l words (commandline -opc)\n"
                              "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
                              "end\n");
    print_fish_list(output, "sessions", ETWAS_VALUES_SESSIONS);
    print_fish_list(output, "providers", ETWAS_VALUES_PROVIDERS);
    for (size_t i = 0; etwas_commands[i] != NULL; i++) {
        const struct etwas_command *command = etwas_commands[i];

        etwas_output_format(output, "complete -c etwas -n __fish_use_subcommand -f -a %s -d ",
                            command->name);
        print_fish_text(output, command->summary);
        etwas_output_char(output, '\n');
        for (const struct etwas_option *option = command->options; option->name != NULL; option++) {
            print_fish_option(output, command->name, option);
        }
        if (command->operands != ETWAS_VALUES_FILES) {
            etwas_output_format(output, "complete -c etwas -n '__etwas_command %s' -f",
                                command->name);
            print_fish_source(output, command->operands);
            etwas_output_char(output, '\n');
        }
    }
    etwas_output_text(output, "complete -c etwas -n '__etwas_command help' -f -a '");
    print_names(output);
    print_guides(output);
    etwas_output_text(output, "'\n");
}
