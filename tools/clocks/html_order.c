/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The order of stamps: across processors a heat map for each clock of a session, and what happened
 * on one line of time.
 */

#include "clocks/html.h"
#include "clocks/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MARGIN = 46,    /* for the processors' numbers at the left */
    HEAD = 26,      /* and above */
    LEGEND = 54,    /* below the map */
    WRITTEN = 12,   /* up to so many processors the figures are in the cells */
    EXPLAINED = 24, /* and up to so many each cell says its figures when pointed at */
    WORST_PAIRS = 6
};

/* Opacity of the full colour: text stays readable on it, in light and dark. */
#define FULL 0.6

/* ---- The heat map ---- */

struct map {
    const etwas_clock_source_report *source;
    const uint32_t *numbers;
    uint32_t processors;
    double cell_width;
    double cell_height;
    double full_ns; /* the offset with the full colour */
};

/* The offset of `column` against `row`. */
static double offset_in(const etwas_clock_offset *pair, uint32_t row)
{
    return pair->processor == row ? pair->offset_ns : -pair->offset_ns;
}

static void put_explanation(struct etwas_output *output, const etwas_clock_offset *pair,
                            uint32_t row, uint32_t column)
{
    etwas_output_format(output, "<title>CPU %" PRIu32 " against CPU %" PRIu32 ": ", column, row);
    etwas_page_number(output, etwas_clocks_duration(offset_in(pair, row)));
    etwas_output_text(output, " ± ");
    etwas_page_number(output, etwas_clocks_duration(pair->bound_ns));
    etwas_output_text(output, "; ");
    etwas_page_text(output, etwas_clocks_count(pair->smaller).text);
    etwas_output_text(output, " of ");
    etwas_page_text(output, etwas_clocks_count(pair->handovers).text);
    etwas_output_text(output, " stamps smaller</title>");
}

static void put_cell(struct etwas_output *output, const struct map *map, uint32_t row,
                     uint32_t column)
{
    const etwas_clock_offset *pair =
        etwas_clocks_pair(map->source, map->numbers[row], map->numbers[column]);
    double x = MARGIN + column * map->cell_width;
    double y = HEAD + row * map->cell_height;
    double offset_ns;

    if (row == column) {
        etwas_plot_box(output, "same", x, y, map->cell_width, map->cell_height);
    }
    if (pair == NULL) {
        return;
    }
    offset_ns = offset_in(pair, map->numbers[row]);
    etwas_output_format(output,
                        "<g><rect class=\"%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                        "height=\"%.1f\" fill-opacity=\"%.2f\"/>",
                        offset_ns < 0 ? "behind" : "ahead",
                        etwas_clocks_apart(pair) || pair->smaller > 0 ? " apart" : "", x + 1, y + 1,
                        map->cell_width - 2, map->cell_height - 2,
                        fmin(fabs(offset_ns) / map->full_ns, 1) * FULL);
    if (map->processors <= EXPLAINED) {
        put_explanation(output, pair, map->numbers[row], map->numbers[column]);
    }
    if (map->processors <= WRITTEN) {
        double middle = x + map->cell_width / 2;
        struct etwas_clocks_word bound = etwas_clocks_ns(pair->bound_ns);
        char text[48];

        snprintf(text, sizeof text, "±%s", bound.text);
        etwas_plot_number(output, "cell middle", middle, y + map->cell_height / 2 - 1,
                          etwas_clocks_ns(offset_ns));
        etwas_plot_text(output, "cell-bound middle", middle, y + map->cell_height / 2 + 12, text);
    }
    etwas_output_text(output, "</g>\n");
}

static void put_numbers(struct etwas_output *output, const struct map *map)
{
    /* So many between two names that they do not overlap. */
    uint32_t every = (uint32_t)ceil(24 / map->cell_width);
    char text[16];

    etwas_plot_text(output, "tick", 0, HEAD - 8, "CPU");
    for (uint32_t i = 0; i < map->processors; i += every) {
        snprintf(text, sizeof text, "%" PRIu32, map->numbers[i]);
        etwas_plot_text(output, "tick middle", MARGIN + (i + 0.5) * map->cell_width, HEAD - 8,
                        text);
        etwas_plot_text(output, "tick end", MARGIN - 8, HEAD + (i + 0.5) * map->cell_height + 4,
                        text);
    }
}

static void put_legend(struct etwas_output *output, const struct map *map, double width, double top)
{
    enum {
        STEPS = 21,
        STEP = 11
    };
    double left = fmax((width - STEPS * STEP) / 2, 10);

    for (int i = 0; i < STEPS; i++) {
        double part = (double)(i - STEPS / 2) / (STEPS / 2);

        etwas_output_format(output,
                            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"10\" "
                            "fill-opacity=\"%.2f\"/>\n",
                            part < 0 ? "behind" : "ahead", left + i * STEP, top, STEP,
                            fabs(part) * FULL);
    }
    etwas_plot_number(output, "tick middle", left, top + 25, etwas_clocks_duration(-map->full_ns));
    etwas_plot_text(output, "tick middle", left + STEPS * STEP / 2.0, top + 25, "0");
    etwas_plot_number(output, "tick middle", left + STEPS * STEP, top + 25,
                      etwas_clocks_duration(map->full_ns));
    etwas_plot_text(output, "axis-title middle", left + STEPS * STEP / 2.0, top + 42,
                    "ns by which the column's processor is behind or ahead, ± bound");
}

