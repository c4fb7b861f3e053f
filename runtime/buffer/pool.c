/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/pool.h"

#include <sched.h>
#include <string.h>

#include "platform/wait.h"

enum {
    CONTROL_ALIGNMENT = 128,
    SETTLING_NS = 100000000, /* how long a count waits for a settlement under way */
};

static size_t aligned(size_t bytes)
{
    return (bytes + CONTROL_ALIGNMENT - 1) / CONTROL_ALIGNMENT * CONTROL_ALIGNMENT;
}

/* ---- the free list: a stack of indexes under a tagged head ----------------------------------- */

static uint64_t free_head_of(uint64_t tag, uint32_t buffer)
{
    return tag << 32 | buffer;
}

/*
 * The tag changes with every exchange, so a head read before others popped and pushed the same
 * buffer is not mistaken for the present one (ABA), unless 2^32 exchanges happened meanwhile.
 */
static bool pop_free(struct etwas_pool *pool, uint32_t *buffer)
{
    uint64_t head = ck_pr_load_64(&pool->free_head);

    for (;;) {
        uint32_t index = (uint32_t)head;
        uint64_t next;

        if (index == ETWAS_NO_BUFFER) {
            return false;
        }
        /* A stale link is harmless: the exchange fails. Pairs with the release in push_free. */
        ck_pr_fence_acquire();
        next = free_head_of((head >> 32) + 1, ck_pr_load_32(&pool->buffers[index].next_free));
        if (ck_pr_cas_64_value(&pool->free_head, head, next, &head)) {
            ck_pr_fence_acquire();
            *buffer = index;
            return true;
        }
    }
}

static void push_free(struct etwas_pool *pool, uint32_t buffer)
{
    uint64_t head = ck_pr_load_64(&pool->free_head);
    uint64_t next;

    do {
        ck_pr_store_32(&pool->buffers[buffer].next_free, (uint32_t)head);
        next = free_head_of((head >> 32) + 1, buffer);
        /* The zeroed buffer and its link are seen by whoever pops it. */
        ck_pr_fence_release();
    } while (!ck_pr_cas_64_value(&pool->free_head, head, next, &head));
}

/* ---- creation -------------------------------------------------------------------------------- */

struct etwas_pool *etwas_pool_create(const struct etwas_pool_options *options)
{
    size_t owners = aligned(sizeof(struct etwas_pool));
    size_t buffers = owners + aligned(options->maximum_buffers * sizeof(uint64_t));
    size_t lanes =
        buffers + aligned(options->maximum_buffers * sizeof(struct etwas_buffer_control));
    size_t bytes = lanes + aligned(options->slots * sizeof(struct etwas_pool_lane));
    size_t touched = (size_t)options->minimum_buffers * options->buffer_bytes;
    struct etwas_memory memory;
    struct etwas_pool *pool;
    char *control;

    if (!etwas_memory_create(&memory, (size_t)options->maximum_buffers * options->buffer_bytes,
                             bytes)) {
        return NULL;
    }
    if (!etwas_memory_populate(memory.region, touched)) {
        etwas_memory_destroy(&memory);
        return NULL;
    }
    control = memory.control;
    pool = memory.control;
    *pool = (struct etwas_pool){
        .memory = memory,
        .owners = (uint64_t *)(void *)(control + owners),
        .buffers = (struct etwas_buffer_control *)(void *)(control + buffers),
        .lanes = (struct etwas_pool_lane *)(void *)(control + lanes),
        .lane_count = options->slots,
        .buffer_bytes = options->buffer_bytes,
        .maximum_buffers = options->maximum_buffers,
        .reserve = options->minimum_buffers / 2,
        .circular = options->circular,
        .free_head = free_head_of(0, ETWAS_NO_BUFFER),
        .free_count = options->minimum_buffers,
        .allocated = options->minimum_buffers,
        .ticket = 1,
    };
    ck_ec32_init(&pool->wake, 0);
    for (uint32_t buffer = options->minimum_buffers; buffer-- > 0;) {
        ETWAS_POISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
        push_free(pool, buffer);
    }
    return pool;
}

void etwas_pool_destroy(struct etwas_pool *pool)
{
    struct etwas_memory memory = pool->memory;

    etwas_memory_destroy(&memory);
}

/* ---- claiming -------------------------------------------------------------------------------- */

/*
 * One more buffer from the region. A bounded compare-exchange: the count never passes the maximum.
 */
