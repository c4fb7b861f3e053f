/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/pool_join.h"

#include <ck_pr.h>
#include <string.h>

#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/record_walk.h"
#include "buffer/valid.h"

/* ---- slots of guests ------------------------------------------------------------------------- */

static uint32_t first_guest_slot(const struct etwas_pool *pool)
{
    return pool->slot_count - pool->guest_slots;
}

bool etwas_guest_slot_claim(struct etwas_pool *pool, uint32_t *number)
{
    uint32_t index = 0;

    /* Nothing could be logged in a quarantined slot. */
    while (index < pool->guest_slots &&
           (ck_pr_load_8(&pool->guests[index]) != ETWAS_GUEST_NONE ||
            etwas_pool_is_quarantined(pool, first_guest_slot(pool) + index))) {
        index++;
    }
    if (index == pool->guest_slots) {
        return false;
    }
    ck_pr_fence_acquire(); /* the slot of its last guest has been repaired */
    ck_pr_store_8(&pool->guests[index], ETWAS_GUEST_LIVES);
    if (etwas_pool_used_slots(pool) <= first_guest_slot(pool) + index) {
        ck_pr_store_32(&pool->used_slots, first_guest_slot(pool) + index + 1);
    }
    *number = index;
    return true;
}

void etwas_guest_slot_died(struct etwas_pool *pool, uint32_t number)
{
    ck_pr_store_8(&pool->guests[number], ETWAS_GUEST_DIED);
    etwas_pool_wake_flusher(pool);
}

/* ---- one buffer ------------------------------------------------------------------------------ */

/*
 * Returns the size in units of a place whose predecessors were all inspected, and whether it is a
 * record. Returns 0 if it is impossible.
 */
static uint32_t reap_inspect_place(const uint8_t *place, uint32_t left, bool *is_record)
{
    uint32_t marker = etwas_record_marker(place);
    uint32_t units;

    *is_record = etwas_marker_is_whole(marker);
    if (*is_record) {
        units = etwas_record_units(place, marker);
        return units != 0 && units <= left ? units : 0;
    }
    return marker == 0 ? 1 : marker <= left ? marker : 0;
}

/*
 * Moves the whole records before `end_units` together, and zeroes the rest. Returns where they end.
 * An impossible place, which no well-behaved writer leaves, hides the records after it.
 */
static uint32_t reap_compact(const struct etwas_pool *pool, uint32_t buffer, uint32_t end_units,
                             uint32_t *records)
{
    uint8_t *start = etwas_pool_buffer(pool, buffer);
    uint32_t to = ETWAS_FIRST_UNIT;
    uint32_t units;
    bool is_record;

    *records = 0;
    if (!etwas_pool_is_end(pool, end_units)) {
        return to;
    }
    for (uint32_t at = ETWAS_FIRST_UNIT; at < end_units; at += units) {
        uint8_t *place = start + (size_t)at * ETWAS_UNIT_BYTES;

        units = reap_inspect_place(place, end_units - at, &is_record);
        if (units == 0) {
            break;
        }
        if (is_record) {
            memmove(start + (size_t)to * ETWAS_UNIT_BYTES, place, (size_t)units * ETWAS_UNIT_BYTES);
            to += units;
            ++*records;
        }
    }
    memset(start + (size_t)to * ETWAS_UNIT_BYTES, 0, (size_t)(end_units - to) * ETWAS_UNIT_BYTES);
    return to;
}

/*
 * Sets the commit word to the records found. Records that it counted and that are missing, which no
 * well-behaved writer leaves, are lost.
 */
static void reap_store_commit(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                              uint32_t records, uint64_t rest)
{
    uint64_t *commit = &pool->buffers[buffer].commit;
    uint32_t counted = etwas_commit_count(ck_pr_load_64(commit));

    etwas_pool_account_begin(pool);
    if (counted > records) {
        etwas_pool_account(pool, slot, ETWAS_DISPOSITION_ABANDONED, counted - records);
    }
    ck_pr_store_64(commit, records * ETWAS_COMMIT_ONE_RECORD + rest);
    etwas_pool_account_end(pool);
}

