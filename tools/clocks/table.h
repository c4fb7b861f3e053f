/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_TABLE_H
#define ETWAS_TOOLS_CLOCKS_TABLE_H

/*
 * Tables and paragraphs on a terminal.
 */

#include "clocks/format.h"
#include "print/table.h"

enum {
    ETWAS_CLOCKS_COLUMNS = 80, /* of paragraphs */
};

/* A table's columns of numbers: all but the first. */
#define ETWAS_CLOCKS_NUMBERS (UINT32_MAX << 1)

/*
 * Breaks `text` between words; `column` characters of the first line are written already, further
 * lines begin with `indent` blanks. Ends the line. What could steer a terminal is escaped.
 */
void etwas_clocks_print_paragraph(struct etwas_output *output, const char *text, size_t column,
                                  size_t indent);

#endif