/* The processors that are in any pair, those examined against each other; returns how many. */
static uint32_t paired(const etwas_clock_report *report, const etwas_clock_source_report *source,
                       uint32_t *numbers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < report->processors; i++) {
        uint32_t number = report->processor_numbers[i];

        for (uint32_t k = 0; k < source->offset_count; k++) {
            if (source->offsets[k].processor == number || source->offsets[k].other == number) {
                numbers[count++] = number;
                break;
            }
        }
    }
    return count;
}

static void put_plot(struct etwas_output *output, const struct map *map, const char *name,
                     uint32_t source)
{
    struct etwas_clocks_order order = etwas_clocks_order_of(map->source);
    double width = fmax(MARGIN + map->processors * map->cell_width + 10, 390);
    double height = HEAD + map->processors * map->cell_height + 12 + LEGEND;
    char text[256];
    char id[32];

    snprintf(id, sizeof id, "order-%" PRIu32, source);
    snprintf(text, sizeof text,
             "%s: the largest offset between two processors is %s, the largest bound %s, and %s of "
             "%s pairs are apart.",
             name, etwas_clocks_duration(order.largest_offset_ns).text,
             etwas_clocks_duration(order.largest_bound_ns).text,
             etwas_clocks_count(order.apart).text,
             etwas_clocks_count(map->source->offset_count).text);
    etwas_output_format(output,
                        "<figure><div class=\"scroll\" tabindex=\"0\"><div "
                        "style=\"max-width:%.0fpx;min-width:%.0fpx\">",
                        width * 1.25, fmin(width * 0.8, 620));
    etwas_plot_begin(output, id, width, height, "Offsets between processors", text);
    put_numbers(output, map);
    for (uint32_t row = 0; row < map->processors; row++) {
        for (uint32_t column = 0; column < map->processors; column++) {
            put_cell(output, map, row, column);
        }
    }
    put_legend(output, map, width, height - LEGEND);
    etwas_plot_end(output);
    etwas_output_text(output, "</div></div></figure>\n");
}

static void put_map(struct etwas_output *output, const struct etwas_clocks_view *view,
                    uint32_t number)
{
    const etwas_clock_source_report *source = &view->report->sources[number];
    struct etwas_clocks_order order = etwas_clocks_order_of(source);
    uint32_t *numbers = calloc(view->report->processors, sizeof *numbers);
    /* Offsets that may be nothing are pale: full colour is at least the largest bound. */
    struct map map = {.source = source,
                      .numbers = numbers,
                      .full_ns = fmax(fmax(order.largest_offset_ns, order.largest_bound_ns), 1e-3)};

    etwas_output_text(output, "<h3>");
    etwas_page_text(output, etwas_clocks_name(view, number));
    etwas_output_text(output, "</h3>\n");
    if (numbers == NULL) {
        etwas_output_text(output, "<p class=\"note\">There was no memory to draw this.</p>\n");
        return;
    }
    map.processors = paired(view->report, source, numbers);
    map.cell_width = fmin(66, fmax((ETWAS_PLOT_WIDTH - MARGIN) / (double)map.processors, 8));
    map.cell_height = fmin(40, map.cell_width);
    put_plot(output, &map, etwas_clocks_name(view, number), number);
    free(numbers);
}

/* ---- Tables ---- */

static void put_summary(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",         "pairs",       "largest offset",
                                         "largest bound", "pairs apart", "handovers",
                                         "smaller",       "by at most"};

    etwas_page_table(output, "Order across processors", titles, sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];
        struct etwas_clocks_order order = etwas_clocks_order_of(source);

        if (etwas_clocks_shown(view, i) && source->offset_count > 0) {
            etwas_page_row(output, etwas_clocks_name(view, i));
            etwas_page_cell(output, etwas_clocks_count(source->offset_count));
            etwas_page_cell(output, etwas_clocks_duration(order.largest_offset_ns));
            etwas_page_cell(output, etwas_clocks_duration(order.largest_bound_ns));
            etwas_page_cell_judged(output, etwas_clocks_count(order.apart), order.apart > 0);
            etwas_page_cell(output, etwas_clocks_count(order.handovers));
            etwas_page_cell_judged(output, etwas_clocks_count(order.smaller), order.smaller > 0);
            etwas_page_cell(output,
                            etwas_clocks_duration(order.smaller > 0 ? order.worst_ns : NAN));
            etwas_page_row_end(output);
        }
    }
    etwas_page_table_end(output);
}

