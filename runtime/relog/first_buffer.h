/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Buffer 0 of the output: the records of one input's buffer 0 as they are, except what differs in
 * the output. Among the records that etwas writes for itself, the calibration and the clock are
 * taken over and the totals are computed anew; relog_output.c adds the clock snapshots.
 */
#ifndef ETWAS_RELOG_FIRST_BUFFER_H
#define ETWAS_RELOG_FIRST_BUFFER_H

#include "etl/own_record.h"
#include "etl/record.h"
#include "reader/timeline.h"
#include "reader/trace.h"

/* The contents of an input's buffer 0. */
struct etwas_relog_first_buffer {
    uint8_t *records; /* the records that the reader delivers, each on a multiple of 8 */
    uint32_t bytes;
    uint32_t passed; /* bytes of those that were delivered already */
    bool calibrated;
    bool has_trust;
    struct etwas_etl_calibration calibration;
    struct etwas_etl_clock_trust trust;
};

/* The header of the output. */
struct etwas_relog_header_facts {
    struct etwas_etl_log_header64 fields;
    struct etwas_etl_totals totals;
    bool own;       /* written by etwas */
    bool converted; /* stamps are nanoseconds since 1970 */
    int64_t first_raw;
};

enum {
    /* Records behind this limit are not part of it, but ordinary events. */
    ETWAS_RELOG_FIRST_BUFFER_BYTES = 64 << 10,
    /* The limit of what etwas' own records add in front of the clock snapshots. */
    ETWAS_RELOG_OWN_BYTES = sizeof(struct etwas_etl_calibration_record) +
                            sizeof(struct etwas_etl_totals_record) +
                            sizeof(struct etwas_etl_clock_trust_record),
};

/* Reads it from an input. Returns ERROR_SUCCESS or ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_relog_first_buffer_read(struct etwas_relog_first_buffer *first,
                                       struct etwas_trace *trace);

/*
 * Returns whether the record is the next one of buffer 0, and skips it then. The reader delivers
 * these before all others of the file. Later records may be identical, byte for byte: merging on
 * Windows leaves such.
 */
bool etwas_relog_first_buffer_skip_record(struct etwas_relog_first_buffer *first,
                                          const struct etwas_record *record);

/* Returns whether its log file header has the form of 64 bits. */
bool etwas_relog_first_buffer_is_wide(const struct etwas_relog_first_buffer *first);

/* Sets the stamp in a copy of a record, if it has one. */
void etwas_relog_set_stamp(uint8_t *bytes, const struct etwas_record *record, int64_t stamp);

/* Writes what buffer 0 has in front of the clock snapshots. Returns how many bytes. */
uint32_t etwas_relog_first_buffer_write(const struct etwas_relog_first_buffer *first,
                                        const struct etwas_relog_header_facts *facts,
                                        uint8_t *content);

/* Makes a clock snapshot record. Whether it is the first or the last decides the reason in it. */
struct etwas_etl_clock_snapshot_record etwas_relog_clock_snapshot(
    const struct etwas_relog_first_buffer *first, const struct etwas_clock_snapshot *snapshot,
    bool is_first, bool is_last);

#endif
