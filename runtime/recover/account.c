/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/account.h"

#include "buffer/pool_count.h"
#include "buffer/walk.h"

void etwas_recover_account_replaced(struct etwas_recover_account *account,
                                    const struct etwas_found_buffer *found)
{
    account->replaced += found->committed;
}

void etwas_recover_account_missing(struct etwas_recover_account *account,
                                   const struct etwas_found_buffer *found)
{
    account->unfinished += found->committed;
}

/* Behind the first hole of a buffer that the flusher gave up: the pool counts them as lost. */
static uint64_t given_up(const struct etwas_buffer_control *control,
                         const struct etwas_found_buffer *found)
{
    uint32_t whole = control->set_aside - 1;

    return control->set_aside != 0 && found->committed > whole ? found->committed - whole : 0;
}

/* What a flush took of a buffer that was current, settled, and could not write. */
static uint64_t refused(const struct etwas_buffer_control *control,
                        const struct etwas_found_buffer *found, const uint8_t *records)
{
    uint32_t end =
        control->written_units < found->end_units ? control->written_units : found->end_units;
    uint32_t units = found->begin_units;
    uint64_t count = 0;

    while (units < end) {
        uint32_t its = etwas_walk_next(
            records + (size_t)(units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES, end - units);

        if (its == 0) {
            break;
        }
        units += its;
        count++;
    }
    return count;
}

void etwas_recover_account_read(struct etwas_recover_account *account,
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
        account->regained += given_up(control, found);
    } else if (log_is_there) {
        account->regained += refused(control, found, records);
    }
}

struct etwas_recover_sums etwas_recover_account_sums(const struct etwas_recover_account *account,
                                                     const struct etwas_pool *pool)
{
    struct etwas_pool_counts counts;
    uint64_t lost;

    etwas_pool_count(pool, &counts);
    lost = counts.lost_no_buffer + counts.lost_backlog_full +
           counts.settled[ETWAS_OUTCOME_WRITE_ERROR] + counts.settled[ETWAS_OUTCOME_FILE_FULL] +
           counts.settled[ETWAS_OUTCOME_ABANDONED] + counts.settled[ETWAS_OUTCOME_UNDELIVERED];
    return (struct etwas_recover_sums){
        .attempted = counts.recorded + counts.overwritten + lost + account->uncommitted,
        .overwritten = counts.overwritten + account->replaced,
        .lost = lost > account->regained ? lost - account->regained : 0,
    };
}
