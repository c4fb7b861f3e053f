/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Exact counts of the program's calls, striped over threads so that they do not contend for cache
 * lines.
 *
 *   function                    may be called by
 *   heaptrace_count_attempt     any thread, signal handlers
 *   heaptrace_count_undo        the same, after its attempt, instead of done
 *   heaptrace_count_refused     the same, between attempt and done
 *   heaptrace_count_done        the same, after its attempt
 *   heaptrace_count_reset       a fork's child, or while no thread counts
 *   the rest                    any thread
 */
#ifndef ETWAS_HEAPTRACE_COUNTS_H
#define ETWAS_HEAPTRACE_COUNTS_H

#include "heaptrace.h"

#include <etwas/etwas.h>

struct heaptrace_counts {
    uint64_t attempted[HEAPTRACE_TYPES];
    uint64_t attempted_in_all;
    uint64_t refused; /* by this library, or by the session, which does not count these as lost */
    uint64_t done;
};

void heaptrace_count_attempt(uint8_t type);
void heaptrace_count_undo(uint8_t type);
void heaptrace_count_refused(void);
void heaptrace_count_done(void);
void heaptrace_count_reset(void);

/*
 * Adds up the counts. `done` is read first. Once no new call is let in, attempted_in_all == done
 * means that no call is under way.
 */
void heaptrace_count_read(struct heaptrace_counts *counts);

/*
 * Writes the counts file of an ended session: one JSON object. `session` is NULL for a session of
 * another process, which has the totals of all its processes. Returns false, with errno set, on
 * failure.
 */
bool heaptrace_counts_write(const char *path, const char *trace,
                            const struct heaptrace_counts *counts,
                            const etwas_session_counts *session);

#endif
