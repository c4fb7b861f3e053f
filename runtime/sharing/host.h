/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hosting: what a process does for the guests of its shared sessions, for the instances of its
 * private ones (sharing/private_instance.h), and for controllers in other processes, which may also
 * request snapshots of its recorders. All state of a session stays with its host; guests write only
 * to its pool.
 *
 *     begin     name and GUID are taken, for all processes of the user
 *     open      guests may attach
 *     enabled   the entry has what EnableTraceEx2 requested, and all processes are notified
 *     closing   guests and instances learn that the session ends, and the host waits for them:
 *               their callbacks may still log
 *     end       no process finds the session any more
 *
 * Callers have the session's entry of the table, or its handle, and hold no lock of the library.
 * The functions do nothing for a session that only this process knows.
 */
#ifndef ETWAS_SHARING_HOST_H
#define ETWAS_SHARING_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/enabling.h"
#include "session/session.h"

/*
 * ERROR_ALREADY_EXISTS: another process has its name or GUID (R10, R41). If that process is being
 * killed, waits for it for at most two seconds. After any other error (of etwas_registry_host_open
 * and etwas_service_begin) the session may run, but for this process alone.
 */
uint32_t etwas_host_begin(struct etwas_session *session);
void etwas_host_open(struct etwas_session *session);
void etwas_host_closing(struct etwas_session *session);
void etwas_host_end(struct etwas_session *session);

/*
 * Restores the sessions' files that have been removed, and notifies all processes. Returns whether
 * anything was missing. A session whose name another process has taken meanwhile stays hidden, and
 * its counts say so (ETWAS_UNSHARED_HIDDEN).
 */
bool etwas_host_restore(void);

/*
 * Whether the session may enable this provider. At most eight shared sessions of all processes
 * enable one (etwas_other_sessions_leave_room).
 */
bool etwas_host_may_enable(const struct etwas_enable_request *request);

/*
 * Publishes that a session of this process enables a provider, disables it, or requests its state,
 * and notifies all processes. `parameters` has the filters. Waits for their acknowledgements until
 * the request's timeout, or not at all if there is none.
 *
 * ERROR_TIMEOUT: it is published, and not all processes have acknowledged it.
 * ERROR_BUFFER_OVERFLOW, ERROR_NOT_ENOUGH_MEMORY, ERROR_DISK_FULL: it is not published.
 */
uint32_t etwas_host_publish_enablement(const struct etwas_enable_request *request,
                                       const ENABLE_TRACE_PARAMETERS *parameters);

/*
 * Publishes for the instances of a private session what ControlTrace did to the host's own one:
 * UPDATE of the timer and of the file name (absolute; empty: not given), FLUSH and INCREMENT_FILE.
 * Waits for all processes. ERROR_TIMEOUT: some have not acknowledged it. ERROR_DISK_FULL,
 * ERROR_NOT_ENOUGH_MEMORY: it is not published.
 */
uint32_t etwas_host_control_instances(uint64_t handle, uint32_t control_code, uint32_t flush_timer,
                                      const etwas_wchar *file_name);

/* Whether this process hosts a session of this GUID. */
bool etwas_host_has(const etwas_guid *session);

/* Called around a fork. The child hosts nothing. */
void etwas_host_before_fork(void);
void etwas_host_after_fork(bool is_child);

#endif
