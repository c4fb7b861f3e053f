/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hosting: what a process does for those who log into its shared sessions, or have sessions of their own by the template
 * of its private one (sharing/private_instance.h), and for those who control them from other processes, or ask its recorders for
 * snapshots. All state of a session
 * stays its host's; guests write to its pool and to nothing else.
 *
 *     begin     name and GUID are taken, for all processes of the user
 *     open      guests may come
 *     enabled   what EnableTraceEx2 asked for is in the entry, and everybody is told to look
 *     closing   guests are told that the session ends, and waited for: their callbacks may still log; likewise followers
 *     end       nobody finds it any more
 *
 * Called by who has the session's entry of the table, or its handle, without a lock of the library. Nothing is done
 * for a session that is of this process alone.
 */
#ifndef ETWAS_SHARING_HOST_H
#define ETWAS_SHARING_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "session/session.h"

/*
 * ERROR_ALREADY_EXISTS: another process has its name or GUID (R10, R41); one that is being killed is waited for, two seconds at
 * most. With any other error the session may run, but
 * for this process alone: errors of etwas_registry_host_open and etwas_service_begin.
 */
uint32_t etwas_host_begin(struct etwas_session *session);
void etwas_host_open(struct etwas_session *session);
void etwas_host_closing(struct etwas_session *session);
void etwas_host_end(struct etwas_session *session);

/*
 * Makes anew what somebody has removed of the sessions' files, and tells everybody. True: something was. One whose name another
 * process has by now is found by nobody any more, and its counts say so (ETWAS_UNSHARED_HIDDEN).
 */
bool etwas_host_restore(void);

/*
 * Whether the session, if it is a shared one, may enable this: no more than eight of all processes do
 * (etwas_other_sessions_leave_room).
 */
bool etwas_host_may_enable(uint64_t handle, const struct etwas_registry_enablement *enablement);

/*
 * Publishes that a session of this process enables a provider, no longer does, or asks for its state, and tells all
 * processes. `enablement`: as it was asked. Waits up to `timeout_ms` for their answers; 0: it does not.
 *
 * ERROR_TIMEOUT: done, but not all have answered. ERROR_BUFFER_OVERFLOW, ERROR_NOT_ENOUGH_MEMORY, ERROR_DISK_FULL: guests
 * know nothing of it.
 */
uint32_t etwas_host_publish_enablement(uint64_t handle, uint32_t control_code,
                                       const struct etwas_registry_enablement *enablement,
                                       uint32_t timeout_ms);

/*
 * What the host's own session has done by ControlTrace, its followers do: UPDATE, of the timer and of the file name (from `/`
 * on; empty: none was given), FLUSH and INCREMENT_FILE. Waits for all processes. ERROR_TIMEOUT: some have not answered.
 * ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY: followers know nothing of it.
 */
uint32_t etwas_host_propagate(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                              const etwas_wchar *file_name);

/* Whether a session of this process hosts under this GUID. */
bool etwas_host_has(const etwas_guid *session);

/* A fork: in the child nothing is hosted. */
void etwas_host_before_fork(void);
void etwas_host_after_fork(bool is_child);

#endif
