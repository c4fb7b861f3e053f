/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Draining: from the slots of a session to its sinks. One pass collects what there is, hands it
 * over in batches, accounts for each buffer and releases it. The caller holds the session's role;
 * the session has a sink.
 */
#ifndef ETWAS_FLUSH_DRAIN_H
#define ETWAS_FLUSH_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * How long the flusher waits for writers that have reserved and do not commit, before it abandons a
 * buffer. It is far longer than a time slice, so only a stopped or dead writer takes so long. A
 * sink that waits for another process when it ends has the same timeout. Tests set another.
 */
#define ETWAS_DRAIN_TIMEOUT_NS UINT64_C(1000000000)
extern uint64_t etwas_drain_timeout_ns;

struct etwas_drain_result {
    uint32_t buffers; /* collected from the slots */
    bool is_full;     /* a sink accepts nothing more: the session has to stop */
    bool no_room;     /* what is left waits for room in a sink */
    bool waits;       /* what is left waits for writers that reserved and have not committed */
    uint32_t code;    /* ERROR_SUCCESS, or why something could not be written */
};

/* Resets the drain's state when a session begins. */
void etwas_drain_reset(struct etwas_session *session);

/* Makes one pass. Does not wait for writers. */
struct etwas_drain_result etwas_drain(struct etwas_session *session,
                                      enum etwas_collector_scope scope);

/* Makes passes until nothing collected is left. Waits for writers, up to the timeout. */
struct etwas_drain_result etwas_drain_completely(struct etwas_session *session,
                                                 enum etwas_collector_scope scope);

/* The end of a session's buffers and of its sinks. */

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
