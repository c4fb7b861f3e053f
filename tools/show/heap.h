/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_HEAP_H
#define ETWAS_TOOLS_SHOW_HEAP_H

/*
 * The heap that heaptrace recorded, as text and JSON.
 */

#include "analyse/heap/heap.h"

void etwas_heap_text(struct etwas_output *output, struct etwas_heap *heap, uint32_t limit,
                     const struct etwas_input *input);

/* Writes one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_heap_json(struct etwas_output *output, struct etwas_heap *heap, uint32_t limit,
                     const struct etwas_input *input, int result);

/*
 * Write JSON objects that the caller closes: the members before the stacks, and a stack with at
 * most `most_frames` of its innermost frames.
 */
void etwas_heap_json_head(struct etwas_output *output, const struct etwas_heap *heap,
                          const struct etwas_input *input, int result);
void etwas_heap_json_stack(struct etwas_output *output, struct etwas_heap *heap,
                           const struct etwas_heap_stack *stack, uint32_t most_frames);

#endif
