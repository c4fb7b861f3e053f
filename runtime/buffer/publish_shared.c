/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The shared protocol: any number of writers on one slot, Concurrency Kit atomics.
 *
 *     RESERVE   w ← slot.word                                     (L1, acquire)
 *               gate ≠ generation → INVALID; no room → switch_shared
 *               n ← slot.newest; t ← clock; t < n → restamp, clamp or close (keep_stamp_order)
 *               compare-exchange newest: n → t                    (X1)
 *               compare-exchange word: w → w + units              (X2)   else again
 *     WRITE     header and fields at the reserved place; the marker last  (S1, release)
 *     COMMIT    fetch-add on the buffer's commit word             (A1, release)
 *
 * A batch is reserved at once. The units of all its records stand in its first place until that
 * record's marker, which is stored after all others: a reader sees one gap, or all records.
 *
 * Ordering:
 *     L1  pairs with the exchange that installed the buffer (X3 in switch_shared.c): a writer that
 *         sees the buffer in the word sees it zeroed and its commit word 0. The gate and the slot's
 *         process-local data are read between L1 and X2; they change only while the word is closed,
 *         so if X2 finds the word unchanged they belong to the session that installed it.
 *     X1  before X2: of two writers the one whose X2 succeeds first also made its X1 before the
 *         other could read the word it left; the other sees that stamp and does not stay below it.
 *         So stamps never decrease within a buffer (I2), without a fence before the clock is read.
 *     S1  pairs with the flusher's acquire of a marker: a marker with bit 31 says that the record
 *         is whole.
 *     A1  pairs with the acquire of the commit word by the flusher and by the thread that claims
 *         the buffer next.
 *
 * After X2 the pool cannot go away: stop waits until what is reserved is committed, or leaks the
 * pool. After A1 nothing of the session may be touched.
 *
 * Progress: lock-free. Three locked instructions in the common case, where two would do without
 * order of stamps; they run while the clock is being read and cost little beside it.
 */
#include "buffer/publish.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/pool.h"
#include "buffer/record_walk.h"
#include "buffer/slot.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "platform/testpoint.h"

struct reservation {
    uint8_t *place;
    uint64_t *commit;
    int64_t stamp;
};

enum order {
    ORDER_KEPT,
    ORDER_RACED,
    ORDER_NEEDS_ANOTHER_BUFFER
};

/*
 * The clock reads less than the slot's newest stamp. A counter that runs a little behind on this
 * processor, or was read early, is read again, then clamped. If the system time was set back the
 * buffer ends here, since stamps must not decrease inside one; an empty buffer begins at the
 * earlier time. Writers that read the clock before the step may have announced a later stamp for
 * that buffer and not have reserved: its word takes another epoch first, so that their exchange
 * (X2) fails.
 */
static __attribute__((noinline, cold)) enum order keep_stamp_order(struct etwas_slot *slot,
                                                                   uint32_t clock, uint64_t word,
                                                                   uint64_t newest, int64_t *stamp)
{
    *stamp = etwas_clock_now(clock);
    if (*stamp >= (int64_t)newest) {
        return ORDER_KEPT;
    }
    if (clock != ETWAS_CLOCK_KIND_SYSTEM) {
        *stamp = (int64_t)newest;
        return ORDER_KEPT;
    }
    if (etwas_word_units(word) != ETWAS_FIRST_UNIT) {
        return ORDER_NEEDS_ANOTHER_BUFFER;
    }
    if (ck_pr_cas_64(&slot->word, word,
                     etwas_word_next(word, etwas_word_buffer(word), ETWAS_FIRST_UNIT))) {
        ck_pr_fence_memory();
        (void)ck_pr_cas_64(&slot->newest, newest, (uint64_t)*stamp);
    }
    return ORDER_RACED; /* in either case the word has changed */
}

/*
 * Raises the slot's newest stamp to ours. Returns false if another writer was faster; the caller
 * then tries again.
 */
static inline bool announce_stamp(struct etwas_slot *slot, uint64_t newest, int64_t stamp)
{
    return stamp <= (int64_t)newest ||
           ck_pr_cas_64(&slot->newest, newest, (uint64_t)stamp); /* X1 */
}

static uint32_t reserve_room(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                             uint32_t generation, const struct etwas_unstamped_record *record,
                             struct reservation *reservation)
{
    const uint32_t units = etwas_record_room_units(record);
    const uint32_t records = etwas_record_count(record);

