/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What several files of one session tell of it, so that it counts once. Three kinds of files have such counts:
 *
 *     snapshots, and copies of one file      each all of the session, or of the file, so far: the greatest is right
 *     parts, and files under other names     each its own: they add up
 *     a recovered file                       its whole session: right unless the others add up to more
 */
#ifndef ETWAS_READER_REPEATED_COUNTS_H
#define ETWAS_READER_REPEATED_COUNTS_H

#include "reader/trace.h"

/* Sets repeated_lost_events and its like of all traces, which are in our hands. */
void etwas_repeated_counts_find(struct etwas_trace *const *traces, uint32_t count);

#endif
