/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Rates: how fast the clocks run against two others, and how the error of converted stamps grows.
 */

#include "clocks/html.h"
#include "clocks/plot.h"

#include <math.h>
#include <stdio.h>

/* ---- Drift ---- */

enum {
    ROW = 34,
    TOP = 30,
    BOTTOM = 44
};

static bool drift_known(const struct etwas_clocks_view *view, uint32_t source)
{
    const etwas_clock_source_report *one = &view->report->sources[source];

    return etwas_clocks_shown(view, source) &&
           (one->against_raw.known || one->against_realtime.known);
}

static void narrow(const etwas_clock_drift *drift, double *narrowest)
{
    if (drift->known && drift->interval_ppm > 0) {
        *narrowest = fmin(*narrowest, drift->interval_ppm);
    }
}

/*
 * What is all but unknown, as the drift of a coarse clock, would hide the others: it goes beyond
 * the edges.
 */
static void reach(const etwas_clock_drift *drift, double narrowest, double *largest)
{
    bool vague = drift->interval_ppm > fabs(drift->ppm) && drift->interval_ppm > 100 * narrowest;

    if (drift->known && isfinite(drift->ppm) && isfinite(drift->interval_ppm) && !vague) {
        *largest = fmax(*largest, fabs(drift->ppm) + drift->interval_ppm);
    }
}

/* At most three decades beyond the part that is linear: what is smaller is all but nothing. */
static uint32_t cover_drift(const struct etwas_clocks_view *view, struct etwas_plot_scale *scale)
{
    double narrowest = INFINITY;
    double largest = 1e-3;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (drift_known(view, i)) {
            narrow(&view->report->sources[i].against_raw, &narrowest);
            narrow(&view->report->sources[i].against_realtime, &narrowest);
        }
    }
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (drift_known(view, i)) {
            reach(&view->report->sources[i].against_raw, narrowest, &largest);
            reach(&view->report->sources[i].against_realtime, narrowest, &largest);
            rows++;
        }
    }
    scale->kind = ETWAS_PLOT_SYMMETRIC;
    scale->to = pow(10, ceil(log10(largest) - 1e-9));
    scale->from = -scale->to;
    scale->unit = scale->to / 1000;
    scale->start = ETWAS_PLOT_LABELS;
    scale->end = ETWAS_PLOT_WIDTH - 136;
    return rows;
}

static void put_drift_axis(struct etwas_output *output, const struct etwas_plot_scale *scale,
                           double bottom)
{
    double zero = etwas_plot_place(scale, 0);

    for (int i = 0; i < 4; i++) {
        double ppm = scale->unit * pow(10, i);
        struct etwas_clocks_word word;

        for (int sign = -1; sign <= 1; sign += 2) {
            double x = etwas_plot_place(scale, sign * ppm);

            snprintf(word.text, sizeof word.text, "%+g", sign * ppm);
            etwas_plot_line(output, "grid", x, TOP, x, bottom);
            /* The innermost marks are too close to 0 for names. */
            if (i > 0) {
                etwas_plot_number(output, "tick middle", x, bottom + 16, word);
            }
        }
    }
    etwas_plot_line(output, "zero", zero, TOP, zero, bottom);
    etwas_plot_text(output, "tick middle", zero, bottom + 16, "0");
    etwas_plot_line(output, "axis", scale->start, bottom, scale->end, bottom);
    etwas_plot_text(output, "axis-title middle", zero, bottom + 33,
                    "ppm; right of 0 the clock is fast");
}

