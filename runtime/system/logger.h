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
 * Every event that the kernel counts becomes a record, or is counted lost: by the kernel where a
 * ring has no room, or by the pool.
 */
#ifndef ETWAS_SYSTEM_LOGGER_H
#define ETWAS_SYSTEM_LOGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "system/settings.h"
#include "system/unavailability.h"

/*
 * Starts the logger's thread and opens what the session's EnableFlags request. Where the kernel
 * refuses events of the own process, the logger runs without events, and *reason says why. On
 * failure there is nothing to end; returns the code of *reason, ERROR_NOT_ENOUGH_MEMORY or
 * ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_system_logger_begin(struct etwas_session *session,
                                   struct etwas_unavailability *reason);

/*
 * Returns ETWAS_KERNEL_RUNG_*. The caller holds the control lock, and the session has a system
 * logger.
 */
uint32_t etwas_system_logger_rung(const struct etwas_session *session);

/* Starts recording. Records pass once the session runs. Does nothing without a system logger. */
void etwas_system_logger_start(struct etwas_session *session);

/*
 * Returns the settings in force. The caller holds the session's role, and it has a system logger.
 */
const struct etwas_system_settings *etwas_system_logger_settings(
    const struct etwas_session *session);

/*
 * Waits until the first rundown is emitted, so that what begins from now on is recorded as
 * beginning, or until the session of this key has no system logger any more. The caller does not
 * hold the control lock.
 */
void etwas_system_logger_await_run_down(struct etwas_session_key key);

/*
 * Applies other settings while the logger runs; all earlier events are recorded by the settings of
 * before. On failure these stay in force, except for what cannot be opened any more, and the code
 * is as of begin. The session's EnableFlags say what is in force. ERROR_WMI_INSTANCE_NOT_FOUND: the
 * logger has ended. The caller holds the session's role.
 */
uint32_t etwas_system_logger_change(struct etwas_session *session,
                                    const struct etwas_system_settings *settings,
                                    struct etwas_unavailability *reason);

/*
 * Emits the rundown of everything in force that `requested` asks for (requested_events.h) once
 * more. The caller holds the session's role, and it has a system logger.
 */
void etwas_system_logger_capture(struct etwas_session *session, uint64_t requested);

/*
 * Returns how the session enables this system provider (keywords.h); NULL: it does not. The caller
 * holds the control lock; the result is valid while it is held.
 */
const struct etwas_system_enablement *etwas_system_logger_enablement(
    const struct etwas_session *session, uint32_t provider);

/*
 * Records the functions of all kernel addresses recorded so far, for a snapshot that follows. Does
 * nothing without a system logger. The caller holds the session's role.
 */
void etwas_system_logger_emit_symbols(struct etwas_session *session);

/*
 * Sets the profile interval of sessions that start from now on, unless it is 0. Returns the
 * interval in force.
 */
uint32_t etwas_system_logger_first_interval(uint32_t interval);

/*
 * Records everything that happened before, and ends the thread. Does nothing without a system
 * logger.
 */
void etwas_system_logger_end(struct etwas_session *session);

/* In a fork's child; the control lock was taken before the fork. */
void etwas_system_logger_forget(struct etwas_session *session);

#ifdef ETWAS_TESTPOINTS
/* the size of each ring, from the next start on */
extern uint32_t etwas_system_logger_ring_bytes;

/* the least time between two drains while the machine is scanned */
extern int64_t etwas_system_logger_quiesce_ns;
#endif

#endif
