/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Gathers stacks: from the kernel's samples, heaptrace's calls, and events with a stack. */

#include "convert/stacks/stacks.h"

#include "cli/files.h"
#include "cli/quiet.h"
#include "exit.h"

#include <inttypes.h>
#include <stdio.h>

/* The state of one file. */
struct file {
    struct etwas_hot hot;
    struct etwas_heap heap;
};

struct gathering {
    struct etwas_stacks *stacks;
    struct file *files; /* by number - 1 */
    uint32_t frames[ETWAS_STACKS_DEPTH];
};

/* ---- samples --------------------------------------------------------------------------------- */

/* Adds the functions at an address: the outer one, then those inlined in it. */
static void add_functions(struct gathering *gathering, struct etwas_stack *stack,
                          const struct etwas_place *place, bool is_kernel)
{
    struct etwas_stacks *stacks = gathering->stacks;

    for (uint32_t i = etwas_place_functions(place);
         i > 0 && stack->frame_count < ETWAS_STACKS_DEPTH; i--) {
        const struct etwas_place its = etwas_place_function(place, i - 1);

        gathering->frames[stack->frame_count++] =
            etwas_stacks_number(stacks, etwas_hot_function(&stacks->functions, &its, is_kernel));
    }
}

/*
 * Adds a sample. Its instruction is the innermost frame of its stack; a sample without a stack has
 * this frame only.
 */
