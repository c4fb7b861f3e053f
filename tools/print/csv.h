/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_CSV_H
#define ETWAS_TOOLS_PRINT_CSV_H

/*
 * CSV as in RFC 4180: a record ends with CR LF, and a cell that contains a comma or a quote is
 * quoted. Cells have no line breaks: the caller writes them as \x0a.
 */

#include "print/output.h"

void etwas_csv_cell(struct etwas_output *output, bool first, const char *text, size_t bytes);

/* Writes a cell from NUL-terminated UTF-8, escaped for a terminal. */
void etwas_csv_text(struct etwas_output *output, bool first, const char *text);

void etwas_csv_end(struct etwas_output *output);

#endif
