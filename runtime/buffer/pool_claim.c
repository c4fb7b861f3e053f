/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Buffers of shared slots: claimed by any number of writers, released by the flusher or by a writer
 * that did not need them.
 */
#include "buffer/pool_claim.h"
#include "buffer/free_set.h"
#include "buffer/pool.h"

#include <string.h>

#include "buffer/pool_count.h"
#include "buffer/pool_free.h"
#include "buffer/quota.h"
#include "buffer/valid.h"
#include "platform/testpoint.h"

enum {
    BUFFERS_A_GUEST = 2, /* kept free for each guest */
    GUESTS_PART = 4,     /* at most the buffers in use divided by this */
};

/*
 * Whether the extra slot of a flight recorder has reached its quota. It keeps its buffers until one
 * is returned below: sequences claim only CLOSED buffers.
 */
static bool extra_slot_is_at_quota(const struct etwas_pool *pool, uint32_t slot)
{
    if (!pool->buffering || pool->rseq_slots == 0) {
        return false;
    }
    return etwas_quota_has_rows(pool)
               ? etwas_quota_is_extra_full(pool, slot)
               : ck_pr_load_32(&pool->words->shared_held) >= pool->extra_buffers;
}

/*
 * Finds the oldest buffer that the slot may take, and its owner word. An extra slot below its quota
 * takes the oldest of the others.
 */
static bool claim_find_oldest(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                              uint64_t *owner)
{
    return (pool->rseq_slots != 0 && !extra_slot_is_at_quota(pool, slot) &&
            etwas_quota_find_closed(pool, slot, buffer, owner)) ||
           etwas_quota_find_complete(pool, slot, buffer, owner);
}

/*
 * Clears records. In a shared slot's buffer a marker of 0 means "not written": no old records may
 * be left in it.
 */
