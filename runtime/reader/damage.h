/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Damage of a file: each is reported once with its position, and counted. */
#ifndef ETWAS_READER_DAMAGE_H
#define ETWAS_READER_DAMAGE_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include <etwas/etwas.h>

struct etwas_trace;

/*
 * Returns whether the session has not written the file's end, because it still runs or its process
 * was killed, perhaps during a write. A buffer that is there in part is then not damage but the end
 * of the file, which is reported as `unfinished`.
 */
bool etwas_trace_may_end_anywhere(const struct etwas_trace *trace);

/*
 * Counts the damage and calls the caller's callback. While OpenTrace runs, the damage is stored for
 * ProcessTrace instead. Nothing happens while the trace is quiet.
 */
void etwas_trace_report(struct etwas_trace *trace, etwas_damage_kind kind, uint64_t file_offset,
                        uint64_t bytes_skipped);

/*
 * Resets the counts at the beginning of ProcessTrace, and reports the damage that OpenTrace found.
 */
void etwas_trace_begin_information(struct etwas_trace *trace);

/*
 * Adds to a word of trace->information. One thread writes these words and others may read them
 * meanwhile, so a plain load and an atomic store suffice.
 */
static inline void etwas_trace_count(uint64_t *word, uint64_t more)
{
    ck_pr_store_64(word, *word + more);
}

#endif
