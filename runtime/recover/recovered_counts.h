/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What became of every event that was to be recorded: the accounts that the pool kept while the
 * process lived, corrected by what its buffers contain after its death:
 *
 *     attempted = in the log files + recovered + overwritten + lost
 *
 * The pool counts a record when it is committed, and a lost event when its writer or the flusher
 * notices the loss. These counts differ from what is found only by what threads had begun and not
 * completed:
 *
 *     a record that is whole and not committed yet      was attempted, too
 *     one that is committed and not found whole         is lost: a writer died in the record before
 *     one that the flusher abandoned, or could not
 *     write, and that still lies in its buffer          is not lost
 *     a buffer that a recorder's writer was clearing    is overwritten
 */
#ifndef ETWAS_RECOVER_RECOVERED_COUNTS_H
#define ETWAS_RECOVER_RECOVERED_COUNTS_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/pool_read.h"

/* Corrections to the pool's accounts. Zeroed at first. */
struct etwas_recovered_counts {
    uint64_t uncommitted;
    uint64_t unfinished;
    uint64_t given_up; /* counted lost as abandoned, and found */
    uint64_t refused;  /* counted lost as write errors, and found */
    uint64_t replaced;
};

/* Counts a buffer that its claimer was about to clear. */
void etwas_recovered_counts_add_replaced(struct etwas_recovered_counts *account,
                                         const struct etwas_found_buffer *found);

/* Counts a buffer that could not be read at all. */
void etwas_recovered_counts_add_missing(struct etwas_recovered_counts *account,
                                        const struct etwas_found_buffer *found);

/*
 * Counts a buffer that was read to `records` (etwas_pool_read_records). `log_is_there`: the
 * session's log file was searched. Records that a flush took and that are not in the file could not
 * be written.
 */
void etwas_recovered_counts_add_read(struct etwas_recovered_counts *account,
                                     const struct etwas_buffer_control *control, bool is_rseq_slot,
                                     const struct etwas_found_buffer *found, const uint8_t *records,
                                     bool log_is_there);

struct etwas_recovered_totals {
    uint64_t attempted;
    uint64_t overwritten;
    uint64_t lost;                                 /* without unfinished records */
    uint64_t lost_by_cause[ETWAS_LOST_CAUSES + 1]; /* by ETWAS_LOST_*; their sum is `lost` */
};

/* Sums up the counts after all buffers were read. */
struct etwas_recovered_totals etwas_recovered_counts_sum(
    const struct etwas_recovered_counts *account, const struct etwas_pool *pool);

#endif
