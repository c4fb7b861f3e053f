/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The end of a session's buffers and of its sinks.
 */
#ifndef ETWAS_FLUSH_SHUT_DOWN_H
#define ETWAS_FLUSH_SHUT_DOWN_H

#include "session/session.h"

/*
 * Shuts a session down after its gates are closed and its thread has ended. Drains what is
 * recorded, if there is a sink, ends the sinks, stores the last counts and returns the memory. A
 * writer that does not leave a record or the slow path of a shared slot within the timeout keeps
 * the memory: it is leaked, never unmapped under the writer. Writers in rseq slots are not waited
 * for; if the system refuses the fence that ends their sequences, the memory is leaked too.
 *
 * In a shared session the processors of guests are visited (platform/visit.h). Where one cannot be
 * reached within 2 s, what its guests may still commit is collected until they are gone, 5 s at
 * most, and the memory is leaked.
 */
void etwas_session_shut_down(struct etwas_session *session);

#endif
