/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The order across processors: a line for each clock, then for the clocks of sessions the matrix.
 * Too many processors for that give the worst pairs.
 */

#include "clocks/table.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MATRIX_PROCESSORS = 11, /* a larger matrix is too hard to read */
    PROCESSOR_CHARACTERS = 12,
    WORST_PAIRS = 8
};

static void put_summary(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock", "pairs",     "offset",  "bound",
                                         "apart", "handovers", "smaller", "by"};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];
        struct etwas_clocks_order order = etwas_clocks_order_of(source);

        if (!etwas_clocks_shown(view, i) || source->offset_count == 0) {
            continue;
        }
        etwas_table_text(&table, etwas_clocks_name(view, i));
        etwas_table_count(&table, source->offset_count);
        etwas_table_text(&table, etwas_clocks_duration(order.largest_offset_ns).text);
        etwas_table_text(&table, etwas_clocks_duration(order.largest_bound_ns).text);
        etwas_table_count(&table, order.apart);
        etwas_table_count(&table, order.handovers);
        etwas_table_count(&table, order.smaller);
        etwas_table_text(&table,
                         order.smaller > 0 ? etwas_clocks_duration(order.worst_ns).text : "-");
    }
    etwas_table_print(&table, output);
    etwas_output_text(output,
                      "  offset, bound: the largest of all pairs; apart: pairs whose offset is "
                      "larger\n"
                      "  than its bound; smaller: stamps smaller than one that was taken before "
                      "on the\n"
                      "  other processor, by how much.\n"
                      "  A bare instruction, as TSC, may be read ahead of what stands before it;\n"
                      "  lfence+rdtsc may not\n");
}

/* The matrix lacks these sources, which does not mean that they are in order. */
static void put_left_out(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (etwas_clocks_shown(view, i) && source->offsets_left_out > 0) {
            etwas_output_format(output,
                                "  %s: %" PRIu32 " of %" PRIu64 " pairs could not be compared, "
                                "nothing is known of them\n",
                                etwas_clocks_name(view, i), source->offsets_left_out,
                                (uint64_t)source->offset_count + source->offsets_left_out);
        }
    }
}

static void add_cell(struct etwas_table *table, const etwas_clock_source_report *source,
                     uint32_t row, uint32_t column, bool above)
{
    const etwas_clock_offset *pair = etwas_clocks_pair(source, row, column);

    if (pair == NULL) {
        etwas_table_text(table, row == column ? "\u00b7" : "-");
    } else if (above) {
        double offset_ns = pair->processor == row ? pair->offset_ns : -pair->offset_ns;

        etwas_table_text(table, etwas_clocks_ns(offset_ns).text);
    } else {
        etwas_table_format(table, "±%s", etwas_clocks_ns(pair->bound_ns).text);
    }
}

static void put_matrix(struct etwas_output *output, const struct etwas_clocks_view *view,
                       const etwas_clock_source_report *source)
{
    const etwas_clock_report *report = view->report;
    char numbers[MATRIX_PROCESSORS][PROCESSOR_CHARACTERS];
    const char *titles[MATRIX_PROCESSORS + 1] = {"CPU"};
    struct etwas_table table;

    for (uint32_t i = 0; i < report->processors; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%" PRIu32, report->processor_numbers[i]);
        titles[i + 1] = numbers[i];
    }
    etwas_table_begin(&table, titles, report->processors + 1, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t row = 0; row < report->processors; row++) {
        etwas_table_text(&table, numbers[row]);
        for (uint32_t column = 0; column < report->processors; column++) {
            add_cell(&table, source, report->processor_numbers[row],
                     report->processor_numbers[column], column > row);
        }
    }
    etwas_table_print(&table, output);
}

static void put_worst(struct etwas_output *output, const etwas_clock_source_report *source)
{
    static const char *const titles[] = {"CPU",       "and CPU", "ahead by", "bound",
                                         "handovers", "smaller", "by"};
    const etwas_clock_offset *worst[WORST_PAIRS];
    uint32_t count = etwas_clocks_worst_pairs(source, worst, WORST_PAIRS);
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < count; i++) {
        const etwas_clock_offset *pair = worst[i];

        etwas_table_format(&table, "%" PRIu32, pair->processor);
        etwas_table_format(&table, "%" PRIu32, pair->other);
        etwas_table_text(&table, etwas_clocks_duration(pair->offset_ns).text);
        etwas_table_text(&table, etwas_clocks_duration(pair->bound_ns).text);
        etwas_table_count(&table, pair->handovers);
        etwas_table_count(&table, pair->smaller);
        etwas_table_text(&table,
                         pair->smaller > 0 ? etwas_clocks_duration(pair->worst_ns).text : "-");
    }
    etwas_table_print(&table, output);
}

static void put_pairs(struct etwas_output *output, const struct etwas_clocks_view *view,
                      uint32_t source)
{
    const etwas_clock_source_report *one = &view->report->sources[source];
    const char *name = etwas_clocks_name(view, source);

    if (view->report->processors <= MATRIX_PROCESSORS && view->report->all_pairs) {
        etwas_output_format(output,
                            "\n%s, ns: above the diagonal the column's processor is ahead by,\n"
                            "below it ±bound\n",
                            name);
        put_matrix(output, view, one);
    } else {
        etwas_output_format(output, "\n%s: the worst of %" PRIu32 " pairs%s\n", name,
                            one->offset_count,
                            view->report->all_pairs ? "" : "; not all pairs were examined");
        put_worst(output, one);
    }
}

void etwas_clocks_text_order(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    bool all = view->chosen == (1u << ETWAS_CLOCK_SOURCES) - 1;

    etwas_output_text(output, "\nOrder across processors\n");
    if (view->report->processors < 2) {
        etwas_output_text(output, "  one processor: there is nothing to compare\n");
        return;
    }
    put_summary(output, view);
    put_left_out(output, view);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        /* A clock that was requested by name is shown in full. */
        if (etwas_clocks_shown(view, i) && view->report->sources[i].offset_count > 0 &&
            (etwas_clocks_of_session(i) || !all)) {
            put_pairs(output, view, i);
        }
    }
}
