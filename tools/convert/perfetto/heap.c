/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The heap, as recorded by heaptrace: the live bytes of each process as a counter, and, every ten
 * seconds, what each call stack has allocated and freed since the beginning.
 */

#include "analyse/heap/heap.h"
#include "convert/perfetto/perfetto.h"
#include "math/array.h"

#include <stdlib.h>

enum {
    PACKET_PROFILE = 37,
    PROFILE_DUMP = 5,
    PROFILE_CONTINUED = 6,
    PROFILE_INDEX = 7,
    DUMP_PROCESS = 1,
    DUMP_SAMPLE = 2,
    DUMP_TIME = 9,
    DUMP_NAME = 11,
    DUMP_INTERVAL = 12,
    SAMPLE_STACK = 1,
    SAMPLE_ALLOCATED = 2,
    SAMPLE_FREED = 3,
    SAMPLE_ALLOCATIONS = 5,
    SAMPLE_FREES = 6,
    COUNTER_VALUE = 30,
    DESCRIPTOR_COUNTER = 8,
    COUNTER_UNIT = 3,
    UNIT_BYTES = 3,
    PART_STACKS = 20000, /* how many stacks of a dump go into one packet */
    FRAME_WEIGHT = 64,   /* as in spool.c */
};

#define COUNTER_NS INT64_C(10000000)
#define DUMP_NS INT64_C(10000000000)

/* The live bytes of a process. etwas_heap_process.mark is its index + 1. */
struct counter {
    uint64_t track;
    int64_t next_ns;
    uint64_t told; /* the last value written */
};

struct etwas_perfetto_heap {
    struct etwas_heap heap;
    struct counter *counters;
    uint32_t counter_count;
    size_t counter_capacity;
    int64_t next_dump_ns;
    uint32_t file;
    uint64_t *told; /* by stack: sum_of when it was last written */
    uint32_t told_count;
};

/* A stack's counts, as stored in the spool. */
struct told_stack {
    uint32_t stack;
    uint32_t process;
    uint64_t allocated;
    uint64_t freed;
    uint64_t allocations;
    uint64_t frees;
};

/* ---- reading --------------------------------------------------------------------------------- */

static struct etwas_perfetto_heap *heap_of(struct etwas_perfetto *perfetto,
                                           const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_file *file = &perfetto->files[record->file - 1];

    if (file->heap == NULL) {
        file->heap = calloc(1, sizeof *file->heap);
        if (file->heap == NULL) {
            perfetto->convert->out_of_memory = true;
            return NULL;
        }
        file->heap->file = record->file;
        file->heap->next_dump_ns = record->time_ns + DUMP_NS;
    }
    return file->heap;
}

static void put_track(struct etwas_perfetto *perfetto, uint64_t uuid, uint32_t process_track)
{
    size_t began = etwas_perfetto_begin_track(perfetto, uuid, perfetto->tracks[process_track].uuid);
    size_t counter;

    etwas_wire_text(&perfetto->packet, DESCRIPTOR_NAME, "heap");
    counter = etwas_wire_begin(&perfetto->packet, DESCRIPTOR_COUNTER);
    etwas_wire_number(&perfetto->packet, COUNTER_UNIT, UNIT_BYTES);
    etwas_wire_end(&perfetto->packet, counter);
    etwas_perfetto_end_track(perfetto, began);
    etwas_perfetto_put_packet(perfetto);
}

/* Returns NULL if memory runs out. */
static struct counter *counter_of(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap,
                                  struct etwas_heap_process *process)
{
    uint32_t track;

    if (process->mark != 0) {
        return &heap->counters[process->mark - 1];
    }
    if (!etwas_array_reserve(&heap->counters, &heap->counter_capacity, heap->counter_count + 1,
                             sizeof *heap->counters)) {
        perfetto->convert->out_of_memory = true;
        return NULL;
    }
    track = etwas_perfetto_track(perfetto, process->process, ETWAS_EVENT_UNKNOWN_ID);
    if (track == UINT32_MAX) {
        return NULL;
    }
    process->mark = ++heap->counter_count;
    heap->counters[process->mark - 1] = (struct counter){.track = ++perfetto->uuid};
    put_track(perfetto, perfetto->uuid, track);
    return &heap->counters[process->mark - 1];
}

static void put_counter(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap,
                        struct etwas_heap_process *process, int64_t time_ns)
{
    struct etwas_perfetto_record record = {
        .kind = ETWAS_PERFETTO_PUT_EVENT, .time_ns = time_ns, .file = (uint16_t)heap->file};
    struct counter *counter = process != NULL ? counter_of(perfetto, heap, process) : NULL;

    if (counter == NULL || time_ns < counter->next_ns || counter->told == process->live_bytes) {
        return;
    }
    counter->next_ns = time_ns + COUNTER_NS;
    counter->told = process->live_bytes;
    perfetto->files[heap->file - 1].events++;
    etwas_wire_number(&perfetto->event, EVENT_TYPE, EVENT_COUNTER);
    etwas_wire_number(&perfetto->event, EVENT_TRACK, counter->track);
    etwas_wire_number(&perfetto->event, COUNTER_VALUE, counter->told);
    etwas_perfetto_put_event(perfetto, &record, NULL);
}

