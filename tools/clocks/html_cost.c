/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The cost of a reading: for each clock the histogram of warm readings over its quantiles, cold
 * ones below, all on one logarithmic axis.
 */

#include "clocks/html.h"
#include "clocks/plot.h"

#include <math.h>
#include <stdio.h>

enum {
    ROW = 40,
    BASE = 26,  /* of a row, below its top: the line of warm readings */
    COLD = 9,   /* below that: the line of cold ones */
    HILL = 20,  /* the highest bin */
    TOP = 30,   /* the heads of the columns */
    BOTTOM = 44 /* the axis */
};

static void put_hill(struct etwas_output *output, const struct etwas_plot_scale *scale,
                     const etwas_clock_histogram *histogram, double base)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < histogram->bins; i++) {
        most = histogram->bin[i].count > most ? histogram->bin[i].count : most;
    }
    for (uint32_t i = 0; i < histogram->bins; i++) {
        const etwas_clock_bin *bin = &histogram->bin[i];
        double left = etwas_plot_place(scale, bin->from);
        double right = etwas_plot_place(scale, bin->to);

        if (bin->count > 0) {
            /* The rarest are still seen: the outliers are what a mean hides. */
            double height = fmax(HILL * sqrt((double)bin->count / (double)most), 1.2);

            etwas_plot_box(output, "hill", left, base - height, fmax(right - left, 0.8), height);
        }
    }
}

static void put_row(struct etwas_output *output, const struct etwas_clocks_view *view,
                    const struct etwas_plot_scale *scale, uint32_t number, double top)
{
    const etwas_clock_source_report *source = &view->report->sources[number];
    const etwas_clock_distribution *warm = &source->warm_ns;
    const etwas_clock_distribution *cold = &source->cold_ns;
    double base = top + BASE;
    double right = ETWAS_PLOT_WIDTH;

    etwas_plot_text(output, etwas_clocks_of_session(number) ? "label strong" : "label", 0, base,
                    etwas_clocks_name(view, number));
    if (warm->count > 0) {
        put_hill(output, scale, &source->warm, base);
        etwas_plot_line(output, "warm thin", etwas_plot_place(scale, warm->minimum), base,
                        etwas_plot_place(scale, warm->maximum), base);
        etwas_plot_line(output, "warm thick", etwas_plot_place(scale, warm->minimum), base,
                        etwas_plot_place(scale, warm->p99), base);
        etwas_plot_line(output, "warm thick", etwas_plot_place(scale, warm->median), base - 5,
                        etwas_plot_place(scale, warm->median), base + 5);
        etwas_plot_number(output, "value end warm-text", right - 72, base,
                          etwas_clocks_duration(warm->mean));
    }
    if (cold->count > 0) {
        etwas_plot_line(output, "cold thin", etwas_plot_place(scale, cold->minimum), base + COLD,
                        etwas_plot_place(scale, cold->p99), base + COLD);
        etwas_plot_dot(output, "cold", etwas_plot_place(scale, cold->median), base + COLD, 3.6);
        etwas_plot_number(output, "value end cold-text", right, base,
                          etwas_clocks_duration(cold->median));
    }
}

/* Returns how many clocks there are to be drawn; the scale covers all of them. */
static uint32_t cover(const struct etwas_clocks_view *view, struct etwas_plot_scale *scale)
{
    double smallest = INFINITY;
    double largest = 0;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (!etwas_clocks_shown(view, i)) {
            continue;
        }
        rows++;
        if (source->warm_ns.count > 0) {
            smallest = fmin(smallest, source->warm_ns.minimum);
            largest = fmax(largest, source->warm_ns.maximum);
        }
        if (source->cold_ns.count > 0) {
            smallest = fmin(smallest, source->cold_ns.minimum);
            largest = fmax(largest, source->cold_ns.p99);
        }
    }
    etwas_plot_decades(scale, smallest, largest, 1);
    scale->start = ETWAS_PLOT_LABELS;
    scale->end = ETWAS_PLOT_WIDTH - 2 * 72 - 14;
    return rows;
}

static void put_plot(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    struct etwas_plot_scale scale;
    uint32_t rows = cover(view, &scale);
    double bottom = TOP + (double)rows * ROW;
    double top = TOP;

    etwas_page_figure(output);
    etwas_plot_begin(
        output, "cost-plot", ETWAS_PLOT_WIDTH, bottom + BOTTOM, "Cost of one reading of each clock",
        "For each clock the distribution of the cost of one reading in nanoseconds, on "
        "a logarithmic axis. The table below has the same figures.");
    etwas_plot_durations_across(output, &scale, TOP, bottom, "cost of one reading");
    etwas_plot_text(output, "tick end warm-text", ETWAS_PLOT_WIDTH - 72, TOP - 10, "warm mean");
    etwas_plot_text(output, "tick end cold-text", ETWAS_PLOT_WIDTH, TOP - 10, "cold");
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (etwas_clocks_shown(view, i)) {
            put_row(output, view, &scale, i, top);
            top += ROW;
        }
    }
    etwas_plot_end(output);
    etwas_page_figure_end(output);
}

static void put_table(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",   "in a row",    "mean",    "minimum",
                                         "median",  "p90",         "p99",     "p99.9",
                                         "maximum", "cold median", "cold p99"};

    etwas_page_table(output, "Cost of one reading, ns", titles, sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];
        const etwas_clock_distribution *warm = &source->warm_ns;
        const etwas_clock_distribution *cold = &source->cold_ns;
        const double numbers[] = {warm->mean, warm->minimum, warm->median, warm->p90, warm->p99,
                                  warm->p999, warm->maximum, cold->median, cold->p99};

        if (!etwas_clocks_shown(view, i)) {
            continue;
        }
        etwas_page_row(output, etwas_clocks_name(view, i));
        etwas_page_cell(output, etwas_clocks_ns(source->back_to_back_ns));
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            bool measured = (k < 7 ? warm->count : cold->count) > 0;

            etwas_page_cell(output, etwas_clocks_ns(measured ? numbers[k] : NAN));
        }
        etwas_page_row_end(output);
    }
    etwas_page_table_end(output);
}

void etwas_page_cost(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    double timer_step_ns = 0;
    char missing[512];

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        timer_step_ns = fmax(timer_step_ns, view->report->sources[i].timer_step_ns);
    }
    etwas_page_section(output, "cost", "What a reading costs");
    etwas_output_text(
        output,
        "<p>The hill is the distribution of single readings, warm; its height is the square root "
        "of the share, for rare readings to be seen. The line below it runs from the "
        "fastest to the slowest, its <b class=\"warm-text\">thick part</b> holds 99\u00a0% of "
        "them, "
        "and the mark is the median. The <b class=\"cold-text\">dot</b> is the median of readings "
        "whose code and data were put out of the caches before, its line runs from the fastest to "
        "the 99th percentile. The loop's own cost is subtracted. <i>In a row</i> is the mean of "
        "many readings without timing each.</p>\n");
    if (timer_step_ns > 0) {
        etwas_output_text(output, "<p class=\"note\">Single readings are timed in steps of ");
        etwas_page_number(output, etwas_clocks_duration(timer_step_ns));
        etwas_output_text(output, ": of cheap ones, <i>in a row</i> and the mean say more than the "
                                  "median and the other quantiles.</p>\n");
    }
    put_plot(output, view);
    put_table(output, view);
    if (etwas_clocks_missing(view, missing, sizeof missing)) {
        etwas_output_text(output, "<p class=\"note\">Not available here: ");
        etwas_page_text(output, missing);
        etwas_output_text(output, ".</p>\n");
    }
    etwas_page_section_end(output);
}
