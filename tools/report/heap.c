/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The live heap over time, and the stacks that hold most of it, from the files of heaptrace. */

#include "report/report.h"

#include "print/json.h"

#include <stdlib.h>

/* The second reading starts anew, and finds the stacks in the same order. */
void etwas_report_heap_choose(struct etwas_report *report, const struct etwas_input *input)
{
    struct etwas_report_heap *its = &etwas_report_file_of(report, input)->heap;
    const struct etwas_heap_stack **sorted;

    its->is_shown = its->heap.stack_count > 0;
    if (!its->is_shown) {
        return;
    }
    sorted = etwas_heap_sorted_stacks(&its->heap);
    for (uint32_t i = 0; sorted != NULL && i < its->heap.stack_count && i < ETWAS_REPORT_STACKS;
         i++) {
        its->stacks[its->stack_count++] = (uint32_t)(sorted[i] - its->heap.stacks);
    }
    report->out_of_memory |= sorted == NULL;
    free((void *)sorted);
    etwas_heap_clear(&its->heap);
}

static uint64_t live_bytes(const struct etwas_heap *heap, uint32_t stack)
{
    return stack < heap->stack_count ? heap->stacks[stack].live_bytes : 0;
}

static void close_file(struct etwas_report_heap *its, uint32_t from, uint32_t to)
{
    uint64_t live = 0;

    for (uint32_t i = 0; i < its->heap.stack_count; i++) {
        live += its->heap.stacks[i].live_bytes;
    }
    for (uint32_t column = from; column < to; column++) {
        its->live.at[column] = live;
        for (uint32_t i = 0; i < its->stack_count && i < ETWAS_REPORT_STACK_LINES; i++) {
            its->lines[i].at[column] = live_bytes(&its->heap, its->stacks[i]);
        }
    }
}

void etwas_report_heap_close(struct etwas_report *report, uint32_t column)
{
    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        struct etwas_report_heap *its =
            &etwas_report_file_of(report, &report->spans.run.inputs[i])->heap;

        if (its->is_shown) {
            close_file(its, report->axis.now, column);
        }
    }
}

static void put_stacks(struct etwas_output *output, const struct etwas_report *report,
                       struct etwas_report_heap *its)
{
    etwas_json_array(output, "stacks");
    for (uint32_t i = 0; i < its->stack_count; i++) {
        if (its->stacks[i] >= its->heap.stack_count) {
            continue; /* the file changed between the readings */
        }
        etwas_heap_json_stack(output, &its->heap, &its->heap.stacks[its->stacks[i]],
                              ETWAS_REPORT_FRAMES);
        if (i < ETWAS_REPORT_STACK_LINES) {
            etwas_report_print_series(output, "live_over_time", &report->axis, &its->lines[i]);
        }
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

void etwas_report_heap_json(struct etwas_output *output, struct etwas_report *report)
{
    etwas_json_array(output, "heap");
    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        const struct etwas_input *input = &report->spans.run.inputs[i];
        struct etwas_report_heap *its = &etwas_report_file_of(report, input)->heap;

        if (its->is_shown) {
            etwas_heap_json_head(output, &its->heap, input, etwas_report_result(input));
            etwas_report_print_series(output, "live_over_time", &report->axis, &its->live);
            put_stacks(output, report, its);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}
