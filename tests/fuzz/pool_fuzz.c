/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A pool that was left behind, or scribbled over, read from outside: u8 slots, u8 of these with
 * restartable sequences, u8 buffers, u8 whether owner words change meanwhile; then the slots,
 * controls, owner words and buffers, as far as the bytes go. In place of a word of 4 equal bytes
 * comes one that makes sense, so that what lies behind the first comparisons is reached.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer/pool_read.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    BUFFER_BYTES = 512,
    MOST_SLOTS = 4,
    MOST_BUFFERS = 8,
};

struct pool {
    struct etwas_slot *slots;
    struct etwas_buffer_control *controls;
    uint64_t *owners;
    uint64_t *owners_after;
    uint8_t *region;
    struct etwas_pool_view view;
};

/*
 * So many bytes of the input, in an allocation of that very size; zeroes where there are no more.
 */
static void *take(struct input *input, size_t bytes)
{
    size_t left = bytes < input->left ? bytes : input->left;
    void *copy;

    MUST(posix_memalign(&copy, _Alignof(struct etwas_slot_counters) * 2, bytes) == 0);
    memset(copy, 0, bytes);
    memcpy(copy, input->at, left);
    input->at += left;
    input->left -= left;
    return copy;
}

/* A record that is whole, where 8 bytes are all the same: as long as they say. */
static void put_records(uint8_t *region, size_t bytes)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        struct etwas_etl_full_header header = {
            .size = (uint16_t)(sizeof header + region[at] % 64),
            .header_type = ETWAS_ETL_FULL_HEADER64,
            .marker_flags = ETWAS_ETL_MARKER_FLAGS,
            .time_stamp = region[at],
        };

        if (region[at] != 0 && at + sizeof header <= bytes &&
            memcmp(region + at, region + at + 1, 7) == 0) {
            memcpy(region + at, &header, sizeof header);
        }
    }
}

static void make_sense(struct pool *pool)
{
    const struct etwas_pool_view *view = &pool->view;

    for (uint32_t index = 0; index < view->slot_count; index++) {
        uint64_t word = pool->slots[index].word;
        uint64_t shared = index >= view->rseq_slots ? ETWAS_WORD_SHARED : 0;

        if ((uint32_t)word >> 8 == ((uint32_t)word & 0xFFFFFF)) {
            pool->slots[index].word =
                shared | etwas_slot_word(word >> 32 & 15, (uint32_t)word % view->buffer_count,
                                         (uint32_t)(word >> 40) % (BUFFER_BYTES / 8 + 1));
        }
    }
    for (uint32_t index = 0; index < view->buffer_count; index++) {
        uint64_t owner = pool->owners[index];

        if ((uint32_t)owner >> 8 == ((uint32_t)owner & 0xFFFFFF)) {
            pool->owners[index] =
                etwas_owner((owner >> 32 & 7) + 1, (uint32_t)(owner >> 40) % view->slot_count,
                            (enum etwas_owner_state)(owner >> 48 & 3));
        }
    }
}

static void open_pool(struct pool *pool, struct input *input)
{
    struct etwas_pool_view *view = &pool->view;
    bool changes;

    *view = (struct etwas_pool_view){.slot_stride = sizeof *pool->slots,
                                     .control_stride = sizeof *pool->controls,
                                     .buffer_bytes = BUFFER_BYTES};
    view->slot_count = 1 + take_u8(input) % MOST_SLOTS;
    view->rseq_slots = take_u8(input) % (view->slot_count + 1);
    view->buffer_count = 1 + take_u8(input) % MOST_BUFFERS;
    changes = take_u8(input) % 4 == 1;
    pool->slots = take(input, view->slot_count * sizeof *pool->slots);
    pool->owners = take(input, view->buffer_count * sizeof *pool->owners);
    pool->controls = take(input, view->buffer_count * sizeof *pool->controls);
    pool->region = take(input, (size_t)view->buffer_count * BUFFER_BYTES);
    make_sense(pool);
    put_records(pool->region, (size_t)view->buffer_count * BUFFER_BYTES);
    pool->owners_after = take(input, view->buffer_count * sizeof *pool->owners);
    if (!changes) {
        memcpy(pool->owners_after, pool->owners, view->buffer_count * sizeof *pool->owners);
    }
    view->slots = pool->slots;
    view->controls = pool->controls;
    view->owners = pool->owners;
    view->owners_after = pool->owners_after;
    view->region = pool->region;
}

static void read_buffer(const struct etwas_pool_view *view, const struct etwas_held_buffer *held,
                        void *copy)
{
    struct etwas_found_buffer found;
    enum etwas_pool_found result = etwas_pool_read_inspect(view, held, &found);

    MUST(result <= ETWAS_POOL_FOUND_DAMAGED && held->buffer < view->buffer_count);
    if (result == ETWAS_POOL_FOUND_RECORDS) {
        result = etwas_pool_read_records(view, &found, copy);
        MUST(result != ETWAS_POOL_FOUND_RECORDS ||
             found.end_units <= BUFFER_BYTES / ETWAS_UNIT_BYTES);
        (void)etwas_pool_read_is_unchanged(view, &found);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct etwas_held_buffer list[MOST_BUFFERS];
    struct pool pool;
    void *copy = malloc(BUFFER_BYTES - ETWAS_ETL_BUFFER_HEADER_BYTES);
    uint32_t held;

    MUST(copy != NULL);
    open_pool(&pool, &input);
    held = etwas_pool_read_list(&pool.view, list);
    MUST(held <= pool.view.buffer_count);
    for (uint32_t index = 0; index < held; index++) {
        MUST(index == 0 || list[index].owner >= list[index - 1].owner);
        read_buffer(&pool.view, &list[index], copy);
    }
    free(copy);
    free(pool.slots);
    free(pool.controls);
    free(pool.owners);
    free(pool.owners_after);
    free(pool.region);
    return 0;
}
