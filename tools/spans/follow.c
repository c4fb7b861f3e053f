/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * From the START of a span to its END: how long it took, and how much of that its children did.
 */

#include "spans/spans.h"

#include "event.h"

#include <stdlib.h>
#include <string.h>

/* ---- what an event is ------------------------------------------------------------------------ */

static struct etwas_described *described_by(struct etwas_spans_request *request,
                                            const struct etwas_input *input,
                                            const EVENT_RECORD *record)
{
    struct etwas_descriptions *descriptions = &request->descriptions[input->number - 1];
    struct etwas_described *described = etwas_descriptions_known(descriptions, record);
    bool senseless;

    return described != NULL ? described
                             : etwas_descriptions_find(descriptions, record, &senseless);
}

/* By --where. An END knows how long it took. */
static bool holds(struct etwas_spans_request *request, const struct etwas_input *input,
                  const EVENT_RECORD *record, struct etwas_described *described,
                  const uint64_t *duration_ns)
{
    struct etwas_where_values values;

    if (!request->has_where) {
        return true;
    }
    etwas_subject_read(&request->subject, input, record, &request->descriptions[input->number - 1],
                       described, NULL);
    if (duration_ns != NULL) {
        request->subject.has_duration = true;
        request->subject.duration_ns = (int64_t)*duration_ns;
    }
    values = etwas_where_values_of(&request->subject);
    return etwas_where_holds(&request->where, &values);
}

/* Does it say that it has a parent? */
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

/* NULL without memory. */
static struct etwas_spans_open *at_place(struct etwas_spans_request *request, uint32_t place)
{
    if (place >= request->open_capacity) {
        uint32_t capacity = 2 * place + 1024;
        struct etwas_spans_open *larger = realloc(request->open, capacity * sizeof *larger);

        if (larger == NULL) {
            request->out_of_memory = true;
            return NULL;
        }
        memset(larger + request->open_capacity, 0,
               (capacity - request->open_capacity) * sizeof *larger);
        request->open = larger;
        request->open_capacity = capacity;
    }
    return &request->open[place];
}

/* The span that is still at its parent's place; NULL: it has ended, or there is none. */
static struct etwas_spans_open *parent_of(const struct etwas_spans_request *request,
                                          const struct etwas_spans_open *open)
{
    struct etwas_spans_open *parent = &request->open[open->parent_place];

    return open->parent != 0 && parent->number == open->parent ? parent : NULL;
}

