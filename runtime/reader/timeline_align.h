/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of one machine on one time line. By its header each file has its own: the wall clock when its session began, and what
 * passed since by the performance counter, which knows of no suspend, and is not disciplined as the wall clock is. So
 * what two sessions recorded at one moment may seem hours apart.
 */
#ifndef ETWAS_READER_TIMELINE_ALIGN_H
#define ETWAS_READER_TIMELINE_ALIGN_H

#include "reader/trace.h"

/*
 * Of our files that are of several sessions of one machine each gets, for stamps of the performance counter or the
 * cycle counter, the line that the newest reading of both clocks in any of them says. Others keep theirs: stamps of system time
 * need none. All their timelines are complete.
 */
void etwas_timeline_align(struct etwas_trace *const *traces, uint32_t count);

#endif
