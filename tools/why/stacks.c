/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The stacks of chosen instances: the kernel's part, and behind it the program's.
 */

#include "why/why.h"

#include <string.h>

void etwas_why_keep_stack(struct etwas_why_chosen *chosen, const struct etwas_input *input,
                          const struct etwas_kernel_event *event, int64_t stack_ns)
{
    uint32_t at = chosen->stack_ns == stack_ns ? chosen->stack_count : 0;

    chosen->stack_origin = (struct etwas_why_stack){.input = input->number - 1,
                                                    .process = event->process,
                                                    .stamp = event->initial_time,
                                                    .user = at};
    /* The two parts may come one after the other. */
    for (uint32_t i = 0; i < event->frame_count && at < ETWAS_WHY_FRAMES; i++) {
        memcpy(&chosen->stack[at++], event->frames + (size_t)i * sizeof(uint64_t),
               sizeof(uint64_t));
    }
    chosen->stack_ns = stack_ns;
    chosen->stack_count = at;
}

void etwas_why_put_frame(struct etwas_output *output, enum etwas_text_style style,
                         const struct etwas_why *why, const struct etwas_why_block *block,
                         uint32_t index)
{
    const struct etwas_address address = {.value = block->frames[index],
                                          .time = block->stack.stamp,
                                          .process = block->stack.process,
                                          .is_return = index != 0 && index != block->stack.user};

    etwas_addresses_put(output, style, &why->addresses[block->stack.input], &address);
}