static void put_one_drift(struct etwas_output *output, const struct etwas_plot_scale *scale,
                          const etwas_clock_drift *drift, const char *colour, double y)
{
    double x = etwas_plot_place(scale, drift->ppm);
    double low = etwas_plot_place(scale, drift->ppm - drift->interval_ppm);
    double high = etwas_plot_place(scale, drift->ppm + drift->interval_ppm);
    char style[32];
    char text[96];

    if (!drift->known) {
        return;
    }
    snprintf(style, sizeof style, "%s thin", colour);
    etwas_plot_line(output, style, low, y, high, y);
    etwas_plot_line(output, style, low, y - 4, low, y + 4);
    etwas_plot_line(output, style, high, y - 4, high, y + 4);
    etwas_plot_dot(output, colour, x, y, 3.6);
    snprintf(style, sizeof style, "value end %s-text", colour);
    snprintf(text, sizeof text, "%s ± %s", etwas_clocks_ppm(drift->ppm).text,
             etwas_clocks_ppm_interval(drift->interval_ppm).text);
    if (text[0] == '-') {
        char shown[112];

        snprintf(shown, sizeof shown, "\u2212%s", text + 1);
        etwas_plot_text(output, style, ETWAS_PLOT_WIDTH, y + 4, shown);
    } else {
        etwas_plot_text(output, style, ETWAS_PLOT_WIDTH, y + 4, text);
    }
}

static void put_drift_plot(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    struct etwas_plot_scale scale;
    uint32_t rows = cover_drift(view, &scale);
    double bottom = TOP + (double)rows * ROW;
    double top = TOP;

    etwas_page_figure(output);
    etwas_plot_begin(output, "drift-plot", ETWAS_PLOT_WIDTH, bottom + BOTTOM,
                     "Drift of each clock in ppm",
                     "For each clock its rate against CLOCK_MONOTONIC_RAW and CLOCK_REALTIME in "
                     "ppm, with the interval of 95 %. The table below has the same figures.");
    put_drift_axis(output, &scale, bottom);
    etwas_plot_text(output, "tick end", ETWAS_PLOT_WIDTH, TOP - 10, "ppm");
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (drift_known(view, i)) {
            etwas_plot_text(output, etwas_clocks_of_session(i) ? "label strong" : "label", 0,
                            top + ROW / 2.0 + 4, etwas_clocks_name(view, i));
            put_one_drift(output, &scale, &source->against_raw, "warm", top + 10);
            put_one_drift(output, &scale, &source->against_realtime, "cold", top + 24);
            top += ROW;
        }
    }
    etwas_plot_end(output);
    etwas_page_figure_end(output);
}

static void put_drift_table(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock", "against CLOCK_MONOTONIC_RAW",
                                         "against CLOCK_REALTIME", "readings", "over"};

    etwas_page_table(output, "Drift, ppm", titles, sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_drift *raw = &view->report->sources[i].against_raw;
        const etwas_clock_drift *real = &view->report->sources[i].against_realtime;
        const etwas_clock_drift *known = raw->known ? raw : real;

        if (drift_known(view, i)) {
            etwas_page_row(output, etwas_clocks_name(view, i));
            etwas_page_cell_interval(output, raw->ppm, raw->interval_ppm, raw->known);
            etwas_page_cell_interval(output, real->ppm, real->interval_ppm, real->known);
            etwas_page_cell(output, etwas_clocks_count(known->points));
            etwas_page_cell(output, etwas_clocks_duration(known->seconds * 1e9));
            etwas_page_row_end(output);
        }
    }
    etwas_page_table_end(output);
}

void etwas_page_drift(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    bool any = false;

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        any = any || drift_known(view, i);
    }
    etwas_page_section(output, "drift", "Drift");
    if (any) {
        etwas_output_text(
            output,
            "<p>How fast each clock runs against <b class=\"warm-text\">CLOCK_MONOTONIC_RAW</b> "
            "and "
            "against <b class=\"cold-text\">CLOCK_REALTIME</b>, which the kernel steers to true "
            "time "
            "where it is synchronized. The lines are intervals of 95\u00a0%; a longer examination "
            "narrows them; one that reaches the edges goes on beyond. 1\u00a0ppm is a microsecond "
            "in each second.</p>\n");
        put_drift_plot(output, view);
        put_drift_table(output, view);
    } else {
        etwas_output_text(output, "<p>It could not be measured.</p>\n");
    }
    etwas_page_section_end(output);
}

/* ---- Conversion ---- */

enum {
    PLOT_LEFT = 62,
    PLOT_RIGHT = ETWAS_PLOT_WIDTH - 160,
    PLOT_TOP = 34,
    PLOT_BOTTOM = 330,
    NAME = 32 /* the height of a line's name and figure */
};

