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
    ETWAS_CLOCKS_COLUMNS = 80, /* width of paragraphs */
};

/* Columns of a table that are numbers: all except the first. */
#define ETWAS_CLOCKS_NUMBERS (UINT32_MAX << 1)

/*
 * Breaks `text` between words and ends the line. The first line has `column` characters already;
 * further lines begin with `indent` spaces. Control characters are escaped.
 */
void etwas_clocks_print_paragraph(struct etwas_output *output, const char *text, size_t column,
                                  size_t indent);

#endif
