/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The real-time part of a session: begun with it or by an update, fed by the drain. With the role
 * held, but for connecting.
 */
#ifndef ETWAS_REALTIME_SESSION_REALTIME_H
#define ETWAS_REALTIME_SESSION_REALTIME_H

#include "file/log_file.h"
#include "realtime/realtime.h"
#include "session/session.h"

/* A Win32 code: ERROR_NOT_ENOUGH_MEMORY, or why there can be no backlog file. */
uint32_t etwas_session_realtime_begin(struct etwas_session *session);

/* Consumers read what they have and come to their end. */
void etwas_session_realtime_end(struct etwas_session *session);

/*
 * Whether what is drained now can go somewhere. While there is no consumer and the backlog is full
 * everything stays in the pool.
 */
bool etwas_session_realtime_has_room(const struct etwas_session *session, uint32_t buffers);

/* Hands a buffer over; `records`: how many are nowhere else. False: nobody took it. */
bool etwas_session_realtime_deliver(struct etwas_session *session,
                                    const struct etwas_log_buffer *buffer, uint32_t records);

/* Tells consumers what the session has read of its clocks. */
void etwas_session_realtime_tell_clocks(struct etwas_session *session);

/* So much was delivered without a bound that consumers should get one soon. */
bool etwas_session_realtime_wants_bound(const struct etwas_session *session);

/*
 * A pass that looks at the current buffers too begins: what it finds is everything that was
 * recorded before.
 */
void etwas_session_realtime_begin_bound(struct etwas_session *session);

/* All that the last such pass found is handed over: consumers are told, if they were not yet. */
void etwas_session_realtime_tell_bound(struct etwas_session *session);

/* Settles what consumers gave up since, and has them told of events lost. */
void etwas_session_realtime_settle(struct etwas_session *session);

/* Tells the writers whether it is for lack of a consumer that buffers are not given back. */
void etwas_session_realtime_tell_room(struct etwas_session *session);

/*
 * Connects a consumer to the running real-time session called `name`. Win32 codes:
 * ERROR_WMI_INSTANCE_NOT_FOUND when there is none (R173), ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer);

#endif
