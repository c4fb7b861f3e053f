/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Publication for a thread that records what others did: it states the processor and the time
 * itself.
 *
 * It writes into a shared slot of which it is the only writer; the flusher takes its buffers as it
 * takes others. The record lies in one piece, whole but for its stamp.
 */
#ifndef ETWAS_BUFFER_PUBLISH_STAMPED_H
#define ETWAS_BUFFER_PUBLISH_STAMPED_H

#include <stdint.h>

#include "buffer/slot.h"

struct etwas_stamped_record {
    const void *bytes; /* begins with the marker */
    uint32_t size;     /* in bytes, not rounded, at most 65,535 */
    uint32_t stamp_at;
    /* the slot's newest stamp is recorded instead where this one is less */
    int64_t stamp;
    int64_t *recorded_stamp; /* receives the stamp that was recorded; may be NULL */
};

/*
 * Publishes into the slot of this index. Returns ERROR_SUCCESS when the record is recorded;
 * ERROR_INVALID_HANDLE when the slot's gate is another; ERROR_MORE_DATA when it does not fit into a
 * buffer; ERROR_NOT_ENOUGH_MEMORY, or ERROR_LOG_FILE_FULL of a session whose backlog is full, when
 * it is counted lost.
 */
uint32_t etwas_publish_stamped(const struct etwas_attachment *attachment, uint32_t index,
                               uint32_t gate, const struct etwas_stamped_record *record);

#endif
