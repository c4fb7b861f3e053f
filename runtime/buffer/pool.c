/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/pool.h"

#include "buffer/free_set.h"
#include "platform/memory_limit.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/wait.h"

enum {
    CONTROL_ALIGNMENT = 128,
    LEAST_EXTRA_BUFFERS = 2, /* one current, one for the next */
    RAISED_AT_MOST = 4,      /* times what the maximum is at the start */
};

/* ---- bookkeeping, kept for each entry of the session table ----------------------------------- */

/* Each under the control of who has the entry. */
static struct etwas_pool *kept[ETWAS_SESSION_ENTRIES];

static size_t aligned(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* The parts of a control block of this capacity. The first page is the pool itself. */
struct layout {
    size_t owners;
    size_t free_set;
    size_t buffers;
    size_t counters;
    size_t bytes;
};

static struct layout lay_out(uint32_t capacity, uint32_t slots)
{
    struct layout layout;

    layout.owners = etwas_memory_page_bytes();
    layout.free_set = layout.owners + aligned(capacity * sizeof(uint64_t), CONTROL_ALIGNMENT);
    layout.buffers = layout.free_set +
                     aligned(etwas_free_set_words(capacity) * sizeof(uint64_t), CONTROL_ALIGNMENT);
    layout.counters = layout.buffers + capacity * sizeof(struct etwas_buffer_control);
    layout.bytes = layout.counters +
                   aligned(slots * sizeof(struct etwas_slot_counters), etwas_memory_page_bytes());
    return layout;
}

static uint32_t region_buffers(const struct etwas_pool_options *options)
{
    return options->capacity > options->maximum_buffers ? options->capacity
                                                        : options->maximum_buffers;
}

/*
 * A block for the entry: the one there is, or a new one of at least twice its capacity, so that
 * what is left behind stays less than what is in use. Nobody zeroes the first page of a block that
 * was in use: late writers follow its pointers.
 */
static struct etwas_pool *keep_block(const struct etwas_pool_options *options)
{
    struct etwas_pool *pool = kept[options->session];
    uint32_t capacity = region_buffers(options);
    struct layout layout;
    char *block;

    if (pool != NULL && pool->capacity >= capacity) {
        etwas_memory_clear_kept((char *)pool + etwas_memory_page_bytes(),
                                pool->control_bytes - etwas_memory_page_bytes());
        return pool;
    }
    if (pool != NULL && capacity < 2 * pool->capacity) {
        capacity = 2 * pool->capacity;
    }
    layout = lay_out(capacity, etwas_processor_count() + 1);
    block = etwas_memory_keep(layout.bytes);
    if (block == NULL) {
        return NULL;
    }
    pool = (struct etwas_pool *)(void *)block;
    pool->owners = (uint64_t *)(void *)(block + layout.owners);
    pool->free_set = (uint64_t *)(void *)(block + layout.free_set);
    pool->buffers = (struct etwas_buffer_control *)(void *)(block + layout.buffers);
    pool->counters = (struct etwas_slot_counters *)(void *)(block + layout.counters);
    pool->control_bytes = layout.bytes;
    pool->capacity = capacity;
    ck_ec32_init(&pool->wake, 0);
    kept[options->session] = pool;
    return pool;
}

void etwas_pool_leak(struct etwas_pool *pool)
{
    etwas_memory_leak(&pool->memory);
    kept[pool->session] = NULL;
}

/* ---- creation -------------------------------------------------------------------------------- */

/* In buffering mode the extra slot may take this many buffers from the others. */
static uint32_t extra_share(const struct etwas_pool_options *options)
{
    uint32_t share = options->maximum_buffers / options->slots;

    return share < LEAST_EXTRA_BUFFERS ? LEAST_EXTRA_BUFFERS : share;
}

/* Field by field: a late writer may look at any of them. */
static void begin(struct etwas_pool *pool, const struct etwas_pool_options *options,
                  const struct etwas_memory *memory)
{
    ck_pr_store_32(&pool->session, options->session);
    ck_pr_store_32(&pool->first_slot, options->first_slot);
    ck_pr_store_32(&pool->slot_count, options->slots);
    ck_pr_store_32(&pool->rseq_slots, options->rseq_slots);
    ck_pr_store_32(&pool->buffer_bytes, options->buffer_bytes);
    ck_pr_store_32(&pool->minimum_buffers, options->minimum_buffers);
    ck_pr_store_32(&pool->maximum_buffers, options->maximum_buffers);
    ck_pr_store_32(&pool->region_buffers, region_buffers(options));
    ck_pr_store_32(&pool->reserve, options->minimum_buffers / 2);
    ck_pr_store_32(&pool->extra_buffers, extra_share(options));
    ck_pr_store_32(&pool->backlog_full, 0);
    pool->buffering = options->buffering;
    pool->memory = *memory;
    ck_pr_store_64(&pool->ticket, 1);
    ck_pr_store_64(&pool->allocated, options->minimum_buffers);
    ck_pr_store_64(&pool->closed_hand, 0);
    ck_pr_store_64(&pool->complete_hand, 0);
    ck_pr_store_32(&pool->shared_held, 0);
    ck_pr_store_32(&pool->free_count, options->minimum_buffers);
    ck_pr_store_32(&pool->pass_began, ck_ec32_value(&pool->wake));
    ck_pr_store_32(&pool->woken, UINT32_MAX); /* no value of a ck_ec32 */
    for (uint32_t outcome = 0; outcome < ETWAS_OUTCOMES; outcome++) {
        ck_pr_store_64(&pool->settled[outcome], 0);
    }
    ck_pr_store_64(&pool->settled_recorded, 0);
    ck_pr_store_64(&pool->shut_stored, 0);
    ck_pr_store_64(&pool->shut_overwritten, 0);
    ck_pr_store_64(&pool->settles_begun, 0);
    ck_pr_store_64(&pool->settles_ended, 0);
}

/* Explicit huge pages are for what may come into use now; a raised maximum has to do without. */
static bool make_region(const struct etwas_pool_options *options, struct etwas_memory *memory)
{
    size_t buffer_bytes = options->buffer_bytes;
    size_t bytes = region_buffers(options) * buffer_bytes;

    return options->large_pages
               ? etwas_memory_create_huge(memory, bytes, options->maximum_buffers * buffer_bytes,
                                          options->minimum_buffers * buffer_bytes)
               : etwas_memory_create(memory, bytes);
}

struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options)
{
    size_t touched = (size_t)options->minimum_buffers * options->buffer_bytes;
    struct etwas_memory memory;
    struct etwas_pool *pool;

    if (!make_region(options, &memory)) {
        return NULL;
    }
    pool = etwas_memory_populate(memory.region, touched) ? keep_block(options) : NULL;
    if (pool == NULL) {
        etwas_memory_destroy(&memory);
        return NULL;
    }
    begin(pool, options, &memory);
    for (uint32_t buffer = 0; buffer < options->minimum_buffers; buffer++) {
        ETWAS_POISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
        etwas_free_set_add(pool->free_set, buffer);
    }
    return pool;
}

