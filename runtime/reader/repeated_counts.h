/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts of a session that several of its files repeat, so that each counts once. Three kinds of
 * files have such counts:
 *
 *     snapshots, and copies of one file      each counts the whole session, or file, so far: the
 *                greatest is right
 *     parts, and files under other names     each counts its own: they add up
 *     a recovered file                       counts its whole session: right unless the others add
 *       up to more
 */
#ifndef ETWAS_READER_REPEATED_COUNTS_H
#define ETWAS_READER_REPEATED_COUNTS_H

#include "reader/trace.h"

/*
 * Sets repeated_lost_events and the other repeated_* counts of all traces, which the caller
 * processes.
 */
void etwas_repeated_counts_find(struct etwas_trace *const *traces, uint32_t count);

#endif
