/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_metadata.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "file/log_file_internal.h"

static bool metadata_file_is_circular(const struct etwas_log_file *file)
{
    return file->cursor.records != NULL;
}

static bool metadata_takes_stacks(const struct etwas_log_file *file)
{
    return file->takes_stacks != NULL && ck_pr_load_32(file->takes_stacks) != 0;
}

static bool metadata_has_room(const struct etwas_log_file *file)
{
    uint32_t limit = file->cursor.limit;

    return !etwas_log_file_is_full(file) && (limit == 0 || file->metadata.buffers < limit / 2);
}

/*
 * Writes one more buffer of metadata from the scratch buffer. Returns false if there is no more, or
 * no room.
 */
static bool metadata_write_buffer(struct etwas_log_file *file, uint32_t sequence_number,
                                  struct etwas_log_write *result)
{
    struct etwas_log_metadata *metadata = &file->metadata;
    struct etwas_metadata_cursor before = metadata->read;
    uint8_t *data = file->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES;
    struct etwas_log_write write = {.code = ERROR_SUCCESS};
    struct etwas_drained buffer = {
        .whole = file->scratch,
        .data = data,
        .time_stamp = file->clock_snapshots.newest,
        .newest = file->clock_snapshots.newest,
        .sequence_number = sequence_number,
    };

    if (!metadata_has_room(file)) {
        etwas_metadata_skip(&metadata->read);
        return false;
    }
    buffer.data_bytes =
        etwas_metadata_read(&metadata->read, metadata_takes_stacks(file), data,
                            file->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES, buffer.newest);
    if (buffer.data_bytes == 0) {
        return false;
    }
    etwas_log_write_buffers(file, &buffer, 1, &write);
    if (write.written == 0) {
        metadata->read = before;
    }
    metadata->buffers += write.written;
    result->written += write.written;
    result->replaced += write.replaced;
    result->code = write.code;
    return write.written != 0;
}

/* Makes the next write begin with the first description again, after what is in the file. */
static void metadata_begin_again(struct etwas_log_file *file)
{
    file->metadata = (struct etwas_log_metadata){.begun_at = file->cursor.written};
}

struct etwas_log_write etwas_log_metadata_write(struct etwas_log_file *file,
                                                uint32_t sequence_number)
{
    struct etwas_log_write result = {.code = ERROR_SUCCESS};

    if (file->stage != ETWAS_LOG_FILE_WRITING ||
        !etwas_metadata_has_more(&file->metadata.read, metadata_takes_stacks(file))) {
        return result;
    }
    if (metadata_file_is_circular(file)) {
        metadata_begin_again(file);
    }
    while (metadata_write_buffer(file, sequence_number, &result)) {
        sequence_number += sequence_number != 0;
    }
    return result;
}

uint32_t etwas_log_metadata_room(const struct etwas_log_file *file, uint32_t wanted)
{
    uint64_t left = file->metadata.begun_at + file->cursor.limit - file->cursor.written;

    return metadata_file_is_circular(file) && file->metadata.buffers != 0 && left < wanted
               ? (uint32_t)left
               : wanted;
}

void etwas_log_metadata_renew(struct etwas_log_file *file, struct etwas_log_write *result)
{
    struct etwas_log_write write;

    if (etwas_log_metadata_room(file, 1) != 0) {
        return;
    }
    etwas_log_metadata_forget(file);
    write = etwas_log_metadata_write(file, 0);
    result->metadata += write.written;
    result->replaced += write.replaced;
    if (write.code != ERROR_SUCCESS) {
        result->metadata_code = write.code;
        etwas_log_metadata_forget(file);
    }
}

void etwas_log_metadata_forget(struct etwas_log_file *file)
{
    file->metadata = (struct etwas_log_metadata){0};
}