void etwas_pool_destroy(struct etwas_pool *pool)
{
    struct etwas_memory memory = pool->memory;

    ETWAS_UNPOISON(memory.region, ck_pr_load_64(&pool->allocated) * pool->buffer_bytes);
    etwas_memory_destroy(&memory);
}

uint32_t etwas_pool_capacity_for(uint32_t maximum, uint32_t buffer_bytes)
{
    uint64_t limit = etwas_memory_limit_bytes() / buffer_bytes;
    uint64_t capacity = (uint64_t)maximum * RAISED_AT_MOST;

    limit = limit > ETWAS_POOL_MAXIMUM_BUFFERS ? ETWAS_POOL_MAXIMUM_BUFFERS : limit;
    capacity = capacity > limit ? limit : capacity;
    return capacity > maximum ? (uint32_t)capacity : maximum;
}

uint32_t etwas_pool_set_maximum(struct etwas_pool *pool, uint32_t maximum)
{
    maximum = maximum < pool->minimum_buffers ? pool->minimum_buffers : maximum;
    maximum = maximum > pool->region_buffers ? pool->region_buffers : maximum;
    ck_pr_store_32(&pool->maximum_buffers, maximum);
    return maximum;
}

/* ---- waking the flusher ---------------------------------------------------------------------- */

/*
 * Of a writer that wants a pass and the flusher that begins one, at least one sees the other: the
 * writer's fence is between what the pass is to find and its load of pass_began, the flusher's
 * between its store there and the pass.
 */
uint32_t etwas_pool_begin_pass(struct etwas_pool *pool)
{
    uint32_t seen = ck_ec32_value(&pool->wake);

    ck_pr_store_32(&pool->pass_began, seen);
    ck_pr_fence_memory();
    return seen;
}

void etwas_pool_wake_flusher(struct etwas_pool *pool)
{
    uint32_t began;

    ck_pr_fence_memory();
    began = ck_pr_load_32(&pool->pass_began);
    if (ck_pr_load_32(&pool->woken) != began) {
        etwas_wake(&pool->wake, began);
        ck_pr_store_32(&pool->woken, began);
    }
}

/* ---- pinning --------------------------------------------------------------------------------- */

bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    /*
     * Before a shared slot's buffer is current nothing is committed in it, and its claimer may
     * still give it back: it is not ours to pin. If the owner is still the same below, the count
     * was of that claim. Owner and count were read in this order: the caller loaded the owner.
     */
    ck_pr_fence_acquire();
    if (etwas_owner_state(owner) == ETWAS_OWNER_HELD &&
        ck_pr_load_64(&pool->buffers[buffer].commit) == 0) {
        return false;
    }
    ck_pr_fence_memory();
    if (!ck_pr_cas_64(&pool->owners[buffer], owner, etwas_owner_as(owner, ETWAS_OWNER_PINNED))) {
        return false;
    }
    ck_pr_fence_acquire();
    return true;
}

void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    /* What we read we have read: the claim that follows may write there. */
    ck_pr_fence_release();
    ETWAS_INVARIANT(ck_pr_load_64(&pool->owners[buffer]) ==
                    etwas_owner_as(owner, ETWAS_OWNER_PINNED));
    (void)ck_pr_cas_64(&pool->owners[buffer], etwas_owner_as(owner, ETWAS_OWNER_PINNED), owner);
}
