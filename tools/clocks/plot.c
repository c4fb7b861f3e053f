/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Plots as SVG.
 */

#include "clocks/plot.h"

#include "clocks/html.h"

#include <math.h>

/* ---- Scales ---- */

static double bent(const struct etwas_plot_scale *scale, double value)
{
    if (scale->kind == ETWAS_PLOT_LOGARITHMIC) {
        return log10(fmax(value, scale->from));
    }
    return copysign(log10(1 + fabs(value) / scale->unit), value);
}

double etwas_plot_place(const struct etwas_plot_scale *scale, double value)
{
    double from = bent(scale, scale->from);
    double part = (bent(scale, value) - from) / (bent(scale, scale->to) - from);

    /* Also where the value is no number. */
    if (!(part > 0)) {
        part = 0;
    }
    return scale->start + (part < 1 ? part : 1) * (scale->end - scale->start);
}

void etwas_plot_decades(struct etwas_plot_scale *scale, double smallest, double largest,
                        double least)
{
    double from = isfinite(smallest) ? fmax(smallest, least) : least;
    double to = isfinite(largest) ? fmin(fmax(largest, from), 1e15) : from;
    double low = floor(log10(from) + 1e-9);

    scale->kind = ETWAS_PLOT_LOGARITHMIC;
    scale->from = pow(10, low);
    scale->to = pow(10, fmax(ceil(log10(to) - 1e-9), low + 1));
}

/* ---- Shapes ---- */

void etwas_plot_begin(struct etwas_output *output, const char *id, double width, double height,
                      const char *title, const char *text)
{
    etwas_output_format(
        output,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
        "role=\"img\" aria-labelledby=\"%s-title %s-text\">\n<title id=\"%s-title\">",
        width, height, id, id, id);
    etwas_page_text(output, title);
    etwas_output_format(output, "</title><desc id=\"%s-text\">", id);
    etwas_page_text(output, text);
    etwas_output_text(output, "</desc>\n");
}

void etwas_plot_end(struct etwas_output *output)
{
    etwas_output_text(output, "</svg>\n");
}

void etwas_plot_line(struct etwas_output *output, const char *style, double x1, double y1,
                     double x2, double y2)
{
    etwas_output_format(output,
                        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                        style, x1, y1, x2, y2);
}

void etwas_plot_box(struct etwas_output *output, const char *style, double x, double y,
                    double width, double height)
{
    etwas_output_format(
        output, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
        style, x, y, width, height);
}

void etwas_plot_dot(struct etwas_output *output, const char *style, double x, double y,
                    double radius)
{
    etwas_output_format(output, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                        style, x, y, radius);
}

void etwas_plot_text(struct etwas_output *output, const char *style, double x, double y,
                     const char *text)
{
    etwas_output_format(output, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", style, x, y);
    etwas_page_text(output, text);
    etwas_output_text(output, "</text>\n");
}

void etwas_plot_number(struct etwas_output *output, const char *style, double x, double y,
                       struct etwas_clocks_word word)
{
    etwas_output_format(output, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", style, x, y);
    etwas_page_number(output, word);
    etwas_output_text(output, "</text>\n");
}

/* ---- Axes ---- */

static int decades_of(const struct etwas_plot_scale *scale)
{
    return (int)lround(log10(scale->to / scale->from));
}

/* How many decades from one name to the next, so that names are `room` apart. */
static int named_every(const struct etwas_plot_scale *scale, double room)
{
    double decade = fabs(scale->end - scale->start) / decades_of(scale);

    return (int)fmax(1, ceil(room / decade));
}

void etwas_plot_durations_across(struct etwas_output *output, const struct etwas_plot_scale *scale,
                                 double top, double bottom, const char *title)
{
    int every = named_every(scale, 50);

    for (int i = 0; i <= decades_of(scale); i++) {
        double value = scale->from * pow(10, i);
        double x = etwas_plot_place(scale, value);

        etwas_plot_line(output, "grid", x, top, x, bottom);
        if (i % every == 0) {
            etwas_plot_number(output, "tick middle", x, bottom + 16,
                              etwas_clocks_round_duration(value));
        }
    }
    etwas_plot_line(output, "axis", scale->start, bottom, scale->end, bottom);
    etwas_plot_text(output, "axis-title middle", (scale->start + scale->end) / 2, bottom + 33,
                    title);
}

void etwas_plot_durations_up(struct etwas_output *output, const struct etwas_plot_scale *scale,
                             double left, double right, const char *title)
{
    int every = named_every(scale, 20);

    for (int i = 0; i <= decades_of(scale); i++) {
        double value = scale->from * pow(10, i);
        double y = etwas_plot_place(scale, value);

        etwas_plot_line(output, "grid", left, y, right, y);
        if (i % every == 0) {
            etwas_plot_number(output, "tick end", left - 6, y + 4,
                              etwas_clocks_round_duration(value));
        }
    }
    etwas_plot_line(output, "axis", left, scale->start, left, scale->end);
    etwas_plot_text(output, "axis-title", left - 50, scale->end - 12, title);
}
