/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What became of every event that a session was asked to record, by the accounts that its pool kept while the process
 * lived, put right by what its buffers were found to have when it was dead:
 *
 *     attempted = in the log files + recovered + overwritten + lost
 *
 * The pool counts a record when it is committed, and an event lost when its writer or the flusher knows it. Between
 * these and what is found lies at most what a thread was in the midst of:
 *
 *     a record that is whole and not committed yet      was attempted, too
 *     one that is committed and not found whole         is lost: somebody died in the record before it
 *     one that the flusher gave up, or could not write,
 *     and that still lies in its buffer                 is not lost
 *     a buffer that a recorder's writer was clearing    is overwritten
 */
#ifndef ETWAS_RECOVER_RECOVERED_COUNTS_H
#define ETWAS_RECOVER_RECOVERED_COUNTS_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "recover/pool_read.h"

/* Zeroed at first. */
struct etwas_recovered_counts {
    uint64_t uncommitted;
    uint64_t unfinished;
    uint64_t given_up; /* counted lost, and found, … */
    uint64_t refused;  /* … by its cause */
    uint64_t replaced;
};

/* Of a buffer whose claimer was about to clear it. */
void etwas_recovered_counts_add_replaced(struct etwas_recovered_counts *account,
                                         const struct etwas_found_buffer *found);

/* Of one of which nothing could be read. */
void etwas_recovered_counts_add_missing(struct etwas_recovered_counts *account,
                                        const struct etwas_found_buffer *found);

/*
 * Of one that was read (etwas_pool_read_records) to `records`. `log_is_there`: the session's log file was asked for what
 * it has; what a flush took and is not in it could not be written.
 */
void etwas_recovered_counts_add_read(struct etwas_recovered_counts *account,
                                     const struct etwas_buffer_control *control, bool is_rseq_slot,
                                     const struct etwas_found_buffer *found, const uint8_t *records,
                                     bool log_is_there);

struct etwas_recovered_totals {
    uint64_t attempted;
    uint64_t overwritten;
    uint64_t lost;                                 /* without what is unfinished */
    uint64_t lost_by_cause[ETWAS_LOST_CAUSES + 1]; /* by ETWAS_LOST_*; together they are `lost` */
};

/* With all buffers read. */
struct etwas_recovered_totals etwas_recovered_counts_sum(
    const struct etwas_recovered_counts *account, const struct etwas_pool *pool);

#endif
