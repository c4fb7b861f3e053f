/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `speedscope`: JSON with a profile for each thread. The stacks of a thread are in the
 * order of their first occurrence, each with its total weight. Instances and activities have
 * profiles too, from START to END.
 */

#include "convert/stacks/stacks.h"

#include "exit.h"
#include "print/json.h"

static void put_frames(struct etwas_output *output, const struct etwas_stacks *stacks)
{
    char room[ETWAS_STACKS_NAME_BYTES];

    etwas_output_text(output, "\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < stacks->functions.function_count; i++) {
        etwas_output_text(output, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        etwas_json_string(output, etwas_stacks_function(stacks, i, room, sizeof room));
        if (stacks->functions.functions[i].image != NULL) {
            etwas_json_text(output, "file", stacks->functions.functions[i].image);
        }
        etwas_output_char(output, '}');
    }
    /* The frame for functions beyond the limits comes last. */
    etwas_output_text(output, stacks->functions.function_count > 0 ? "," : "");
    etwas_output_text(output, "\n{\"name\":\"[others]\"}]}");
}

static void put_stack(struct etwas_output *output, const struct etwas_stacks *stacks,
                      const struct etwas_stack *stack)
{
    etwas_output_char(output, '[');
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        uint32_t number = stacks->frames[stack->frames_at + i];

        etwas_output_text(output, i > 0 ? "," : "");
        etwas_output_unsigned(output,
                              number != UINT32_MAX ? number : stacks->functions.function_count);
    }
    etwas_output_char(output, ']');
}

static void put_name(struct etwas_output *output, uint32_t process, uint32_t thread,
                     const char *what)
{
    etwas_output_char(output, '"');
    if (process != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_output_format(output, "process %u, ", process);
    }
    if (thread != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_output_format(output, "thread %u", thread);
    } else {
        etwas_output_text(output, "all threads");
    }
    etwas_output_format(output, "%s\"", what);
}

/* Writes the stacks of one thread. */
static void put_profile(struct etwas_output *output, const struct etwas_stacks *stacks,
                        const struct etwas_stack *const *sorted, uint32_t count)
{
    const struct etwas_stacks_value *values;
    uint32_t which = etwas_stacks_weight(stacks);
    bool is_count;
    uint64_t sum = 0;

    (void)etwas_stacks_values(stacks, &values);
    is_count = strcmp(values[which].unit, "count") == 0;
    etwas_output_text(output, "\n{\"type\":\"sampled\",\"name\":");
    put_name(output, sorted[0]->process, sorted[0]->thread, "");
    etwas_json_text(output, "unit", is_count ? "none" : values[which].unit);
    etwas_output_text(output, ",\"startValue\":0,\"samples\":[");
    for (uint32_t i = 0; i < count; i++) {
        etwas_output_text(output, i > 0 ? ",\n" : "\n");
        put_stack(output, stacks, sorted[i]);
    }
    etwas_output_text(output, "],\"weights\":[");
    for (uint32_t i = 0; i < count; i++) {
        etwas_output_text(output, i > 0 ? "," : "");
        etwas_output_unsigned(output, sorted[i]->values[which]);
        sum += sorted[i]->values[which];
    }
    etwas_output_text(output, "]");
    etwas_json_number(output, "endValue", sum);
    etwas_output_text(output, "}");
}

static int compare(const void *left, const void *right)
{
    const struct etwas_stack *one = *(const struct etwas_stack *const *)left;
    const struct etwas_stack *other = *(const struct etwas_stack *const *)right;

    if (one->process != other->process) {
        return one->process < other->process ? -1 : 1;
    }
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    return one < other ? -1 : one > other;
}

static bool is_same_thread(const struct etwas_stack *one, const struct etwas_stack *other)
{
    return one->process == other->process && one->thread == other->thread;
}

