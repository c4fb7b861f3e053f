/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/quota.h"

enum {
    PERCENT = 100,
    LEAST_EXTRA_BUFFERS = 2, /* one current, one for the next */
};

static struct etwas_pool_class_row *quota_row_of(const struct etwas_pool *pool, uint32_t slot)
{
    return &pool->words->rows[etwas_quota_class_row(pool, slot)];
}

/* Returns the buffers above the quota; below 0 for a row below it, or if a count lags behind. */
static int32_t quota_excess(const struct etwas_pool_class_row *row)
{
    return (int32_t)ck_pr_load_32(&row->held) - (int32_t)ck_pr_load_32(&row->quota);
}

bool etwas_quota_is_full(const struct etwas_pool *pool, uint32_t slot)
{
    return quota_excess(quota_row_of(pool, slot)) >= 0;
}

bool etwas_quota_is_half_used(const struct etwas_pool *pool, uint32_t slot)
{
    const struct etwas_pool_class_row *row = quota_row_of(pool, slot);

    return etwas_quota_has_rows(pool) &&
           (int32_t)ck_pr_load_32(&row->held) >= (int32_t)(ck_pr_load_32(&row->quota) / 2);
}

bool etwas_quota_is_extra_full(const struct etwas_pool *pool, uint32_t slot)
{
    const struct etwas_pool_class_row *row = quota_row_of(pool, slot);
    int32_t most = (int32_t)(ck_pr_load_32(&row->quota) / (ck_pr_load_32(&pool->row_slots) + 1));

    return (int32_t)ck_pr_load_32(&row->extra_held) >=
           (most < LEAST_EXTRA_BUFFERS ? LEAST_EXTRA_BUFFERS : most);
}

static bool quota_is_extra_slot(const struct etwas_pool *pool, uint32_t slot)
{
    return pool->rseq_slots != 0 && !etwas_pool_is_rseq_slot(pool, slot);
}

static void quota_count(struct etwas_pool *pool, uint32_t slot, int32_t by)
{
    struct etwas_pool_class_row *row = quota_row_of(pool, slot);

    ck_pr_add_32(&row->held, (uint32_t)by);
    if (quota_is_extra_slot(pool, slot)) {
        ck_pr_add_32(&row->extra_held, (uint32_t)by);
    }
}

void etwas_quota_count_move(struct etwas_pool *pool, uint64_t from, uint32_t slot)
{
    if (etwas_owner_state(from) != ETWAS_OWNER_FREE) {
        quota_count(pool, etwas_owner_slot(from), -1);
    }
    quota_count(pool, slot, 1);
}

void etwas_quota_count_release(struct etwas_pool *pool, uint64_t owner)
{
    if (etwas_quota_has_rows(pool)) {
        quota_count(pool, etwas_owner_slot(owner), -1);
    }
}

uint32_t etwas_quota_least_buffers(const struct etwas_pool *pool)
{
    return etwas_quota_has_rows(pool) ? pool->rows * pool->row_least : 0;
}

void etwas_quota_set(struct etwas_pool *pool, uint32_t maximum_buffers)
{
    uint32_t own = etwas_quota_least_buffers(pool);
    uint64_t others = maximum_buffers > own ? maximum_buffers - own : 0;
    uint32_t given = 0;

    for (uint32_t row = 1; row < pool->rows; row++) {
        uint32_t quota = pool->row_least + (uint32_t)(others * pool->row_percents[row] / PERCENT);

        ck_pr_store_32(&pool->words->rows[row].quota, quota);
        given += quota;
    }
    ck_pr_store_32(&pool->words->rows[0].quota, maximum_buffers - given);
}

