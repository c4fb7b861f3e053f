/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The readings of the clocks that a session takes: at its start, about every second while it runs,
 * and at its end. They go into its history in memory, and to its sinks. All of this with the
 * session's role held.
 */
#ifndef ETWAS_FLUSH_SESSION_CLOCK_H
#define ETWAS_FLUSH_SESSION_CLOCK_H

#include <stdint.h>

#include "session/session.h"

/*
 * Takes the first reading when the session starts, and fills in `started`. Before this the others
 * do nothing.
 */
void etwas_session_clock_begin(struct etwas_session *session);

/* Takes a reading if one is due. Called after the sinks got what there was for them. */
void etwas_session_clock_read_if_due(struct etwas_session *session);

/* Time until the next reading is due, in ns; UINT64_MAX before the start. */
uint64_t etwas_session_clock_left_ns(const struct etwas_session *session);

#endif
