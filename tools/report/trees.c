/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The slowest spans with the spans inside them, and the events of all these. */

#include "report/report.h"

#include "exit.h"
#include "print/json.h"

#include <stdlib.h>

void etwas_report_trees_choose(struct etwas_report *report)
{
    report->trees = calloc((size_t)report->spans.tree_count + 1, sizeof *report->trees);
    report->out_of_memory |= report->trees == NULL;
}

/* Copies as much as fits, and cuts between characters. */
static void copy_text(char *kept, size_t room, const struct etwas_output *text)
{
    size_t bytes =
        text->used_bytes < room ? text->used_bytes : etwas_text_cut(text->bytes, room - 1);

    memcpy(kept, text->bytes, bytes);
    kept[bytes] = '\0';
}

/* A callback that knows no more about a value than the decoder. */
static bool put_nothing(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                        const etwas_value *value)
{
    (void)output;
    (void)context;
    (void)kind;
    (void)value;
    return false;
}

static void describe(struct etwas_report *report, struct etwas_report_tree_event *event)
{
    static const struct etwas_fields_reader reader = {.put = put_nothing};
    struct etwas_descriptions *descriptions =
        etwas_descriptions_of(&report->spans.descriptions, report->input);
    struct etwas_output *text = etwas_output_anew(&report->scratch);
    struct etwas_fields_rest rest;
    struct etwas_event_string name;
    struct etwas_schema_texts *schema_texts =
        etwas_descriptions_find(descriptions, report->record, NULL);

    etwas_current_event_read(&report->current, report->input, report->record, descriptions,
                             schema_texts, NULL);
    name = etwas_current_event_string(&report->current, ETWAS_PROPERTY_EVENT);
    if (name.text != NULL) {
        etwas_text_utf8(text, ETWAS_TEXT_PLAIN, name.text, name.bytes);
    } else {
        etwas_current_event_print_title(text, ETWAS_TEXT_PLAIN, &report->current);
    }
    copy_text(event->name, sizeof event->name, text);
    etwas_output_anew(text);
    if (schema_texts != NULL) {
        (void)etwas_fields_print_text(text, schema_texts, report->record, &reader, &rest);
    }
    copy_text(event->fields, sizeof event->fields, text);
}

void etwas_report_trees_add_record(struct etwas_report *report, const struct etwas_spans_open *open)
{
    const struct etwas_spans_tree *grown = &report->spans.trees[open->tree - 1];
    struct etwas_report_tree *tree = &report->trees[open->tree - 1];
    struct etwas_report_tree_event *event = &tree->events[tree->count];

    if (tree->count == ETWAS_REPORT_TREE_EVENTS) {
        tree->left_out++;
        return;
    }
    tree->count++;
    event->node = open->node;
    event->thread = report->record->EventHeader.ThreadId;
    event->at_ns = etwas_input_passed_ns(grown->nodes[0].start_ns, report->moment.ns);
    describe(report, event);
}

/* `places`: the nodes' positions in the list of spans, where parents come before children. */
static void put_events(struct etwas_output *output, const struct etwas_report_tree *tree,
                       const uint32_t places[ETWAS_REPORT_NODES])
{
    etwas_json_array(output, "tree_events");
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct etwas_report_tree_event *event = &tree->events[i];

        etwas_json_object(output, NULL);
        etwas_json_number(output, "span", places[event->node]);
        etwas_json_number(output, "since_start", event->at_ns);
        etwas_json_number(output, "tid", event->thread);
        etwas_json_text(output, "event", event->name);
        etwas_json_text(output, "fields", event->fields);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "tree_events_left_out", tree->left_out);
}

static void put_tree(struct etwas_output *output, const struct etwas_report *report,
                     uint32_t number)
{
    const struct etwas_spans_tree *tree = &report->spans.trees[number];
    uint32_t places[ETWAS_REPORT_NODES] = {0};
    uint32_t node = 0;
    uint32_t depth = 0;
    uint32_t place = 0;

    do {
        places[node] = place++;
    } while (etwas_spans_next_node(tree, &node, &depth));
    etwas_spans_json_tree(output, &report->spans, tree);
    put_events(output, &report->trees[number], places);
    etwas_output_char(output, '}');
}

void etwas_report_trees_json(struct etwas_output *output, const struct etwas_report *report)
{
    etwas_json_array(output, "slowest");
    for (uint32_t i = 0; i < report->spans.tree_count; i++) {
        if (report->spans.trees[i].node_count > 0) {
            put_tree(output, report, i);
        }
    }
    etwas_output_char(output, ']');
}

void etwas_report_trees_free(struct etwas_report *report)
{
    free(report->trees);
}
