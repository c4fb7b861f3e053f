/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TERMINAL_H
#define ETWAS_TOOLS_PRINT_TERMINAL_H

/* Properties of the terminal that an output may be: its width, its characters, and colours. */

#include "print/output.h"

/* The choices of --color, in this order. */
enum etwas_color_when {
    ETWAS_COLOR_AUTO, /* if it is a terminal with colours, and NO_COLOR is not set */
    ETWAS_COLOR_ALWAYS,
    ETWAS_COLOR_NEVER,
};

extern int etwas_color_when; /* the command's --color */
extern const char *const etwas_color_choices[];

/* Returns whether the environment's locale has UTF-8. */
bool etwas_terminal_has_utf8(void);

/*
 * Returns the columns of a line: COLUMNS of the environment, or what the terminal reports; SIZE_MAX
 * if it is not a terminal, and nothing is cut.
 */
size_t etwas_terminal_columns(const struct etwas_output *output);

enum etwas_color {
    ETWAS_COLOR_HEADING, /* bold */
    ETWAS_COLOR_WRONG,   /* red: an error, or a loss */
};

/* Text written between the two has the colour, if the output has colours. */
void etwas_color_begin(struct etwas_output *output, enum etwas_color color);
void etwas_color_end(struct etwas_output *output);

/* Writes "  LABEL  ", 16 columns. A label in capitals marks an error. */
void etwas_label(struct etwas_output *output, const char *label);

#endif
