/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/recovered_window.h"

#include <etwas/winerror.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "file/log_window.h"

/* Compares by slot, then by ticket: in a slot that is the order of time. */
static int held_by_slot(const void *left, const void *right)
{
    uint64_t one = ((const struct etwas_held_buffer *)left)->owner;
    uint64_t other = ((const struct etwas_held_buffer *)right)->owner;

    return etwas_owner_slot(one) != etwas_owner_slot(other)
               ? (etwas_owner_slot(one) < etwas_owner_slot(other) ? -1 : 1)
               : (one > other) - (one < other);
}

/* Returns false if no record of this buffer can be missing. */
static bool window_take_buffer(const struct etwas_mapping_copy *copy,
                               const struct etwas_held_buffer *held, uint8_t *records,
                               struct etwas_covered_buffer *covered)
{
    const struct etwas_buffer_link *link = &copy->pool.buffers[held->buffer].link;
    struct etwas_found_buffer found;
    enum etwas_pool_found what = etwas_pool_read_inspect(&copy->view, held, &found);

    if (what == ETWAS_POOL_FOUND_NOTHING || found.slot >= copy->view.slot_count) {
        return false;
    }
    if (what == ETWAS_POOL_FOUND_RECORDS && !copy->is_absent[held->buffer]) {
        what = etwas_pool_read_records(&copy->view, &found, records);
        covered->kept = what == ETWAS_POOL_FOUND_RECORDS || what == ETWAS_POOL_FOUND_NOTHING;
    } else {
        covered->kept = false;
    }
    covered->slot = found.slot;
    covered->buffer = held->buffer;
    covered->newest = found.newest;
    covered->previous = link->previous;
    covered->previous_newest = link->previous_newest;
    return true;
}

static uint32_t window_write(struct etwas_log_file *file, struct etwas_coverage *coverage,
                             const struct etwas_covered_buffer *buffers, uint32_t count)
{
    struct etwas_etl_window said = {
        .version = ETWAS_ETL_WINDOW_VERSION,
        .triggers = 1,
        .trigger_raw = coverage->moment,
        .from_raw = coverage->begin,
        .until_raw = coverage->until,
    };

    if (coverage->until <= coverage->begin) {
        return ERROR_SUCCESS;
    }
    etwas_coverage_find(coverage, buffers, count);
    said.covered_from_raw = coverage->from;
    said.covered_to_raw = coverage->to;
    said.missing = coverage->gap_count;
    return etwas_log_window_write(file, &said, coverage->gaps, coverage->begin, 0).code;
}

uint32_t etwas_recovered_window_write(struct etwas_log_file *file,
                                      const struct etwas_mapping_copy *copy, int64_t until,
                                      uint8_t *records)
{
    size_t room = (size_t)copy->view.buffer_count + 1;
    struct etwas_held_buffer *list = malloc(room * sizeof *list);
    struct etwas_covered_buffer *buffers = malloc(room * sizeof *buffers);
    struct etwas_coverage coverage = {
        .begin = etwas_clock_reading_stamp(&copy->history.readings[0], copy->head.clock),
        .until = until,
        .gaps = malloc(2 * room * sizeof *coverage.gaps),
    };
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (list != NULL && buffers != NULL && coverage.gaps != NULL) {
        uint32_t listed = etwas_pool_read_list(&copy->view, list);
        uint32_t count = 0;

        qsort(list, listed, sizeof *list, held_by_slot);
        for (uint32_t index = 0; index < listed; index++) {
            struct etwas_covered_buffer *covered = &buffers[count];

            if (window_take_buffer(copy, &list[index], records, covered)) {
                bool is_newest = until == INT64_MIN && covered->kept;

                coverage.until = is_newest && covered->newest > coverage.until ? covered->newest
                                                                               : coverage.until;
                count++;
            }
        }
        coverage.moment = coverage.until;
        code = window_write(file, &coverage, buffers, count);
    }
    free(coverage.gaps);
    free(buffers);
    free(list);
    return code;
}