/* It is open no more, and covers its parent no more. */
static void leave(struct etwas_spans_request *request, struct etwas_spans_open *open,
                  int64_t time_ns)
{
    struct etwas_spans_open *parent = parent_of(request, open);

    if (parent != NULL && --parent->children == 0) {
        parent->covered_ns += etwas_input_passed_ns(parent->covered_from, time_ns);
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
        struct etwas_spans_class *its = &request->classes[open->class_index];

        its->unfinished++;
        its->replaced += is_replaced;
        its->orphaned += open->is_orphan;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What is in a tree has a node there. */
static struct etwas_spans_node *tell_event(const struct etwas_spans_request *request,
                                           const struct etwas_spans_open *open)
{
    struct etwas_spans_node *node = etwas_spans_node(request, open);

    if (node != NULL && request->listener.event != NULL) {
        request->listener.event(request->listener.context, open);
    }
    return node;
}

static void begin(struct etwas_spans_request *request, const struct etwas_input *input,
                  const EVENT_RECORD *record, const etwas_span *span, uint64_t error_ns)
{
    struct etwas_described *described = described_by(request, input, record);
    uint32_t class_index = etwas_span_classes_find(&request->names, described, record);
    struct etwas_spans_open *open = at_place(request, span->place);
    struct etwas_spans_open *parent;

    if (open == NULL) {
        return;
    }
    if (open->number != 0) {
        count_unfinished(request, open, true);
        leave(request, open, span->start);
    }
    *open = (struct etwas_spans_open){
        .number = span->number,
        .parent = span->parent,
        .parent_place = span->parent_place,
        .class_index = class_index,
        .is_asked_for = etwas_spans_class_is_asked_for(request, class_index) &&
                        holds(request, input, record, described, NULL),
        .is_orphan = span->parent == 0 && names_parent(record),
        .error_ns = error_ns,
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
        parent->covered_from = span->start;
    }
    if (request->finds_trees) {
        etwas_spans_grow(request, input, record, span, open);
        (void)tell_event(request, open);
    }
}

/* What two times that far off are off together. */
static uint64_t add_errors(uint64_t one, uint64_t other)
{
    uint64_t sum;

    return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

static void measure(struct etwas_spans_request *request, const struct etwas_spans_open *open,
                    uint64_t duration_ns, uint64_t self_ns, uint64_t error_ns)
{
    struct etwas_spans_class *its = &request->classes[open->class_index];

    its->error_ns = error_ns > its->error_ns ? error_ns : its->error_ns;
    its->orphaned += open->is_orphan;
    if (!etwas_histogram_add(&its->durations, duration_ns) ||
        !etwas_histogram_add(&its->selves, self_ns)) {
        request->out_of_memory = true;
    }
}

static void finish(struct etwas_spans_request *request, const struct etwas_input *input,
                   const EVENT_RECORD *record, const etwas_span *span, etwas_clock_time time)
{
    struct etwas_spans_open *open = at_place(request, span->place);
    uint64_t duration_ns = etwas_input_passed_ns(span->start, time.value);
    struct etwas_spans_node *node;
    uint64_t error_ns;
    uint64_t covered_ns;
    uint64_t self_ns;

    if (open == NULL || open->number != span->number) {
        return;
    }
    error_ns = add_errors(open->error_ns, time.error_ns);
    covered_ns = open->covered_ns +
                 (open->children > 0 ? etwas_input_passed_ns(open->covered_from, time.value) : 0);
    self_ns = duration_ns > covered_ns ? duration_ns - covered_ns : 0;
    node = tell_event(request, open);
    if (node != NULL) {
        node->has_ended = true;
        node->duration_ns = duration_ns;
        node->self_ns = self_ns;
        node->error_ns = error_ns;
    } else if (!request->finds_trees &&
               etwas_spans_class_is_asked_for(request, open->class_index) &&
               (open->is_asked_for || holds(request, input, record,
                                            described_by(request, input, record), &duration_ns))) {
        measure(request, open, duration_ns, self_ns, error_ns);
        if (span->parent == 0 || request->class_name != NULL || request->has_where) {
            etwas_spans_choose(request, span, duration_ns);
        }
    }
    if (request->finds_trees && request->listener.ended != NULL) {
        request->listener.ended(request->listener.context, open, duration_ns);
    }
    leave(request, open, time.value);
}

static void count_unmatched(struct etwas_spans_request *request, const struct etwas_input *input,
                            const EVENT_RECORD *record)
{
    struct etwas_described *described = described_by(request, input, record);
    uint32_t class_index = etwas_span_classes_find(&request->names, described, record);

    if (!request->finds_trees && etwas_spans_class_is_asked_for(request, class_index) &&
        holds(request, input, record, described, NULL)) {
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

static void note_time(struct etwas_spans_request *request, int64_t time_ns)
{
    if (!request->has_time) {
        request->has_time = true;
        request->begin_ns = time_ns;
        request->end_ns = time_ns;
    }
    request->end_ns = time_ns > request->end_ns ? time_ns : request->end_ns;
}

void etwas_spans_follow(struct etwas_spans_request *request, const struct etwas_input *input,
                        const EVENT_RECORD *record, etwas_clock_time time)
{
    uint64_t unmatched = etwas_spans_count(request->spans, ETWAS_SPANS_UNMATCHED);
    const etwas_span *span;

    note_time(request, time.value);
    switch (etwas_spans_take(request->spans, record, input->number, time.value, &span)) {
    case ETWAS_SPAN_START:
        begin(request, input, record, span, time.error_ns);
        break;
    case ETWAS_SPAN_INSIDE:
        if (span->place < request->open_capacity) {
            count_inside(request, &request->open[span->place]);
        }
        break;
    case ETWAS_SPAN_END:
        finish(request, input, record, span, time);
        break;
    default:
        if (etwas_spans_count(request->spans, ETWAS_SPANS_UNMATCHED) > unmatched) {
            count_unmatched(request, input, record);
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