static bool put_profiles(struct etwas_output *output, const struct etwas_stacks *stacks)
{
    const struct etwas_stack **sorted =
        calloc((size_t)stacks->count + 1, sizeof(const struct etwas_stack *));
    uint32_t count = 0;
    uint32_t end;

    for (uint32_t i = 0; sorted != NULL && i < stacks->count; i++) {
        if (stacks->stacks[i].kind == stacks->kind) {
            sorted[count++] = &stacks->stacks[i];
        }
    }
    if (count > 0) {
        qsort((void *)sorted, count, sizeof(const struct etwas_stack *), compare);
    }
    for (uint32_t first = 0; first < count; first = end) {
        for (end = first; end < count && is_same_thread(sorted[first], sorted[end]);) {
            end++;
        }
        etwas_output_text(output, first > 0 ? "," : "");
        put_profile(output, stacks, &sorted[first], end - first);
    }
    free((void *)sorted);
    return sorted != NULL;
}

/* ---- instances ------------------------------------------------------------------------------- */

static void put_edge(struct etwas_output *output, const struct etwas_stacks *stacks,
                     const struct etwas_stacks_span *span, bool is_end, int64_t zero_ns)
{
    int64_t time_ns = is_end ? span->end_ns : span->start_ns;

    etwas_output_text(output, is_end ? ",\n{\"type\":\"C\"" : "\n{\"type\":\"O\"");
    etwas_json_number(output, "frame",
                      span->name != UINT32_MAX ? span->name : stacks->functions.function_count);
    etwas_json_number(output, "at", etwas_input_passed_ns(zero_ns, time_ns));
    etwas_output_char(output, '}');
}

/* Writes the spans of one thread, from `first` on. Returns the first one of the next thread. */
static uint32_t put_spans(struct etwas_output *output, const struct etwas_stacks *stacks,
                          uint32_t first, uint32_t *open, int64_t zero_ns)
{
    const struct etwas_stacks_span *spans = stacks->spans;
    int64_t end_ns = zero_ns;
    uint32_t depth = 0;
    uint32_t i = first;

    etwas_output_text(output, "\n{\"type\":\"evented\",\"name\":");
    put_name(output, spans[first].process, spans[first].thread, ": instances");
    etwas_output_text(output, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
    for (; i < stacks->span_count && spans[i].process == spans[first].process &&
           spans[i].thread == spans[first].thread;
         i++) {
        while (depth > 0 && !etwas_stacks_is_inside(&spans[i], &spans[open[depth - 1]])) {
            put_edge(output, stacks, &spans[open[--depth]], true, zero_ns);
        }
        etwas_output_text(output, i > first ? "," : "");
        put_edge(output, stacks, &spans[i], false, zero_ns);
        open[depth++] = i;
        end_ns = spans[i].end_ns > end_ns ? spans[i].end_ns : end_ns;
    }
    while (depth > 0) {
        put_edge(output, stacks, &spans[open[--depth]], true, zero_ns);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "endValue", etwas_input_passed_ns(zero_ns, end_ns));
    etwas_output_char(output, '}');
    return i;
}

static bool put_instances(struct etwas_output *output, const struct etwas_stacks *stacks,
                          bool is_behind)
{
    uint32_t *open = calloc((size_t)stacks->span_count + 1, sizeof *open);
    int64_t zero_ns = INT64_MAX;

    for (uint32_t i = 0; i < stacks->span_count; i++) {
        zero_ns = stacks->spans[i].start_ns < zero_ns ? stacks->spans[i].start_ns : zero_ns;
    }
    for (uint32_t first = 0; open != NULL && first < stacks->span_count;) {
        etwas_output_text(output, is_behind || first > 0 ? "," : "");
        first = put_spans(output, stacks, first, open, zero_ns);
    }
    free(open);
    return open != NULL;
}

static int run(struct etwas_convert *convert)
{
    struct etwas_stacks stacks = {.wants_spans = true};
    int result = etwas_stacks_gather(convert, &stacks);

    if (!convert->out_of_memory) {
        etwas_output_text(convert->output,
                          "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                          "\"exporter\":\"etwas\",\n");
        put_frames(convert->output, &stacks);
        etwas_output_text(convert->output, ",\n\"profiles\":[");
        convert->out_of_memory =
            !put_profiles(convert->output, &stacks) ||
            !put_instances(convert->output, &stacks, stacks.seen[stacks.kind] > 0);
        etwas_output_text(convert->output, "]}\n");
    }
    etwas_stacks_clear(&stacks);
    return result;
}

const struct etwas_convert_target etwas_convert_speedscope = {.name = "speedscope", .run = run};