/* Repairs a buffer that is no longer current. Returns where its records end. */
static uint32_t reap_repair_full(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                                 uint32_t end_units)
{
    uint32_t records;
    uint32_t end = reap_compact(pool, buffer, end_units, &records);

    reap_store_commit(pool, buffer, slot, records,
                      ETWAS_COMMIT_CLOSED + pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES);
    return end;
}

/* Repairs the current buffer. It stays current for the next guest. */
static void reap_repair_current(struct etwas_pool *pool, struct etwas_slot *slot, uint32_t index)
{
    uint64_t word = ck_pr_load_64(&slot->word);
    uint32_t buffer = etwas_word_buffer(word);
    uint32_t records;
    uint32_t end;

    if (!etwas_pool_has_buffer(pool, buffer)) {
        return; /* the next check of the slot quarantines it */
    }
    end = reap_compact(pool, buffer, etwas_word_units(word), &records);
    reap_store_commit(pool, buffer, index, records,
                      (uint64_t)(end - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
    ck_pr_fence_release();
    ck_pr_store_64(&slot->word, etwas_word_next(word, buffer, end));
}

/* ---- the buffers of a slot ------------------------------------------------------------------- */

static bool reap_is_complete(const struct etwas_pool *pool, uint32_t buffer)
{
    return etwas_pool_is_complete(pool, ck_pr_load_64(&pool->buffers[buffer].commit));
}

/* Returns the buffer that was current before this one, if the slot still has it; otherwise none. */
static uint32_t reap_previous_of(const struct etwas_pool *pool, uint32_t buffer, uint32_t slot)
{
    uint32_t previous = ck_pr_load_32(&pool->buffers[buffer].link.previous);
    uint64_t owner;

    if (!etwas_pool_has_buffer(pool, previous)) {
        return ETWAS_NO_BUFFER;
    }
    owner = ck_pr_load_64(&pool->owners[previous]);
    return etwas_owner_state(owner) != ETWAS_OWNER_FREE && etwas_owner_slot(owner) == slot &&
                   etwas_owner_ticket(owner) <
                       etwas_owner_ticket(ck_pr_load_64(&pool->owners[buffer]))
               ? previous
               : ETWAS_NO_BUFFER;
}

/* Repairs the buffers that were current before the current one and are not collected yet. */
static void reap_repair_chain(struct etwas_collector *collector, uint32_t slot, uint32_t buffer)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t left = pool->region_buffers;
    uint32_t previous;

    while (left-- > 0 && (previous = reap_previous_of(pool, buffer, slot)) != ETWAS_NO_BUFFER) {
        struct etwas_buffer_link *link = &pool->buffers[buffer].link;

        if (!reap_is_complete(pool, previous) && collector->entries[previous].set_aside == 0) {
            link->previous_end_units =
                reap_repair_full(pool, previous, slot, link->previous_end_units);
            pool->buffers[previous].end.units = link->previous_end_units;
            collector->entries[previous].end_units =
                link->previous_end_units; /* end of one that is in the list */
        }
        if (pool->buffering) {
            ck_pr_store_64(&pool->ages[previous],
                           etwas_owner_ticket(ck_pr_load_64(&pool->owners[buffer])));
            etwas_pool_add_candidate(pool, previous, slot, true);
        }
        buffer = previous;
    }
}

/* Repairs the buffers that are gathered in the slot's list. */
static void reap_repair_list(struct etwas_collector *collector, uint32_t slot)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t buffer = collector->lists[slot].head;

    while (buffer != ETWAS_NO_BUFFER) {
        struct etwas_collector_buffer *entry = &collector->entries[buffer];

        if (!reap_is_complete(pool, buffer)) {
            entry->end_units = reap_repair_full(pool, buffer, slot, entry->end_units);
            pool->buffers[buffer].end.units = entry->end_units;
        }
        buffer = entry->next;
    }
}

/*
 * Whether the buffer was ever current. One that was not has no commits, and is in none of the
 * lists.
 */
