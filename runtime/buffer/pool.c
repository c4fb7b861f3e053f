/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/pool.h"

#include <etwas/memory.h>
#include <string.h>
#include <unistd.h>

#include "buffer/free_set.h"
#include "buffer/pool_claim.h"
#include "buffer/quota.h"
#include "platform/memory.h"
#include "platform/nodes.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/wait.h"

enum {
    CONTROL_ALIGNMENT = 128,
    LEAST_EXTRA_BUFFERS = 2, /* one current, one for the next */
    RAISED_AT_MOST = 4,      /* times the maximum at the start */
    MOST_STRIPES = 1024,     /* each is a mapping for the kernel */
    MOST_STRIPE_SHIFT = 6,   /* a word of the free set */
};

/* ---- bookkeeping, kept for each entry of the session table ----------------------------------- */

static size_t align_up(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static size_t page_align(size_t bytes)
{
    return align_up(bytes, etwas_memory_page_bytes());
}

/* Lays out the candidates of one kind: oldest.c. */
static void lay_out_candidates(struct etwas_pool_layout *layout)
{
    uint32_t count = layout->capacity;
    uint32_t at = 0;

    do {
        count = (count + (1u << ETWAS_OLDEST_FAN_BITS) - 1) >> ETWAS_OLDEST_FAN_BITS;
        layout->level_at[layout->levels++] = at;
        at += count;
    } while (count > 1);
    layout->level_at[layout->levels] = at;
}

struct etwas_pool_layout etwas_pool_lay_out(uint32_t capacity, uint32_t rows, uint32_t slots)
{
    struct etwas_pool_layout layout = {.capacity = capacity, .rows = rows, .slot_count = slots};

    layout.slots = page_align(sizeof(struct etwas_pool_words));
    layout.owners = layout.slots + page_align(slots * sizeof(struct etwas_slot));
    layout.free_set = layout.owners + align_up(capacity * sizeof(uint64_t), CONTROL_ALIGNMENT);
    layout.buffers = layout.free_set +
                     align_up(etwas_free_set_words(capacity) * sizeof(uint64_t), CONTROL_ALIGNMENT);
    layout.ages = layout.buffers + capacity * sizeof(struct etwas_buffer_control);
    layout.candidates = layout.ages + align_up(capacity * sizeof(uint64_t), CONTROL_ALIGNMENT);
    lay_out_candidates(&layout);
    layout.bytes = page_align(layout.candidates + etwas_pool_candidate_bytes(&layout));
    return layout;
}

/* Returns the block, which follows the page of the pool itself. */
static char *pool_block(const struct etwas_pool *pool)
{
    return (char *)pool->words;
}

size_t etwas_pool_control_bytes(const struct etwas_pool *pool)
{
    return page_align(sizeof *pool) + pool->layout.bytes;
}

static uint32_t options_region_buffers(const struct etwas_pool_options *options)
{
    return options->capacity > options->maximum_buffers ? options->capacity
                                                        : options->maximum_buffers;
}

uint32_t etwas_pool_stripe_shift(const struct etwas_pool_options *options)
{
    uint32_t nodes = etwas_nodes_of_this_machine()->count;
    uint32_t shift = 0;

    while (shift < MOST_STRIPE_SHIFT &&
           ((2u << shift) * nodes <= options->minimum_buffers ||
            (options->large_pages &&
             ((uint64_t)options->buffer_bytes << shift) % ETWAS_HUGE_PAGE_BYTES != 0) ||
            options_region_buffers(options) >> shift > MOST_STRIPES)) {
        shift++;
    }
    return shift;
}

void etwas_pool_set_pointers(struct etwas_pool *pool, void *start)
{
    const struct etwas_pool_layout *layout = &pool->layout;
    char *block = start;

    pool->words = (struct etwas_pool_words *)(void *)(block + layout->words);
    pool->slots = (struct etwas_slot *)(void *)(block + layout->slots);
    pool->owners = (uint64_t *)(void *)(block + layout->owners);
    pool->free_set = (uint64_t *)(void *)(block + layout->free_set);
    pool->buffers = (struct etwas_buffer_control *)(void *)(block + layout->buffers);
    pool->ages = (uint64_t *)(void *)(block + layout->ages);
    pool->candidates = (uint64_t *)(void *)(block + layout->candidates);
}

static uint32_t options_rows(const struct etwas_pool_options *options)
{
    return options->rows > 1 ? options->rows : 1;
}

/*
 * Returns the number of slots that a session with this many class rows may have, including closed
 * ones.
 */
static uint32_t options_slots(const struct etwas_pool_options *options)
{
    return options_rows(options) * (etwas_processor_count() + 1) + options->guest_slots;
}

/*
 * Returns the address space of the block and, if the region lies there, of everything in it that a
 * word can name. The file leaves at most a huge page between the two.
 */
static size_t options_address_bytes(const struct etwas_pool_options *options,
                                    const struct etwas_pool_layout *layout)
{
    size_t reach =
        etwas_pool_addressable_bytes(options_region_buffers(options), options->buffer_bytes);

    return layout->bytes + (options->is_shared ? ETWAS_HUGE_PAGE_BYTES + reach : 0);
}

/*
 * Returns a control for the entry: the existing one, or a new one of at least twice its capacity,
 * so that abandoned controls stay smaller than the one in use. Pool and slots of one that was in
 * use are never zeroed: late writers follow its pointers.
 */
static struct etwas_pool *pool_keep_control(const struct etwas_pool_options *options)
{
    struct etwas_pool *pool = etwas_attachment_of(options->session)->pool;
    bool is_kept = pool != NULL && !pool->is_leaked;
    uint32_t capacity = options->is_shared ? etwas_slot_mask(options_region_buffers(options)) + 1
                                           : options_region_buffers(options);
    uint32_t slots = options_slots(options);
    uint32_t rows = options_rows(options);
    struct etwas_pool_layout layout;
    size_t address_bytes;
    char *control;

    if (is_kept && pool->layout.capacity >= capacity && pool->layout.slot_count >= slots &&
        pool->layout.rows >= rows &&
        pool->address_bytes >= options_address_bytes(options, &pool->layout)) {
        etwas_memory_clear_permanent(pool->owners, pool->layout.bytes - pool->layout.owners);
        return pool;
    }
    if (is_kept && capacity < 2 * pool->layout.capacity) {
        capacity = 2 * pool->layout.capacity;
    }
    /* Never fewer: a late writer may still use a class row of the session before. */
    if (pool != NULL && slots < pool->layout.slot_count) {
        slots = pool->layout.slot_count;
    }
    rows = pool != NULL && rows < pool->layout.rows ? pool->layout.rows : rows;
    layout = etwas_pool_lay_out(capacity, rows, slots);
    address_bytes = options_address_bytes(options, &layout);
    if (is_kept && address_bytes < 2 * pool->address_bytes && options->is_shared) {
        address_bytes = 2 * pool->address_bytes;
    }
    control = etwas_memory_allocate_permanent(ETWAS_SLOT_LOCAL_BYTES + page_align(sizeof *pool) +
                                              address_bytes);
    if (control == NULL) {
        return NULL;
    }
    control += ETWAS_SLOT_LOCAL_BYTES;
    pool = (struct etwas_pool *)(void *)control;
    pool->layout = layout;
    pool->address_bytes = address_bytes;
    etwas_pool_set_pointers(pool, control + page_align(sizeof *pool));
    ck_ec32_init(&pool->words->wake, 0);
    etwas_attachment_of(options->session)->pool = pool;
    return pool;
}

/* ---- in a file ------------------------------------------------------------------------------- */

bool etwas_pool_measure(const struct etwas_pool_options *options, struct etwas_pool_layout *block,
                        size_t *region_bytes)
{
    const struct etwas_pool *pool = pool_keep_control(options);

    if (pool == NULL) {
        return false;
    }
    *block = pool->layout;
    *region_bytes = (size_t)options_region_buffers(options) * options->buffer_bytes;
    return true;
}

/*
 * Moves the block into the file. The slots are copied: a suspended writer may still have a shared
 * slot's epoch.
 */
static bool pool_move_into_file(struct etwas_pool *pool, const struct etwas_pool_file *file)
{
    size_t bytes = pool->layout.owners - pool->layout.slots;

    if (pwrite(file->descriptor, pool->slots, bytes,
               (off_t)(file->block_at + pool->layout.slots)) != (ssize_t)bytes ||
        !etwas_memory_map_file(pool_block(pool), pool->layout.bytes, file->descriptor,
                               file->block_at)) {
        return false;
    }
    pool->file = *file;
    return true;
}

/* Moves the block out of the file. Meanwhile a reader of a slot finds a closed gate. */
static void pool_move_out_of_file(struct etwas_pool *pool)
{
    size_t bytes = pool->layout.owners - pool->layout.slots;

    etwas_memory_map_zeroes(pool_block(pool), pool->layout.bytes);
    (void)pread(pool->file.descriptor, pool->slots, bytes,
                (off_t)(pool->file.block_at + pool->layout.slots));
    ck_ec32_init(&pool->words->wake, 0);
}

void etwas_pool_forget(const struct etwas_pool *pool)
{
    if (pool->memory.is_file) {
        etwas_memory_map_zeroes(pool_block(pool), pool->layout.bytes);
    }
    etwas_memory_forget(&pool->memory);
}

void etwas_pool_leak(struct etwas_pool *pool)
{
    etwas_memory_leak(&pool->memory);
    pool->is_leaked = true;
}

/* ---- the process-local data of the slots ----------------------------------------------------- */

_Static_assert((ETWAS_CLASS_ROWS * (ETWAS_MOST_PROCESSORS + 1) + ETWAS_GUEST_SLOTS) *
                           sizeof(struct etwas_slot) +
                       sizeof(struct etwas_pool) + sizeof(struct etwas_pool_words) +
                       2 * ETWAS_LARGEST_PAGE_BYTES <
                   ETWAS_SLOT_LOCAL_BYTES,
               "the terms end before the pool begins");

/* Returns the size of the slots' process-local data, which begin at a page, as slots do. */
static size_t slot_local_bytes(const struct etwas_pool *pool)
{
    return page_align(pool->layout.slot_count * sizeof(struct etwas_slot));
}

void etwas_pool_set_slot_local(const struct etwas_pool *pool, uint32_t slot, uint32_t kind)
{
    struct etwas_slot_local *local = etwas_slot_local(etwas_pool_slot(pool, slot));

    ck_pr_store_ptr(&local->region, pool->memory.region);
    ck_pr_store_32(&local->limit_units, pool->buffer_bytes / ETWAS_UNIT_BYTES);
    ck_pr_store_32(&local->buffer_mask, etwas_slot_mask(pool->region_buffers));
    ck_pr_store_32(&local->kind, kind);
    ck_pr_store_32(&local->index, slot);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* Buffering mode: the number of buffers that the extra slot may take from the others. */
static uint32_t options_extra_quota(const struct etwas_pool_options *options)
{
    uint32_t share = options->maximum_buffers / (options->slots - options->guest_slots);

    return share < LEAST_EXTRA_BUFFERS ? LEAST_EXTRA_BUFFERS : share;
}

static void pool_begin_rows(struct etwas_pool *pool, const struct etwas_pool_options *options)
{
    uint32_t rows = options->rows > 1 ? options->rows : 1;

    ck_pr_store_32(&pool->rows, rows);
    ck_pr_store_32(&pool->row_slots,
                   pool->rseq_slots != 0 ? pool->rseq_slots / rows : pool->slot_count / rows);
    ck_pr_store_32(&pool->row_least, options->row_least);
    for (uint32_t index = 0; index < ETWAS_CLASS_ROWS; index++) {
        struct etwas_pool_class_row *row = &pool->words->rows[index];

        ck_pr_store_32(&pool->row_percents[index], options->row_percents[index]);
        for (uint32_t kind = 0; kind < ETWAS_OLDEST_KINDS; kind++) {
            ck_pr_store_64(&row->recent_group[kind], 0);
        }
        ck_pr_store_32(&row->held, 0);
        ck_pr_store_32(&row->extra_held, 0);
        for (uint32_t disposition = 0; disposition < ETWAS_DISPOSITIONS; disposition++) {
            ck_pr_store_64(&row->accounted[disposition], 0);
        }
        ck_pr_store_64(&row->accounted_recorded, 0);
        ck_pr_store_64(&row->replaced_by_others, 0);
        ck_pr_store_64(&row->replaced_of_others, 0);
    }
    etwas_quota_set(pool, options->maximum_buffers);
}

static void pool_begin_nodes(struct etwas_pool *pool, const struct etwas_pool_options *options)
{
    bool lies_on_nodes = (pool->grant.asked & ~pool->grant.refused & ETWAS_MEMORY_NODES) != 0;

    ck_pr_store_32(&pool->nodes, lies_on_nodes ? etwas_nodes_of_this_machine()->count : 0);
    ck_pr_store_32(&pool->stripe_shift, lies_on_nodes ? etwas_pool_stripe_shift(options) : 0);
}

/* Stores field by field, since a late writer may read any of them. */
static void pool_begin(struct etwas_pool *pool, const struct etwas_pool_options *options,
                       const struct etwas_memory *memory)
{
    ck_pr_store_32(&pool->first_slot, options->first_slot);
    ck_pr_store_32(&pool->slot_count, options->slots);
    ck_pr_store_32(&pool->used_slots, options->slots - options->guest_slots);
    ck_pr_store_32(&pool->rseq_slots, options->rseq_slots);
    ck_pr_store_32(&pool->guest_slots, options->guest_slots);
    memset(pool->guests, ETWAS_GUEST_NONE, sizeof pool->guests);
    ck_pr_store_32(&pool->buffer_bytes, options->buffer_bytes);
    ck_pr_store_32(&pool->minimum_buffers, options->minimum_buffers);
    ck_pr_store_32(&pool->words->maximum_buffers, options->maximum_buffers);
    ck_pr_store_32(&pool->region_buffers, options_region_buffers(options));
    ck_pr_store_32(&pool->reserve, options->minimum_buffers / 2);
    ck_pr_store_32(&pool->extra_buffers, options_extra_quota(options));
    ck_pr_store_32(&pool->words->backlog_full, 0);
    ck_pr_store_32(&pool->words->guest_reserve, 0);
    pool_begin_nodes(pool, options);
    pool->buffering = options->buffering;
    pool->is_shared = options->is_shared;
    pool->memory = *memory;
    ck_pr_store_64(&pool->words->ticket, 1);
    ck_pr_store_64(&pool->words->allocated, options->minimum_buffers);
    ck_pr_store_32(&pool->words->shared_held, 0);
    ck_pr_store_32(&pool->words->free_count, options->minimum_buffers);
    ck_pr_store_32(&pool->words->pass_began, ck_ec32_value(&pool->words->wake));
    ck_pr_store_32(&pool->words->woken, UINT32_MAX); /* no value of a ck_ec32 */
    for (uint32_t disposition = 0; disposition < ETWAS_DISPOSITIONS; disposition++) {
        ck_pr_store_64(&pool->accounted[disposition], 0);
        ck_pr_store_64(&pool->words->accounted[disposition], 0);
    }
    for (uint32_t kind = 0; kind < ETWAS_OLDEST_KINDS; kind++) {
        ck_pr_store_64(&pool->words->recent_group[kind], 0);
    }
    ck_pr_store_64(&pool->accounted_recorded, 0);
    ck_pr_store_64(&pool->account_begins, 0);
    ck_pr_store_64(&pool->account_ends, 0);
    memset(&pool->damage, 0, sizeof pool->damage);
    ck_pr_store_64(&pool->words->accounted_recorded, 0);
    ck_pr_store_64(&pool->words->account_begins, 0);
    ck_pr_store_64(&pool->words->account_ends, 0);
    pool_begin_rows(pool, options);
}

/* Stores the pool in an entry's attachment, while its gates are closed. */
static void pool_attach(struct etwas_attachment *attachment, struct etwas_pool *pool)
{
    ck_pr_store_ptr(&attachment->slots, pool->slots);
    ck_pr_store_ptr(&attachment->buffers, pool->buffers);
    ck_pr_store_ptr(&attachment->pool, pool);
}

/*
 * Only buffers that may come into use now get explicit huge pages; a raised maximum does without
 * them.
 */
static bool pool_make_region(const struct etwas_pool *pool,
                             const struct etwas_pool_options *options, struct etwas_memory *memory)
{
    const struct etwas_pool_file *file = options->file;
    size_t buffer_bytes = options->buffer_bytes;
    size_t bytes = options_region_buffers(options) * buffer_bytes;

    if (file != NULL) {
        return etwas_memory_create_in_file(
            memory, bytes, file->descriptor, file->region_at,
            options->is_shared ? pool_block(pool) + (file->region_at - file->block_at) : NULL);
    }
    return options->large_pages
               ? etwas_memory_create_huge(memory, bytes, options->maximum_buffers * buffer_bytes,
                                          options->minimum_buffers * buffer_bytes)
               : etwas_memory_create(memory, bytes);
}

/*
 * Places the region on memory nodes before it is touched. A region in a file was placed before it
 * had space.
 */
static struct etwas_memory_grant pool_place_region(const struct etwas_pool_options *options,
                                                   const struct etwas_memory *memory)
{
    struct etwas_memory_grant grant = {.asked = options->memory};

    if ((grant.asked & ETWAS_MEMORY_NODES) != 0) {
        grant.nodes_error = options->file != NULL
                                ? options->file->nodes_error
                                : etwas_nodes_bind(memory->region, memory->region_bytes,
                                                   (size_t)options->buffer_bytes
                                                       << etwas_pool_stripe_shift(options));
        grant.refused = grant.nodes_error != 0 ? ETWAS_MEMORY_NODES : 0;
    }
    return grant;
}

struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options)
{
    struct etwas_memory_grant grant;
    struct etwas_memory memory;
    struct etwas_pool *pool = pool_keep_control(options);

    if (pool == NULL || !pool_make_region(pool, options, &memory)) {
        return NULL;
    }
    grant = pool_place_region(options, &memory);
    if (options->file != NULL && !pool_move_into_file(pool, options->file)) {
        etwas_memory_destroy(&memory);
        return NULL;
    }
    pool->grant = grant;
    pool_begin(pool, options, &memory);
    for (uint32_t buffer = 0; buffer < options->minimum_buffers; buffer++) {
        etwas_pool_poison(pool, buffer);
        etwas_free_set_add(pool->free_set, buffer);
    }
    pool_attach(etwas_attachment_of(options->session), pool);
    return pool;
}

/*
 * Grants the requested properties to the memory that may come into use now, and to the memory that
 * writers read meanwhile.
 */
bool etwas_pool_prefault(struct etwas_pool *pool)
{
    size_t buffer_bytes = pool->buffer_bytes;

    if (!etwas_memory_populate(pool->memory.region, pool->minimum_buffers * buffer_bytes)) {
        return false;
    }
    etwas_memory_grant(&pool->grant, pool->memory.region, etwas_pool_maximum(pool) * buffer_bytes);
    etwas_memory_grant(&pool->grant, pool, etwas_pool_control_bytes(pool));
    etwas_memory_grant(&pool->grant, etwas_slot_local(pool->slots), slot_local_bytes(pool));
    return true;
}

void etwas_pool_destroy(struct etwas_pool *pool)
{
    struct etwas_memory memory = pool->memory;

    ETWAS_UNPOISON(memory.region, (size_t)etwas_pool_allocated(pool) * pool->buffer_bytes);
    if (memory.is_file) {
        pool_move_out_of_file(pool);
    }
    etwas_memory_grant_end(&pool->grant, pool, etwas_pool_control_bytes(pool));
    etwas_memory_grant_end(&pool->grant, etwas_slot_local(pool->slots), slot_local_bytes(pool));
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
    maximum = maximum < etwas_quota_least_buffers(pool) ? etwas_quota_least_buffers(pool) : maximum;
    maximum = maximum > pool->region_buffers ? pool->region_buffers : maximum;
    etwas_quota_set(pool, maximum);
    ck_pr_store_32(&pool->words->maximum_buffers, maximum);
    return maximum;
}

/* ---- waking the flusher ---------------------------------------------------------------------- */

/*
 * If a writer wants a pass while the flusher begins one, at least one of them sees the other. The
 * writer's fence is between the data that the pass shall find and its load of pass_began; the
 * flusher's is between its store there and the pass.
 */
uint32_t etwas_pool_begin_pass(struct etwas_pool *pool)
{
    uint32_t seen = ck_ec32_value(&pool->words->wake);

    ck_pr_store_32(&pool->words->pass_began, seen);
    ck_pr_fence_memory();
    return seen;
}

void etwas_pool_wake_flusher(struct etwas_pool *pool)
{
    uint32_t began;

    ck_pr_fence_memory();
    began = ck_pr_load_32(&pool->words->pass_began);
    if (ck_pr_load_32(&pool->words->woken) != began) {
        etwas_wake(&pool->words->wake, began);
        ck_pr_store_32(&pool->words->woken, began);
    }
}

/* ---- pinning --------------------------------------------------------------------------------- */

bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    /*
     * Before a shared slot's buffer is current nothing is committed in it, and its claimer may
     * still release it: it cannot be pinned. If the owner is still the same below, the count was of
     * that claim. Owner and count were read in this order: the caller loaded the owner.
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
    /* Our reads are complete: the claim that follows may write there. */
    ck_pr_fence_release();
    ETWAS_INVARIANT(ck_pr_load_64(&pool->owners[buffer]) ==
                    etwas_owner_as(owner, ETWAS_OWNER_PINNED));
    (void)ck_pr_cas_64(&pool->owners[buffer], etwas_owner_as(owner, ETWAS_OWNER_PINNED), owner);
    etwas_pool_add_candidate(pool, buffer, etwas_owner_slot(owner),
                             etwas_pool_is_of_shared_slot(pool, owner));
}
