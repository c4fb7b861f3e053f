/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What is wrong with a file, told once with its position, and what is counted of it. */
#ifndef ETWAS_READER_DAMAGE_H
#define ETWAS_READER_DAMAGE_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include <etwas/etwas.h>

struct etwas_trace;

/*
 * Its session never wrote its end: it runs, or its process was killed, perhaps inside a write. So a buffer that is there
 * in part is no damage but the end, which is told as `unfinished`.
 */
bool etwas_trace_may_end_anywhere(const struct etwas_trace *trace);

/* Tells the caller's callback, or keeps it for ProcessTrace when OpenTrace finds it. */
void etwas_trace_report(struct etwas_trace *trace, etwas_damage_kind kind, uint64_t file_offset,
                        uint64_t bytes_skipped);

/* Starts the counts of a run of ProcessTrace, and tells what OpenTrace found. */
void etwas_trace_begin_information(struct etwas_trace *trace);

/*
 * Adds to a word of trace->information, which other threads may read meanwhile. One thread writes it, so load and
 * store need not be one operation; each is whole.
 */
static inline void etwas_trace_count(uint64_t *word, uint64_t more)
{
    ck_pr_store_64(word, *word + more);
}

#endif
