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
#include "flush/write_way.h"
#include "platform/file.h"

enum {
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
    struct etwas_write_way way;
    struct etwas_log_header header;
    uint8_t *spare; /* a buffer of our own, for what cannot be written from where it lies */
};

uint32_t etwas_log_file_buffers(const struct etwas_log_file *file)
{
    return file->buffers_written;
}

/* The limit in whole buffers, 0 for none. The configuration has made sure that one fits. */
static uint32_t limit_in_buffers(const struct etwas_log_file_options *options)
{
    uint64_t limit = options->maximum_bytes / options->buffer_bytes;

    return limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
}

static uint64_t position_of(const struct etwas_log_file *file, uint32_t buffer)
{
    return (uint64_t)buffer * file->buffer_bytes;
}

static void pad(const struct etwas_log_file *file, uint8_t *buffer, uint32_t used_bytes)
{
    memset(buffer + used_bytes, ETWAS_ETL_PADDING_BYTE, file->buffer_bytes - used_bytes);
}

/* Writes buffer 0, whole. */
static bool write_header_buffer(struct etwas_log_file *file, int *error)
{
    struct iovec vector = {.iov_base = file->spare, .iov_len = file->buffer_bytes};

    memcpy(file->spare, file->header.content, file->header.bytes);
    pad(file, file->spare, file->header.bytes);
    return etwas_file_write(file->descriptor, &vector, 1, 0, error) == file->buffer_bytes;
}

static void free_file(struct etwas_log_file *file)
{
    etwas_log_header_free(&file->header);
    free(file->spare);
    free(file);
}

/* Everything but the file itself. */
static struct etwas_log_file *prepare(const struct etwas_log_file_options *options)
{
    struct etwas_log_file *file = malloc(sizeof *file);

    if (file == NULL) {
        return NULL;
    }
    *file = (struct etwas_log_file){
        .buffer_bytes = options->buffer_bytes,
        .maximum_buffers = limit_in_buffers(options),
        .logger_id = options->logger_id,
        .spare = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), options->buffer_bytes),
    };
    if (file->spare == NULL || !etwas_log_header_build(&file->header, options)) {
        free_file(file);
        return NULL;
    }
    return file;
}

uint32_t etwas_log_file_create(const struct etwas_log_file_options *options,
                               struct etwas_log_file **created)
{
    struct etwas_log_file *file = prepare(options);
    bool existed = access(options->path, F_OK) == 0;
    uint32_t code;
    int error;

    if (file == NULL) {
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
        free_file(file);
        return code;
    }
    file->buffers_written = 1;
    etwas_write_way_begin(&file->way, file->descriptor, file->buffer_bytes,
                          position_of(file, file->maximum_buffers));
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
 * full and to forget it one chunk later, when it has probably reached the disk. Both wait when the
 * device has more requests than it takes: so nothing is asked while the cache is there to spare us
 * that.
 */
static void drop_written_pages(struct etwas_log_file *file)
{
    uint64_t end = position_of(file, file->buffers_written);

    if (etwas_write_way_spares_device(&file->way, end)) {
        return;
    }
    while (end - file->dropped_bytes >= 2 * (uint64_t)DROP_CHUNK_BYTES) {
        etwas_file_start_writing(file->descriptor, file->dropped_bytes + DROP_CHUNK_BYTES,
                                 DROP_CHUNK_BYTES);
        etwas_file_drop_cached(file->descriptor, file->dropped_bytes, DROP_CHUNK_BYTES);
        file->dropped_bytes += DROP_CHUNK_BYTES;
    }
}

static bool is_whole(const struct etwas_log_buffer *buffer)
{
    return buffer->whole != NULL;
}

/* Makes a piece of the file of a buffer, in place or in the spare one. */
static void complete(struct etwas_log_file *file, const struct etwas_log_buffer *buffer,
                     uint32_t next_sequence, struct iovec *piece)
{
    struct etwas_etl_buffer_header header = buffer_header(file, buffer, next_sequence);
    uint8_t *start = is_whole(buffer) ? buffer->whole : file->spare;

    memcpy(start, &header, sizeof header);
    if (!is_whole(buffer)) {
        memcpy(start + sizeof header, buffer->data, buffer->data_bytes);
    }
    pad(file, start, header.offset);
    *piece = (struct iovec){start, file->buffer_bytes};
}

/*
 * Writes the whole buffers at the front together, or one that has to be copied. *asked: how many
 * these were. Returns how many are in the file.
 */
static uint32_t write_run(struct etwas_log_file *file, const struct etwas_log_buffer *buffers,
                          uint32_t count, uint32_t *asked, int *error)
{
    struct iovec pieces[ETWAS_LOG_FILE_BATCH];
    uint64_t position = position_of(file, file->buffers_written);
    bool whole = is_whole(&buffers[0]);
    uint64_t written;
    uint32_t run = 0;

    do {
        complete(file, &buffers[run], file->buffers_written + run, &pieces[run]);
        run++;
    } while (whole && run < count && is_whole(&buffers[run]));
    if (whole) {
        written = etwas_write_way_write(&file->way, file->descriptor, pieces, run, position, error);
    } else {
        written = etwas_file_write(file->descriptor, pieces, 1, position, error);
    }
    for (uint32_t index = 0; whole && index < run; index++) {
        uint32_t used = ETWAS_ETL_BUFFER_HEADER_BYTES + buffers[index].data_bytes;

        memset(buffers[index].whole + used, 0, file->buffer_bytes - used);
    }
    *asked = run;
    return (uint32_t)(written / file->buffer_bytes);
}

uint32_t etwas_log_file_write(struct etwas_log_file *file, const struct etwas_log_buffer *buffers,
                              uint32_t count, enum etwas_log_file_state *state, uint32_t *code)
{
    uint32_t fitting = count;
    uint32_t whole = 0;

    *state = ETWAS_LOG_FILE_OK;
    *code = ERROR_SUCCESS;
    if (file->maximum_buffers != 0 && count > file->maximum_buffers - file->buffers_written) {
        fitting = file->maximum_buffers - file->buffers_written;
        *state = ETWAS_LOG_FILE_FULL;
    }
    while (whole < fitting) {
        uint32_t asked;
        int error;
        uint32_t written = write_run(file, &buffers[whole], fitting - whole, &asked, &error);

        whole += written;
        file->buffers_written += written;
        if (written < asked) {
            uint64_t end = position_of(file, file->buffers_written);

            *state = ETWAS_LOG_FILE_FAILED;
            *code = etwas_file_write_error(error);
            /* What was written of the next buffer must not look like one. */
            (void)etwas_file_truncate(file->descriptor, end);
            etwas_write_way_was_cut(&file->way, end);
            break;
        }
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
    free_file(file);
    return good;
}

void etwas_log_file_forget(struct etwas_log_file *file)
{
    (void)close(file->descriptor);
}