static void on_sample(struct etwas_hot *hot, const struct etwas_hot_sample *sample)
{
    struct gathering *gathering = hot->context;
    struct etwas_stacks *stacks = gathering->stacks;
    uint32_t first = sample->frame_count > 0 && sample->frames[0] == sample->address ? 1 : 0;
    struct etwas_stack stack = {
        .kind = ETWAS_STACKS_SAMPLES,
        .process = sample->has_process ? sample->process : ETWAS_EVENT_UNKNOWN_ID,
        .thread = sample->thread,
        .values = {1, hot->interval_100ns * 100},
    };
    struct etwas_place innermost;

    for (uint32_t i = sample->frame_count; i > first; i--) {
        const struct etwas_place place =
            etwas_hot_place(hot, sample, sample->frames[i - 1], sample->is_return[i - 1]);

        add_functions(gathering, &stack, &place, etwas_address_is_kernel(sample->frames[i - 1]));
    }
    innermost = etwas_hot_place(hot, sample, sample->address, false);
    add_functions(gathering, &stack, &innermost, etwas_address_is_kernel(sample->address));
    stacks->has_times |= hot->interval_100ns != 0;
    etwas_stacks_add(stacks, &stack, gathering->frames);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void take_event(struct etwas_convert *convert, struct gathering *gathering,
                       struct etwas_hot *hot)
{
    const EVENT_RECORD *record = convert->current.record;
    const struct etwas_event_stack found = etwas_event_stack(record);
    struct etwas_stack stack = {
        .kind = ETWAS_STACKS_EVENTS,
        .process = convert->current.event.process,
        .thread = convert->current.event.thread,
        .values = {1},
    };

    if (found.count == 0 || etwas_event_is_stack_walk(record)) {
        return;
    }
    for (uint32_t i = found.count; i > 0; i--) {
        const struct etwas_address address = {
            .value = etwas_event_frame(&found, i - 1),
            .time = record->EventHeader.TimeStamp.QuadPart,
            .process = stack.process,
            .is_return = i > found.first_return,
        };
        const struct etwas_place place = etwas_addresses_find(&hot->addresses, &address);

        add_functions(gathering, &stack, &place, etwas_address_is_kernel(address.value));
    }
    etwas_stacks_add(gathering->stacks, &stack, gathering->frames);
}

static void on_event(struct etwas_convert *convert)
{
    struct gathering *gathering = convert->state;
    struct file *file = &gathering->files[convert->current.input->number - 1];
    const EVENT_RECORD *record = convert->current.record;
    uint64_t address;
    uint32_t thread;

    /* Stacks of samples are separate events, which a choice of events does not apply to. */
    if (convert->is_wanted || !etwas_kernel_sample(record, &address, &thread)) {
        etwas_hot_add_record(&file->hot, record);
    }
    if (convert->is_wanted || etwas_heap_is_image(record)) {
        etwas_heap_add_record(&file->heap, record);
    }
    if (convert->is_wanted) {
        take_event(convert, gathering, &file->hot);
        etwas_stacks_take_span(gathering->stacks, convert);
    }
    convert->run.stop |= gathering->stacks->out_of_memory;
}

/* ---- heap ------------------------------------------------------------------------------------ */

static void take_heap(struct gathering *gathering, struct etwas_heap *heap)
{
    for (uint32_t i = 0; i < heap->stack_count; i++) {
        const struct etwas_heap_stack *found = &heap->stacks[i];
        struct etwas_stack stack = {
            .kind = ETWAS_STACKS_HEAP,
            .process = ETWAS_EVENT_UNKNOWN_ID,
            .thread = ETWAS_EVENT_UNKNOWN_ID,
            .values = {found->allocations, found->allocated_bytes, found->live_blocks,
                       found->live_bytes},
        };

        for (uint32_t k = found->frame_count; k > 0; k--) {
            struct etwas_heap_location location =
                etwas_heap_locate(heap, found, heap->frames[found->first_frame + k - 1]);
            const struct etwas_place place = {
                .image = location.image != NULL ? etwas_files_name(location.image->path) : NULL,
                .has_function = location.has_symbol,
                .function = location.symbol,
            };

            gathering->frames[stack.frame_count++] = etwas_stacks_number(
                gathering->stacks,
                etwas_hot_function(&gathering->stacks->functions, &place, false));
        }
        etwas_stacks_add(gathering->stacks, &stack, gathering->frames);
    }
}

/* ---- all files ------------------------------------------------------------------------------- */

/*
 * Reads what the addresses of all files are, before the first one is resolved. Returns false if
 * memory runs out.
 */
static bool open_files(const struct etwas_convert *convert, struct gathering *gathering)
{
    for (uint32_t i = 0; i < convert->path_count; i++) {
        struct etwas_hot *hot = &gathering->files[i].hot;

        if (!etwas_hot_open(hot, on_sample)) {
            return false;
        }
        hot->context = gathering;
        etwas_addresses_read(&hot->addresses, convert->paths[i], ETWAS_INPUT_BOTH);
    }
    return true;
}

/* Completes the stacks of all files after the last event. Returns false if memory runs out. */
static bool finish_files(const struct etwas_convert *convert, struct gathering *gathering)
{
    bool is_whole = true;

    for (uint32_t i = 0; i < convert->path_count; i++) {
        struct file *file = &gathering->files[i];

        etwas_hot_finish(&file->hot);
        take_heap(gathering, &file->heap);
        is_whole &= !file->hot.out_of_memory && !file->heap.out_of_memory &&
                    etwas_addresses_are_whole(&file->hot.addresses);
    }
    return is_whole && !gathering->stacks->out_of_memory &&
           !gathering->stacks->functions.out_of_memory;
}

static void choose_kind(struct etwas_convert *convert, struct etwas_stacks *stacks)
{
    static const char *const names[] = {"samples", "stacks of heaptrace", "events with a stack"};

    while (stacks->kind < ETWAS_STACKS_EVENTS && stacks->seen[stacks->kind] == 0) {
        stacks->kind++;
    }
    for (uint32_t i = stacks->kind + 1; i < ETWAS_STACKS_KINDS; i++) {
        if (stacks->seen[i] > 0) {
            fprintf(stderr, "etwas convert: %s alone; left out: %" PRIu64 " %s\n",
                    names[stacks->kind], stacks->seen[i], names[i]);
        }
    }
    if (stacks->seen[stacks->kind] == 0 && stacks->span_count == 0 &&
        convert->where.error == NULL && convert->run.count > 0) {
        convert->is_empty = true;
        if (!etwas_is_quiet) {
            fputs("etwas convert: note: there are no stacks of what is asked for; 'etwas record "
                  "--kernel profile --stack profile' records them\n",
                  stderr);
        }
    }
    if (stacks->beyond > 0) {
        fprintf(stderr, "etwas convert: %" PRIu64 " stacks are more than are told apart\n",
                stacks->beyond);
    }
    if (stacks->spans_left_out > 0) {
        fprintf(stderr,
                "etwas convert: %" PRIu64
                " instances are left out that are not inside of each other\n",
                stacks->spans_left_out);
    }
}

int etwas_stacks_gather(struct etwas_convert *convert, struct etwas_stacks *stacks)
{
    const struct etwas_convert_reader reader = {
        .wants_all = true, .wants_spans = stacks->wants_spans, .event = on_event};
    struct gathering gathering;
    int result = ETWAS_EXIT_FAILED;

    gathering.stacks = stacks;
    gathering.files = calloc(convert->path_count, sizeof *gathering.files);
    convert->state = &gathering;
    if (gathering.files == NULL) {
        convert->out_of_memory = true;
        return result;
    }
    if (open_files(convert, &gathering)) {
        result = etwas_convert_read(convert, &reader);
        convert->out_of_memory |= !finish_files(convert, &gathering);
        etwas_stacks_nest_spans(stacks);
        choose_kind(convert, stacks);
    } else {
        convert->out_of_memory = true;
    }
    for (uint32_t i = 0; i < convert->path_count; i++) {
        etwas_hot_clear(&gathering.files[i].hot);
        etwas_heap_clear(&gathering.files[i].heap);
    }
    free(gathering.files);
    return result;
}
