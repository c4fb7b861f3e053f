/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system logger of a session: a thread that makes records of the events in the CPU event
 * streams.
 *
 * Events of a processor go to the processor's slot of the session with the kernel's own stamps, so
 * each slot is in order of time. Rundowns go to the extra slot. No other thread writes to these
 * slots: they have another gate than the session's handle (etwas_session_gate).
 *
 * Every event that the kernel counts becomes a record, or is counted lost: by the kernel if a ring
 * has no room, or by the pool.
 */
#ifndef ETWAS_SYSTEM_LOGGER_H
#define ETWAS_SYSTEM_LOGGER_H

#include <stdint.h>

#include "provider/source.h"
#include "session/session.h"

/* The verbs of a session; provider/source.h documents them. */
uint32_t etwas_system_logger_begin(struct etwas_session *session,
                                   const struct etwas_system_settings *settings,
                                   struct etwas_unavailability *reason);
void etwas_system_logger_start(struct etwas_session *session);
void etwas_system_logger_await_run_down(struct etwas_session_key key);
const struct etwas_source_state *etwas_system_logger_state(const struct etwas_session *session);
uint32_t etwas_system_logger_change(struct etwas_session *session,
                                    const struct etwas_system_settings *settings,
                                    struct etwas_unavailability *reason);
void etwas_system_logger_capture(struct etwas_session *session, uint32_t provider);
void etwas_system_logger_emit_symbols(struct etwas_session *session);
void etwas_system_logger_end(struct etwas_session *session);
void etwas_system_logger_forget(struct etwas_session *session);

/* the size of each ring, from the next start on */
extern uint32_t etwas_system_logger_ring_bytes;

/* the least time between two drains while the machine is scanned */
extern int64_t etwas_system_logger_quiesce_ns;

#endif
