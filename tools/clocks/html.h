/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_HTML_H
#define ETWAS_TOOLS_CLOCKS_HTML_H

/*
 * The parts of the page. Each section is a heading, words on how to read it, a plot and a table of
 * the same figures for who cannot see the plot.
 */

#include "clocks/format.h"

/* Escaped text. */
void etwas_page_text(struct etwas_output *output, const char *text);

/* Likewise; a hyphen before a digit becomes a minus sign. */
void etwas_page_number(struct etwas_output *output, struct etwas_clocks_word word);

/* A section with its heading, and its end. `id` names it within the page. */
void etwas_page_section(struct etwas_output *output, const char *id, const char *heading);
void etwas_page_section_end(struct etwas_output *output);

/* What may be scrolled sideways where the window is narrow. */
void etwas_page_figure(struct etwas_output *output);
void etwas_page_figure_end(struct etwas_output *output);

/* `columns` titles; the first is of the column with the rows' names. */
void etwas_page_table(struct etwas_output *output, const char *caption, const char *const *titles,
                      size_t columns);
void etwas_page_table_end(struct etwas_output *output);
void etwas_page_row(struct etwas_output *output, const char *name);
void etwas_page_row_end(struct etwas_output *output);
void etwas_page_cell(struct etwas_output *output, struct etwas_clocks_word word);
void etwas_page_cell_text(struct etwas_output *output, const char *text);

/* A cell that is marked where the figure speaks against the clock. */
void etwas_page_cell_judged(struct etwas_output *output, struct etwas_clocks_word word, bool bad);

/* "+0.013 ± 0.002" */
void etwas_page_cell_interval(struct etwas_output *output, double ppm, double interval_ppm,
                              bool known);

/* The style sheet. */
void etwas_page_style(struct etwas_output *output);

/* The sections, in this order. */
void etwas_page_cost(struct etwas_output *output, const struct etwas_clocks_view *view);
void etwas_page_steps(struct etwas_output *output, const struct etwas_clocks_view *view);
void etwas_page_order(struct etwas_output *output, const struct etwas_clocks_view *view);
void etwas_page_monotony(struct etwas_output *output, const struct etwas_clocks_view *view);
void etwas_page_drift(struct etwas_output *output, const struct etwas_clocks_view *view);
void etwas_page_conversion(struct etwas_output *output, const struct etwas_clocks_view *view);

#endif
