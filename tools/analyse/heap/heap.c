/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the events of heaptrace for `etwas stat --heap`. Their layout is in
 * examples/heaptrace/README.md.
 */

#include "analyse/heap/heap.h"

#include "analyse/choice.h"
#include "event/event.h"
#include "exit.h"

#include <stdlib.h>

/* {a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4}: the class of heaptrace's events */
static const etwas_guid call_guid = {
    0xa3c81b52, 0x0e9d, 0x4b7e, {0x8d, 0x46, 0x2f, 0x5c, 0x90, 0xd7, 0xe6, 0xb4}};

enum type {
    MALLOC = 10,
    REALLOC = 12,
    REALLOCARRAY,
    FREE,
    POSIX_MEMALIGN,
    MEMALIGN = 17,
    PVALLOC = 19,
    IMAGE
};

enum {
    MOST_FRAMES = 65535 / 8
};

struct call {
    uint64_t size;
    uint64_t address;
    uint64_t third;
    uint8_t type;
    uint32_t process;
    uint32_t thread;
    uint32_t frame_count;
    uint64_t frames[MOST_FRAMES];
};

/* ---- calls ---- */

static bool is_move(uint8_t type)
{
    return type == REALLOC || type == REALLOCARRAY;
}

static size_t data_bytes(uint8_t type)
{
    return is_move(type) || (type >= POSIX_MEMALIGN && type <= MEMALIGN) ? 24 : 16;
}

/* Returns false if the event does not have the layout that heaptrace writes. */
static bool read_call(const EVENT_RECORD *record, struct call *call)
{
    const EVENT_DESCRIPTOR *descriptor = &record->EventHeader.EventDescriptor;
    const uint8_t *data = record->UserData;
    size_t bytes = record->UserDataLength;
    size_t used = data_bytes(descriptor->Opcode);
    uint64_t words[3] = {0};
    uint16_t frame_count = 0;

    if (bytes < used) {
        return false;
    }
    memcpy(words, data, used);
    call->size = words[0];
    call->address = words[1];
    call->third = words[2];
    call->type = descriptor->Opcode;
    call->process = record->EventHeader.ProcessId;
    call->thread = record->EventHeader.ThreadId;
    call->frame_count = 0;
    if (descriptor->Version > 0) {
        if (bytes - used < sizeof frame_count) {
            return false;
        }
        memcpy(&frame_count, data + used, sizeof frame_count);
        used += sizeof frame_count;
        if ((bytes - used) / sizeof call->frames[0] < frame_count) {
            return false;
        }
        memcpy(call->frames, data + used, frame_count * sizeof call->frames[0]);
        call->frame_count = frame_count;
    }
    return true;
}

static void count_drop(struct etwas_heap *heap, uint32_t process, uint64_t address, uint32_t mover)
{
    if (address == 0) {
        return;
    }
    if (!etwas_heap_drop_block(heap, process, address, mover)) {
        *(mover != 0 ? &heap->unknown_moves : &heap->unknown_frees) += 1;
    }
}

static void count_allocation(struct etwas_heap *heap, const struct call *call)
{
    struct etwas_heap_block block = {.address = call->address,
                                     .bytes = call->size,
                                     .process = call->process,
                                     .thread = call->thread,
                                     .is_left_out = heap->is_left_out};
    bool is_cut;

    /* A realloc to size 0 is a free, and returns no block. */
    if (is_move(call->type) && (call->address != 0 || call->size == 0)) {
        count_drop(heap, call->process, call->third, call->thread != 0 ? call->thread : UINT32_MAX);
    }
    heap->left_out += heap->is_left_out;
    if (call->address == 0) {
        heap->failed += !heap->is_left_out && (!is_move(call->type) || call->size != 0);
        return;
    }
    if (heap->is_left_out) {
        etwas_heap_add_block(heap, &block);
        return;
    }
    is_cut = call->frame_count > 0 && call->frames[call->frame_count - 1] == ETWAS_EVENT_CUT;
    heap->frames_in_all += call->frame_count - is_cut;
    heap->with_cut_stack += is_cut;
    heap->without_stack += call->frame_count == 0;
    if (etwas_heap_find_stack(heap, call->process, call->frames, call->frame_count, &block.stack)) {
        etwas_heap_add_block(heap, &block);
    }
}

/* ---- images ---- */

/*
 * Reads an image: base, size in bytes, a byte with the length of the build id, the build id, and a
 * path with its NUL. Returns false if it is malformed.
 */
static bool read_image(const EVENT_RECORD *record, struct etwas_heap_image *image)
{
    enum {
        FIXED_BYTES = 17
    };
    char *data = record->UserData;
    size_t bytes = record->UserDataLength;

    *image = (struct etwas_heap_image){.last_epoch = UINT32_MAX,
                                       .process = record->EventHeader.ProcessId};
    if (bytes < FIXED_BYTES || bytes - FIXED_BYTES < (uint8_t)data[FIXED_BYTES - 1]) {
        return false;
    }
    memcpy(&image->base, data, 8);
    memcpy(&image->bytes, data + 8, 8);
    image->build_id_bytes = (uint8_t)data[FIXED_BYTES - 1];
    memcpy(image->build_id, data + FIXED_BYTES, image->build_id_bytes);
    image->path = data + FIXED_BYTES + image->build_id_bytes;
    bytes -= FIXED_BYTES + image->build_id_bytes;
    return memchr(image->path, 0, bytes) != NULL && image->bytes != 0 &&
           image->base <= UINT64_MAX - image->bytes;
}

/* ---- the file ---- */

bool etwas_heap_is_taken(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return etwas_event_is_of_class(record, &call_guid) && type >= MALLOC && type <= IMAGE;
}

bool etwas_heap_is_image(const EVENT_RECORD *record)
{
    return record->EventHeader.EventDescriptor.Opcode == IMAGE &&
           memcmp(&record->EventHeader.ProviderId, &call_guid, sizeof call_guid) == 0;
}

void etwas_heap_add_record(struct etwas_heap *heap, const EVENT_RECORD *record)
{
    struct call call; /* frames beyond frame_count are not initialized */
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    if (!etwas_heap_is_taken(record)) {
        return;
    }
    if (type == IMAGE) {
        struct etwas_heap_image image;

        if (read_image(record, &image)) {
            etwas_heap_add_image(heap, &image);
        } else {
            heap->malformed++;
        }
    } else if (!read_call(record, &call)) {
        heap->malformed++;
    } else if (type == FREE) {
        count_drop(heap, call.process, call.address, 0);
    } else {
        count_allocation(heap, &call);
    }
}

/* Returns whether the choice leaves out an allocation. A free follows the choice for its block. */
static bool is_left_out(const struct etwas_heap *heap, const struct etwas_input *input,
                        const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return etwas_heap_is_taken(record) && type != IMAGE && type != FREE &&
           !etwas_choice_has(heap->choice, input, record, ETWAS_EVENT_UNKNOWN_ID,
                             ETWAS_EVENT_UNKNOWN_ID);
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_heap *heap = input->context;

    if (heap->choice != NULL) {
        etwas_choice_add_record(heap->choice, input, record);
        heap->is_left_out = is_left_out(heap, input, record);
    }
    etwas_heap_add_record(heap, record);
}

int etwas_heap_read(struct etwas_heap *heap, struct etwas_input *input, const char *path,
                    uint32_t number)
{
    static const struct etwas_input_callbacks callbacks = {.record = on_record};
    int result = etwas_input_open(input, path, number, &callbacks, heap);

    return result == ETWAS_EXIT_DONE ? etwas_input_process_one(input) : result;
}