static bool take_new(struct etwas_pool *pool, uint32_t *buffer)
{
    uint32_t allocated = ck_pr_load_32(&pool->allocated);

    while (allocated < pool->maximum_buffers) {
        if (ck_pr_cas_32_value(&pool->allocated, allocated, allocated + 1, &allocated)) {
            *buffer = allocated;
            return true;
        }
    }
    return false;
}

static void take_from_free(struct etwas_pool *pool, uint32_t buffer)
{
    uint32_t before = ck_pr_faa_32(&pool->free_count, UINT32_MAX);

    ETWAS_UNPOISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    if (before <= etwas_pool_low_water(pool) + 1 && !pool->circular) {
        etwas_pool_wake_flusher(pool);
    }
}

/*
 * The oldest complete buffer. A current buffer is never complete, nor is one whose writer stopped
 * in the middle of a record: then the next oldest is taken. One pass over the owner words, 8 bytes
 * a buffer, once in a buffer's worth of events.
 */
static bool find_oldest(const struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    uint32_t allocated = ck_pr_load_32(&pool->allocated);
    uint64_t oldest = UINT64_MAX;

    for (uint32_t index = 0; index < allocated; index++) {
        uint64_t word = ck_pr_load_64(&pool->owners[index]);

        if (etwas_owner_state(word) == ETWAS_OWNER_USED && word < oldest &&
            etwas_pool_is_complete(pool, ck_pr_load_64(&pool->buffers[index].commit))) {
            oldest = word;
            *buffer = index;
        }
    }
    *owner = oldest;
    return oldest != UINT64_MAX;
}

static bool claim_oldest(struct etwas_pool *pool, uint32_t *buffer)
{
    struct etwas_buffer_control *control;
    uint32_t found;
    uint64_t owner;

    /* Lock-free: an exchange fails only because another writer, or a snapshot, got this buffer. */
    do {
        if (!find_oldest(pool, &found, &owner)) {
            return false;
        }
    } while (!ck_pr_cas_64(&pool->owners[found], owner, ETWAS_OWNER_FREE));
    /* Every record in it is committed: pairs with the release before each commit. */
    ck_pr_fence_acquire();
    control = &pool->buffers[found];
    memset(etwas_pool_buffer(pool, found) + ETWAS_ETL_BUFFER_HEADER_BYTES, 0,
           pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES);
    etwas_pool_settle_begin(pool);
    etwas_pool_settle(pool, ETWAS_OUTCOME_OVERWRITTEN,
                      etwas_commit_records(ck_pr_load_64(&control->commit)));
    ck_pr_store_64(&control->commit, 0);
    etwas_pool_settle_end(pool);
    *buffer = found;
    return true;
}

bool etwas_pool_claim(struct etwas_pool *pool, uint32_t *buffer)
{
    if (pop_free(pool, buffer)) {
        take_from_free(pool, *buffer);
        return true;
    }
    if (take_new(pool, buffer)) {
        etwas_pool_wake_flusher(pool);
        return true;
    }
    /* The maximum was reached after we found nothing free; meanwhile something may be. */
    if (pop_free(pool, buffer)) {
        take_from_free(pool, *buffer);
        return true;
    }
    return pool->circular && claim_oldest(pool, buffer);
}

