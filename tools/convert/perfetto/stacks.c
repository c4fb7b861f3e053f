/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Interned call stacks: each is written once, with an id; later packets refer to the id. Frames are
 * addresses in mappings, with function names as far as the trace and the files that it names have
 * them (addresses.h).
 */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "math/hash.h"
#include "math/hash_index.h"

#include <stdio.h>
#include <stdlib.h>

/* Fields of InternedData, and of what is in it. */
enum {
    FUNCTION = 5,
    FRAME = 6,
    CALLSTACK = 7,
    MAPPING_PATH = 17,
    MAPPING = 19,
    IID = 1,
    STRING = 2,
    FRAME_FUNCTION = 2,
    FRAME_MAPPING = 3,
    FRAME_ADDRESS = 4,
    CALLSTACK_FRAMES = 2,
    MAPPING_PATHS = 7,
};

enum {
    MOST_FRAMES = ETWAS_PERFETTO_FRAMES * (1 + ETWAS_SYMBOLS_INLINED),
    MOST_NUMBERED = 1 << 19, /* a state has fewer (clocks.c) */
};

/*
 * Interned items, each represented by its hash: a stack by its addresses and group, a frame by its
 * address and group, a text by its bytes.
 */
struct etwas_perfetto_stacks {
    uint64_t *hashes; /* index: id - 1 */
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
};

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    hash = etwas_hash(hash, data, bytes);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(uint32_t kind, const void *data, size_t bytes)
{
    return mix(ETWAS_HASH_OF_NOTHING * (kind + 1), data, bytes);
}

/* Returns an item's id, or 0 if memory runs out. Sets *is_new if the item was not written yet. */
static uint32_t number_of(struct etwas_perfetto *perfetto, uint64_t hash, bool *is_new)
{
    struct etwas_perfetto_stacks *stacks = perfetto->stacks;
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&stacks->places, hash, &place);

    while (number != 0 && stacks->hashes[number - 1] != hash) {
        number = etwas_hash_index_next(&stacks->places, &place);
    }
    *is_new = false;
    if (number != 0) {
        return number;
    }
    if (!etwas_array_reserve(&stacks->hashes, &stacks->capacity, stacks->count + 1,
                             sizeof *stacks->hashes) ||
        !etwas_hash_index_add(&stacks->places, hash, stacks->count + 1)) {
        perfetto->convert->out_of_memory = true;
        return 0;
    }
    *is_new = true;
    stacks->hashes[stacks->count++] = hash;
    return stacks->count;
}

static uint32_t text_number(struct etwas_perfetto *perfetto, uint32_t kind, const char *text)
{
    bool is_new;
    uint32_t iid = number_of(perfetto, hash_of(kind, text, strlen(text)), &is_new);

    if (is_new) {
        size_t began = etwas_wire_begin(&perfetto->interned, kind);

        etwas_wire_number(&perfetto->interned, IID, iid);
        etwas_perfetto_put_utf8(&perfetto->interned, STRING, text, strlen(text));
        etwas_wire_end(&perfetto->interned, began);
    }
    return iid;
}

static uint32_t mapping_number(struct etwas_perfetto *perfetto, const char *image)
{
    bool is_new;
    uint32_t iid = number_of(perfetto, hash_of(MAPPING, image, strlen(image)), &is_new);

    if (is_new) {
        uint32_t path = text_number(perfetto, MAPPING_PATH, image);
        size_t began = etwas_wire_begin(&perfetto->interned, MAPPING);

        etwas_wire_number(&perfetto->interned, IID, iid);
        etwas_wire_number(&perfetto->interned, MAPPING_PATHS, path);
        etwas_wire_end(&perfetto->interned, began);
    }
    return iid;
}

/* How addresses are looked up, and what distinguishes them in a hash. */
struct search {
    etwas_perfetto_find_spot *find;
    const void *context;
    uint64_t group; /* equal addresses of a group have the same meaning */
};

/*
 * Returns the id of a frame: of the inlined function `name`, or of the outer function if that is
 * NULL.
 */
static uint32_t frame_number(struct etwas_perfetto *perfetto, const struct search *search,
                             uint64_t address, bool is_return,
                             const struct etwas_perfetto_spot *spot, const char *name)
{
    const uint64_t key[] = {address, search->group, is_return,
                            name != NULL ? etwas_hash(1, name, strlen(name)) : 0};
    bool is_new;
    uint32_t iid = number_of(perfetto, hash_of(FRAME, key, sizeof key), &is_new);

    if (is_new) {
        char hexadecimal[24];
        uint32_t function;
        uint32_t mapping;
        size_t began;

        snprintf(hexadecimal, sizeof hexadecimal, "0x%llx", (unsigned long long)spot->offset);
        name = name != NULL ? name : spot->function;
        function = text_number(perfetto, FUNCTION, name != NULL ? name : hexadecimal);
        mapping = mapping_number(perfetto, spot->image != NULL ? spot->image : "unknown");
        began = etwas_wire_begin(&perfetto->interned, FRAME);
        etwas_wire_number(&perfetto->interned, IID, iid);
        etwas_wire_number(&perfetto->interned, FRAME_FUNCTION, function);
        etwas_wire_number(&perfetto->interned, FRAME_MAPPING, mapping);
        etwas_wire_number(&perfetto->interned, FRAME_ADDRESS, spot->offset);
        etwas_wire_end(&perfetto->interned, began);
    }
    return iid;
}

