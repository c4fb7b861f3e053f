/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Resolution: the histogram of steps between readings one after the other, a small plot for each
 * clock. All have the same axes, so that they can be compared.
 */

#include "clocks/html.h"
#include "clocks/plot.h"

#include <math.h>
#include <stdio.h>

enum {
    WIDTH = 300,
    LEFT = 44,
    ZERO = 36, /* right of that, for equal readings: a logarithmic axis has no 0 */
    BAR = 10,  /* its width */
    TOP = 10,
    BASE = 122,
    HEIGHT = 160
};

static uint64_t steps_of(const etwas_clock_histogram *steps)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < steps->bins; i++) {
        all += steps->bin[i].count;
    }
    return all;
}

/* Shares from 1 in 10^(2 * power) to all. */
static double height_of(double share, int decades)
{
    double part = 1 + log10(share) / decades;

    return (BASE - TOP) * fmin(fmax(part, 0.012), 1);
}

static void put_shares(struct etwas_output *output, int decades)
{
    static const char *const names[] = {"100 %", "1 %", "10⁻⁴", "10⁻⁶", "10⁻⁸"};

    for (int i = 0; 2 * i <= decades; i++) {
        double y = TOP + (BASE - TOP) * 2.0 * i / decades;

        etwas_plot_line(output, "grid", LEFT, y, WIDTH - 8, y);
        etwas_plot_text(output, "tick end", LEFT - 5, y + 4, names[i]);
    }
}

static void put_one(struct etwas_output *output, const struct etwas_clocks_view *view,
                    uint32_t number, const struct etwas_plot_scale *scale, int decades)
{
    const etwas_clock_source_report *source = &view->report->sources[number];
    uint64_t all = steps_of(&source->steps);
    char id[32];
    char text[256];

    snprintf(id, sizeof id, "steps-%u", (unsigned)number);
    snprintf(text, sizeof text, "%s: smallest step %s, equal readings %s",
             etwas_clocks_name(view, number), etwas_clocks_duration(source->resolution_ns).text,
             etwas_clocks_percent(source->equal_pairs, source->pairs).text);
    etwas_output_text(output, "<div class=\"small\"><h3>");
    etwas_page_text(output, etwas_clocks_name(view, number));
    etwas_output_text(output, "</h3><p class=\"note\">smallest ");
    etwas_page_number(output, etwas_clocks_duration(source->resolution_ns));
    etwas_output_text(output, ", moves by ");
    etwas_page_number(output, etwas_clocks_duration(source->unit_ns));
    etwas_output_text(output, ", equal ");
    etwas_page_number(output, etwas_clocks_percent(source->equal_pairs, source->pairs));
    etwas_output_text(output, "</p>");
    etwas_plot_begin(output, id, WIDTH, HEIGHT, "Steps between readings", text);
    put_shares(output, decades);
    etwas_plot_durations_across(output, scale, TOP, BASE, "step");
    etwas_plot_line(output, "axis", LEFT, BASE, LEFT + BAR + 8, BASE);
    etwas_plot_text(output, "tick middle", LEFT + 4 + BAR / 2.0, BASE + 16, "0");
    for (uint32_t i = 0; i < source->steps.bins; i++) {
        const etwas_clock_bin *bin = &source->steps.bin[i];
        bool equal = !(bin->from > 0);
        double left = equal ? LEFT + 4 : etwas_plot_place(scale, bin->from);
        double right = equal ? LEFT + 4 + BAR : etwas_plot_place(scale, bin->to);

        if (bin->count > 0) {
            double height = height_of((double)bin->count / (double)all, decades);

            etwas_plot_box(output, "bar", left, BASE - height, fmax(right - left - 0.5, 1.2),
                           height);
        }
    }
    etwas_plot_end(output);
    etwas_output_text(output, "</div>\n");
}

/* The axes of all the small plots; returns how many decades of shares there are. */
static int cover(const struct etwas_clocks_view *view, struct etwas_plot_scale *scale)
{
    double smallest = INFINITY;
    double largest = 0;
    double rarest = 0.01;

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_histogram *steps = &view->report->sources[i].steps;
        double all = (double)steps_of(steps);

        for (uint32_t k = 0; etwas_clocks_shown(view, i) && k < steps->bins; k++) {
            if (steps->bin[k].count > 0 && steps->bin[k].from > 0) {
                smallest = fmin(smallest, steps->bin[k].from);
                largest = fmax(largest, steps->bin[k].to);
                rarest = fmin(rarest, (double)steps->bin[k].count / all);
            }
        }
    }
    etwas_plot_decades(scale, smallest, largest, 0.1);
    scale->start = LEFT + ZERO;
    scale->end = WIDTH - 22;
    return (int)fmin(2 * ceil(-log10(rarest) / 2), 8);
}

static void put_table(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",    "one tick",          "smallest step",
                                         "moves by", "pairs of readings", "equal"};

    etwas_page_table(output, "Steps between readings one after the other", titles,
                     sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (etwas_clocks_shown(view, i)) {
            etwas_page_row(output, etwas_clocks_name(view, i));
            etwas_page_cell(output, etwas_clocks_duration(source->tick_ns));
            etwas_page_cell(output, etwas_clocks_duration(source->resolution_ns));
            etwas_page_cell(output, etwas_clocks_duration(source->unit_ns));
            etwas_page_cell(output, etwas_clocks_count(source->pairs));
            etwas_page_cell(output, etwas_clocks_percent(source->equal_pairs, source->pairs));
            etwas_page_row_end(output);
        }
    }
    etwas_page_table_end(output);
}

void etwas_page_steps(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    struct etwas_plot_scale scale;
    int decades = cover(view, &scale);

    etwas_page_section(output, "steps", "Resolution");
    etwas_output_text(
        output,
        "<p>Steps between readings one after the other, as a share of all; equal readings "
        "are at 0. Both axes "
        "are logarithmic and the same for all clocks. Two events of one thread can be told "
        "apart by their stamps if they are further from each other than what the clock moves by; "
        "a counter may add a tick to a second reading before it has moved, which is then "
        "its smallest step and says nothing. "
        "Large steps are interrupts and other guests, not the clock.</p>\n<div "
        "class=\"smalls\">\n");
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (etwas_clocks_shown(view, i) && steps_of(&view->report->sources[i].steps) > 0) {
            put_one(output, view, i, &scale, decades);
        }
    }
    etwas_output_text(output, "</div>\n");
    put_table(output, view);
    etwas_page_section_end(output);
}