static void put_worst(struct etwas_output *output, const struct etwas_clocks_view *view,
                      uint32_t number)
{
    static const char *const titles[] = {"CPUs",      "offset",  "bound",     "rounds",
                                         "handovers", "smaller", "by at most"};
    const etwas_clock_source_report *source = &view->report->sources[number];
    const etwas_clock_offset *worst[WORST_PAIRS];
    uint32_t count = etwas_clocks_worst_pairs(source, worst, WORST_PAIRS);
    char text[128];

    if (count < source->offset_count) {
        snprintf(text, sizeof text, "%s: the worst of %s pairs", etwas_clocks_name(view, number),
                 etwas_clocks_count(source->offset_count).text);
    } else {
        snprintf(text, sizeof text, "%s: all pairs, worst first", etwas_clocks_name(view, number));
    }
    etwas_page_table(output, text, titles, sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < count; i++) {
        const etwas_clock_offset *pair = worst[i];

        snprintf(text, sizeof text, "%" PRIu32 " → %" PRIu32, pair->processor, pair->other);
        etwas_page_row(output, text);
        etwas_page_cell_judged(output, etwas_clocks_duration(pair->offset_ns),
                               etwas_clocks_apart(pair));
        etwas_page_cell(output, etwas_clocks_duration(pair->bound_ns));
        etwas_page_cell(output, etwas_clocks_count(pair->rounds));
        etwas_page_cell(output, etwas_clocks_count(pair->handovers));
        etwas_page_cell_judged(output, etwas_clocks_count(pair->smaller), pair->smaller > 0);
        etwas_page_cell(output, etwas_clocks_duration(pair->smaller > 0 ? pair->worst_ns : NAN));
        etwas_page_row_end(output);
    }
    etwas_page_table_end(output);
}

/* They are empty in the matrix, and not found to be right. */
static void put_left_out(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (etwas_clocks_shown(view, i) && source->offsets_left_out > 0) {
            etwas_output_text(output, "<p class=\"note\">");
            etwas_page_text(output, etwas_clocks_name(view, i));
            etwas_output_format(output,
                                ": %" PRIu32 " of %" PRIu64 " pairs could not be compared, nothing "
                                "is known of them.</p>\n",
                                source->offsets_left_out,
                                (uint64_t)source->offset_count + source->offsets_left_out);
        }
    }
}

void etwas_page_order(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    bool all = view->chosen == (1u << ETWAS_CLOCK_SOURCES) - 1;

    etwas_page_section(output, "order", "Order across processors");
    if (view->report->processors < 2) {
        etwas_output_text(output, "<p>One processor: there is nothing to compare.</p>\n");
        etwas_page_section_end(output);
        return;
    }
    etwas_output_text(
        output,
        "<p>Two processors handed a word to and fro through memory and read the clock each time. "
        "The true offset of their clocks surely lies within the one found ± its bound, which "
        "comes from the fastest round trip and the steps of the clock: an offset smaller than its "
        "bound may be none. <i>Smaller</i> counts stamps that were smaller than one taken before "
        "them on the other processor: events "
        "that a trace would show in the wrong order. A counter read by a bare instruction may be "
        "read ahead of what stands before it in the program; lfence+rdtsc shows the counter "
        "without that.</p>\n");
    if (!view->report->all_pairs) {
        etwas_output_text(output, "<p class=\"note\">There are too many processors to examine all "
                                  "pairs; those left out are not shown.</p>\n");
    }
    put_left_out(output, view);
    put_summary(output, view);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        /* A clock that was asked for by name is shown in full. */
        if (etwas_clocks_shown(view, i) && view->report->sources[i].offset_count > 0 &&
            (etwas_clocks_of_session(i) || !all)) {
            put_map(output, view, i);
            put_worst(output, view, i);
        }
    }
    etwas_page_section_end(output);
}

/* ---- Monotony ---- */

void etwas_page_monotony(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",           "readings", "steps backwards",
                                         "largest of them", "stalls",   "longest of them"};

    etwas_page_section(output, "monotony", "Monotony");
    etwas_output_text(output, "<p>Whether the clock ever ran backwards or stood still while the "
                              "kernel moved its readers between processors as it liked; each "
                              "reading was taken when the one before was done. A stall is "
                              "a time in which the clock did not change for more than ten of its "
                              "steps while another one went on.</p>\n");
    etwas_page_table(output, "Monotony over the examination", titles,
                     sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (!etwas_clocks_shown(view, i)) {
            continue;
        }
        etwas_page_row(output, etwas_clocks_name(view, i));
        etwas_page_cell(output, etwas_clocks_count(source->readings));
        etwas_page_cell_judged(output, etwas_clocks_count(source->backward_steps),
                               source->backward_steps > 0);
        etwas_page_cell(
            output,
            etwas_clocks_duration(source->backward_steps > 0 ? source->largest_backward_ns : NAN));
        etwas_page_cell_judged(output, etwas_clocks_count(source->stalls), source->stalls > 0);
        etwas_page_cell(output,
                        etwas_clocks_duration(source->stalls > 0 ? source->longest_stall_ns : NAN));
        etwas_page_row_end(output);
    }
    etwas_page_table_end(output);
    etwas_page_section_end(output);
}