/* Writes the final values, even if the last ones were written just before. */
static void put_counters(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap,
                         int64_t time_ns)
{
    for (uint32_t i = 0; i < heap->counter_count; i++) {
        heap->counters[i].next_ns = INT64_MIN;
    }
    for (uint32_t i = 0; i < heap->heap.process_capacity; i++) {
        if (heap->heap.processes[i].mark != 0) {
            put_counter(perfetto, heap, &heap->heap.processes[i], time_ns);
        }
    }
}

/*
 * Returns a number that changes whenever the stack does: allocations plus frees, which only grow.
 */
static uint64_t sum_of(const struct etwas_heap_stack *stack)
{
    return 2 * stack->allocations - stack->live_blocks;
}

static bool make_room(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap)
{
    uint64_t *larger;

    if (heap->told_count >= heap->heap.stack_count) {
        return true;
    }
    larger = realloc(heap->told, heap->heap.stack_count * sizeof *larger);
    if (larger == NULL) {
        perfetto->convert->out_of_memory = true;
        return false;
    }
    memset(larger + heap->told_count, 0,
           (heap->heap.stack_count - heap->told_count) * sizeof *larger);
    heap->told = larger;
    heap->told_count = heap->heap.stack_count;
    return true;
}

static int by_process(const void *left, const void *right)
{
    const struct told_stack *one = left;
    const struct told_stack *other = right;

    return one->process != other->process ? (one->process < other->process ? -1 : 1)
                                          : (one->stack < other->stack ? -1 : 1);
}

static void put_part(struct etwas_perfetto *perfetto, const struct etwas_perfetto_heap *heap,
                     int64_t time_ns, bool is_last)
{
    struct etwas_perfetto_record record = {.kind = ETWAS_PERFETTO_PUT_HEAP,
                                           .time_ns = time_ns,
                                           .place = !is_last,
                                           .file = (uint16_t)heap->file};

    qsort(perfetto->event.bytes, perfetto->event.used / sizeof(struct told_stack),
          sizeof(struct told_stack), by_process);
    perfetto->files[heap->file - 1].events++;
    etwas_perfetto_put_event(perfetto, &record, NULL);
}

/* Stores the stacks that have changed since they were last written. */
static void put_dump(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap,
                     int64_t time_ns)
{
    uint32_t count = 0;

    heap->next_dump_ns = time_ns + DUMP_NS;
    if (!make_room(perfetto, heap)) {
        return;
    }
    for (uint32_t i = 0; i < heap->heap.stack_count; i++) {
        const struct etwas_heap_stack *stack = &heap->heap.stacks[i];
        struct told_stack told = {.stack = i,
                                  .process = stack->process,
                                  .allocated = stack->allocated_bytes,
                                  .freed = stack->allocated_bytes - stack->live_bytes,
                                  .allocations = stack->allocations,
                                  .frees = stack->allocations - stack->live_blocks};

        if (heap->told[i] != sum_of(stack)) {
            heap->told[i] = sum_of(stack);
            perfetto->state_bytes += (uint64_t)stack->frame_count * FRAME_WEIGHT;
            etwas_wire_raw(&perfetto->event, &told, sizeof told);
            if (++count % PART_STACKS == 0) {
                put_part(perfetto, heap, time_ns, false);
            }
        }
    }
    put_part(perfetto, heap, time_ns, true);
}

bool etwas_perfetto_take_heap(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record)
{
    const struct etwas_convert *convert = perfetto->convert;
    const EVENT_RECORD *event = convert->current.record;
    struct etwas_perfetto_heap *heap;

    if (!etwas_heap_is_taken(event)) {
        return false;
    }
    heap = heap_of(perfetto, record);
    if (heap == NULL || (!convert->is_wanted && !etwas_heap_is_image(event))) {
        return true;
    }
    etwas_heap_add_record(&heap->heap, event);
    put_counter(perfetto, heap, etwas_heap_process(&heap->heap, event->EventHeader.ProcessId),
                record->time_ns);
    if (record->time_ns >= heap->next_dump_ns) {
        put_dump(perfetto, heap, record->time_ns);
    }
    return !etwas_where_is_given(&convert->where) &&
           convert->window.from.anchor == ETWAS_WINDOW_OPEN &&
           convert->window.until.anchor == ETWAS_WINDOW_OPEN;
}

