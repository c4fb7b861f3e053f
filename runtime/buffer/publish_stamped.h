/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Publication for a thread that writes down what others did: it says on which processor and when.
 *
 * Into a shared slot of which the caller is the only writer; the flusher takes its buffers as it
 * takes others. The record lies in one piece, whole but for its stamp.
 */
#ifndef ETWAS_BUFFER_PUBLISH_STAMPED_H
#define ETWAS_BUFFER_PUBLISH_STAMPED_H

#include <stdint.h>

#include "buffer/slot.h"

struct etwas_stamped_record {
    const void *bytes; /* begins with the marker */
    uint32_t size;     /* not rounded, at most 65,535 */
    uint32_t stamp_at;
    int64_t stamp;           /* less than the slot's newest: that one is put down */
    int64_t *recorded_stamp; /* if it is recorded: which one was; NULL: of no interest */
};

/*
 * Into the slot of this index. ERROR_SUCCESS, and the record is recorded. ERROR_INVALID_HANDLE: the slot's gate is another;
 * ERROR_MORE_DATA: it does not fit into a buffer; ERROR_NOT_ENOUGH_MEMORY, and ERROR_LOG_FILE_FULL of
 * a session whose backlog is full: it is counted lost.
 */
uint32_t etwas_publish_stamped(const struct etwas_attachment *attachment, uint32_t index,
                               uint32_t gate, const struct etwas_stamped_record *record);

#endif
