/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints paragraphs on a terminal. */

#include "clocks/table.h"

#include "print/text.h"

void etwas_clocks_print_paragraph(struct etwas_output *output, const char *text, size_t column,
                                  size_t indent)
{
    const char *before = "";

    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        size_t width = etwas_text_width(text, bytes);

        if (column > indent && column + 1 + width > ETWAS_CLOCKS_COLUMNS) {
            etwas_output_char(output, '\n');
            etwas_output_blanks(output, indent);
            column = indent;
            before = "";
        }
        etwas_output_text(output, before);
        etwas_text_utf8(output, ETWAS_TEXT_PLAIN, text, bytes);
        column += width + (before[0] != '\0');
        before = " ";
        text += bytes;
    }
    etwas_output_char(output, '\n');
}
