/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Collects instances and activities that are properly nested, thread by thread. */

#include "convert/stacks/stacks.h"

#include "math/array.h"
#include "trace/span_name.h"

static bool make_room(struct etwas_stacks *stacks)
{
    if (stacks->span_count == ETWAS_STACKS_SPANS) {
        return false;
    }
    if (!etwas_array_reserve(&stacks->spans, &stacks->span_capacity, stacks->span_count + 1,
                             sizeof *stacks->spans)) {
        stacks->out_of_memory = true;
        return false;
    }
    return true;
}

static uint32_t name_of(struct etwas_stacks *stacks, const struct etwas_current_event *current)
{
    char name[ETWAS_SPAN_NAME_BYTES];
    const struct etwas_place place = {.has_function = true, .function.function = name};

    etwas_span_name_make(name, current->schema_texts, current->record);
    return etwas_stacks_number(stacks, etwas_hot_function(&stacks->functions, &place, false));
}

void etwas_stacks_take_span(struct etwas_stacks *stacks, const struct etwas_convert *convert)
{
    const etwas_span *span = convert->span;
    const struct etwas_event *event = &convert->current.event;

    if (convert->spans == NULL || convert->span_role != ETWAS_SPAN_END) {
        return;
    }
    if (event->thread != span->thread || event->process != span->process ||
        convert->time_ns < span->start || !make_room(stacks)) {
        stacks->spans_left_out++;
        return;
    }
    stacks->spans[stacks->span_count++] = (struct etwas_stacks_span){
        .process = span->process,
        .thread = span->thread,
        .start_ns = span->start,
        .end_ns = convert->time_ns,
        .number = span->number,
        .name = name_of(stacks, &convert->current),
    };
}

static int compare(const void *left, const void *right)
{
    const struct etwas_stacks_span *one = left;
    const struct etwas_stacks_span *other = right;

    if (one->process != other->process) {
        return one->process < other->process ? -1 : 1;
    }
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    if (one->start_ns != other->start_ns) {
        return one->start_ns < other->start_ns ? -1 : 1;
    }
    if (one->end_ns != other->end_ns) {
        return one->end_ns > other->end_ns ? -1 : 1;
    }
    return one->number < other->number ? -1 : one->number > other->number;
}

void etwas_stacks_nest_spans(struct etwas_stacks *stacks)
{
    uint32_t *open = calloc((size_t)stacks->span_count + 1, sizeof *open);
    struct etwas_stacks_span *spans = stacks->spans;
    uint32_t depth = 0;
    uint32_t kept = 0;

    stacks->out_of_memory |= open == NULL;
    if (open == NULL || stacks->span_count == 0) {
        free(open);
        return;
    }
    qsort(spans, stacks->span_count, sizeof *spans, compare);
    for (uint32_t i = 0; i < stacks->span_count; i++) {
        while (depth > 0 && !etwas_stacks_is_inside(&spans[i], &spans[open[depth - 1]])) {
            depth--;
        }
        if (depth > 0 && spans[i].end_ns > spans[open[depth - 1]].end_ns) {
            stacks->spans_left_out++;
            continue;
        }
        spans[kept] = spans[i];
        open[depth++] = kept++;
    }
    stacks->span_count = kept;
    free(open);
}
