/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Columns and paragraphs on a terminal.
 */

#include "clocks/table.h"

#include "print/text.h"

static unsigned width_of(const char *text, size_t bytes)
{
    unsigned width = 0;

    for (size_t i = 0; i < bytes; i++) {
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return width;
}

static void put_blanks(struct etwas_output *output, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        etwas_output_char(output, ' ');
    }
}

void etwas_clocks_print_left(struct etwas_output *output, const char *text, unsigned columns)
{
    unsigned width = width_of(text, strlen(text));

    etwas_output_text(output, text);
    put_blanks(output, width < columns ? columns - width : 0);
}

void etwas_clocks_print_right(struct etwas_output *output, const char *text, unsigned columns)
{
    unsigned width = width_of(text, strlen(text));

    put_blanks(output, width < columns ? columns - width : 0);
    etwas_output_text(output, text);
}

void etwas_clocks_print_name(struct etwas_output *output, const struct etwas_clocks_view *view,
                             uint32_t source)
{
    etwas_output_text(output, "  ");
    etwas_clocks_print_left(output, etwas_clocks_name(view, source), ETWAS_CLOCKS_NAME_COLUMNS);
}

void etwas_clocks_print_paragraph(struct etwas_output *output, const char *text, unsigned column,
                                  unsigned indent)
{
    const char *before = "";

    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        unsigned width = width_of(text, bytes);

        if (column > indent && column + 1 + width > ETWAS_CLOCKS_COLUMNS) {
            etwas_output_char(output, '\n');
            put_blanks(output, indent);
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
