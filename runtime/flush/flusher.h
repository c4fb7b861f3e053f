/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The flusher: a thread for each session that drains full buffers to the sinks, keeps buffers free
 * ahead of the writers, and flushes by the timer. All signals are blocked in it.
 *
 * It sleeps on the pool's event count. A writer wakes it when buffers run low, at most once a pass;
 * otherwise it wakes up by itself, more often the more it finds.
 */
#ifndef ETWAS_FLUSH_FLUSHER_H
#define ETWAS_FLUSH_FLUSHER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * Called in the flusher thread when the log file has reached its maximum size and the session has
 * to stop. Returns true if the session is stopped, or is being stopped by another thread; the
 * flusher then ends. Set by the code that starts sessions.
 */
typedef bool (*etwas_flusher_full)(struct etwas_session_key key);

/*
 * Starts the session's thread, unless its configuration excludes one. Returns ERROR_ACCESS_DENIED
 * when the system refuses affinity or priority, ERROR_NO_SYSTEM_RESOURCES when it refuses the
 * thread.
 */
uint32_t etwas_flusher_start(struct etwas_session *session, etwas_flusher_full full);

/*
 * Requests the thread to end, and waits for it. In the flusher thread itself, only detaches the
 * thread.
 */
void etwas_flusher_end(struct etwas_session *session);

/*
 * The readings of the clocks that a session takes: at its start, about every second while it runs,
 * and at its end. They go into its history in memory, and to its sinks. All of this with the
 * session's role held.
 */

/*
 * Takes the first reading when the session starts, and fills in `started`. Before this call, the
 * other functions do nothing.
 */
void etwas_session_clock_begin(struct etwas_session *session);

/* Takes a reading if one is due. Called after the sinks got all that was drained. */
void etwas_session_clock_read_if_due(struct etwas_session *session);

/* Time until the next reading is due, in ns; UINT64_MAX before the start. */
uint64_t etwas_session_clock_left_ns(const struct etwas_session *session);

#endif
