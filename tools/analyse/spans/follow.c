/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Follows spans from START to END: their durations, and how much of them their children cover.
 */

#include "analyse/spans/spans.h"

#include "event/event.h"
#include "math/array.h"

#include <stdlib.h>
#include <string.h>

/* The times of a span that has ended. */
struct taken {
    uint64_t ns;
    uint64_t self_ns;
    uint64_t error_ns;
    uint64_t self_error_ns;
};

/* ---- descriptions ---------------------------------------------------------------------------- */

static struct etwas_schema_texts *described_by(struct etwas_spans_request *request,
                                               const struct etwas_input *input,
                                               const EVENT_RECORD *record)
{
    struct etwas_descriptions *descriptions = etwas_descriptions_of(&request->descriptions, input);
    struct etwas_schema_texts *schema_texts = etwas_descriptions_known(descriptions, record);

    return schema_texts != NULL ? schema_texts
                                : etwas_descriptions_find(descriptions, record, NULL);
}

/* Returns whether --where lets the event through. An END has a duration. */
static bool holds(struct etwas_spans_request *request, const struct etwas_input *input,
                  const EVENT_RECORD *record, const struct taken *taken)
{
    etwas_clock_time duration = {0, UINT64_MAX};

    if (taken != NULL) {
        duration = (etwas_clock_time){(int64_t)taken->ns, taken->error_ns};
    }
    return etwas_condition_holds_for(&request->where, &request->current, input, record,
                                     etwas_descriptions_of(&request->descriptions, input),
                                     taken != NULL ? &duration : NULL);
}

/* Returns whether the event names a parent. */
static bool names_parent(const EVENT_RECORD *record)
{
    static const etwas_guid none;
    struct etwas_event event;

    etwas_event_read(record, &event);
    return event.has_instance ? event.instance.ParentInstanceId != 0 ||
                                    memcmp(&event.instance.ParentGuid, &none, sizeof none) != 0
                              : event.has_related_activity &&
                                    memcmp(&event.related_activity, &none, sizeof none) != 0;
}

/* ---- open spans ------------------------------------------------------------------------------ */

/* Returns NULL if there is no memory. */
static struct etwas_spans_open *at_place(struct etwas_spans_request *request, uint32_t place)
{
    if (!etwas_array_reach(&request->open, &request->open_capacity, place, sizeof *request->open)) {
        request->out_of_memory = true;
        return NULL;
    }
    return &request->open[place];
}

/* Returns the parent if it is still open; NULL if it has ended, or there is none. */
static struct etwas_spans_open *parent_of(const struct etwas_spans_request *request,
                                          const struct etwas_spans_open *open)
{
    struct etwas_spans_open *parent = &request->open[open->parent_place];

    return open->parent != 0 && parent->number == open->parent ? parent : NULL;
}

/* Adds the time that children covered the span, up to now. */
static void uncover(struct etwas_spans_open *open, const struct etwas_moment *moment)
{
    open->covered_ns += etwas_input_passed_ns(open->covered_from.ns, moment->ns);
    open->covered_error_ns = etwas_moment_add_errors(
        open->covered_error_ns, etwas_moment_error_ns(&open->covered_from, moment));
}

/* Closes a span, which no longer covers its parent. */
static void leave(struct etwas_spans_request *request, struct etwas_spans_open *open,
                  const struct etwas_moment *moment)
{
    struct etwas_spans_open *parent = parent_of(request, open);

    if (parent != NULL && --parent->children == 0) {
        uncover(parent, moment);
    }
    if (open->class_index != UINT32_MAX) {
        request->classes[open->class_index].open--;
    }
    open->number = 0;
}

