/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the sections of the page are made of: escaped text, figures, tables.
 */

#include "clocks/html.h"

#include "text.h"

#include <ctype.h>

void etwas_page_text(struct etwas_output *output, const char *text)
{
    etwas_text_utf8(output, ETWAS_TEXT_HTML, text, strlen(text));
}

void etwas_page_number(struct etwas_output *output, struct etwas_clocks_word word)
{
    if (word.text[0] == '-' && isdigit((unsigned char)word.text[1]) != 0) {
        etwas_output_text(output, "\u2212");
        etwas_page_text(output, word.text + 1);
    } else {
        etwas_page_text(output, strcmp(word.text, "-") == 0 ? "\u2013" : word.text);
    }
}

void etwas_page_section(struct etwas_output *output, const char *id, const char *heading)
{
    etwas_output_format(output, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
    etwas_page_text(output, heading);
    etwas_output_text(output, "</h2>\n");
}

void etwas_page_section_end(struct etwas_output *output)
{
    etwas_output_text(output, "</section>\n");
}

void etwas_page_figure(struct etwas_output *output)
{
    etwas_output_text(output, "<figure>\n<div class=\"scroll\" tabindex=\"0\">");
}

void etwas_page_figure_end(struct etwas_output *output)
{
    etwas_output_text(output, "</div>\n</figure>\n");
}

/* ---- Tables ---- */

void etwas_page_table(struct etwas_output *output, const char *caption, const char *const *titles,
                      size_t columns)
{
    /* What scrolls must be reachable by the keyboard, and named. */
    etwas_output_text(output, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    etwas_page_text(output, caption);
    etwas_output_text(output, "\"><table>\n<caption>");
    etwas_page_text(output, caption);
    etwas_output_text(output, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < columns; i++) {
        etwas_output_text(output, "<th scope=\"col\">");
        etwas_page_text(output, titles[i]);
        etwas_output_text(output, "</th>");
    }
    etwas_output_text(output, "</tr></thead>\n<tbody>\n");
}

void etwas_page_table_end(struct etwas_output *output)
{
    etwas_output_text(output, "</tbody></table></div>\n");
}

void etwas_page_row(struct etwas_output *output, const char *name)
{
    etwas_output_text(output, "<tr><th scope=\"row\">");
    etwas_page_text(output, name);
    etwas_output_text(output, "</th>");
}

void etwas_page_row_end(struct etwas_output *output)
{
    etwas_output_text(output, "</tr>\n");
}

void etwas_page_cell(struct etwas_output *output, struct etwas_clocks_word word)
{
    etwas_output_text(output, "<td>");
    etwas_page_number(output, word);
    etwas_output_text(output, "</td>");
}

void etwas_page_cell_text(struct etwas_output *output, const char *text)
{
    etwas_output_text(output, "<td>");
    etwas_page_text(output, text);
    etwas_output_text(output, "</td>");
}

void etwas_page_cell_judged(struct etwas_output *output, struct etwas_clocks_word word, bool bad)
{
    etwas_output_text(output, bad ? "<td class=\"bad\"><b>! " : "<td>");
    etwas_page_number(output, word);
    etwas_output_text(output, bad ? "</b></td>" : "</td>");
}

void etwas_page_cell_interval(struct etwas_output *output, double ppm, double interval_ppm,
                              bool known)
{
    etwas_output_text(output, "<td>");
    if (known) {
        etwas_page_number(output, etwas_clocks_ppm(ppm));
        etwas_output_text(output, " ± ");
        etwas_page_number(output, etwas_clocks_ppm_interval(interval_ppm));
    } else {
        etwas_output_text(output, "\u2013");
    }
    etwas_output_text(output, "</td>");
}