static const struct {
    double seconds;
    const char *name;
} marks[] = {{1, "1 s"}, {60, "1 min"}, {3600, "1 h"}, {90000, "25 h"}};

enum {
    MARKS = sizeof marks / sizeof marks[0]
};

static double error_after(const etwas_clock_conversion *conversion, int mark)
{
    const double errors[MARKS] = {conversion->after_second_ns, conversion->after_minute_ns,
                                  conversion->after_hour_ns, conversion->after_day_ns};

    return fabs(errors[mark]);
}

static double interval_after(const etwas_clock_conversion *conversion, int mark)
{
    return fabs(conversion->interval_ppm) * marks[mark].seconds * 1e3;
}

static uint32_t cover_errors(const etwas_clock_report *report, struct etwas_plot_scale *scale)
{
    double smallest = INFINITY;
    double largest = 0;
    uint32_t known = 0;

    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        const etwas_clock_conversion *one = &report->conversions[i];

        if (etwas_clocks_conversion_known(one)) {
            smallest = fmin(smallest, fmax(error_after(one, 0), interval_after(one, 0)));
            largest = fmax(largest, error_after(one, MARKS - 1) + interval_after(one, MARKS - 1));
            known++;
        }
    }
    etwas_plot_decades(scale, smallest, largest, 0.1);
    scale->start = PLOT_BOTTOM;
    scale->end = PLOT_TOP;
    return known;
}

static void put_growth(struct etwas_output *output, const struct etwas_plot_scale *across,
                       const struct etwas_plot_scale *up, const etwas_clock_conversion *conversion,
                       size_t number)
{
    etwas_output_format(output, "<polygon class=\"band c%zu\" points=\"", number);
    for (int i = 0; i < MARKS; i++) {
        etwas_output_format(
            output, "%.1f,%.1f ", etwas_plot_place(across, marks[i].seconds),
            etwas_plot_place(up, error_after(conversion, i) + interval_after(conversion, i)));
    }
    for (int i = MARKS - 1; i >= 0; i--) {
        etwas_output_format(
            output, "%.1f,%.1f ", etwas_plot_place(across, marks[i].seconds),
            etwas_plot_place(up, error_after(conversion, i) - interval_after(conversion, i)));
    }
    etwas_output_format(output, "\"/>\n<polyline class=\"growth c%zu\" points=\"", number);
    for (int i = 0; i < MARKS; i++) {
        etwas_output_format(output, "%.1f,%.1f ", etwas_plot_place(across, marks[i].seconds),
                            etwas_plot_place(up, error_after(conversion, i)));
    }
    etwas_output_text(output, "\"/>\n");
    for (int i = 0; i < MARKS; i++) {
        char style[40];

        snprintf(style, sizeof style, "point c%zu", number);
        etwas_plot_dot(output, style, etwas_plot_place(across, marks[i].seconds),
                       etwas_plot_place(up, error_after(conversion, i)), 3.2);
    }
}

/* Each line's name at its end, moved up or down where two would overlap or be outside. */
static void put_names(struct etwas_output *output, const struct etwas_plot_scale *up,
                      const etwas_clock_report *report)
{
    bool named[ETWAS_CLOCK_CONVERSIONS] = {false};
    double free_above = PLOT_BOTTOM - 8;

    for (size_t round = 0; round < ETWAS_CLOCK_CONVERSIONS; round++) {
        const etwas_clock_conversion *lowest = NULL;
        size_t place = 0;
        char style[40];
        double y;

        for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
            const etwas_clock_conversion *one = &report->conversions[i];

            if (!named[i] && etwas_clocks_conversion_known(one) &&
                (lowest == NULL || error_after(one, MARKS - 1) < error_after(lowest, MARKS - 1))) {
                lowest = one;
                place = i;
            }
        }
        if (lowest == NULL) {
            return;
        }
        named[place] = true;
        y = fmin(etwas_plot_place(up, error_after(lowest, MARKS - 1)) + 4, free_above);
        y = fmax(y, PLOT_TOP + NAME * (double)(ETWAS_CLOCK_CONVERSIONS - round) - NAME);
        free_above = y - NAME;
        snprintf(style, sizeof style, "label strong n%zu", place);
        etwas_plot_text(output, style, PLOT_RIGHT + 12, y - 4, lowest->name);
        snprintf(style, sizeof style, "value n%zu", place);
        etwas_plot_number(output, style, PLOT_RIGHT + 12, y + 11,
                          etwas_clocks_duration(error_after(lowest, MARKS - 1)));
    }
}

