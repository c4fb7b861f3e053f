/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_CSV_H
#define ETWAS_TOOLS_PRINT_CSV_H

/*
 * CSV by RFC 4180: a record ends with CR LF, and a cell with a comma or a quote in it stands in
 * quotes. Cells have no line breaks: the caller writes them as \x0a.
 */

#include "print/output.h"

void etwas_csv_cell(struct etwas_output *output, bool first, const char *text, size_t bytes);

/* Writes a cell of UTF-8 with its NUL, escaped for a terminal. */
void etwas_csv_text(struct etwas_output *output, bool first, const char *text);

void etwas_csv_end(struct etwas_output *output);

#endif
