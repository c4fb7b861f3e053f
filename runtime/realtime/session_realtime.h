/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real time as a sink of a session (flush/sink.h), begun with the session or by an update. All
 * functions but those that connect are called with the session's role held.
 */
#ifndef ETWAS_REALTIME_SESSION_REALTIME_H
#define ETWAS_REALTIME_SESSION_REALTIME_H

#include "reader/consumer.h"
#include "session/session.h"

/*
 * Begins real time. Returns a Win32 code: ERROR_NOT_ENOUGH_MEMORY, or the reason why there can be
 * no backlog file.
 */
uint32_t etwas_session_realtime_begin(struct etwas_session *session);

/* Ends real time: consumers read what they have, then the end. */
void etwas_session_realtime_end(struct etwas_session *session);

/*
 * Connects a consumer to the running real-time session called `name`. Win32 codes:
 * ERROR_WMI_INSTANCE_NOT_FOUND when there is none (R173), ERROR_ALREADY_INITIALIZED when another
 * copy of the library would have it, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer);

/* Does the same for the session of a key. */
uint32_t etwas_session_realtime_connect_key(struct etwas_session_key key,
                                            struct etwas_consumer **consumer);

#endif
