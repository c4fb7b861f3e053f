/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas spans` as tables, and trees as time lines.
 */

#include "show/spans.h"

#include "print/human.h"
#include "print/table.h"
#include "print/terminal.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 40, /* characters of a time line */
    SHORT_LINE = 16,
    WIDE_TERMINAL = 120, /* columns that are enough for LINE */
};

/* ---- classes --------------------------------------------------------------------------------- */

/* Adds the quantiles of durations, and their largest error. */
static void add_durations(struct etwas_table *table, const struct etwas_histogram *durations,
                          uint64_t error_ns)
{
    for (unsigned i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        uint64_t ns = etwas_histogram_quantile(durations, etwas_spans_quantiles[i]).value;

        if (durations->count > 0) {
            etwas_table_ns(table, (double)ns);
        } else {
            etwas_table_next(table);
        }
    }
    if (durations->count == 0) {
        etwas_table_next(table);
    } else if (error_ns == UINT64_MAX) {
        etwas_table_text(table, "?");
    } else {
        etwas_table_ns(table, (double)error_ns);
    }
}

/* Writes a count that is not 0 with its word, singular or plural. */
static void put_some(struct etwas_output *output, const char **before, uint64_t count,
                     const char *one, const char *several)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (count > 0) {
        etwas_output_format(output, "%s%s %s", *before, etwas_human_count(text, count),
                            count == 1 ? one : several);
        *before = ", ";
    }
}

/* Adds a line of what is irregular about the spans of a class, if anything is. */
static void add_faults(struct etwas_table *table, const struct etwas_spans_class *its)
{
    struct etwas_output *cell = etwas_table_cell(table);
    const char *before = "  ";

    put_some(cell, &before, its->unfinished, "unfinished", "unfinished");
    put_some(cell, &before, its->uncertain, "END may have been overwritten",
             "ENDs may have been overwritten");
    put_some(cell, &before, its->replaced, "of them replaced", "of them replaced");
    put_some(cell, &before, its->orphaned, "orphaned", "orphaned");
    put_some(cell, &before, its->unmatched, "END unmatched", "ENDs unmatched");
    if (*before == ',') {
        etwas_table_next_line(table);
    }
}

static void add_class(struct etwas_table *table, const struct etwas_spans_request *request,
                      const struct etwas_spans_class *its)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_table_text(table, its->named->name);
    etwas_table_count(table, its->durations.count);
    etwas_table_text(table, etwas_human_rate(text, etwas_spans_rate(request, its)));
    etwas_table_text(table, etwas_human_rate(text, etwas_spans_at_once(request, its)));
    etwas_table_count(table, its->most_open);
    add_durations(table, &its->durations, its->error_ns);
    if (its->durations.count > 0) {
        etwas_table_text(table, "  itself");
        for (unsigned i = 0; i < 4; i++) {
            etwas_table_next(table);
        }
        add_durations(table, &its->selves, its->self_error_ns);
    }
    add_faults(table, its);
}

static void put_classes(struct etwas_output *output, const struct etwas_spans_request *request)
{
    static const char *const titles[] = {"class", "count", "per s", "at once", "most", "min",
                                         "p50",   "p90",   "p99",   "p99.9",   "max",  "error"};
    struct etwas_table table;
    uint32_t count;
    const struct etwas_spans_class **sorted = etwas_spans_sorted(request, &count);

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0xFFE);
    for (uint32_t i = 0; i < count; i++) {
        if (etwas_spans_class_is_asked_for(request, (uint32_t)(sorted[i] - request->classes))) {
            add_class(&table, request, sorted[i]);
        }
    }
    free((void *)sorted);
    etwas_table_print(&table, output);
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Adds a line of `length` characters that shows the span's time within that of the root. */
static void add_line(struct etwas_table *table, const struct etwas_spans_node *root,
                     const struct etwas_spans_node *node, int length)
{
    char line[LINE + 1];
    double scale = root->duration_ns > 0 ? (double)length / (double)root->duration_ns : 0;
    int from = (int)((double)etwas_input_passed_ns(root->start_ns, node->start_ns) * scale);
    double end =
        (double)etwas_input_passed_ns(root->start_ns, node->start_ns) + (double)node->duration_ns;
    int to = node->has_ended && end * scale < length ? (int)(end * scale) : length - 1;

    memset(line, ' ', sizeof line);
    line[length] = '\0';
    from = from < length ? from : length - 1;
    for (int i = from; i <= to; i++) {
        line[i] = node->has_ended ? '=' : '-';
    }
    etwas_table_format(table, "|%s|", line);
}

static void add_node(struct etwas_table *table, const struct etwas_spans_request *request,
                     const struct etwas_spans_node *root, const struct etwas_spans_node *node,
                     uint32_t depth)
{
    static const etwas_guid none;
    struct etwas_output *cell = etwas_table_cell(table);

    etwas_output_blanks(cell, 2 * (depth < 40 ? depth : 40));
    etwas_text_plain(cell, node->class_index != UINT32_MAX
                               ? request->names.all[node->class_index].name
                               : "one more class");
    etwas_output_char(cell, ' ');
    if (memcmp(&node->activity, &none, sizeof none) == 0) {
        etwas_output_unsigned(cell, node->instance);
    } else {
        etwas_text_guid(cell, &node->activity);
    }
    etwas_table_next(table);
    etwas_table_ns(table, (double)etwas_input_passed_ns(root->start_ns, node->start_ns));
    if (node->has_ended) {
        etwas_table_ns(table, (double)node->duration_ns);
        etwas_table_ns(table, (double)node->self_ns);
    } else {
        etwas_table_text(table, "no END");
        etwas_table_next(table);
    }
    etwas_table_format(table, "%" PRIu32, node->thread);
}

static void put_tree(struct etwas_output *output, const struct etwas_spans_request *request,
                     const struct etwas_spans_tree *tree)
{
    static const char *const titles[] = {"span", "at", "took", "itself", "thread", ""};
    int length = etwas_terminal_columns(output) >= WIDE_TERMINAL ? LINE : SHORT_LINE;
    char text[ETWAS_HUMAN_CHARACTERS];
    struct etwas_table table;
    uint32_t node = 0;
    uint32_t depth = 0;

    if (tree->node_count == 0) {
        return;
    }
    etwas_output_char(output, '\n');
    etwas_text_time_ns(output, tree->start_unix_ns);
    etwas_output_format(output, ", process %" PRIu32 "\n", tree->nodes[0].process);
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x1E);
    do {
        add_node(&table, request, &tree->nodes[0], &tree->nodes[node], depth);
        add_line(&table, &tree->nodes[0], &tree->nodes[node], length);
    } while (etwas_spans_next_node(tree, &node, &depth));
    etwas_table_print(&table, output);
    if (tree->left_out > 0) {
        etwas_output_format(output, "  and %s more inside\n",
                            etwas_human_count(text, tree->left_out));
    }
}

/* Writes how many of all spans the table is about, if --class or --where chooses some. */
static void put_chosen(struct etwas_output *output, const struct etwas_spans_request *request)
{
    char text[ETWAS_HUMAN_CHARACTERS];
    uint64_t chosen = 0;

    if (request->class_name == NULL && !etwas_where_is_given(&request->where)) {
        return;
    }
    for (uint32_t i = 0; i < request->names.count; i++) {
        if (etwas_spans_class_is_asked_for(request, i)) {
            chosen += request->classes[i].durations.count + request->classes[i].unfinished;
        }
    }
    etwas_output_format(output, "; %s %s", etwas_human_count(text, chosen),
                        chosen == 1 ? "of all is asked for" : "of all are asked for");
}

void etwas_spans_text(struct etwas_output *output, const struct etwas_spans_request *request)
{
    static const struct {
        uint32_t what;
        const char *one;
        const char *several;
    } counts[] = {
        {ETWAS_SPANS_ENDED, "ended", "ended"},
        {ETWAS_SPANS_OPEN, "is still open", "are still open"},
        {ETWAS_SPANS_REPLACED, "was replaced", "were replaced"},
        {ETWAS_SPANS_UNMATCHED, "END is unmatched", "ENDs are unmatched"},
        {ETWAS_SPANS_LEFT_OUT, "was left out: too many are open (--open)",
         "were left out: too many are open (--open)"},
    };
    uint64_t started = etwas_spans_count(request->spans, ETWAS_SPANS_STARTED);
    const char *before = ", ";
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s %s in %.3f s", etwas_human_count(text, started),
                        started == 1 ? "span" : "spans", etwas_spans_seconds(request));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        put_some(output, &before, etwas_spans_count(request->spans, counts[i].what), counts[i].one,
                 counts[i].several);
    }
    put_some(output, &before, request->other_classes, "is of a class beyond the 4,096th",
             "are of classes beyond the 4,096th");
    put_chosen(output, request);
    etwas_output_text(output, "\n\n");
    put_classes(output, request);
    for (uint32_t i = 0; i < request->tree_count; i++) {
        put_tree(output, request, &request->trees[i]);
    }
}
