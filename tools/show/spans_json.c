/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas spans` as JSON. The keys are part of the command's interface.
 */

#include "show/spans.h"

#include "exit.h"
#include "print/json.h"
#include "print/text.h"

#include <stdlib.h>
#include <string.h>

/* Writes quantiles with their errors, which come from the clock and from the histogram's cells. */
static void put_quantiles(struct etwas_output *output, const char *key,
                          const struct etwas_histogram *histogram, uint64_t error_ns)
{
    etwas_json_object(output, key);
    for (unsigned i = 0; i < ETWAS_SPANS_QUANTILES; i++) {
        struct etwas_quantile quantile =
            etwas_histogram_quantile(histogram, etwas_spans_quantiles[i]);

        etwas_json_object(output, etwas_spans_quantile_names[i]);
        etwas_json_number(output, "value", quantile.value);
        etwas_json_error(output, "error", etwas_moment_add_errors(error_ns, quantile.error));
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, '}');
}

void etwas_spans_json_class(struct etwas_output *output, const struct etwas_spans_request *request,
                            const struct etwas_spans_class *its)
{
    etwas_json_object(output, NULL);
    etwas_json_text(output, "event_class", its->named->name);
    etwas_json_guid(output, "event_class_id", &its->named->guid);
    etwas_json_number(output, "count", its->durations.count);
    etwas_json_real(output, "rate", etwas_spans_rate(request, its));
    etwas_json_real(output, "at_once", etwas_spans_at_once(request, its));
    etwas_json_number(output, "most_at_once", its->most_open);
    etwas_json_number(output, "unfinished", its->unfinished);
    etwas_json_number(output, "replaced", its->replaced);
    etwas_json_number(output, "orphaned", its->orphaned);
    etwas_json_number(output, "unmatched", its->unmatched);
    etwas_json_number(output, "total_duration",
                      its->durations.sum < 0x1p64 ? (uint64_t)its->durations.sum : UINT64_MAX);
    put_quantiles(output, "duration", &its->durations, its->error_ns);
    put_quantiles(output, "self_duration", &its->selves, its->self_error_ns);
}

static void put_classes(struct etwas_output *output, const struct etwas_spans_request *request)
{
    uint32_t count;
    const struct etwas_spans_class **sorted = etwas_spans_sorted(request, &count);

    etwas_json_array(output, "classes");
    for (uint32_t i = 0; i < count; i++) {
        etwas_spans_json_class(output, request, sorted[i]);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    free((void *)sorted);
}

static void put_node(struct etwas_output *output, const struct etwas_spans_request *request,
                     const struct etwas_spans_node *root, const struct etwas_spans_node *node,
                     uint32_t depth)
{
    static const etwas_guid none;

    etwas_json_object(output, NULL);
    etwas_json_number(output, "depth", depth);
    etwas_json_text(output, "event_class",
                    node->class_index != UINT32_MAX ? request->names.all[node->class_index].name
                                                    : "");
    if (memcmp(&node->activity, &none, sizeof none) == 0) {
        etwas_json_number(output, "instance", node->instance);
    } else {
        etwas_json_guid(output, "activity", &node->activity);
    }
    etwas_json_number(output, "pid", node->process);
    etwas_json_number(output, "tid", node->thread);
    etwas_json_number(output, "since_start", etwas_input_passed_ns(root->start_ns, node->start_ns));
    etwas_json_known(output, "duration", node->has_ended, node->duration_ns);
    etwas_json_known(output, "self_duration", node->has_ended, node->self_ns);
    etwas_json_error(output, "duration_error", node->has_ended ? node->error_ns : UINT64_MAX);
    etwas_json_error(output, "self_duration_error",
                     node->has_ended ? node->self_error_ns : UINT64_MAX);
    etwas_json_number(output, "events", node->events);
    etwas_output_char(output, '}');
}

void etwas_spans_json_tree(struct etwas_output *output, const struct etwas_spans_request *request,
                           const struct etwas_spans_tree *tree)
{
    uint32_t node = 0;
    uint32_t depth = 0;

    etwas_json_object(output, NULL);
    etwas_json_time_ns(output, "start_time", tree->start_unix_ns);
    etwas_json_number(output, "left_out", tree->left_out);
    etwas_json_array(output, "spans");
    do {
        put_node(output, request, &tree->nodes[0], &tree->nodes[node], depth);
    } while (etwas_spans_next_node(tree, &node, &depth));
    etwas_output_char(output, ']');
}

void etwas_spans_json_counts(struct etwas_output *output, const struct etwas_spans_request *request)
{
    static const struct {
        uint32_t what;
        const char *key;
    } counts[] = {
        {ETWAS_SPANS_STARTED, "started"},     {ETWAS_SPANS_ENDED, "ended"},
        {ETWAS_SPANS_OPEN, "open"},           {ETWAS_SPANS_REPLACED, "replaced"},
        {ETWAS_SPANS_UNMATCHED, "unmatched"}, {ETWAS_SPANS_LEFT_OUT, "left_out"},
    };

    etwas_json_number(output, "covered_duration", request->covered_ns);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        etwas_json_number(output, counts[i].key, etwas_spans_count(request->spans, counts[i].what));
    }
    etwas_json_number(output, "other_classes", request->other_classes);
}

static void put_head(struct etwas_output *output, const struct etwas_spans_request *request,
                     int result)
{
    etwas_json_begin(output, "spans");
    etwas_json_array(output, "files");
    for (uint32_t i = 0; i < request->run.count; i++) {
        etwas_json_text(output, NULL, request->run.inputs[i].path);
    }
    etwas_output_char(output, ']');
    etwas_json_boolean(output, "damaged", result != ETWAS_EXIT_DONE);
    etwas_json_number(output, "lost", request->events_lost);
    etwas_spans_json_counts(output, request);
}

void etwas_spans_json(struct etwas_output *output, const struct etwas_spans_request *request,
                      int result)
{
    put_head(output, request, result);
    put_classes(output, request);
    etwas_json_array(output, "slowest");
    for (uint32_t i = 0; i < request->tree_count; i++) {
        if (request->trees[i].node_count > 0) {
            etwas_spans_json_tree(output, request, &request->trees[i]);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_text(output, "]}\n");
}
