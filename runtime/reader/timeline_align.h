/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Puts files of one machine on one time line. Each file's header gives it a line of its own: the
 * wall clock when its session began, plus what passed since then by the performance counter. That
 * counter ignores suspends and is not disciplined as the wall clock is, so what two sessions
 * recorded at one moment may seem hours apart.
 */
#ifndef ETWAS_READER_TIMELINE_ALIGN_H
#define ETWAS_READER_TIMELINE_ALIGN_H

#include "reader/trace.h"

/*
 * Gives each file of etwas that shares its machine with a file of another session the time line of
 * the newest clock snapshot in any of them, for stamps of the performance counter or the cycle
 * counter. Other files keep their time line; stamps of system time need none. Every trace has a
 * complete timeline. The caller processes all traces.
 */
void etwas_timeline_align(struct etwas_trace *const *traces, uint32_t count);

#endif
