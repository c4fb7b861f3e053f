/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/log_file.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "etl/utf16.h"
#include "flush/log_header.h"
#include "platform/file.h"

enum {
    VECTORS_A_BUFFER = 3, /* header, records, padding */
    DROP_CHUNK_BYTES = 8 << 20,
};

struct etwas_log_file {
    int descriptor;
    uint32_t buffer_bytes;
    uint32_t buffers_written;
    uint32_t buffers_synced;  /* durable, and counted in the header */
    uint32_t maximum_buffers; /* 0: no limit */
    uint16_t logger_id;
    uint64_t dropped_bytes; /* up to here pages were dropped from the cache */
    struct etwas_log_header header;
    uint8_t padding[]; /* buffer_bytes of 0xFF */
};

uint32_t etwas_log_file_buffers(const struct etwas_log_file *file)
{
    return file->buffers_written;
}

/* The limit in whole buffers, 0 for none. The configuration has made sure that one fits. */
static uint32_t limit_in_buffers(const struct etwas_log_file_options *options)
{
    uint64_t limit = ((uint64_t)options->maximum_file_size_mb << 20) / options->buffer_bytes;

    return limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
}

static uint64_t position_of(const struct etwas_log_file *file, uint32_t buffer)
{
    return (uint64_t)buffer * file->buffer_bytes;
}

/* Writes buffer 0, whole. */
static bool write_header_buffer(struct etwas_log_file *file, int *error)
{
    uint32_t used = file->header.bytes;
    struct iovec vector[] = {
        {.iov_base = file->header.content, .iov_len = used},
        {.iov_base = file->padding, .iov_len = file->buffer_bytes - used},
    };

    return etwas_file_write(file->descriptor, vector, 2, 0, error) == file->buffer_bytes;
}

uint32_t etwas_log_file_create(const struct etwas_log_file_options *options,
                               struct etwas_log_file **created)
{
    struct etwas_log_file *file = malloc(sizeof *file + options->buffer_bytes);
    bool existed = access(options->path, F_OK) == 0;
    uint32_t code;
    int error;