static void put_conversion_plot(struct etwas_output *output, const etwas_clock_report *report,
                                const struct etwas_plot_scale *up)
{
    const struct etwas_plot_scale across = {
        ETWAS_PLOT_LOGARITHMIC, 1, marks[MARKS - 1].seconds, PLOT_LEFT, PLOT_RIGHT, 0};

    etwas_page_figure(output);
    etwas_plot_begin(
        output, "conversion-plot", ETWAS_PLOT_WIDTH, PLOT_BOTTOM + 44,
        "Growth of the conversion error",
        "How far a converted stamp of the cycle counter is off after a time, for three "
        "rates, both axes logarithmic. The table below has the same figures.");
    etwas_plot_durations_up(output, up, PLOT_LEFT, PLOT_RIGHT, "error");
    for (int i = 0; i < MARKS; i++) {
        double x = etwas_plot_place(&across, marks[i].seconds);

        etwas_plot_line(output, "grid", x, PLOT_TOP, x, PLOT_BOTTOM);
        etwas_plot_text(output, "tick middle", x, PLOT_BOTTOM + 16, marks[i].name);
    }
    etwas_plot_line(output, "axis", PLOT_LEFT, PLOT_BOTTOM, PLOT_RIGHT, PLOT_BOTTOM);
    etwas_plot_text(output, "axis-title middle", (PLOT_LEFT + PLOT_RIGHT) / 2.0, PLOT_BOTTOM + 33,
                    "time since the trace began");
    etwas_plot_text(output, "tick", PLOT_RIGHT + 12, PLOT_TOP - 12, "after 25 h");
    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        if (etwas_clocks_conversion_known(&report->conversions[i])) {
            put_growth(output, &across, up, &report->conversions[i], i);
        }
    }
    put_names(output, up, report);
    etwas_plot_end(output);
    etwas_page_figure_end(output);
}

static void put_conversion_table(struct etwas_output *output, const etwas_clock_report *report)
{
    static const char *const titles[] = {"rate",        "frequency", "off by, ppm", "after 1 s",
                                         "after 1 min", "after 1 h", "after 25 h"};

    etwas_page_table(output, "Error of converted stamps", titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        const etwas_clock_conversion *one = &report->conversions[i];

        if (etwas_clocks_conversion_known(one)) {
            etwas_page_row(output, one->name);
            etwas_page_cell(output, etwas_clocks_hz(one->hz));
            etwas_page_cell_interval(output, one->error_ppm, one->interval_ppm, true);
            etwas_page_cell(output, etwas_clocks_duration(one->after_second_ns));
            etwas_page_cell(output, etwas_clocks_duration(one->after_minute_ns));
            etwas_page_cell(output, etwas_clocks_duration(one->after_hour_ns));
            etwas_page_cell(output, etwas_clocks_duration(one->after_day_ns));
            etwas_page_row_end(output);
        }
    }
    etwas_page_table_end(output);
}

void etwas_page_conversion(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    struct etwas_plot_scale up;

    etwas_page_section(output, "conversion", "Conversion of the cycle counter's stamps");
    if (cover_errors(view->report, &up) == 0) {
        etwas_output_text(output,
                          "<p>There is no rate of the cycle counter to convert with.</p>\n");
        etwas_page_section_end(output);
        return;
    }
    etwas_output_text(
        output,
        "<p>How far a stamp is off after a time if it is converted by one rate all along: by the "
        "exact frequency (the one stated, or measured where none is), by the whole number of MHz "
        "that a trace's header has, or by the "
        "calibration that etwas records beside it. The bands are the interval of 95\u00a0% of the "
        "rate measured here. A trace's own readings of the clock, one each second, keep its stamps "
        "closer than any of these.</p>\n");
    put_conversion_plot(output, view->report, &up);
    put_conversion_table(output, view->report);
    etwas_page_section_end(output);
}
