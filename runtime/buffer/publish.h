/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Publication: one record into the current buffer of this processor.
 *
 * The interface every protocol implements. A session uses one protocol for all its slots; the
 * protocol is chosen when the library is built (ETWAS_PROTOCOL). There is one so far:
 *
 *     shared    publish_shared.c: atomics, any number of writers on a slot;
 *               publish_quick.h: its common case, inlined into TraceEventInstance
 *
 * Wait-free for the caller in the sense of I5: it never waits for the flusher, another writer or
 * the kernel; a retry means that another writer published. Async-signal-safe; also safe in a
 * handler that interrupts a publish on the same thread.
 */
#ifndef ETWAS_BUFFER_PUBLISH_H
#define ETWAS_BUFFER_PUBLISH_H

#include <etwas/evntrace.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

/*
 * A record in its on-disk form but for the time stamp, which publication takes itself: `header`,
 * then the bytes the fields point to, without gaps. The first 4 bytes of the header are the marker.
 */
struct etwas_record {
    const struct etwas_etl_instance_header *header;
    uint32_t header_bytes; /* 48: FULL_HEADER, the start of the struct; 72: INSTANCE */
    uint32_t bytes;        /* of the whole record, not rounded, at most 65,535 */
    const MOF_FIELD *fields;
    uint32_t field_count;
};

/*
 * Publishes into session `session` of the table, if `generation` runs there. `given_bytes` is the
 * Size the caller stated. ERROR_SUCCESS: the record is recorded. ERROR_INVALID_HANDLE: that session
 * does not run; ERROR_MORE_DATA: the record, or the stated size (R63), does not fit into a buffer:
 * nothing happened. ERROR_NOT_ENOUGH_MEMORY: the event is counted lost.
 */
uint32_t etwas_publish(uint32_t session, uint32_t generation, uint32_t given_bytes,
                       const struct etwas_record *record);

#endif
