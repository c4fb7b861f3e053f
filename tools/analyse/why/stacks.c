/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The stacks of chosen instances: the kernel's part, followed by the program's.
 */

#include "analyse/why/why.h"

/*
 * Adds a part of a stack. The kernel's part is recorded first, then the program's. An unwound part
 * comes last, and replaces the program's part unless it has fewer frames.
 */
static void keep_stack(struct etwas_why_chosen *chosen, const struct etwas_event_stack *stack,
                       const struct etwas_why_stack *origin, int64_t stack_ns)
{
    bool is_kernel = etwas_address_is_kernel(etwas_event_frame(stack, 0));
    uint32_t user = chosen->stack_ns == stack_ns ? chosen->stack_origin.user : 0;
    uint32_t count = chosen->stack_ns == stack_ns ? chosen->stack_count : 0;

    if (!is_kernel &&
        etwas_event_known_frames(stack) <
            count - user - (count > 0 && chosen->stack[count - 1] == ETWAS_EVENT_CUT)) {
        return;
    }
    count = is_kernel ? count : user;
    for (uint32_t i = 0; i < stack->count && count < ETWAS_WHY_FRAMES; i++) {
        chosen->stack[count++] = etwas_event_frame(stack, i);
    }
    if (count == ETWAS_WHY_FRAMES) {
        chosen->stack[count - 1] = ETWAS_EVENT_CUT; /* further frames are not kept */
    }
    chosen->stack_origin = *origin;
    chosen->stack_origin.user = is_kernel ? count : user;
    chosen->stack_ns = stack_ns;
    chosen->stack_count = count;
}

void etwas_why_take_stack(struct etwas_why *why, const struct etwas_input *input,
                          const EVENT_RECORD *record, const struct etwas_kernel_event *event,
                          uint32_t number)
{
    struct etwas_why_chosen *chosen = etwas_why_next_chosen(why, number, NULL);
    const struct etwas_why_stack origin = {
        .input = input->number - 1, .process = event->process, .stamp = event->initial_time};
    etwas_clock_time time = {0, 0};
    struct etwas_event_stack stack;

    why->has_stacks = true;
    if (chosen == NULL || etwas_trace_convert_time(input->trace, event->initial_time,
                                                   ETWAS_CLOCK_QPC, &time) != ERROR_SUCCESS) {
        return;
    }
    stack = etwas_addresses_stack(&why->addresses[origin.input], record);
    for (; chosen != NULL && stack.count > 0; chosen = etwas_why_next_chosen(why, number, chosen)) {
        keep_stack(chosen, &stack, &origin, time.value);
    }
}