    if (file == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *file = (struct etwas_log_file){
        .buffer_bytes = options->buffer_bytes,
        .maximum_buffers = limit_in_buffers(options),
        .logger_id = options->logger_id,
    };
    memset(file->padding, ETWAS_ETL_PADDING_BYTE, options->buffer_bytes);
    if (!etwas_log_header_build(&file->header, options)) {
        free(file);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_file_create(options->path, &file->descriptor);
    if (code == ERROR_SUCCESS && !write_header_buffer(file, &error)) {
        code = etwas_file_write_error(error);
        (void)etwas_file_close(file->descriptor);
        if (!existed) {
            (void)unlink(options->path);
        }
    }
    if (code != ERROR_SUCCESS) {
        etwas_log_header_free(&file->header);
        free(file);
        return code;
    }
    file->buffers_written = 1;
    *created = file;
    return ERROR_SUCCESS;
}

static struct etwas_etl_buffer_header buffer_header(const struct etwas_log_file *file,
                                                    const struct etwas_log_buffer *buffer,
                                                    uint32_t next_sequence)
{
    uint32_t end = ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes;

    return (struct etwas_etl_buffer_header){
        .buffer_bytes = file->buffer_bytes,
        .saved_offset = end,
        .current_offset = end,
        .time_stamp = buffer->time_stamp,
        .sequence_number = buffer->sequence != 0 ? buffer->sequence : next_sequence,
        .processor = (uint16_t)buffer->processor,
        .logger_id = file->logger_id,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .offset = end,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
        .type = ETWAS_ETL_BUFFER_GENERIC,
    };
}

/*
 * Has written pages leave the page cache. The kernel is asked to start writing a chunk when it is
 * full and to forget it one chunk later, when it has probably reached the disk: nothing here waits.
 */
static void drop_written_pages(struct etwas_log_file *file)
{
    uint64_t end = position_of(file, file->buffers_written);

    while (end - file->dropped_bytes >= 2 * (uint64_t)DROP_CHUNK_BYTES) {
        etwas_file_start_writing(file->descriptor, file->dropped_bytes + DROP_CHUNK_BYTES,
                                 DROP_CHUNK_BYTES);
        etwas_file_drop_cached(file->descriptor, file->dropped_bytes, DROP_CHUNK_BYTES);
        file->dropped_bytes += DROP_CHUNK_BYTES;
    }
}

uint32_t etwas_log_file_write(struct etwas_log_file *file, const struct etwas_log_buffer *buffers,
                              uint32_t count, enum etwas_log_file_state *state, uint32_t *code)
{
    struct etwas_etl_buffer_header headers[ETWAS_LOG_FILE_BATCH];
    struct iovec vector[ETWAS_LOG_FILE_BATCH * VECTORS_A_BUFFER];
    uint32_t fitting = count;
    uint32_t whole;
    int error;

    *state = ETWAS_LOG_FILE_OK;
    *code = ERROR_SUCCESS;
    if (file->maximum_buffers != 0 && count > file->maximum_buffers - file->buffers_written) {
        fitting = file->maximum_buffers - file->buffers_written;
        *state = ETWAS_LOG_FILE_FULL;
    }
    for (uint32_t index = 0; index < fitting; index++) {
        const struct etwas_log_buffer *buffer = &buffers[index];
        struct iovec *parts = &vector[(size_t)index * VECTORS_A_BUFFER];

        headers[index] = buffer_header(file, buffer, file->buffers_written + index);
        parts[0] = (struct iovec){&headers[index], sizeof headers[index]};
        parts[1] = (struct iovec){(void *)(uintptr_t)buffer->data, buffer->data_bytes};
        parts[2] = (struct iovec){
            file->padding,
            file->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES - buffer->data_bytes,
        };
    }
    whole = (uint32_t)(etwas_file_write(file->descriptor, vector, (int)(fitting * VECTORS_A_BUFFER),
                                        position_of(file, file->buffers_written), &error) /
                       file->buffer_bytes);
    file->buffers_written += whole;
    if (whole < fitting) {
        *state = ETWAS_LOG_FILE_FAILED;
        *code = etwas_file_write_error(error);
        /* What was written of the next buffer must not look like one. */
        (void)etwas_file_truncate(file->descriptor, position_of(file, file->buffers_written));
    }
    drop_written_pages(file);
    return whole;
}

static bool write_at(struct etwas_log_file *file, void *bytes, size_t length, uint64_t position)
{
    struct iovec vector = {.iov_base = bytes, .iov_len = length};
    int error;

    return etwas_file_write(file->descriptor, &vector, 1, position, &error) == length;
}

bool etwas_log_file_number_backwards(struct etwas_log_file *file)
{
    bool good = true;

    for (uint32_t buffer = 1; buffer < file->buffers_written; buffer++) {
        int64_t sequence = file->buffers_written - buffer;

        good = write_at(file, &sequence, sizeof sequence,
                        position_of(file, buffer) +
                            offsetof(struct etwas_etl_buffer_header, sequence_number)) &&
               good;
    }
    return good;
}

bool etwas_log_file_sync(struct etwas_log_file *file)
{
    uint32_t buffers = file->buffers_written;
    bool counted;

    if (buffers == file->buffers_synced) {
        return true;
    }
    counted = write_at(file, &buffers, sizeof buffers,
                       ETWAS_ETL_LOG_HEADER_FILE_OFFSET +
                           offsetof(struct etwas_etl_log_header_start, buffers_written));

    if (!etwas_file_sync(file->descriptor) || !counted) {
        return false;
    }
    file->buffers_synced = buffers;
    return true;
}

/* Marks the last buffer of the file as what the session's last flush wrote. */
static bool mark_last_buffer(struct etwas_log_file *file)
{
    uint16_t flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_FLUSH_MARKER;

    return file->buffers_written == 1 ||
           write_at(file, &flags, sizeof flags,
                    position_of(file, file->buffers_written - 1) +
                        offsetof(struct etwas_etl_buffer_header, flags));
}

bool etwas_log_file_finish(struct etwas_log_file *file, const struct etwas_log_file_totals *totals)
{
    int error;
    bool good = etwas_file_truncate(file->descriptor, position_of(file, file->buffers_written));

    good = mark_last_buffer(file) && good;
    etwas_log_header_end(&file->header, file->buffers_written, totals);
    good = write_header_buffer(file, &error) && good;
    good = etwas_file_sync(file->descriptor) && good;
    good = etwas_file_close(file->descriptor) && good;
    etwas_log_header_free(&file->header);
    free(file);
    return good;
}

void etwas_log_file_forget(struct etwas_log_file *file)
{
    (void)close(file->descriptor);
}
