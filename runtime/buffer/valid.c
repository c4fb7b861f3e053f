/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/valid.h"

#include <ck_pr.h>
#include <stdio.h>

#include "buffer/collect.h"
#include "buffer/current.h"
#include "buffer/pool.h"
#include "buffer/record_walk.h"

#ifdef ETWAS_TESTPOINTS

enum {
    MOST_OWNERS = 256 /* limits the time that the check of a large pool takes */
};

/* The sentence says what should hold. */
static bool invariant_holds(bool condition, const char *sentence)
{
    if (!condition) {
        (void)fprintf(stderr, "broken: %s\n", sentence);
    }
    return condition;
}

static bool numbers_are_valid(const struct etwas_pool *pool)
{
    uint64_t ended = ck_pr_load_64(&pool->words->account_ends);
    uint64_t besides = ck_pr_load_64(&pool->words->accounted_recorded);
    uint64_t accounted = 0;

    ck_pr_fence_acquire();
    for (uint32_t disposition = 0; disposition < ETWAS_DISPOSITIONS; disposition++) {
        accounted += ck_pr_load_64(&pool->words->accounted[disposition]);
    }
    return invariant_holds(ck_pr_load_64(&pool->words->allocated) <= pool->region_buffers,
                           "every buffer in use has address space") &&
           invariant_holds(pool->region_buffers <= pool->layout.capacity,
                           "every buffer has an owner word") &&
           invariant_holds(ck_pr_load_32(&pool->words->maximum_buffers) <= pool->region_buffers &&
                               ck_pr_load_32(&pool->words->maximum_buffers) >=
                                   pool->minimum_buffers,
                           "the maximum is between the session's minimum and its region") &&
           invariant_holds(ended <= ck_pr_load_64(&pool->words->account_begins),
                           "a settlement begins once") &&
           invariant_holds(besides <= accounted, "what is settled of the recorded is settled (I4)");
}

static bool owner_is_valid(const struct etwas_pool *pool, uint32_t buffer)
{
    uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);
    enum etwas_owner_state state = etwas_owner_state(owner);

    ck_pr_fence_acquire();
    return invariant_holds(etwas_owner_slot(owner) < etwas_pool_used_slots(pool),
                           "an owner is a slot of the session") &&
           invariant_holds(etwas_owner_ticket(owner) < ck_pr_load_64(&pool->words->ticket),
                           "a claim's ticket was drawn") &&
           invariant_holds(pool->buffering ||
                               (state != ETWAS_OWNER_CLOSED && state != ETWAS_OWNER_PINNED),
                           "only a flight recorder closes and pins buffers") &&
           invariant_holds(state != ETWAS_OWNER_CLOSED ||
                               etwas_pool_is_rseq_slot(pool, etwas_owner_slot(owner)),
                           "only rseq slots close buffers");
}

/* Whether a current buffer is its slot's. In a shared slot a snapshot may have pinned it. */
static bool slot_is_valid(const struct etwas_pool *pool, uint32_t index)
{
    const struct etwas_slot *slot = etwas_pool_slot(pool, index);
    struct etwas_current current = etwas_current_read(slot, pool);
    enum etwas_owner_state state = etwas_owner_state(current.owner);
    uint64_t repeated;

    if (current.buffer >= pool->region_buffers) {
        return invariant_holds(current.buffer == ETWAS_NO_BUFFER ||
                                   !etwas_current_is_unchanged(&current, pool),
                               "a current buffer is one of the region");
    }
    repeated = ck_pr_load_64(etwas_pool_repeated_owner(pool, current.buffer));
    if (!etwas_current_is_unchanged(&current, pool)) {
        return true;
    }
    return invariant_holds(current.buffer < etwas_pool_allocated(pool),
                           "a current buffer is in use") &&
           invariant_holds(etwas_owner_slot(current.owner) == index,
                           "a current buffer is its slot's (I3)") &&
           invariant_holds(state == ETWAS_OWNER_HELD || (state == ETWAS_OWNER_PINNED &&
                                                         !etwas_pool_is_rseq_slot(pool, index)),
                           "a current buffer is held (I3)") &&
           invariant_holds(etwas_owner_state(repeated) !=
                                   ETWAS_OWNER_HELD || /* written meanwhile */
                               repeated == etwas_owner_as(current.owner, ETWAS_OWNER_HELD),
                           "a current buffer names its claim");
}

bool etwas_pool_is_valid(const struct etwas_pool *pool)
{
    uint32_t allocated = etwas_pool_allocated(pool);

    if (!numbers_are_valid(pool)) {
        return false;
    }
    for (uint32_t buffer = 0; buffer < allocated && buffer < MOST_OWNERS; buffer++) {
        if (!owner_is_valid(pool, buffer)) {
            return false;
        }
    }
    for (uint32_t slot = 0; slot < etwas_pool_used_slots(pool); slot++) {
        if (!slot_is_valid(pool, slot)) {
            return false;
        }
    }
    return true;
}

bool etwas_buffer_is_owned(const struct etwas_pool *pool, uint32_t buffer)
{
    return invariant_holds(buffer < etwas_pool_allocated(pool), "a buffer that is had is in use") &&
           invariant_holds(etwas_owner_state(ck_pr_load_64(&pool->owners[buffer])) ==
                               ETWAS_OWNER_HELD,
                           "a buffer that is had is held (I3)");
}

bool etwas_commit_is_valid(const struct etwas_pool *pool, uint64_t before, uint64_t bytes)
{
    return invariant_holds(etwas_commit_bytes(before) + bytes <=
                               pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES,
                           "no more is committed in a buffer than fits (I1)") &&
           invariant_holds((before & ETWAS_COMMIT_CLOSED) == 0, "a buffer is closed once (I3)");
}

bool etwas_collected_is_valid(const struct etwas_pool *pool,
                              const struct etwas_collected *collected)
{
    const uint8_t *start = etwas_pool_buffer(pool, collected->buffer);
    uint32_t units = collected->begin_units;
    int64_t newest = INT64_MIN;
    uint32_t records = 0;

    if (!invariant_holds(collected->end_units * (uint64_t)ETWAS_UNIT_BYTES <= pool->buffer_bytes,
                         "what is collected ends inside its buffer (I1)")) {
        return false;
    }
    for (; units < collected->end_units; records++) {
        const uint8_t *record = start + (size_t)units * ETWAS_UNIT_BYTES;
        uint32_t marker = etwas_record_marker(record);
        int64_t stamp = newest;

        if (!invariant_holds(etwas_marker_is_whole(marker) &&
                                 etwas_record_units(record, marker) != 0,
                             "what is collected is whole records (I1)")) {
            return false;
        }
        etwas_record_read_stamp(record, etwas_record_units(record, marker), &stamp);
        if (!invariant_holds(stamp >= newest, "stamps do not decrease inside a buffer (I2)")) {
            return false;
        }
        newest = stamp;
        units += etwas_record_units(record, marker);
    }
    return invariant_holds(units == collected->end_units,
                           "the last record ends where its buffer does (I1)") &&
           invariant_holds(records == collected->records,
                           "as many records are collected as are counted (I4)") &&
           invariant_holds(newest <= collected->newest,
                           "no record is newer than is said of what is collected (I2)");
}

#endif
