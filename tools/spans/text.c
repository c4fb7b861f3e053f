/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas spans` in tables, and trees as time lines.
 */

#include "spans/spans.h"

#include "print/human.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 40, /* characters of a time line */
};

static void put_ns(struct etwas_output *output, uint64_t ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, "  ");
    etwas_text_right(output, etwas_human_ns(text, (double)ns), 10);
}

static void put_error(struct etwas_output *output, uint64_t error_ns)
{
    if (error_ns == UINT64_MAX) {
        etwas_output_text(output, "           ?");
    } else {
        put_ns(output, error_ns);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

static void put_quantiles(struct etwas_output *output, const struct etwas_histogram *histogram)
{
    for (unsigned i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        put_ns(output, etwas_histogram_quantile(histogram, etwas_spans_quantiles[i]).value);
    }
}

/* What one is, and what several are. */
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

/* What is not as it should be, if anything is. */
static void put_faults(struct etwas_output *output, const struct etwas_spans_class *its)
{
    const char *before = "              ";

    put_some(output, &before, its->unfinished, "unfinished", "unfinished");
    put_some(output, &before, its->replaced, "of them replaced", "of them replaced");
    put_some(output, &before, its->orphaned, "orphaned", "orphaned");
    put_some(output, &before, its->unmatched, "END unmatched", "ENDs unmatched");
    if (*before == ',') {
        etwas_output_char(output, '\n');
    }
}

static void put_class(struct etwas_output *output, const struct etwas_spans_request *request,
                      const struct etwas_spans_class *its)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "  %11s", etwas_human_count(text, its->durations.count));
    etwas_output_format(output, "  %9s", etwas_human_rate(text, etwas_spans_rate(request, its)));
    etwas_output_format(output, "  %8s", etwas_human_rate(text, etwas_spans_at_once(request, its)));
    etwas_output_format(output, "  %6s", etwas_human_count(text, its->most_open));
    if (its->durations.count > 0) {
        put_quantiles(output, &its->durations);
        put_error(output, its->error_ns);
    } else {
        etwas_output_format(output, "%84s", "");
    }
    etwas_output_text(output, "  ");
    etwas_text_plain(output, its->named->name);
    etwas_output_char(output, '\n');
    if (its->durations.count > 0) {
        etwas_output_format(output, "%42s", "itself");
        put_quantiles(output, &its->selves);
        put_error(output, its->self_error_ns);
        etwas_output_char(output, '\n');
    }
    put_faults(output, its);
}

static void put_classes(struct etwas_output *output, const struct etwas_spans_request *request)
{
    uint32_t count;
    const struct etwas_spans_class **sorted = etwas_spans_sorted(request, &count);

    etwas_output_text(output, "        count      per s   at once    most         min         p50"
                              "         p90         p99       p99.9         max       error"
                              "  class\n");
    for (uint32_t i = 0; i < count; i++) {
        if (etwas_spans_class_is_asked_for(request, (uint32_t)(sorted[i] - request->classes))) {
            put_class(output, request, sorted[i]);
        }
    }
    free((void *)sorted);
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Where it was in the time of the root. */
static void put_line(struct etwas_output *output, const struct etwas_spans_node *root,
                     const struct etwas_spans_node *node)
{
    char line[LINE + 1];
    double scale = root->duration_ns > 0 ? (double)LINE / (double)root->duration_ns : 0;
    int from = (int)((double)etwas_input_passed_ns(root->start_ns, node->start_ns) * scale);
    double end =
        (double)etwas_input_passed_ns(root->start_ns, node->start_ns) + (double)node->duration_ns;
    int to = node->has_ended && end * scale < LINE ? (int)(end * scale) : LINE - 1;

    memset(line, ' ', LINE);
    line[LINE] = '\0';
    from = from < LINE ? from : LINE - 1;
    for (int i = from; i <= to; i++) {
        line[i] = node->has_ended ? '=' : '-';
    }
    etwas_output_format(output, "  |%s|", line);
}

static void put_node(struct etwas_output *output, const struct etwas_spans_request *request,
                     const struct etwas_spans_node *root, const struct etwas_spans_node *node,
                     uint32_t depth)
{
    static const etwas_guid none;

    put_ns(output, etwas_input_passed_ns(root->start_ns, node->start_ns));
    if (node->has_ended) {
        put_ns(output, node->duration_ns);
        put_ns(output, node->self_ns);
    } else {
        etwas_output_text(output, "       no END           ");
    }
    etwas_output_format(output, "  %8" PRIu32, node->thread);
    put_line(output, root, node);
    etwas_output_format(output, "  %*s", (int)(2 * (depth < 40 ? depth : 40)), "");
    etwas_text_plain(output, node->class_index != UINT32_MAX
                                 ? request->names.all[node->class_index].name
                                 : "one more class");
    etwas_output_char(output, ' ');
    if (memcmp(&node->activity, &none, sizeof none) == 0) {
        etwas_output_unsigned(output, node->instance);
    } else {
        etwas_text_guid(output, &node->activity);
    }
    etwas_output_char(output, '\n');
}

static void put_tree(struct etwas_output *output, const struct etwas_spans_request *request,
                     const struct etwas_spans_tree *tree)
{
    char text[ETWAS_HUMAN_CHARACTERS];
    uint32_t node = 0;
    uint32_t depth = 0;

    if (tree->node_count == 0) {
        return;
    }
    etwas_output_text(output, "\n  ");
    etwas_text_time_ns(output, tree->start_unix_ns);
    etwas_output_format(output, ", process %" PRIu32 "\n", tree->nodes[0].process);
    etwas_output_format(output, "          at        took      itself    thread  |%*s|  span\n",
                        LINE, "");
    do {
        put_node(output, request, &tree->nodes[0], &tree->nodes[node], depth);
    } while (etwas_spans_next_node(tree, &node, &depth));
    if (tree->left_out > 0) {
        etwas_output_format(output, "  and %s more inside\n",
                            etwas_human_count(text, tree->left_out));
    }
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
    etwas_output_text(output, "\n\n");
    put_classes(output, request);
    for (uint32_t i = 0; i < request->tree_count; i++) {
        put_tree(output, request, &request->trees[i]);
    }
}