void etwas_perfetto_end_heaps(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        struct etwas_perfetto_heap *heap = perfetto->files[i].heap;

        if (heap != NULL) {
            perfetto->convert->out_of_memory |= heap->heap.out_of_memory;
            put_counters(perfetto, heap, perfetto->files[i].last_ns);
            put_dump(perfetto, heap, perfetto->files[i].last_ns);
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The context for looking up a stack's frames. */
struct owner {
    struct etwas_heap *heap;
    const struct etwas_heap_stack *stack;
    struct etwas_heap_location *location; /* of the last frame looked up */
};

static struct etwas_perfetto_spot find_spot(struct etwas_perfetto *perfetto, const void *context,
                                            uint64_t address, bool is_return)
{
    const struct owner *owner = context;
    struct etwas_heap_location *location = owner->location;

    (void)perfetto, (void)is_return;
    *location = etwas_heap_locate(owner->heap, owner->stack, address);
    return (struct etwas_perfetto_spot){
        .image = location->image != NULL ? location->image->path : NULL,
        .offset = location->image != NULL ? location->offset : address,
        .function = location->has_symbol ? location->symbol.function : NULL};
}

static void put_sample(struct etwas_perfetto *perfetto, struct etwas_perfetto_heap *heap,
                       const struct told_stack *told)
{
    const struct etwas_heap_stack *stack = &heap->heap.stacks[told->stack];
    struct etwas_heap_location location;
    const struct owner owner = {&heap->heap, stack, &location};
    uint64_t frames[ETWAS_PERFETTO_FRAMES] = {0};
    uint32_t count = stack->frame_count < ETWAS_PERFETTO_FRAMES ? stack->frame_count
                                                                : (uint32_t)ETWAS_PERFETTO_FRAMES;
    /* A process has fewer epochs than images, so that 16 bits suffice. */
    uint64_t group = (uint64_t)heap->file << 48 | (uint64_t)stack->process << 16 | stack->epoch;
    uint32_t iid;
    size_t began;

    if (count != 0) { /* else the array may be NULL */
        memcpy(frames, heap->heap.frames + stack->first_frame, count * sizeof frames[0]);
    }
    if (count < stack->frame_count) {
        frames[count - 1] = ETWAS_EVENT_CUT;
    }
    iid =
        etwas_perfetto_stack_of(perfetto, frames, count > 0 ? count : 1, group, find_spot, &owner);
    began = etwas_wire_begin(&perfetto->event, DUMP_SAMPLE);
    etwas_wire_number(&perfetto->event, SAMPLE_STACK, iid);
    etwas_wire_number(&perfetto->event, SAMPLE_ALLOCATED, told->allocated);
    etwas_wire_number(&perfetto->event, SAMPLE_FREED, told->freed);
    etwas_wire_number(&perfetto->event, SAMPLE_ALLOCATIONS, told->allocations);
    etwas_wire_number(&perfetto->event, SAMPLE_FREES, told->frees);
    etwas_wire_end(&perfetto->event, began);
}

static size_t begin_dump(struct etwas_wire *event, uint32_t process, int64_t time_ns)
{
    size_t began = etwas_wire_begin(event, PROFILE_DUMP);

    etwas_wire_number(event, DUMP_PROCESS, process);
    etwas_wire_number(event, DUMP_TIME, (uint64_t)time_ns);
    etwas_wire_text(event, DUMP_NAME, "malloc");
    etwas_wire_number(event, DUMP_INTERVAL, 1);
    return began;
}

void etwas_perfetto_write_heap(struct etwas_perfetto *perfetto,
                               const struct etwas_perfetto_record *record)
{
    struct etwas_perfetto_heap *heap = perfetto->files[record->file - 1].heap;
    const struct etwas_perfetto_part nothing = {NULL, 0};
    struct etwas_perfetto_part parts[2] = {nothing, nothing};
    struct etwas_wire *event = &perfetto->event;
    uint32_t process = 0;
    size_t began = 0;

    for (size_t at = 0; at + sizeof(struct told_stack) <= record->bytes;
         at += sizeof(struct told_stack)) {
        struct told_stack told;

        memcpy(&told, perfetto->behind + at, sizeof told);
        if (at != 0 && told.process != process) {
            etwas_wire_end(event, began);
        }
        if (at == 0 || told.process != process) {
            process = told.process;
            began = begin_dump(event, process, record->time_ns);
        }
        put_sample(perfetto, heap, &told);
    }
    if (began != 0) {
        etwas_wire_end(event, began);
    }
    if (record->place != 0) {
        etwas_wire_number(event, PROFILE_CONTINUED, 1);
    }
    etwas_wire_number(event, PROFILE_INDEX, perfetto->profile_index++);
    parts[0] = (struct etwas_perfetto_part){event->bytes, event->used};
    etwas_perfetto_write_timed(perfetto, PACKET_PROFILE, record->time_ns, &nothing, parts);
    etwas_wire_clear(event);
}

void etwas_perfetto_heaps_close(struct etwas_perfetto *perfetto)
{
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        struct etwas_perfetto_heap *heap = perfetto->files[i].heap;

        if (heap != NULL) {
            etwas_heap_clear(&heap->heap);
            free(heap->told);
            free(heap->counters);
            free(heap);
        }
    }
}