static bool reap_was_current(const struct etwas_collector *collector, uint32_t slot,
                             uint32_t buffer)
{
    const struct etwas_pool *pool = collector->pool;
    uint32_t current = etwas_word_buffer(ck_pr_load_64(&etwas_pool_slot(pool, slot)->word));
    uint32_t pending = collector->lists[slot].head;
    uint32_t left = pool->region_buffers;

    if (ck_pr_load_64(&pool->buffers[buffer].commit) != 0) {
        return true;
    }
    while (etwas_pool_has_buffer(pool, current) && current != buffer && left-- > 0) {
        current = reap_previous_of(pool, current, slot);
    }
    while (pending != ETWAS_NO_BUFFER && pending != buffer) {
        pending = collector->entries[pending].next;
    }
    return current == buffer || pending == buffer;
}

/*
 * Releases a buffer that was abandoned while its process lived: no writer will come back to it. The
 * records that were whole then have been collected.
 */
static void reap_release_set_aside(struct etwas_collector *collector, uint32_t buffer,
                                   uint32_t slot)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[buffer];
    struct etwas_collector_buffer *entry = &collector->entries[buffer];
    uint32_t records = etwas_commit_count(ck_pr_load_64(&control->commit));
    uint32_t whole = entry->set_aside - 1;

    etwas_pool_account_begin(pool);
    etwas_pool_account(pool, slot, ETWAS_DISPOSITION_ABANDONED,
                       records > whole ? records - whole : 0);
    entry->set_aside = 0;
    ck_pr_store_32(&control->set_aside, 0);
    ck_pr_store_64(&control->commit, 0);
    etwas_pool_account_end(pool);
    collector->set_aside_count--;
    etwas_pool_release(pool, buffer, entry->end_units);
}

/*
 * Repairs a flight recorder's buffer to which no link leads any more: later ones were overwritten
 * while one of its writers had not committed. Its end and its age are unknown. Its records are
 * followed by zeroes, and it counts as older than all others.
 */
static void reap_repair_unlinked(struct etwas_pool *pool, uint32_t buffer, uint32_t slot)
{
    (void)reap_repair_full(pool, buffer, slot, pool->buffer_bytes / ETWAS_UNIT_BYTES);
    ck_pr_store_64(&pool->ages[buffer], etwas_owner_ticket(ck_pr_load_64(&pool->owners[buffer])));
    etwas_pool_add_candidate(pool, buffer, slot, true);
}

static void reap_release_held(struct etwas_collector *collector, uint32_t slot)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t current = etwas_word_buffer(ck_pr_load_64(&etwas_pool_slot(pool, slot)->word));
    uint32_t allocated = etwas_pool_allocated(pool);

    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        if (!etwas_owner_is_held_by(ck_pr_load_64(&pool->owners[buffer]), slot)) {
            continue;
        }
        if (collector->entries[buffer].set_aside != 0) {
            reap_release_set_aside(collector, buffer, slot);
        } else if (!reap_was_current(collector, slot, buffer)) {
            etwas_pool_release(pool, buffer, ETWAS_FIRST_UNIT);
        } else if (pool->buffering && buffer != current && !reap_is_complete(pool, buffer)) {
            reap_repair_unlinked(pool, buffer, slot);
        }
    }
}

static void reap_slot(struct etwas_collector *collector, uint32_t index)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_slot *slot = etwas_pool_slot(pool, index);
    uint32_t current = etwas_word_buffer(ck_pr_load_64(&slot->word));

    ck_pr_store_32(&slot->slow_writers, 0);
    if (etwas_pool_has_buffer(pool, current)) {
        reap_repair_current(pool, slot, index);
        reap_repair_chain(collector, index, current);
    }
    reap_repair_list(collector, index);
    reap_release_held(collector, index);
    ETWAS_INVARIANT(etwas_pool_is_valid(pool));
}

void etwas_collector_reap(struct etwas_collector *collector)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t first = first_guest_slot(pool);

    for (uint32_t index = first; index < etwas_pool_used_slots(pool); index++) {
        uint8_t *guest = &pool->guests[index - first];

        if (ck_pr_load_8(guest) == ETWAS_GUEST_DIED) {
            ck_pr_fence_acquire(); /* after everything that the process did */
            if (!etwas_pool_is_quarantined(pool, index)) {
                reap_slot(collector, index);
            }
            ck_pr_fence_release();
            ck_pr_store_8(guest, ETWAS_GUEST_NONE);
        }
    }
}
