/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Buffer 0 of what is relogged: the records of one input's buffer 0 as they are, but for what is different now. Of our
 * own the calibration and the clock are taken over, the totals are made anew, and the clock snapshots are added by others.
 */
#ifndef ETWAS_RELOG_FIRST_BUFFER_H
#define ETWAS_RELOG_FIRST_BUFFER_H

#include "etl/own_record.h"
#include "etl/record.h"
#include "reader/timeline.h"
#include "reader/trace.h"

/* What an input's buffer 0 has. */
struct etwas_relog_first_buffer {
    uint8_t *records; /* which the reader delivers, each on a multiple of 8 */
    uint32_t bytes;
    uint32_t passed; /* so many of them were delivered */
    bool calibrated;
    bool has_trust;
    struct etwas_etl_calibration calibration;
    struct etwas_etl_clock_trust trust;
};

/* What the header says now. */
struct etwas_relog_header_facts {
    struct etwas_etl_log_header64 fields;
    struct etwas_etl_totals totals;
    bool own;       /* of etwas */
    bool converted; /* stamps are nanoseconds since 1970 */
    int64_t first_raw;
};

enum {
    /* What lies behind so much is no part of it, and an event as any other. */
    ETWAS_RELOG_FIRST_BUFFER_BYTES = 64 << 10,
    /* What buffer 0 has in front of the clock snapshots is not more than that and this. */
    ETWAS_RELOG_OWN_BYTES = sizeof(struct etwas_etl_calibration_record) +
                            sizeof(struct etwas_etl_totals_record) +
                            sizeof(struct etwas_etl_clock_trust_record),
};

/* Reads it. ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_relog_first_buffer_read(struct etwas_relog_first_buffer *first,
                                       struct etwas_trace *trace);

/*
 * Is this the next of its records that the reader delivers? It does so before all others of the file. Others may be the
 * same, byte for byte: merging on Windows leaves such.
 */
bool etwas_relog_first_buffer_skip_record(struct etwas_relog_first_buffer *first,
                                          const struct etwas_record *record);

/* Which form its log file header has: that of 64 bits? */
bool etwas_relog_first_buffer_is_wide(const struct etwas_relog_first_buffer *first);

/* Gives a copy of a record another stamp, if it has one. */
void etwas_relog_set_stamp(uint8_t *bytes, const struct etwas_record *record, int64_t stamp);

/* Writes what buffer 0 has in front of the clock snapshots; returns how many bytes. */
uint32_t etwas_relog_first_buffer_write(const struct etwas_relog_first_buffer *first,
                                        const struct etwas_relog_header_facts *facts,
                                        uint8_t *content);

/* A clock snapshot as it stands there; which of them it is says why it was taken. */
struct etwas_etl_clock_snapshot_record etwas_relog_clock_snapshot(
    const struct etwas_relog_first_buffer *first, const struct etwas_clock_snapshot *snapshot,
    bool is_first, bool is_last);

#endif