void etwas_quota_recount(struct etwas_pool *pool)
{
    uint32_t allocated = etwas_pool_allocated(pool);
    uint32_t before[ETWAS_CLASS_ROWS];
    uint32_t extra_before[ETWAS_CLASS_ROWS];
    uint32_t held[ETWAS_CLASS_ROWS] = {0};
    uint32_t extra_held[ETWAS_CLASS_ROWS] = {0};

    if (!etwas_quota_has_rows(pool)) {
        return;
    }
    for (uint32_t row = 0; row < pool->rows; row++) {
        before[row] = ck_pr_load_32(&pool->words->rows[row].held);
        extra_before[row] = ck_pr_load_32(&pool->words->rows[row].extra_held);
    }
    ck_pr_fence_acquire();
    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        if (etwas_owner_state(owner) != ETWAS_OWNER_FREE) {
            uint32_t slot = etwas_owner_slot(owner);

            held[etwas_quota_class_row(pool, slot)]++;
            extra_held[etwas_quota_class_row(pool, slot)] += quota_is_extra_slot(pool, slot);
        }
    }
    ck_pr_fence_memory();
    for (uint32_t row = 0; row < pool->rows; row++) {
        (void)ck_pr_cas_32(&pool->words->rows[row].held, before[row], held[row]);
        (void)ck_pr_cas_32(&pool->words->rows[row].extra_held, extra_before[row], extra_held[row]);
    }
}

/* ---- choosing the buffer to replace ---------------------------------------------------------- */

typedef bool find_of(struct etwas_pool *pool, uint32_t row, uint32_t *buffer, uint64_t *owner);

/* Finds the oldest buffer of all rows. */
static bool quota_find_in_any_row(struct etwas_pool *pool, find_of *find, uint32_t *buffer,
                                  uint64_t *owner)
{
    uint64_t oldest = UINT64_MAX;

    for (uint32_t row = 0; row < pool->rows && row < ETWAS_CLASS_ROWS; row++) {
        uint32_t found;
        uint64_t its_owner;

        if (find(pool, row, &found, &its_owner) && ck_pr_load_64(&pool->ages[found]) < oldest) {
            oldest = ck_pr_load_64(&pool->ages[found]);
            *buffer = found;
            *owner = its_owner;
        }
    }
    return oldest != UINT64_MAX;
}

/* Returns the row whose oldest buffer the slot replaces. */
static uint32_t quota_row_to_replace(const struct etwas_pool *pool, uint32_t slot)
{
    uint32_t own = etwas_quota_class_row(pool, slot);
    uint32_t found = own;
    int32_t most = 0;

    if (etwas_quota_is_full(pool, slot)) {
        return own;
    }
    for (uint32_t row = 0; row < pool->rows && row < ETWAS_CLASS_ROWS; row++) {
        int32_t above = quota_excess(&pool->words->rows[row]);

        if (above > most) {
            most = above;
            found = row;
        }
    }
    return found;
}

/*
 * While all buffers above their quota are current, pinned or unfinished, a row below its quota
 * finally takes any.
 */
bool etwas_quota_find_closed_in_rows(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                                     uint64_t *owner)
{
    uint32_t own = etwas_quota_class_row(pool, slot);
    uint32_t row = quota_row_to_replace(pool, slot);

    return etwas_pool_find_closed_in_row(pool, row, buffer, owner) ||
           (row != own && etwas_pool_find_closed_in_row(pool, own, buffer, owner)) ||
           (!etwas_quota_is_full(pool, slot) &&
            quota_find_in_any_row(pool, etwas_pool_find_closed_in_row, buffer, owner));
}

/*
 * In a session with rseq slots only the extra slots have such buffers, and each row's extra slot
 * keeps its own.
 */
bool etwas_quota_find_complete(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                               uint64_t *owner)
{
    uint32_t own = etwas_quota_class_row(pool, slot);
    uint32_t row;

    if (!etwas_quota_has_rows(pool)) {
        return etwas_pool_find_complete(pool, buffer, owner);
    }
    row = pool->rseq_slots != 0 ? own : quota_row_to_replace(pool, slot);
    return etwas_pool_find_complete_in_row(pool, row, buffer, owner) ||
           (row != own && etwas_pool_find_complete_in_row(pool, own, buffer, owner)) ||
           (pool->rseq_slots == 0 && !etwas_quota_is_full(pool, slot) &&
            quota_find_in_any_row(pool, etwas_pool_find_complete_in_row, buffer, owner));
}
