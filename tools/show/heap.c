/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --heap` as text and JSON. The keys are part of the command's interface.
 */

#include "show/heap.h"

#include "address/symbols.h"
#include "cli/files.h"
#include "event/event.h"
#include "exit.h"
#include "print/human.h"
#include "print/json.h"
#include "print/terminal.h"
#include "print/text.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- which stacks ---- */

static uint32_t shown_count(const struct etwas_heap *heap, uint32_t limit)
{
    return limit != 0 && limit < heap->stack_count ? limit : heap->stack_count;
}

static struct etwas_heap_stack sum(const struct etwas_heap *heap)
{
    struct etwas_heap_stack all = {.frame_count = 0};

    for (uint32_t i = 0; i < heap->stack_count; i++) {
        all.allocated_bytes += heap->stacks[i].allocated_bytes;
        all.allocations += heap->stacks[i].allocations;
        all.live_bytes += heap->stacks[i].live_bytes;
        all.live_blocks += heap->stacks[i].live_blocks;
    }
    return all;
}

/* ---- text ---- */

static void put_grouped(struct etwas_output *output, uint64_t value)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_count(text, value));
}

static void put_amount(struct etwas_output *output, uint64_t bytes, uint64_t blocks)
{
    put_grouped(output, bytes);
    etwas_output_text(output, bytes == 1 ? " byte in " : " bytes in ");
    put_grouped(output, blocks);
    etwas_output_text(output, blocks == 1 ? " block" : " blocks");
}

static void put_count(struct etwas_output *output, const char *label, uint64_t count,
                      const char *what)
{
    if (count > 0) {
        etwas_label(output, label);
        put_grouped(output, count);
        etwas_output_format(output, " %s\n", what);
    }
}

static void put_whole(struct etwas_output *output, const struct etwas_heap *heap)
{
    struct etwas_heap_stack all = sum(heap);
    uint64_t with_stack = all.allocations - heap->without_stack;

    etwas_label(output, "allocated");
    put_amount(output, all.allocated_bytes, all.allocations);
    etwas_output_char(output, '\n');
    etwas_label(output, "never freed");
    put_amount(output, all.live_bytes, all.live_blocks);
    etwas_output_char(output, '\n');
    if (with_stack == 0) {
        etwas_label(output, "no stacks");
        etwas_output_text(output, "'heaptrace --stacks' records them\n");
    } else {
        etwas_label(output, "stacks");
        put_grouped(output, heap->stack_count);
        etwas_output_format(output, ", %.1f frames an allocation\n",
                            (double)heap->frames_in_all / (double)with_stack);
    }
    put_count(output, "left out", heap->left_out, "more allocations, by what was chosen");
    put_count(output, "cut", heap->with_cut_stack,
              "allocations, whose stacks go on: 'heaptrace --stacks=FRAMES'");
    put_count(output, "without stack", heap->without_stack, "allocations");
    put_count(output, "failed", heap->failed, "calls that gave no memory");
}

/* Writes what makes the other numbers inexact. */
static void put_doubts(struct etwas_output *output, const struct etwas_heap *heap,
                       const struct etwas_input *input)
{
    put_count(output, "LOST", input->information.lost_events, "events while recording");
    put_count(output, "DAMAGED", input->damage_count, "places in the file");
    put_count(output, "unknown", heap->unknown_frees,
              "frees of blocks that the file does not have");
    put_count(output, "unknown", heap->unknown_moves,
              "reallocs of blocks that the file does not have");
    put_count(output, "replaced", heap->replaced_blocks,
              "blocks by others at their address, with no free between");
    put_count(output, "MALFORMED", heap->malformed, "events");
    put_count(output, "left out", heap->images_left_out, "images of more than are kept");
}

static void put_frame(struct etwas_output *output, const struct etwas_heap_location *location,
                      uint64_t address)
{
    etwas_output_text(output, "      ");
    if (location->image == NULL) {
        if (location->has_symbol) {
            etwas_output_format(output, "%s\n", location->symbol.function);
        } else {
            etwas_output_format(output, "0x%" PRIx64 "\n", address);
        }
        return;
    }
    if (location->has_symbol) {
        etwas_text_plain(output, location->symbol.function);
        /* The offset is that of the return address, as in debuggers. */
        etwas_output_format(output, "+0x%" PRIx64 " in ", location->symbol.offset + 1);
        etwas_text_plain(output, etwas_files_name(location->image->path));
    } else {
        etwas_text_plain(output, etwas_files_name(location->image->path));
        etwas_output_format(output, "+0x%" PRIx64, location->offset);
    }
    if (location->has_symbol && location->symbol.file != NULL) {
        etwas_output_text(output, ", ");
        etwas_text_plain(output, etwas_files_name(location->symbol.file));
        etwas_output_format(output, ":%d", location->symbol.line);
    }
    etwas_output_char(output, '\n');
}

static void put_stack(struct etwas_output *output, struct etwas_heap *heap,
                      const struct etwas_heap_stack *stack)
{
    etwas_output_text(output, "\n  never freed ");
    put_amount(output, stack->live_bytes, stack->live_blocks);
    etwas_output_text(output, "; allocated ");
    put_amount(output, stack->allocated_bytes, stack->allocations);
    etwas_output_char(output, '\n');
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        uint64_t address = heap->frames[stack->first_frame + i];
        struct etwas_heap_location location = etwas_heap_locate(heap, stack, address);

        put_frame(output, &location, address);
    }
    if (stack->frame_count == 0) {
        etwas_output_text(output, "      without a stack\n");
    }
}

void etwas_heap_text(struct etwas_output *output, struct etwas_heap *heap, uint32_t limit,
                     const struct etwas_input *input)
{
    const struct etwas_heap_stack **sorted = etwas_heap_sorted_stacks(heap);
    uint32_t shown = shown_count(heap, limit);

    etwas_text_plain(output, input->path);
    etwas_output_char(output, '\n');
    put_whole(output, heap);
    put_doubts(output, heap, input);
    for (uint32_t i = 0; sorted != NULL && i < shown; i++) {
        put_stack(output, heap, sorted[i]);
    }
    if (shown < heap->stack_count) {
        etwas_output_char(output, '\n');
        put_count(output, "and", heap->stack_count - shown, "more stacks");
    }
    free(sorted);
}

/* ---- JSON ---- */

static void put_json_frame(struct etwas_output *output, const struct etwas_heap_location *location,
                           uint64_t address)
{
    etwas_json_object(output, NULL);
    etwas_json_format(output, "address", "\"0x%" PRIx64 "\"", address);
    if (location->image != NULL) {
        etwas_json_text(output, "image", location->image->path);
        etwas_json_number(output, "image_offset", location->offset);
    }
    if (location->has_symbol) {
        etwas_json_text(output, "function", location->symbol.function);
    }
    if (location->has_symbol && location->image != NULL) {
        etwas_json_number(output, "function_offset", location->symbol.offset + 1);
        if (location->symbol.file != NULL) {
            etwas_json_text(output, "source_file", location->symbol.file);
            etwas_json_number(output, "source_line",
                              (uint64_t)(location->symbol.line < 0 ? 0 : location->symbol.line));
        }
    }
    etwas_output_char(output, '}');
}

static void put_json_amounts(struct etwas_output *output, const struct etwas_heap_stack *stack)
{
    etwas_json_number(output, "live_bytes", stack->live_bytes);
    etwas_json_number(output, "live_blocks", stack->live_blocks);
    etwas_json_number(output, "allocated_bytes", stack->allocated_bytes);
    etwas_json_number(output, "allocations", stack->allocations);
}

void etwas_heap_json_stack(struct etwas_output *output, struct etwas_heap *heap,
                           const struct etwas_heap_stack *stack, uint32_t most_frames)
{
    etwas_json_object(output, NULL);
    put_json_amounts(output, stack);
    etwas_json_array(output, "frames");
    for (uint32_t i = 0; i < stack->frame_count && i < most_frames; i++) {
        bool goes_on = i + 1 == most_frames && stack->frame_count > most_frames;
        uint64_t address = goes_on ? ETWAS_EVENT_CUT : heap->frames[stack->first_frame + i];
        struct etwas_heap_location location = etwas_heap_locate(heap, stack, address);

        put_json_frame(output, &location, address);
    }
    etwas_output_char(output, ']');
}

void etwas_heap_json_head(struct etwas_output *output, const struct etwas_heap *heap,
                          const struct etwas_input *input, int result)
{
    struct etwas_heap_stack all = sum(heap);

    etwas_input_print_json(output, input, "heap", result);
    put_json_amounts(output, &all);
    etwas_json_number(output, "left_out", heap->left_out);
    etwas_json_number(output, "frees", heap->frees);
    etwas_json_number(output, "failed", heap->failed);
    etwas_json_number(output, "without_stack", heap->without_stack);
    etwas_json_number(output, "with_cut_stack", heap->with_cut_stack);
    etwas_json_number(output, "frames", heap->frames_in_all);
    etwas_json_number(output, "unknown_frees", heap->unknown_frees);
    etwas_json_number(output, "unknown_reallocs", heap->unknown_moves);
    etwas_json_number(output, "replaced_blocks", heap->replaced_blocks);
    etwas_json_number(output, "malformed", heap->malformed);
    etwas_json_number(output, "images_left_out", heap->images_left_out);
    etwas_json_number(output, "stack_count", heap->stack_count);
}

void etwas_heap_json(struct etwas_output *output, struct etwas_heap *heap, uint32_t limit,
                     const struct etwas_input *input, int result)
{
    const struct etwas_heap_stack **sorted = etwas_heap_sorted_stacks(heap);
    uint32_t shown = shown_count(heap, limit);

    etwas_heap_json_head(output, heap, input, result);
    etwas_json_array(output, "stacks");
    for (uint32_t i = 0; sorted != NULL && i < shown; i++) {
        etwas_heap_json_stack(output, heap, sorted[i], UINT32_MAX);
        etwas_output_char(output, '}');
    }
    etwas_output_text(output, "]}\n");
    free(sorted);
}
