/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_PLOT_H
#define ETWAS_TOOLS_CLOCKS_PLOT_H

/*
 * Plots as SVG within the page. Places are in units of the plot, which the page scales; colours and
 * fonts are classes of the page's style sheet, so that a plot follows its light or dark.
 */

#include "clocks/format.h"

enum {
    ETWAS_PLOT_WIDTH = 760,
    ETWAS_PLOT_LABELS = 192 /* of that, for the names of rows */
};

enum etwas_plot_kind {
    ETWAS_PLOT_LOGARITHMIC, /* from > 0; what is less is placed at `from` */
    ETWAS_PLOT_SYMMETRIC    /* linear within ± unit, logarithmic beyond */
};

/* Where values are placed: `from` at `start`, `to` at `end`. */
struct etwas_plot_scale {
    enum etwas_plot_kind kind;
    double from;
    double to;
    double start;
    double end;
    double unit;
};

/* Never outside start and end. */
double etwas_plot_place(const struct etwas_plot_scale *scale, double value);

/*
 * Widens `scale`, logarithmic, to whole decades around [smallest, largest], at least one and
 * never below `least`, itself a power of ten.
 */
void etwas_plot_decades(struct etwas_plot_scale *scale, double smallest, double largest,
                        double least);

/* `id` is its own within the page; title and text are what is read out in place of the plot. */
void etwas_plot_begin(struct etwas_output *output, const char *id, double width, double height,
                      const char *title, const char *text);
void etwas_plot_end(struct etwas_output *output);

void etwas_plot_line(struct etwas_output *output, const char *style, double x1, double y1,
                     double x2, double y2);
void etwas_plot_box(struct etwas_output *output, const char *style, double x, double y,
                    double width, double height);
void etwas_plot_dot(struct etwas_output *output, const char *style, double x, double y,
                    double radius);
void etwas_plot_text(struct etwas_output *output, const char *style, double x, double y,
                     const char *text);
void etwas_plot_number(struct etwas_output *output, const char *style, double x, double y,
                       struct etwas_clocks_word word);

/* Lines and marks of decades of durations; every second is named where they are many. */
void etwas_plot_durations_across(struct etwas_output *output, const struct etwas_plot_scale *scale,
                                 double top, double bottom, const char *title);
void etwas_plot_durations_up(struct etwas_output *output, const struct etwas_plot_scale *scale,
                             double left, double right, const char *title);

#endif