static void claim_clear_records(const struct etwas_pool *pool, uint32_t buffer, uint32_t end_units)
{
    if (etwas_pool_is_end(pool, end_units)) {
        memset(etwas_pool_buffer(pool, buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES, 0,
               (size_t)(end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
    }
}

/*
 * Accounts for the records of a buffer that the caller has claimed as overwritten. It is cleared
 * last: a reader of a pinned buffer from outside finds it whole as long as something is committed
 * in it.
 */
static void claim_account_overwritten(struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    struct etwas_buffer_control *control = &pool->buffers[buffer];

    etwas_pool_account_begin(pool);
    if (etwas_owner_state(owner) == ETWAS_OWNER_CLOSED) {
        etwas_pool_account_recorded(pool, etwas_owner_slot(owner), ETWAS_DISPOSITION_OVERWRITTEN,
                                    control->end.records);
        /* If the buffer is released unused, the next claim replaces nothing. */
        ck_pr_store_32(&control->end.records, 0);
    } else {
        etwas_pool_account(pool, etwas_owner_slot(owner), ETWAS_DISPOSITION_OVERWRITTEN,
                           etwas_commit_count(ck_pr_load_64(&control->commit)));
        ck_pr_store_64(&control->commit, 0);
    }
    etwas_pool_account_end(pool); /* its fence is between the commit word and the records */
    claim_clear_records(pool, buffer, pool->buffer_bytes / ETWAS_UNIT_BYTES);
}

/*
 * Exchanges the claim `owner` for a new one of the slot. Returns false if another writer was
 * faster.
 */
static bool claim_hold(struct etwas_pool *pool, uint32_t slot, uint32_t buffer, uint64_t owner,
                       enum etwas_owner_state state)
{
    uint64_t ticket = ck_pr_faa_64(&pool->words->ticket, 1);

    /*
     * The work of its last owner is complete: pairs with the release in etwas_pool_release, and A1.
     */
    if (!ck_pr_cas_64(&pool->owners[buffer], owner, etwas_owner(ticket, slot, state))) {
        return false;
    }
    ck_pr_fence_acquire();
    if (!etwas_pool_is_of_extra_slot(pool, owner) && !etwas_pool_is_guest_slot(pool, slot)) {
        ck_pr_inc_32(&pool->words->shared_held);
    }
    etwas_quota_count_claim(pool, owner, slot);
    ETWAS_UNPOISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    return true;
}

static bool claim_hold_free(struct etwas_pool *pool, uint32_t slot, uint32_t buffer, uint64_t owner)
{
    if (!claim_hold(pool, slot, buffer, owner, ETWAS_OWNER_HELD)) {
        return false;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_TOOK_FREE);
    etwas_pool_count_free_claimed(pool);
    if (pool->rseq_slots != 0) {
        claim_clear_records(pool, buffer, pool->buffer_bytes / ETWAS_UNIT_BYTES);
    }
    return true;
}

static bool claim_free(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    uint64_t owner;

    while (etwas_pool_find_free(pool, buffer, &owner)) {
        if (claim_hold_free(pool, slot, *buffer, owner)) {
            return true;
        }
    }
    return false;
}

/* Lock-free: an exchange fails only because another writer got this buffer. */
static bool claim_scanned(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    uint64_t owner;

    while (etwas_pool_scan_for_free(pool, buffer, &owner)) {
        if (claim_hold_free(pool, slot, *buffer, owner)) {
            return true;
        }
    }
    return false;
}

/* Claims a buffer that contains nothing. */
static bool claim_unused(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    if (claim_free(pool, slot, buffer)) {
        return true;
    }
    while (etwas_pool_add_new_buffer(pool, buffer)) {
        ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_GREW);
        /*
         * The buffer looks free to the flusher, which may have added it to the free set for another
         * writer. Then take one more.
         */
        if (claim_hold(pool, slot, *buffer, 0, ETWAS_OWNER_HELD)) {
            etwas_pool_count_free_claimed(pool);
            etwas_pool_wake_flusher(pool);
            return true;
        }
    }
    /* The maximum was reached after we found nothing free; a buffer may have become free since. */
    return claim_free(pool, slot, buffer);
}

/* Takes a full and complete buffer from the claim `owner` for the slot, which overwrites it. */
static bool claim_hold_oldest(struct etwas_pool *pool, uint32_t slot, uint32_t buffer,
                              uint64_t owner)
{
    bool crosses = etwas_quota_crosses_rows(pool, owner, slot);
    bool held;

    if (crosses) {
        etwas_pool_account_begin(pool);
    }
    /*
     * Until its old records are accounted for, the commit word still calls the buffer complete. No
     * thread takes it while it is PINNED.
     */
    held = claim_hold(pool, slot, buffer, owner, ETWAS_OWNER_PINNED);
    if (held) {
        claim_account_overwritten(pool, buffer, owner);
    }
    if (crosses) {
        etwas_pool_account_end(pool);
    }
    if (held) {
        ck_pr_fence_release();
        ck_pr_store_64(&pool->owners[buffer],
                       etwas_owner_as(ck_pr_load_64(&pool->owners[buffer]), ETWAS_OWNER_HELD));
    }
    return held;
}

static bool claim_oldest(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    uint64_t owner;

    /* Lock-free: an exchange fails only because another writer, or a snapshot, got this buffer. */
    while (claim_find_oldest(pool, slot, buffer, &owner)) {
        if (claim_hold_oldest(pool, slot, *buffer, owner)) {
            return true;
        }
    }
    return false;
}

/*
 * Claims for a guest's slot. A guest overwrites nothing: if its process were killed between two
 * words of the account, the host could not know which of them it had changed. The flusher keeps
 * some buffers free for its slot (etwas_pool_reserve_for_guests).
 */
static bool claim_as_guest(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    if (claim_unused(pool, slot, buffer) || claim_scanned(pool, slot, buffer)) {
        return true;
    }
    *buffer = ETWAS_NO_BUFFER;
    return false;
}

bool etwas_pool_claim(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer)
{
    if (__builtin_expect(etwas_pool_is_guest_slot(pool, slot), 0)) {
        return claim_as_guest(pool, slot, buffer);
    }
    if (etwas_quota_is_exhausted(pool, slot)) {
        *buffer = ETWAS_NO_BUFFER;
        return false;
    }
    if (etwas_pool_has_wrapped(pool) && claim_oldest(pool, slot, buffer)) {
        return true;
    }
    if (!extra_slot_is_at_quota(pool, slot) && claim_unused(pool, slot, buffer)) {
        return true;
    }
    if (pool->buffering && claim_oldest(pool, slot, buffer)) {
        return true;
    }
    if (!extra_slot_is_at_quota(pool, slot) && claim_scanned(pool, slot, buffer)) {
        return true;
    }
    *buffer = ETWAS_NO_BUFFER; /* the searches leave another slot's buffer there */
    return false;
}

uint64_t etwas_pool_renew_ticket(struct etwas_pool *pool, uint32_t slot, uint32_t buffer)
{
    uint64_t ticket = ck_pr_faa_64(&pool->words->ticket, 1);
    uint64_t owner = etwas_owner(ticket, slot, ETWAS_OWNER_HELD);

    ETWAS_INVARIANT(etwas_buffer_is_owned(pool, buffer));
    /*
     * The buffer is not complete before it has been current and closed, so no thread claims it
     * meanwhile.
     */
    ck_pr_store_64(&pool->owners[buffer], owner);
    ck_pr_store_64(etwas_pool_repeated_owner(pool, buffer), owner);
    return ticket;
}

void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units)
{
    uint64_t unused = pool->buffer_bytes - (uint64_t)end_units * ETWAS_UNIT_BYTES;
    uint64_t before;

    ck_pr_fence_release();
    before = ck_pr_faa_64(&pool->buffers[buffer].commit, ETWAS_COMMIT_CLOSED + unused);
    (void)before;
    ETWAS_INVARIANT(etwas_commit_is_valid(pool, before, unused));
}

void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units)
{
    uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

    ETWAS_INVARIANT(etwas_buffer_is_owned(pool, buffer));
    /*
     * Sequences need no clear buffers: if there are any sequences, the extra slot's claims clear.
     */
    if (pool->rseq_slots == 0) {
        claim_clear_records(pool, buffer, used_units);
    }
    ck_pr_store_64(&pool->buffers[buffer].commit, 0);
    etwas_pool_poison(pool, buffer);
    if (etwas_pool_is_of_extra_slot(pool, owner)) {
        ck_pr_dec_32(&pool->words->shared_held);
    }
    etwas_quota_count_release(pool, owner);
    ck_pr_inc_32(&pool->words->free_count);
    /*
     * The next claim sees everything done with the buffer. Pairs with the acquire in hold and
     * CLAIM.
     */
    ck_pr_fence_release();
    ck_pr_store_64(&pool->owners[buffer], etwas_owner_as(owner, ETWAS_OWNER_FREE));
    etwas_free_set_add(pool->free_set, buffer);
}

