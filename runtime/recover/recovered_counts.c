/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/recovered_counts.h"

#include "buffer/pool_count.h"
#include "buffer/record_walk.h"

void etwas_recovered_counts_add_replaced(struct etwas_recovered_counts *account,
                                         const struct etwas_found_buffer *found)
{
    account->replaced += found->committed;
}

void etwas_recovered_counts_add_missing(struct etwas_recovered_counts *account,
                                        const struct etwas_found_buffer *found)
{
    account->unfinished += found->committed;
}

/*
 * Returns how many records lie after the first hole of a buffer that the flusher abandoned. The
 * pool counts them as lost.
 */
static uint64_t counts_given_up_in(const struct etwas_buffer_control *control,
                                   const struct etwas_found_buffer *found)
{
    uint32_t whole = control->set_aside - 1;

    return control->set_aside != 0 && found->committed > whole ? found->committed - whole : 0;
}

/* Returns how many records were taken and accounted, and could not be written. */
static uint64_t counts_refused_in(const struct etwas_buffer_control *control,
                                  const struct etwas_found_buffer *found, const uint8_t *records)
{
    uint32_t written = etwas_control_written(control, etwas_owner_ticket(found->owner));
    uint32_t end = written < found->end_units ? written : found->end_units;
    uint32_t begin = found->begin_units;

    records += (size_t)(begin - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
    return end > begin ? etwas_record_walk(records, end - begin, NULL).records : 0;
}

void etwas_recovered_counts_add_read(struct etwas_recovered_counts *account,
                                     const struct etwas_buffer_control *control, bool is_rseq_slot,
                                     const struct etwas_found_buffer *found, const uint8_t *records,
                                     bool log_is_there)
{
    uint64_t whole = (uint64_t)found->before + found->records;

    if (found->committed > whole) {
        account->unfinished += found->committed - whole;
    } else {
        account->uncommitted += whole - found->committed;
    }
    if (!is_rseq_slot) {
        account->given_up += counts_given_up_in(control, found);
    } else if (log_is_there) {
        account->refused += counts_refused_in(control, found, records);
    }
}

/* Subtracts what was found from a loss, at most all of it. */
static void counts_apply(uint64_t *lost, uint64_t *found)
{
    uint64_t some = *found < *lost ? *found : *lost;

    *lost -= some;
    *found -= some;
}

struct etwas_recovered_totals etwas_recovered_counts_sum(
    const struct etwas_recovered_counts *account, const struct etwas_pool *pool)
{
    struct etwas_recovered_totals sums = {0};
    uint64_t *lost = sums.lost_by_cause;
    uint64_t given_up = account->given_up;
    uint64_t refused = account->refused;
    struct etwas_pool_counts counts;

    etwas_pool_count(pool, &counts);
    lost[ETWAS_LOST_NO_BUFFER] = counts.lost[ETWAS_SLOT_NO_BUFFER];
    lost[ETWAS_LOST_BACKLOG_FULL] = counts.lost[ETWAS_SLOT_BACKLOG_FULL];
    lost[ETWAS_LOST_TOO_LARGE] = counts.lost[ETWAS_SLOT_TOO_LARGE];
    lost[ETWAS_LOST_WITHHELD] = counts.lost[ETWAS_SLOT_WITHHELD];
    lost[ETWAS_LOST_WRITE_ERROR] = counts.accounted[ETWAS_DISPOSITION_WRITE_ERROR];
    lost[ETWAS_LOST_FILE_FULL] = counts.accounted[ETWAS_DISPOSITION_FILE_FULL];
    lost[ETWAS_LOST_ABANDONED] = counts.accounted[ETWAS_DISPOSITION_ABANDONED];
    lost[ETWAS_LOST_UNDELIVERED] = counts.accounted[ETWAS_DISPOSITION_UNDELIVERED];
    sums.attempted = counts.recorded + counts.overwritten + account->uncommitted;
    sums.overwritten = counts.overwritten + account->replaced;
    for (uint32_t cause = 1; cause <= ETWAS_LOST_CAUSES; cause++) {
        sums.attempted += lost[cause];
    }
    counts_apply(&lost[ETWAS_LOST_ABANDONED], &given_up);
    counts_apply(&lost[ETWAS_LOST_WRITE_ERROR], &refused);
    counts_apply(&lost[ETWAS_LOST_FILE_FULL], &refused);
    for (uint32_t cause = 1; cause <= ETWAS_LOST_CAUSES; cause++) {
        sums.lost += lost[cause];
    }
    return sums;
}
