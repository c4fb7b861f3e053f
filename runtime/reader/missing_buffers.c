/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds which buffers of a file are missing.
 *
 * Each session of a file numbers its data buffers 1, 2, 3 … A number that occurs twice is damage. A
 * missing number is damage in a file of etwas. Other systems may skip numbers, so in their files
 * something else must show that a buffer is missing. A circular file that is being written, or was
 * left unfinished, continues its numbers while new buffers replace the oldest. If n positions have
 * S as their highest number, S - n + 1 to S must be there; older ones were replaced. A finished
 * circular file of etwas is numbered anew from 1, so no number may be missing.
 */
#include "reader/index.h"

#include <ck_pr.h>

#include "reader/damage.h"
#include "reader/trace.h"

static uint64_t missing_count_positions(const struct etwas_index *index)
{
    return index->count + index->unusable;
}

/* Returns whether entry i continues an unbroken run of numbers from 1. */
static bool missing_is_in_first_run(const struct etwas_index *index, size_t i)
{
    return i < index->count && index->entries[i].sequence == (int64_t)i + 1;
}

/*
 * Returns the lowest number that must be there, above an unbroken run from 1. A circular file has
 * such a run if its first buffers are never replaced (StartBuffers above 1), and if a session was
 * killed while it renumbered the buffers, the oldest first.
 */
static uint64_t missing_lowest_expected(const struct etwas_trace *trace,
                                        const struct etwas_index *index)
{
    int64_t highest = index->entries[index->count - 1].sequence;
    size_t run = 0;

    if ((trace->log.fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) == 0 ||
        highest < 0 || (uint64_t)highest <= missing_count_positions(index)) {
        return 1;
    }
    while (missing_is_in_first_run(index, run)) {
        run++;
    }
    return (uint64_t)highest - missing_count_positions(index) + 1 + run;
}

/*
 * Marks gaps and repeated numbers. Buffers with unusable headers, which were reported already,
 * account for as many missing numbers. Returns how many more are missing.
 */
static uint64_t missing_check_numbers(const struct etwas_trace *trace, struct etwas_index *index)
{
    bool gaps_are_damage =
        trace->log.own || trace->information.lost_buffers != 0 ||
        missing_count_positions(index) + 1 < trace->log.fields.start.buffers_written;
    uint64_t forgiven = index->unusable;
    uint64_t expected = missing_lowest_expected(trace, index);
    uint64_t reported = 0;
    int64_t before = 0;

    for (size_t i = 0; i < index->count; i++) {
        struct etwas_index_entry *entry = &index->entries[i];
        uint64_t missing;

        if (i > 0 && entry->session != index->entries[i - 1].session) {
            before = 0;
            expected = 1;
        }
        if (entry->sequence <= before) {
            entry->is_misnumbered = true;
            continue;
        }
        before = entry->sequence;
        if ((uint64_t)entry->sequence < expected) {
            continue;
        }
        missing = (uint64_t)entry->sequence - expected;
        if (missing > forgiven && gaps_are_damage) {
            entry->is_misnumbered = true;
            reported += missing - forgiven;
        }
        forgiven -= missing < forgiven ? missing : forgiven;
        expected = (uint64_t)entry->sequence + 1;
    }
    return reported;
}

/*
 * Returns whether the header may count more buffers than the file has. Other systems count every
 * write to a circular file; if number 1 is still there, nothing was replaced.
 */
static bool missing_may_count_rewrites(const struct etwas_trace *trace,
                                       const struct etwas_index *index)
{
    return (trace->log.fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0 &&
           !trace->log.own && index->count > 0 &&
           (index->entries[0].sequence != 1 || trace->log.fields.start.start_buffers > 1);
}

/*
 * Reports buffers missing at the end. If the file is cut between two buffers, only the header's
 * count shows that. A file with more buffers than counted was left unfinished by a session that
 * appended to it. `reported` buffers were reported as missing already.
 */
static void missing_check_count(struct etwas_trace *trace, const struct etwas_index *index,
                                uint64_t reported)
{
    uint64_t found = missing_count_positions(index) + 1;
    uint64_t counted = trace->log.fields.start.buffers_written;

    ck_pr_store_8((uint8_t *)&trace->information.unfinished,
                  trace->log.fields.start.end_filetime == 0 || found > counted);
    /* If buffers differ in size, the number of buffers in an unusable stretch is not known. */
    if (found < counted && reported < counted - found &&
        !missing_may_count_rewrites(trace, index) && (trace->log.uniform || index->unusable == 0)) {
        etwas_trace_report(trace, ETWAS_DAMAGE_SEQUENCE, trace->file_bytes, 0);
    }
}

void etwas_index_check_missing(struct etwas_trace *trace, struct etwas_index *index)
{
    uint64_t reported = 0;

    /*
     * If a session wrote during the walk, it replaced the oldest buffers first. The numbers found
     * are then of different moments, and gaps mean nothing.
     */
    if (index->count > 0 &&
        !(trace->log.replaces && etwas_index_entry_is_replaced(trace, &index->entries[0]))) {
        reported = missing_check_numbers(trace, index);
    }
    missing_check_count(trace, index, reported);
}
