/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TERMINAL_H
#define ETWAS_TOOLS_PRINT_TERMINAL_H

/*
 * What is known of the terminal that an output may be: its width, its characters, and colours.
 */

#include "print/output.h"

/* The choices of --color, in this order. */
enum etwas_color_when {
    ETWAS_COLOR_AUTO, /* on a terminal that has them, unless NO_COLOR is set */
    ETWAS_COLOR_ALWAYS,
    ETWAS_COLOR_NEVER,
};

extern int etwas_color_when; /* what --color of the command says */
extern const char *const etwas_color_choices[];

/* Returns whether the locale of the environment has UTF-8. */
bool etwas_terminal_has_utf8(void);

/*
 * Returns how many columns a line has room for: COLUMNS of the environment, or what the terminal
 * says. SIZE_MAX: it is no terminal, and nothing is cut.
 */
size_t etwas_terminal_columns(const struct etwas_output *output);

enum etwas_color {
    ETWAS_COLOR_HEADING, /* bold */
    ETWAS_COLOR_WRONG,   /* red: an error, or a loss */
};

/* What is written between the two has the colour, where the output has colours. */
void etwas_color_begin(struct etwas_output *output, enum etwas_color color);
void etwas_color_end(struct etwas_output *output);

/* Writes "  LABEL  ", 16 columns. A label in capitals says what is wrong. */
void etwas_label(struct etwas_output *output, const char *label);

#endif
