/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Walking over the records of a buffer, from one to the next. */
#ifndef ETWAS_BUFFER_RECORD_WALK_H
#define ETWAS_BUFFER_RECORD_WALK_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "buffer/slot.h"
#include "etl/layout.h"

/*
 * Stores the size of a record that its writer has just reserved: if the writer dies, the records
 * after it can still be found. If not even the size is stored yet, there are zeroes.
 */
static inline void etwas_record_store_reserved_units(uint8_t *record, uint32_t units)
{
    ck_pr_store_32((uint32_t *)(void *)record, units);
    ck_pr_barrier(); /* a writer that dies after this line has stored it */
}

/* Returns the first 4 bytes of a record. Their final value is stored last. */
static inline uint32_t etwas_record_marker(const uint8_t *record)
{
    return ck_pr_load_32((const uint32_t *)(const void *)record);
}

/*
 * Whether a record with this marker is whole. An acquire must precede reading more of it than its
 * marker.
 */
static inline bool etwas_marker_is_whole(uint32_t marker)
{
    const uint32_t final = 1u << 31;

    return (marker & final) != 0;
}

/* Whether it is a kernel event, whose marker has a version in the place of the size. */
static inline bool etwas_marker_is_kernel_event(uint32_t marker)
{
    uint8_t header_type = (uint8_t)(marker >> 16);

    return marker >> 24 == ETWAS_ETL_MARKER_FLAGS &&
           (header_type == ETWAS_ETL_SYSTEM64 || header_type == ETWAS_ETL_PERFINFO64);
}

/* Returns the number of units from a whole record to the next one. 0: it is no record. */
static inline uint32_t etwas_record_units(const uint8_t *record, uint32_t marker)
{
    uint16_t size = (uint16_t)marker;

    if (etwas_marker_is_kernel_event(marker)) {
        memcpy(&size, record + offsetof(struct etwas_etl_perfinfo_header, size), sizeof size);
    }
    return (uint32_t)etwas_etl_round_up_8(size) / ETWAS_UNIT_BYTES;
}

/*
 * Returns the number of units of the whole record at this place, which all earlier records lead to,
 * with `left` units to the end. 0: there is no whole record, or it would end beyond.
 */
static inline uint32_t etwas_record_next_units(const uint8_t *record, uint32_t left)
{
    uint32_t marker = left != 0 ? etwas_record_marker(record) : 0;
    uint32_t units = 0;

    if (etwas_marker_is_whole(marker)) {
        ck_pr_fence_acquire(); /* its bytes: pairs with S1 */
        units = etwas_record_units(record, marker);
    }
    return units <= left ? units : 0;
}

/*
 * Stores the stamp of a whole record of this many units. *stamp stays unchanged for a message
 * without one, and for a record that is shorter than its marker requires.
 */
static inline void etwas_record_read_stamp(const uint8_t *record, uint32_t units, int64_t *stamp)
{
    size_t at = offsetof(struct etwas_etl_full_header, time_stamp);
    struct etwas_etl_message_header header;

    memcpy(&header, record, sizeof header);
    if (header.marker_flags == ETWAS_ETL_MESSAGE_MARKER_FLAGS) {
        if (!etwas_etl_message_has_stamp(header.option_flags)) {
            return;
        }
        at = etwas_etl_message_stamp_at(header.option_flags);
    } else if (header.marker_flags == ETWAS_ETL_MARKER_FLAGS && record[2] == ETWAS_ETL_PERFINFO64) {
        at = offsetof(struct etwas_etl_perfinfo_header, time_stamp);
    }
    if (at + sizeof *stamp <= (size_t)units * ETWAS_UNIT_BYTES) {
        memcpy(stamp, record + at, sizeof *stamp);
    }
}

/* The whole records at the beginning of some bytes. */
struct etwas_record_prefix {
    uint32_t units;
    uint32_t records;
};

/*
 * Walks over them, up to the first marker that is not final and at most `limit` units. Stores the
 * last stamp in *newest, if one has any; `newest` may be NULL.
 */
static inline struct etwas_record_prefix etwas_record_walk(const uint8_t *records, uint32_t limit,
                                                           int64_t *newest)
{
    struct etwas_record_prefix prefix = {0};

    while (prefix.units < limit) {
        const uint8_t *record = records + (size_t)prefix.units * ETWAS_UNIT_BYTES;
        uint32_t its = etwas_record_next_units(record, limit - prefix.units);

        if (its == 0) {
            break;
        }
        if (newest != NULL) {
            etwas_record_read_stamp(record, its, newest);
        }
        prefix.units += its;
        prefix.records++;
    }
    return prefix;
}

#endif
