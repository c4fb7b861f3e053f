/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas spans` as CSV. The columns are part of the command's interface.
 */

#include "show/spans.h"

#include "print/csv.h"
#include "print/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_guid(struct etwas_output *output, const etwas_guid *guid)
{
    etwas_output_char(output, ',');
    etwas_text_guid(output, guid);
}

static void put_number(struct etwas_output *output, uint64_t number)
{
    etwas_output_char(output, ',');
    etwas_output_unsigned(output, number);
}

static void put_rate(struct etwas_output *output, double rate)
{
    if (isnan(rate)) {
        etwas_output_char(output, ',');
    } else {
        etwas_output_format(output, ",%.6g", rate);
    }
}

static void put_error(struct etwas_output *output, uint64_t error_ns)
{
    if (error_ns == UINT64_MAX) {
        etwas_output_char(output, ',');
    } else {
        put_number(output, error_ns);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

static void put_titles(struct etwas_output *output)
{
    static const char *const kinds[] = {"duration", "self_duration"};

    etwas_output_text(
        output, "event_class,event_class_id,count,rate,at_once,most_at_once,unfinished,replaced,"
                "orphaned,unmatched");
    for (unsigned kind = 0; kind < 2; kind++) {
        for (unsigned i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
            etwas_output_format(output, ",%s_%s", kinds[kind], etwas_spans_quantile_names[i]);
        }
    }
    etwas_output_text(output, ",duration_error,self_duration_error");
    etwas_csv_end(output);
}

static void put_quantiles(struct etwas_output *output, const struct etwas_histogram *histogram)
{
    for (unsigned i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        put_number(output, etwas_histogram_quantile(histogram, etwas_spans_quantiles[i]).value);
    }
}

static void put_classes(struct etwas_output *output, const struct etwas_spans_request *request)
{
    uint32_t count;
    const struct etwas_spans_class **sorted = etwas_spans_sorted(request, &count);

    put_titles(output);
    for (uint32_t i = 0; i < count; i++) {
        const struct etwas_spans_class *its = sorted[i];

        etwas_csv_text(output, true, its->named->name);
        put_guid(output, &its->named->guid);
        put_number(output, its->durations.count);
        put_rate(output, etwas_spans_rate(request, its));
        put_rate(output, etwas_spans_at_once(request, its));
        put_number(output, its->most_open);
        put_number(output, its->unfinished);
        put_number(output, its->replaced);
        put_number(output, its->orphaned);
        put_number(output, its->unmatched);
        put_quantiles(output, &its->durations);
        put_quantiles(output, &its->selves);
        put_error(output, its->error_ns);
        put_error(output, its->self_error_ns);
        etwas_csv_end(output);
    }
    free((void *)sorted);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void put_node(struct etwas_output *output, const struct etwas_spans_request *request,
                     const struct etwas_spans_node *root, const struct etwas_spans_node *node,
                     uint32_t depth)
{
    static const etwas_guid none;
    bool is_instance = memcmp(&node->activity, &none, sizeof none) == 0;

    put_number(output, depth);
    etwas_csv_text(output, false,
                   node->class_index != UINT32_MAX ? request->names.all[node->class_index].name
                                                   : "");
    if (is_instance) {
        put_number(output, node->instance);
        etwas_output_char(output, ',');
    } else {
        etwas_output_char(output, ',');
        put_guid(output, &node->activity);
    }
    put_number(output, node->process);
    put_number(output, node->thread);
    put_number(output, etwas_input_passed_ns(root->start_ns, node->start_ns));
    put_error(output, node->has_ended ? node->duration_ns : UINT64_MAX);
    put_error(output, node->has_ended ? node->self_ns : UINT64_MAX);
    put_error(output, node->has_ended ? node->error_ns : UINT64_MAX);
    put_error(output, node->has_ended ? node->self_error_ns : UINT64_MAX);
    put_number(output, node->events);
    etwas_csv_end(output);
}

static void put_trees(struct etwas_output *output, const struct etwas_spans_request *request)
{
    etwas_output_text(output,
                      "tree,depth,event_class,instance,activity,pid,tid,since_start,duration,"
                      "self_duration,duration_error,self_duration_error,events");
    etwas_csv_end(output);
    for (uint32_t i = 0; i < request->tree_count; i++) {
        const struct etwas_spans_tree *tree = &request->trees[i];
        uint32_t node = 0;
        uint32_t depth = 0;

        do {
            etwas_output_unsigned(output, i + 1);
            put_node(output, request, &tree->nodes[0], &tree->nodes[node], depth);
        } while (etwas_spans_next_node(tree, &node, &depth));
    }
}

void etwas_spans_csv(struct etwas_output *output, const struct etwas_spans_request *request)
{
    if (request->slowest > 0) {
        put_trees(output, request);
    } else {
        put_classes(output, request);
    }
}
