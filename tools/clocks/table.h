/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_TABLE_H
#define ETWAS_TOOLS_CLOCKS_TABLE_H

/*
 * Columns and paragraphs on a terminal. Widths are in characters of UTF-8, each one column wide.
 */

#include "clocks/format.h"
#include "print/text.h"

enum {
    ETWAS_CLOCKS_COLUMNS = 100,
    ETWAS_CLOCKS_NAME_COLUMNS = 24 /* CLOCK_THREAD_CPUTIME_ID and a blank */
};

static inline void etwas_clocks_print_word(struct etwas_output *output,
                                           struct etwas_clocks_word word, unsigned columns)
{
    etwas_text_right(output, word.text, columns);
}

/* A line of a table begins so. */
void etwas_clocks_print_name(struct etwas_output *output, const struct etwas_clocks_view *view,
                             uint32_t source);

/*
 * Breaks `text` between words; `column` characters of the first line are written already, further
 * lines begin with `indent` blanks. Ends the line. What could steer a terminal is escaped.
 */
void etwas_clocks_print_paragraph(struct etwas_output *output, const char *text, size_t column,
                                  size_t indent);

#endif