    for (;;) {
        uint64_t word = ck_pr_load_64(&slot->word); /* L1 */
        struct etwas_buffer_control *buffers;
        uint8_t *region;
        uint64_t newest;
        uint32_t buffer;
        uint32_t clock;
        uint32_t limit;
        uint32_t first = etwas_word_units(word);

        ck_pr_fence_acquire();
        ETWAS_TESTPOINT(ETWAS_POINT_RESERVE_LOADED);
        if (ck_pr_load_32(&slot->gate) != generation) {
            return ERROR_INVALID_HANDLE;
        }
        limit = etwas_slot_limit_units(slot);
        if (__builtin_expect(first + units > limit, 0)) {
            uint32_t result = etwas_switch_shared(attachment, slot, generation, units, 0, records);

            if (result != ERROR_SUCCESS) {
                return result;
            }
            continue;
        }
        newest = ck_pr_load_64(&slot->newest);
        clock = etwas_kind_clock(etwas_slot_kind_of(slot));
        reservation->stamp = etwas_clock_now(clock);
        if (__builtin_expect(reservation->stamp < (int64_t)newest, 0)) {
            enum order order = keep_stamp_order(slot, clock, word, newest, &reservation->stamp);
            uint32_t result;

            if (order == ORDER_RACED) {
                continue;
            }
            if (order == ORDER_NEEDS_ANOTHER_BUFFER) {
                result = etwas_switch_shared(attachment, slot, generation, units, word, records);
                if (result != ERROR_SUCCESS) {
                    return result;
                }
                continue;
            }
        }
        if (!announce_stamp(slot, newest, reservation->stamp)) {
            continue;
        }
        ETWAS_TESTPOINT(ETWAS_POINT_STAMPED);
        buffers = ck_pr_load_ptr(&attachment->buffers);
        region = etwas_slot_region(slot);
        buffer = etwas_slot_buffer(slot, word);
        if (ck_pr_cas_64(&slot->word, word, word + units)) { /* X2 */
            reservation->place = region + ((size_t)buffer * limit + first) * ETWAS_UNIT_BYTES;
            reservation->commit = &buffers[buffer].commit;
            etwas_record_store_reserved_units(reservation->place, units);
            return ERROR_SUCCESS;
        }
    }
}

/* Writes all of the header except bytes 0..3, the marker: the final one is stored last. */
static inline void write_record_header(uint8_t *place, int64_t stamp,
                                       const struct etwas_unstamped_record *record)
{
    const uint8_t *header = (const uint8_t *)record->header;

    if (__builtin_expect(etwas_record_is_message(record), 0)) {
        memcpy(place + 4, header + 4, record->header_bytes - 4);
        if (record->message_stamp_at != 0) {
            memcpy(place + record->message_stamp_at, &stamp, 8);
        }
        return;
    }
    /* Bytes 16..23 are the stamp. Constant sizes: plain moves. */
    memcpy(place + 4, header + 4, 12);
    memcpy(place + 16, &stamp, 8);
    memcpy(place + 24, header + 24, 24);
    if (record->header_bytes == sizeof(struct etwas_etl_instance_header)) {
        memcpy(place + 48, header + 48, 24);
    } else if (etwas_record_is_event(record)) {
        memcpy(place + 48, header + 48, 32);
    }
}

/* Writes a record without its marker. */
static inline void write_record(uint8_t *place, int64_t stamp,
                                const struct etwas_unstamped_record *record)
{
    uint8_t *next = place + record->header_bytes;
    uint32_t left = record->bytes - record->header_bytes;

    write_record_header(place, stamp, record);
    for (uint32_t index = 0; index < record->field_count; index++) {
        const MOF_FIELD *field = &record->fields[index];
        uint32_t bytes = etwas_record_field_bytes(field, left);

        if (bytes != 0) {
            memcpy(next, (const void *)(uintptr_t)field->DataPtr, bytes);
            next += bytes;
            left -= bytes;
        }
    }
}

/* Stores the marker of a written record. */
static inline void store_marker(uint8_t *place, const struct etwas_unstamped_record *record)
{
    uint32_t marker;

    memcpy(&marker, record->header, sizeof marker);
    ck_pr_fence_release();
    ck_pr_store_32((uint32_t *)(void *)place, marker); /* S1 */
}

static inline uint8_t *write_record_of(const struct etwas_record_batch *batch, uint8_t *place,
                                       int64_t stamp, const struct etwas_unstamped_record *record)
{
    write_record(place, stamp, record);
    if (batch->has_times) {
        memcpy(place + etwas_record_times_at(record), &batch->times, sizeof batch->times);
    }
    return place + etwas_etl_round_up_8(record->bytes);
}

/*
 * Writes the records one behind the other, the first one last. Its marker makes all of them
 * visible.
 */
static __attribute__((noinline)) void write_batch(const struct reservation *reservation,
                                                  uint32_t first_bytes,
                                                  struct etwas_record_batch *batch)
{
    uint8_t *place = reservation->place + etwas_etl_round_up_8(first_bytes);
    const struct etwas_unstamped_record *record;

    for (uint32_t index = 1; index < batch->records; index++) {
        uint8_t *start = place;

        record = batch->build(batch, index);
        place = write_record_of(batch, start, reservation->stamp, record);
        store_marker(start, record);
    }
    record = batch->build(batch, 0);
    (void)write_record_of(batch, reservation->place, reservation->stamp, record);
    ETWAS_TESTPOINT(ETWAS_POINT_WRITTEN);
    store_marker(reservation->place, record);
}

uint32_t etwas_publish_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                              uint32_t generation, const struct etwas_unstamped_record *record)
{
    const uint32_t records = etwas_record_count(record);
    const uint32_t rounded = etwas_record_room_units(record) * ETWAS_UNIT_BYTES;
    struct reservation reservation;
    uint32_t result = reserve_room(attachment, slot, generation, record, &reservation);

    if (result != ERROR_SUCCESS) {
        return result;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_RESERVED);
    if (__builtin_expect(record->batch != NULL, 0)) {
        write_batch(&reservation, record->bytes, record->batch);
    } else {
        write_record(reservation.place, reservation.stamp, record);
        ETWAS_TESTPOINT(ETWAS_POINT_WRITTEN);
        store_marker(reservation.place, record);
    }
    ETWAS_TESTPOINT(ETWAS_POINT_MARKED);
    return etwas_commit_records(reservation.commit, records, rounded); /* A1 */
}