void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units)
{
    uint8_t *start = etwas_pool_buffer(pool, buffer);

    /* A marker of 0 says "not written yet": the next user's records must not be taken for ours. */
    memset(start + ETWAS_ETL_BUFFER_HEADER_BYTES, 0,
           (size_t)(used_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
    ck_pr_store_64(&pool->buffers[buffer].commit, 0);
    ck_pr_store_64(&pool->owners[buffer], ETWAS_OWNER_FREE);
    ETWAS_POISON(start, pool->buffer_bytes);
    /* Counted first: the count may briefly exceed what is in the list, never fall below 0. */
    ck_pr_inc_32(&pool->free_count);
    push_free(pool, buffer);
}

bool etwas_pool_grow(struct etwas_pool *pool)
{
    uint32_t buffer;

    if (!take_new(pool, &buffer)) {
        return false;
    }
    /* Without memory now the writer's first touch asks again; the address space is ours already. */
    (void)etwas_memory_populate(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    etwas_pool_release(pool, buffer, ETWAS_FIRST_UNIT);
    return true;
}

void etwas_pool_hold(struct etwas_pool *pool, uint32_t buffer)
{
    uint64_t ticket = ck_pr_faa_64(&pool->ticket, 1);

    /* Not complete before it has been current and closed, so nobody claims it meanwhile. */
    ck_pr_store_64(&pool->owners[buffer], ticket << 2 | ETWAS_OWNER_USED);
}

void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units)
{
    uint64_t unused = pool->buffer_bytes - (uint64_t)end_units * ETWAS_UNIT_BYTES;

    ck_pr_fence_release();
    (void)ck_pr_faa_64(&pool->buffers[buffer].commit, ETWAS_COMMIT_CLOSED + unused);
}

bool etwas_pool_is_quiet(const struct etwas_pool *pool)
{
    uint32_t allocated = ck_pr_load_32(&pool->allocated);

    for (uint32_t index = 0; index < allocated; index++) {
        if (etwas_owner_state(ck_pr_load_64(&pool->owners[index])) != ETWAS_OWNER_FREE &&
            !etwas_pool_is_complete(pool, ck_pr_load_64(&pool->buffers[index].commit))) {
            return false;
        }
    }
    ck_pr_fence_acquire();
    return true;
}

void etwas_pool_wake_flusher(struct etwas_pool *pool)
{
    /* The flusher clears the wish at the start of each pass, so one pass follows every wish. */
    if (ck_pr_load_32(&pool->wake_wanted) == 0 && ck_pr_cas_32(&pool->wake_wanted, 0, 1)) {
        ck_ec32_inc(&pool->wake, &etwas_wait_mode);
    }
}

/* ---- pinning --------------------------------------------------------------------------------- */

bool etwas_pool_pin(struct etwas_pool *pool, uint32_t buffer, uint64_t ticket)
{
    /*
     * Before a buffer is current nothing is committed in it, and its claimer may still give it back:
     * it is not ours to pin. If the ticket is still the same below, the count was of that
     * installation. Ticket and count were read in this order: the caller loaded the ticket.
     */
    ck_pr_fence_acquire();
    if (ck_pr_load_64(&pool->buffers[buffer].commit) == 0) {
        return false;
    }
    ck_pr_fence_memory();
    if (!ck_pr_cas_64(&pool->owners[buffer], ticket << 2 | ETWAS_OWNER_USED,
                      ticket << 2 | ETWAS_OWNER_PINNED)) {
        return false;
    }
    ck_pr_fence_acquire();
    return true;
}

void etwas_pool_unpin(struct etwas_pool *pool, uint32_t buffer, uint64_t ticket)
{
    /* What we read we have read: the claim that follows may zero it. */
    ck_pr_fence_release();
    (void)ck_pr_cas_64(&pool->owners[buffer], ticket << 2 | ETWAS_OWNER_PINNED,
                       ticket << 2 | ETWAS_OWNER_USED);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void count_once(const struct etwas_pool *pool, struct etwas_pool_counts *counts)
{
    *counts = (struct etwas_pool_counts){.allocated = ck_pr_load_32(&pool->allocated),
                                         .free = ck_pr_load_32(&pool->free_count)};
    for (uint32_t lane = 0; lane < pool->lane_count; lane++) {
        counts->lost_no_buffer += ck_pr_load_64(&pool->lanes[lane].lost_no_buffer);
    }
    for (uint32_t outcome = 0; outcome < ETWAS_OUTCOMES; outcome++) {
        counts->settled[outcome] = ck_pr_load_64(&pool->settled[outcome]);
    }
    for (uint32_t index = 0; index < counts->allocated; index++) {
        const struct etwas_buffer_control *control = &pool->buffers[index];
        uint32_t records = etwas_commit_records(ck_pr_load_64(&control->commit));
        uint32_t set_aside = ck_pr_load_32(&control->set_aside);

        if (set_aside == 0) {
            counts->in_memory += records;
        } else {
            uint32_t whole = set_aside - 1;

            counts->in_memory += ck_pr_load_32(&control->kept);
            /*
             * Fewer are counted than found whole while a writer stands between marker and commit.
             */
            counts->settled[ETWAS_OUTCOME_ABANDONED] += records > whole ? records - whole : 0;
        }
    }
    if (counts->free > counts->allocated) {
        counts->free = counts->allocated;
    }
}

void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts)
{
    const uint64_t end_ns = etwas_monotonic_ns() + SETTLING_NS;

    while (etwas_monotonic_ns() < end_ns) {
        uint64_t ended = ck_pr_load_64(&pool->settles_ended);

        ck_pr_fence_memory();
        if (ck_pr_load_64(&pool->settles_begun) == ended) {
            count_once(pool, counts);
            ck_pr_fence_memory();
            if (ck_pr_load_64(&pool->settles_begun) == ended) {
                return;
            }
        }
        (void)sched_yield();
    }
    count_once(pool, counts);
}
