/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/own_logs.h"

#include <etwas/evntrace.h>
#include <unistd.h>

#include "buffer/record_walk.h"

/*
 * Whether everything that the flusher accounted is in the session's files, possibly in one that is
 * not searched. That holds if there was more than one file, and no record was ever refused,
 * replaced, or delivered to consumers instead.
 */
static bool own_logs_have_accounted(const struct etwas_own_logs *logs,
                                    const struct etwas_mapping_copy *copy)
{
    const struct etwas_shared_head *head = &copy->head;
    const uint32_t other_places = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_REAL_TIME_MODE;
    const uint64_t *accounted = copy->pool.accounted;

    return logs->files[0] >= 0 && head->file_paths[1 - head->newest_path][0] != 0 &&
           (head->log_file_mode & other_places) == 0 &&
           accounted[ETWAS_DISPOSITION_WRITE_ERROR] == 0 &&
           accounted[ETWAS_DISPOSITION_FILE_FULL] == 0 &&
           accounted[ETWAS_DISPOSITION_UNDELIVERED] == 0;
}

void etwas_own_logs_open(struct etwas_own_logs *logs, const struct etwas_recover_source *source,
                         const struct etwas_mapping_copy *copy, bool may_lack)
{
    const struct etwas_shared_head *head = &copy->head;

    if ((head->flags & ETWAS_SHARED_BUFFERING) != 0) {
        return;
    }
    for (uint32_t index = 0; index < 2; index++) {
        logs->files[index] =
            etwas_recover_open_log(source, head->file_paths[head->newest_path ^ index]);
    }
    logs->tail = etwas_log_tail_open(logs->files, head->buffer_bytes);
    logs->has_accounted = !may_lack && own_logs_have_accounted(logs, copy);
}

void etwas_own_logs_close(struct etwas_own_logs *logs)
{
    etwas_log_tail_close(logs->tail);
    for (uint32_t index = 0; index < 2; index++) {
        if (logs->files[index] >= 0) {
            (void)close(logs->files[index]);
        }
    }
}

/*
 * Returns how many bytes of the buffer's records flushes have taken and accounted. The flusher
 * stores that number after the loss, if there is one. The number is ignored if it exceeds what is
 * committed or ends inside a record.
 */
static uint32_t own_logs_accounted_bytes(const struct etwas_mapping_copy *copy,
                                         const struct etwas_found_buffer *found,
                                         const uint8_t *data)
{
    uint32_t end =
        etwas_control_written(&copy->pool.buffers[found->buffer], etwas_owner_ticket(found->owner));
    uint32_t units = end - ETWAS_FIRST_UNIT;

    return found->slot < copy->view.rseq_slots && end > ETWAS_FIRST_UNIT &&
                   end <= found->limit_units && etwas_record_walk(data, units, NULL).units == units
               ? units * ETWAS_UNIT_BYTES
               : 0;
}

/*
 * A flush may take a part of a buffer that then stays current. The parts may begin in a file before
 * the two that are searched. What is not accounted yet is in the two.
 */
uint32_t etwas_own_logs_have(const struct etwas_own_logs *logs,
                             const struct etwas_mapping_copy *copy,
                             const struct etwas_found_buffer *found)
{
    const uint8_t *data = copy->region + (size_t)found->buffer * copy->view.buffer_bytes +
                          ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint32_t limit = (found->limit_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
    uint32_t bytes = etwas_log_tail_has(logs->tail, found->slot, data, limit);

    if (bytes == 0 && logs->has_accounted) {
        bytes = own_logs_accounted_bytes(copy, found, data);
        bytes += bytes != 0
                     ? etwas_log_tail_has(logs->tail, found->slot, data + bytes, limit - bytes)
                     : 0;
    }
    return bytes;
}
