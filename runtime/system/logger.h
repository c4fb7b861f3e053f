/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system logger of a session: a thread that makes records of what the board's feeds bring.
 *
 * Each processor's events go to that processor's slot of the session, with the stamps that the kernel
 * gave them; so the stream of each is in order. What the thread says by itself, of what was there
 * before and is there in the end, goes to the extra slot. Nobody but this thread writes to any of them:
 * the slots have another gate than the session's handle says (etwas_session_gate).
 *
 * Every event that the kernel counted becomes a record, or is counted lost: by the kernel for lack of
 * room in a ring, or by the pool.
 */
#ifndef ETWAS_SYSTEM_LOGGER_H
#define ETWAS_SYSTEM_LOGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "system/settings.h"
#include "system/unavailability.h"

/*
 * Opens what the session's EnableFlags ask for; of the own process, where the kernel refuses, nothing, and
 * *fault says why. On failure there is nothing to end; the code is that of
 * the fault, ERROR_NOT_ENOUGH_MEMORY or ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_system_logger_begin(struct etwas_session *session,
                                   struct etwas_unavailability *reason);

/* ETWAS_KERNEL_RUNG_*. The control lock is held, and the session has a system logger. */
uint32_t etwas_system_logger_rung(const struct etwas_session *session);

/* From here on what happens is recorded, once the session runs. */
void etwas_system_logger_start(struct etwas_session *session);

/* Those in force. The session's role is held, and it has a system logger. */
const struct etwas_system_settings *etwas_system_logger_settings(
    const struct etwas_session *session);

/*
 * Until what there was at the beginning is told, so that what begins from now on is told as such; or that session, and no
 * later one of its entry, has none any more. Not with the control lock held.
 */
void etwas_system_logger_await_run_down(struct etwas_session_key key);

/*
 * Others while it runs: sources are opened and closed; all that happened before is recorded. On
 * failure, whose code is that of begin, those of before stay in force, less what cannot be had any more.
 * The session's EnableFlags say what is in force then. ERROR_WMI_INSTANCE_NOT_FOUND: it has ended. The
 * session's role is held.
 */
uint32_t etwas_system_logger_change(struct etwas_session *session,
                                    const struct etwas_system_settings *settings,
                                    struct etwas_unavailability *reason);

/*
 * Says once more what there is, of what is wanted here (requested_events.h) and in force. The session's role is held,
 * and it has a system logger.
 */
void etwas_system_logger_capture(struct etwas_session *session, uint64_t requested);

/*
 * How the session enables that system provider (keywords.h); NULL: not. With the control lock held, as long
 * as that is.
 */
const struct etwas_system_enablement *etwas_system_logger_enablement(
    const struct etwas_session *session, uint32_t provider);

/*
 * What the kernel's addresses are that were recorded until now is recorded, too, for who takes a snapshot. Nothing to
 * do where there is no system logger. The session's role is held.
 */
void etwas_system_logger_emit_symbols(struct etwas_session *session);

/* Of sessions that begin from now on; 0: what it is now. Returns what it is then. */
uint32_t etwas_system_logger_first_interval(uint32_t interval);

/* Everything that happened before is recorded when this returns. Nothing to do where there is none. */
void etwas_system_logger_end(struct etwas_session *session);

/* In a fork's child. The control lock was taken before the fork. */
void etwas_system_logger_forget(struct etwas_session *session);

#ifdef ETWAS_TESTPOINTS
/* Of each ring, from the next start on. */
extern uint32_t etwas_system_logger_ring_bytes;

/* As long nothing is drained while the machine is looked at. */
extern int64_t etwas_system_logger_quiesce_ns;
#endif

#endif