/*
 * Appends the frames of an address to the `count` that there are, outer ones first. Returns the new
 * count.
 */
static uint32_t add_frames(struct etwas_perfetto *perfetto, const struct search *search,
                           uint64_t address, bool is_return, uint32_t frames[MOST_FRAMES],
                           uint32_t count)
{
    const struct etwas_perfetto_spot spot =
        search->find(perfetto, search->context, address, is_return);

    frames[count++] = frame_number(perfetto, search, address, is_return, &spot, NULL);
    for (uint32_t i = spot.inlined != NULL ? spot.inlined->count : 0; i > 0; i--) {
        frames[count++] = frame_number(perfetto, search, address, is_return, &spot,
                                       spot.inlined->functions[i - 1]);
    }
    return count;
}

/* Writes the new interned items, before the packet that uses them. */
static void write_names(struct etwas_perfetto *perfetto)
{
    struct etwas_wire *packet = &perfetto->packet;

    etwas_wire_number(packet, PACKET_FLAGS, PACKET_NEEDS_STATE);
    etwas_wire_bytes(packet, PACKET_INTERNED, perfetto->interned.bytes, perfetto->interned.used);
    etwas_wire_number(packet, PACKET_SEQUENCE, ETWAS_PERFETTO_EVENTS);
    etwas_perfetto_write_packet(perfetto);
    etwas_wire_clear(&perfetto->interned);
}

uint32_t etwas_perfetto_stack_of(struct etwas_perfetto *perfetto, const uint64_t *addresses,
                                 uint32_t count, uint64_t group, etwas_perfetto_find_spot *find,
                                 const void *context)
{
    uint32_t frames[MOST_FRAMES];
    const struct search search = {find, context, group};
    uint32_t frame_count = 0;
    uint64_t hash;
    bool is_new;
    uint32_t iid;
    size_t began;

    if (perfetto->stacks == NULL) {
        perfetto->stacks = calloc(1, sizeof *perfetto->stacks);
    }
    if (count == 0 || perfetto->stacks == NULL || perfetto->stacks->count > MOST_NUMBERED) {
        return 0;
    }
    hash = mix(hash_of(CALLSTACK, addresses, count * sizeof *addresses), &group, sizeof group);
    iid = number_of(perfetto, hash, &is_new);
    if (!is_new) {
        return iid;
    }
    for (uint32_t i = count; i > 0; i--) {
        frame_count = add_frames(perfetto, &search, addresses[i - 1], i > 1, frames, frame_count);
    }
    began = etwas_wire_begin(&perfetto->interned, CALLSTACK);
    etwas_wire_number(&perfetto->interned, IID, iid);
    for (uint32_t i = 0; i < frame_count; i++) {
        etwas_wire_number(&perfetto->interned, CALLSTACK_FRAMES, frames[i]);
    }
    etwas_wire_end(&perfetto->interned, began);
    write_names(perfetto);
    return iid;
}

/* Resolves an address by the trace's images and symbols. */
static struct etwas_perfetto_spot find_spot(struct etwas_perfetto *perfetto, const void *context,
                                            uint64_t address, bool is_return)
{
    const struct etwas_perfetto_record *record = context;
    struct etwas_place *place = &perfetto->place;

    *place = etwas_addresses_find(&perfetto->addresses,
                                  &(struct etwas_address){.value = address,
                                                          .time = record->time_ns,
                                                          .process = record->stack_process,
                                                          .is_return = is_return});
    return (struct etwas_perfetto_spot){.image = place->image,
                                        .offset = place->image != NULL ? place->offset : address,
                                        .function =
                                            place->has_function ? place->function.function : NULL,
                                        .inlined = &place->inlined};
}

uint32_t etwas_perfetto_stack(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record)
{
    uint64_t frames[ETWAS_PERFETTO_FRAMES];

    if (record->stack_frames == 0) {
        return 0;
    }
    memcpy(frames, perfetto->frames, record->stack_frames * sizeof frames[0]);
    return etwas_perfetto_stack_of(perfetto, frames, record->stack_frames, record->stack_process,
                                   find_spot, record);
}

void etwas_perfetto_stacks_tell_again(struct etwas_perfetto *perfetto)
{
    if (perfetto->stacks != NULL) {
        etwas_hash_index_clear(&perfetto->stacks->places);
        perfetto->stacks->count = 0;
    }
}

void etwas_perfetto_stacks_close(struct etwas_perfetto *perfetto)
{
    etwas_perfetto_stacks_tell_again(perfetto);
    free(perfetto->stacks != NULL ? perfetto->stacks->hashes : NULL);
    free(perfetto->stacks);
}