/*
 * Whether a processor's slot has an older buffer. If none has any, the extra slot must give one:
 * guests may have all.
 */
static bool processors_have_older(struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    uint32_t closed;
    uint64_t closed_owner;

    if (!etwas_pool_find_closed(pool, &closed, &closed_owner)) {
        return etwas_pool_is_of_extra_slot(pool, owner);
    }
    return ck_pr_load_64(&pool->ages[buffer]) >= ck_pr_load_64(&pool->ages[closed]);
}

void etwas_pool_return_oldest(struct etwas_pool *pool)
{
    uint32_t buffer;
    uint64_t owner;

    if (pool->rseq_slots == 0 || etwas_quota_has_rows(pool) || !etwas_pool_has_wrapped(pool) ||
        !etwas_pool_find_complete(pool, &buffer, &owner) ||
        (etwas_pool_is_of_extra_slot(pool, owner) &&
         ck_pr_load_32(&pool->words->shared_held) <= 1) ||
        processors_have_older(pool, buffer, owner)) {
        return;
    }
    if (claim_hold_oldest(pool, etwas_owner_slot(owner), buffer, owner)) {
        etwas_pool_release(pool, buffer, 0);
    }
}

/* Returns the number of guests' slots that were ever written to; these may be written again. */
static uint32_t count_active_guest_slots(const struct etwas_pool *pool)
{
    uint32_t count = 0;

    for (uint32_t index = pool->slot_count - pool->guest_slots; index < etwas_pool_used_slots(pool);
         index++) {
        const struct etwas_slot *slot = etwas_pool_slot(pool, index);

        count += etwas_word_buffer(ck_pr_load_64(&slot->word)) != ETWAS_NO_BUFFER ||
                 ck_pr_load_64(&slot->counters.lost[ETWAS_SLOT_NO_BUFFER]) != 0;
    }
    return count;
}

/* Releases the oldest buffer of all slots. Returns false if there is none. */
static bool release_oldest_of_all(struct etwas_pool *pool)
{
    uint32_t buffer;
    uint64_t owner;

    if ((!etwas_pool_find_complete(pool, &buffer, &owner) ||
         processors_have_older(pool, buffer, owner)) &&
        !etwas_pool_find_closed(pool, &buffer, &owner)) {
        return false;
    }
    /* Claimed for the extra slot: only a processor's own sequences claim a buffer for its slot. */
    if (claim_hold_oldest(pool, pool->rseq_slots, buffer, owner)) {
        etwas_pool_release(pool, buffer, 0);
    }
    return true;
}

void etwas_pool_reserve_for_guests(struct etwas_pool *pool)
{
    uint32_t most = etwas_pool_allocated(pool) / GUESTS_PART;
    uint32_t reserve = BUFFERS_A_GUEST * count_active_guest_slots(pool);

    if (!pool->buffering) {
        return;
    }
    reserve = reserve < most ? reserve : most;
    ck_pr_store_32(&pool->words->guest_reserve, reserve);
    for (uint32_t turn = 0; turn < reserve; turn++) {
        if (etwas_pool_free_about(pool) >= (int32_t)reserve || !etwas_pool_has_wrapped(pool) ||
            !release_oldest_of_all(pool)) {
            return;
        }
    }
}

bool etwas_pool_is_idle(const struct etwas_pool *pool, uint32_t slots)
{
    uint32_t allocated = etwas_pool_allocated(pool);

    for (uint32_t index = 0; index < allocated; index++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[index]);

        if (etwas_owner_state(owner) == ETWAS_OWNER_HELD &&
            etwas_pool_is_of_shared_slot(pool, owner) && etwas_owner_slot(owner) < slots &&
            !etwas_pool_is_complete(pool, ck_pr_load_64(&pool->buffers[index].commit))) {
            return false;
        }
    }
    ck_pr_fence_acquire();
    return true;
}
