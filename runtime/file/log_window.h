/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The window records in a recorder's file (etl/own_record.h). Belongs to the log file. */
#ifndef ETWAS_FILE_LOG_WINDOW_H
#define ETWAS_FILE_LOG_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/own_record.h"
#include "file/log_file.h"

/*
 * Which time a snapshot covers, found from how the buffers of each slot follow one another: since
 * when and until when every slot has everything, and what is missing.
 */

/* A buffer that is in the snapshot, or that belongs there and was overwritten. */
struct etwas_covered_buffer {
    uint32_t slot;
    uint32_t buffer;
    bool kept;
    /* Set for a buffer that is kept. */
    int64_t newest;          /* no record in it has a later stamp */
    uint32_t previous;       /* the slot's buffer before it; ETWAS_NO_BUFFER: none */
    int64_t previous_newest; /* no record in earlier ones has a later stamp */
};

/* What was recorded in the slot after `from` and until `to` is missing. */
struct etwas_coverage_gap {
    uint32_t slot;
    int64_t from;
    int64_t to;
};

struct etwas_coverage {
    /* What was requested. */
    int64_t begin; /* only later records are wanted, and can be missing */
    int64_t moment;
    int64_t until;

    /*
     * All slots have everything after `from` and until `to`, around the moment. If both are the
     * moment, nothing is covered.
     */
    int64_t from;
    int64_t to;
    uint32_t gap_count;
    struct etwas_coverage_gap *gaps; /* room for two more than there are buffers */
};

/*
 * Fills in the second part. The buffers of one slot are in the order of time, with none of other
 * slots in between. If a slot's newest buffer is kept, the slot has everything until `until`.
 */
void etwas_coverage_find(struct etwas_coverage *coverage,
                         const struct etwas_covered_buffer *buffers, uint32_t count);

/* ---- the record ------------------------------------------------------------------------------ */

/*
 * Writes the window and its gaps in buffers of processor 0, with the stamp `stamp`, which no event
 * of the file precedes, and with numbers from `sequence_number` on; 0: with the next ones.
 */
struct etwas_log_write etwas_log_window_write(struct etwas_log_file *file,
                                              const struct etwas_etl_window *window,
                                              const struct etwas_coverage_gap *gaps, int64_t stamp,
                                              uint32_t sequence_number);

#endif