static void count_unfinished(struct etwas_spans_request *request,
                             const struct etwas_spans_open *open, bool is_replaced)
{
    if (open->is_asked_for && !request->finds_trees) {
        const struct etwas_trace_coverage *coverage = &open->start.input->coverage;
        struct etwas_spans_class *its = &request->classes[open->class_index];

        its->unfinished++;
        its->replaced += is_replaced;
        its->uncertain +=
            !is_replaced && coverage->is_said && open->start.raw <= coverage->said_from_raw;
        its->orphaned += open->is_orphan;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Passes an event to the listener if its span is in a tree. Returns the span's node, or NULL. */
static struct etwas_spans_node *tell_event(const struct etwas_spans_request *request,
                                           const struct etwas_spans_open *open)
{
    struct etwas_spans_node *node = etwas_spans_node(request, open);

    if (node != NULL && request->listener.event != NULL) {
        request->listener.event(request->listener.context, open);
    }
    return node;
}

static void begin_span(struct etwas_spans_request *request, const EVENT_RECORD *record,
                       const etwas_span *span, const struct etwas_moment *moment)
{
    const struct etwas_input *input = moment->input;
    struct etwas_schema_texts *schema_texts = described_by(request, input, record);
    uint32_t class_index = etwas_span_classes_find(&request->names, schema_texts, record);
    struct etwas_spans_open *open = at_place(request, span->place);
    struct etwas_spans_open *parent;

    if (open == NULL) {
        return;
    }
    if (open->number != 0) {
        count_unfinished(request, open, true);
        leave(request, open, moment);
    }
    *open = (struct etwas_spans_open){
        .number = span->number,
        .parent = span->parent,
        .parent_place = span->parent_place,
        .class_index = class_index,
        .is_asked_for = etwas_spans_class_is_asked_for(request, class_index) &&
                        holds(request, input, record, NULL),
        .is_orphan = span->parent == 0 && names_parent(record),
        .start = *moment,
    };
    if (class_index == UINT32_MAX) {
        request->other_classes += !request->finds_trees;
    } else {
        struct etwas_spans_class *its = &request->classes[class_index];

        its->open++;
        its->most_open = its->open > its->most_open ? its->open : its->most_open;
    }
    parent = parent_of(request, open);
    if (parent != NULL && parent->children++ == 0) {
        parent->covered_from = *moment;
    }
    if (request->finds_trees) {
        etwas_spans_grow(request, input, record, span, open);
        (void)tell_event(request, open);
    }
}

static struct taken taken_by(struct etwas_spans_open *open, const struct etwas_moment *moment)
{
    struct taken taken = {
        .ns = etwas_input_passed_ns(open->start.ns, moment->ns),
        .error_ns = etwas_moment_error_ns(&open->start, moment),
    };

    if (open->children > 0) {
        uncover(open, moment);
    }
    taken.self_ns = taken.ns > open->covered_ns ? taken.ns - open->covered_ns : 0;
    taken.self_error_ns = etwas_moment_add_errors(taken.error_ns, open->covered_error_ns);
    return taken;
}

static void measure(struct etwas_spans_request *request, const struct etwas_spans_open *open,
                    const struct taken *taken, const struct etwas_moment *moment)
{
    struct etwas_spans_class *its = &request->classes[open->class_index];

    if (etwas_trace_coverage_leaves_out_raw(&moment->input->coverage, moment->raw)) {
        its->outside++;
        its->outside_ns += (double)taken->ns;
    }
    its->error_ns = taken->error_ns > its->error_ns ? taken->error_ns : its->error_ns;
    its->self_error_ns =
        taken->self_error_ns > its->self_error_ns ? taken->self_error_ns : its->self_error_ns;
    its->orphaned += open->is_orphan;
    if (!etwas_histogram_add(&its->durations, taken->ns) ||
        !etwas_histogram_add(&its->selves, taken->self_ns)) {
        request->out_of_memory = true;
    }
}

/* Returns whether --class and --where let a span through, by its START or its END. */
static bool is_asked_for(struct etwas_spans_request *request, const EVENT_RECORD *record,
                         const struct etwas_input *input, const struct etwas_spans_open *open,
                         const struct taken *taken)
{
    return etwas_spans_class_is_asked_for(request, open->class_index) &&
           (open->is_asked_for || holds(request, input, record, taken));
}

static void finish(struct etwas_spans_request *request, const EVENT_RECORD *record,
                   const etwas_span *span, const struct etwas_moment *moment)
{
    const struct etwas_input *input = moment->input;
    struct etwas_spans_open *open = at_place(request, span->place);
    struct etwas_spans_node *node;
    struct taken taken;
    bool counts;

    if (open == NULL || open->number != span->number) {
        return;
    }
    taken = taken_by(open, moment);
    counts = is_asked_for(request, record, input, open, &taken);
    node = tell_event(request, open);
    if (node != NULL) {
        node->has_ended = true;
        node->duration_ns = taken.ns;
        node->self_ns = taken.self_ns;
        node->error_ns = taken.error_ns;
        node->self_error_ns = taken.self_error_ns;
    } else if (!request->finds_trees && counts) {
        measure(request, open, &taken, moment);
        if (span->parent == 0 || request->class_name != NULL ||
            etwas_where_is_given(&request->where)) {
            etwas_spans_choose(request, span, taken.ns);
        }
    }
    if (counts && request->finds_trees && request->listener.ended != NULL) {
        request->listener.ended(request->listener.context, open, taken.ns);
    }
    leave(request, open, moment);
}

static void count_unmatched(struct etwas_spans_request *request, const struct etwas_input *input,
                            const EVENT_RECORD *record)
{
    struct etwas_schema_texts *schema_texts = described_by(request, input, record);
    uint32_t class_index = etwas_span_classes_find(&request->names, schema_texts, record);

    if (!request->finds_trees && etwas_spans_class_is_asked_for(request, class_index) &&
        holds(request, input, record, NULL)) {
        request->classes[class_index].unmatched++;
    }
}

static void count_inside(const struct etwas_spans_request *request,
                         const struct etwas_spans_open *open)
{
    struct etwas_spans_node *node = tell_event(request, open);

    if (node != NULL) {
        node->events++;
    }
}

void etwas_spans_follow(struct etwas_spans_request *request, const EVENT_RECORD *record,
                        const struct etwas_moment *moment)
{
    uint32_t file = moment->input->number;
    uint64_t unmatched = etwas_spans_count(request->spans, ETWAS_SPANS_UNMATCHED);
    const etwas_span *span;

    if (etwas_event_is_header_class(record)) {
        return;
    }
    switch (etwas_spans_take(request->spans, record, file, moment->ns, &span)) {
    case ETWAS_SPAN_START:
        begin_span(request, record, span, moment);
        break;
    case ETWAS_SPAN_INSIDE:
        if (span->place < request->open_capacity) {
            count_inside(request, &request->open[span->place]);
        }
        break;
    case ETWAS_SPAN_END:
        finish(request, record, span, moment);
        break;
    default:
        if (etwas_spans_count(request->spans, ETWAS_SPANS_UNMATCHED) > unmatched) {
            count_unmatched(request, moment->input, record);
        }
    }
}

void etwas_spans_settle(struct etwas_spans_request *request)
{
    for (uint32_t place = 0; place < request->open_capacity; place++) {
        if (request->open[place].number != 0) {
            count_unfinished(request, &request->open[place], false);
        }
    }
}

void etwas_spans_begin_again(struct etwas_spans_request *request)
{
    request->finds_trees = true;
    for (uint32_t place = 0; place < request->open_capacity; place++) {
        request->open[place].number = 0;
    }
    for (uint32_t i = 0; i < request->names.count; i++) {
        request->classes[i].open = 0;
    }
}
