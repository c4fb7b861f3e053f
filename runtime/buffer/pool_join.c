/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/pool_join.h"

#include "platform/memory.h"
#include "platform/rseq.h"

/* Never freed: a late writer may follow an attachment at any time. */
struct guest {
    struct etwas_pool pool;
    uint32_t slot;  /* its own */
    uint8_t *space; /* where the file is mapped, or zeroes; NULL: not reserved yet */
    size_t space_bytes;
    bool is_joined;
};

static struct guest guests[ETWAS_GUEST_SESSIONS];

struct etwas_guest_inside etwas_guests_inside[ETWAS_GUEST_SESSIONS];

static struct guest *guest_of(uint32_t entry)
{
    return &guests[entry - ETWAS_SESSION_ENTRIES];
}

/* ---- joining --------------------------------------------------------------------------------- */

/*
 * Reserves space for the slots' process-local data, and everything that a word can name. Space that
 * was replaced stays, with zeroes in it, and is smaller than its replacement.
 */
static bool guest_keep_space(struct guest *guest, const struct etwas_pool_outline *outline)
{
    size_t bytes = outline->region_at +
                   etwas_pool_addressable_bytes(outline->region_buffers, outline->buffer_bytes);
    uint8_t *space;

    if (guest->space_bytes >= bytes) {
        return true;
    }
    bytes = bytes < 2 * guest->space_bytes ? 2 * guest->space_bytes : bytes;
    space = etwas_memory_allocate_permanent(ETWAS_SLOT_LOCAL_BYTES + bytes);
    if (space == NULL) {
        return false;
    }
    guest->space = space + ETWAS_SLOT_LOCAL_BYTES;
    guest->space_bytes = bytes;
    return true;
}

/*
 * Fills in the guest's pool. No thread is on the slow path, so none reads it. The places of the
 * gates still contain zeroes.
 */
static void guest_fill_pool(struct guest *guest, const struct etwas_pool_outline *outline)
{
    guest->pool = (struct etwas_pool){
        .layout = outline->layout,
        .slot_count = outline->slot_count,
        .used_slots = outline->slot_count,
        .rseq_slots = outline->rseq_slots,
        .guest_slots = ETWAS_GUEST_SLOTS,
        .rows = 1,
        .row_slots = outline->rseq_slots,
        .buffer_bytes = outline->buffer_bytes,
        .minimum_buffers = outline->minimum_buffers,
        .region_buffers = outline->region_buffers,
        .extra_buffers = outline->extra_buffers,
        .nodes = outline->nodes,
        .stripe_shift = outline->stripe_shift,
        .buffering = outline->buffering,
        .is_shared = true,
        .memory = {.region = guest->space + outline->region_at,
                   .region_bytes = (size_t)outline->region_buffers * outline->buffer_bytes,
                   .is_file = true,
                   .is_kept = true},
    };
    etwas_pool_set_pointers(&guest->pool, guest->space);
    for (uint32_t slot = 0; slot < outline->slot_count; slot++) {
        etwas_pool_set_slot_local(&guest->pool, slot,
                                  slot < outline->rseq_slots ? outline->kind : outline->extra_kind);
    }
}

/*
 * The host has populated the pages already; this maps them for the writers. On failure here the
 * writers map them at their first touch.
 */
static void guest_populate(const struct etwas_pool *pool)
{
    (void)etwas_memory_populate(pool->words, pool->layout.bytes);
    (void)etwas_memory_populate(pool->memory.region,
                                (size_t)pool->minimum_buffers * pool->buffer_bytes);
}

bool etwas_pool_join(uint32_t entry, const struct etwas_pool_outline *outline)
{
    struct guest *guest = guest_of(entry);
    struct etwas_attachment *attachment = etwas_attachment_of(entry);

    if (!guest_keep_space(guest, outline)) {
        return false;
    }
    guest_fill_pool(guest, outline);
    /*
     * A thread that finds one of the file's gates open finds the slots' process-local data: the
     * gates are not visible here before.
     */
    ck_pr_fence_memory();
    if (!etwas_memory_map_file(guest->space, outline->bytes, outline->descriptor,
                               outline->block_at)) {
        etwas_memory_map_zeroes(guest->space, outline->bytes); /* a late writer may read there */
        return false;
    }
    guest->is_joined = true;
    guest->slot = outline->guest_slot;
    guest_populate(&guest->pool);
    /*
     * A thread that finds the slots, and one of their gates open, finds the pool. Pairs with that
     * load of the gate.
     */
    ck_pr_fence_release();
    ck_pr_store_ptr(&attachment->pool, &guest->pool);
    ck_pr_store_ptr(&attachment->buffers, guest->pool.buffers);
    ck_pr_store_32(&attachment->extra, guest->slot);
    ck_pr_fence_release();
    ck_pr_store_ptr(&attachment->slots, guest->pool.slots);
    return true;
}

/* ---- leaving --------------------------------------------------------------------------------- */

static bool guest_gates_are_closed(const struct etwas_pool *pool)
{
    for (uint32_t slot = 0; slot < pool->slot_count; slot++) {
        if (ck_pr_load_32(&etwas_pool_slot(pool, slot)->gate) != 0) {
            return false;
        }
    }
    return true;
}

void etwas_pool_close_gates(uint32_t entry)
{
    const struct etwas_pool *pool = &guest_of(entry)->pool;

    for (uint32_t slot = 0; slot < pool->slot_count; slot++) {
        ck_pr_store_32(&etwas_pool_slot(pool, slot)->gate, 0);
    }
    ck_pr_fence_memory();
}

/*
 * Whether everything reserved in a buffer of the guest's slot is committed. The host may have shut
 * the slot, or be dead.
 */
static bool guest_has_committed(const struct guest *guest, uint32_t buffer)
{
    const struct etwas_pool *pool = &guest->pool;
    uint64_t word = ck_pr_load_64(&etwas_pool_slot(pool, guest->slot)->word);
    uint64_t commit = ck_pr_load_64(&pool->buffers[buffer].commit);

    return etwas_pool_is_complete(pool, commit) ||
           (etwas_word_buffer(word) == buffer &&
            etwas_commit_bytes(commit) ==
                (etwas_word_units(word) - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
}

static bool guest_has_committed_all(const struct guest *guest)
{
    uint32_t allocated = etwas_pool_allocated(&guest->pool);

    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&guest->pool.owners[buffer]);

        if (etwas_owner_state(owner) != ETWAS_OWNER_FREE &&
            etwas_owner_slot(owner) == guest->slot && !guest_has_committed(guest, buffer)) {
            return false;
        }
    }
    return true;
}

bool etwas_pool_leave(uint32_t entry)
{
    struct guest *guest = guest_of(entry);

    if (!guest_gates_are_closed(&guest->pool)) {
        return false;
    }
    ck_pr_fence_memory(); /* G1 */
    if ((uint32_t)ck_pr_load_64(&etwas_guests_inside[entry - ETWAS_SESSION_ENTRIES].word) != 0 ||
        !guest_has_committed_all(guest) || !etwas_rseq_fence()) {
        return false;
    }
    etwas_memory_map_zeroes(guest->space, guest->space_bytes);
    guest->is_joined = false;
    return true;
}

void etwas_guest_pools_forget(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct guest *guest = &guests[index];
        uint64_t *inside = &etwas_guests_inside[index].word;

        if (guest->is_joined) {
            etwas_memory_map_zeroes(guest->space, guest->space_bytes);
            guest->is_joined = false;
        }
        ck_pr_store_64(inside, ((ck_pr_load_64(inside) >> 32) + 1) << 32);
    }
}
