/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/prepared_snapshot.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file/session_file.h"

enum {
    /*
     * Modes that say where the session's events go by themselves. They do not apply to a snapshot
     * of what is in memory.
     */
    SINK_MODES = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR |
                 EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE |
                 EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_REAL_TIME_MODE |
                 EVENT_TRACE_COMPRESSED_MODE,
    ALIGNMENT = 64,
};

/* Whether the file can be written at any position. */
static bool prepare_is_suitable(int descriptor)
{
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & (O_APPEND | O_PATH)) == 0 &&
           fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/*
 * Reads the next buffer of metadata, without its header. Returns the bytes of its records; 0: there
 * are no more.
 */
static uint32_t prepare_read_metadata(const struct etwas_session *session,
                                      struct etwas_metadata_cursor *cursor, uint8_t *buffer)
{
    return etwas_metadata_read(
        cursor, etwas_session_takes_stacks(session), buffer + ETWAS_ETL_BUFFER_HEADER_BYTES,
        session->buffers.pool->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES,
        etwas_clock_reading_stamp(&session->started, session->configuration.clock));
}

static uint32_t prepare_count_metadata(const struct etwas_session *session, uint8_t *buffer)
{
    struct etwas_metadata_cursor cursor = {0};
    uint32_t count = 0;

    while (prepare_read_metadata(session, &cursor, buffer) != 0) {
        count++;
    }
    return count;
}

/* Stores `count` buffers of metadata. What was added since they were counted is written later. */
static void prepare_store_metadata(struct etwas_prepared_snapshot *prepared, uint8_t *buffers,
                                   uint32_t count)
{
    uint32_t buffer_bytes = prepared->view.buffer_bytes;

    prepared->descriptions = etwas_descriptions_count();
    for (uint32_t index = 0; index < count; index++) {
        uint8_t *buffer = buffers + (size_t)index * buffer_bytes;
        uint32_t bytes = prepare_read_metadata(prepared->session, &prepared->described, buffer);

        if (bytes == 0) {
            break;
        }
        memcpy(buffer, &bytes, sizeof bytes);
        prepared->metadata_buffers++;
    }
    prepared->metadata = buffers;
}

/* Takes an aligned piece of the block. */
static uint8_t *prepare_take_piece(uint8_t **next, size_t bytes)
{
    uint8_t *start = *next;

    *next += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return start;
}

static uint32_t prepare_make(struct etwas_session *session, int descriptor,
                             const struct etwas_log_header *header, uint32_t metadata_buffers,
                             struct etwas_prepared_snapshot **made)
{
    const struct etwas_pool *pool = session->buffers.pool;
    size_t list_bytes = (size_t)pool->region_buffers * sizeof(struct etwas_held_buffer);
    size_t bytes = sizeof(struct etwas_prepared_snapshot) + list_bytes + header->bytes +
                   (size_t)pool->buffer_bytes * (metadata_buffers + 2) + (size_t)5 * ALIGNMENT;
    size_t page = etwas_memory_page_bytes();
    struct etwas_prepared_snapshot *prepared;
    struct etwas_memory memory;
    uint8_t *next;

    bytes = (bytes + page - 1) / page * page;
    if (!etwas_memory_create(&memory, bytes)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (!etwas_memory_populate(memory.region, bytes)) {
        etwas_memory_destroy(&memory);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    next = memory.region;
    prepared =
        (struct etwas_prepared_snapshot *)(void *)prepare_take_piece(&next, sizeof *prepared);
    *prepared = (struct etwas_prepared_snapshot){
        .memory = memory,
        .session = session,
        .key = etwas_session_key(session),
        .pool = session->buffers.pool,
        .view = etwas_pool_view_of(pool),
        .descriptor = descriptor,
        .clock = session->configuration.clock,
        .logger_id = (uint16_t)(session->index + 1),
        .buffering = pool->buffering,
        .built_bytes = header->bytes,
        .header = *header,
        .list = (struct etwas_held_buffer *)(void *)prepare_take_piece(&next, list_bytes),
    };
    prepared->built =
        memcpy(prepare_take_piece(&next, header->bytes), header->content, header->bytes);
    prepared->header.content = prepare_take_piece(&next, pool->buffer_bytes);
    prepared->scratch = prepare_take_piece(&next, pool->buffer_bytes);
    prepare_store_metadata(prepared, next, metadata_buffers);
    *made = prepared;
    return ERROR_SUCCESS;
}

uint32_t etwas_prepared_snapshot_make(struct etwas_session *session, int descriptor,
                                      struct etwas_prepared_snapshot **prepared)
{
    static const etwas_wchar no_name[1];
    struct etwas_log_file_options options = etwas_session_log_options(session);
    struct etwas_log_header header;
    uint8_t *buffer;
    uint32_t code;

    if (!prepare_is_suitable(descriptor)) {
        return ERROR_INVALID_PARAMETER;
    }
    options.file_name = no_name;
    options.log_file_mode =
        (options.log_file_mode & ~(uint32_t)SINK_MODES) | EVENT_TRACE_BUFFERING_MODE;
    code = etwas_log_header_build(&header, &options);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    buffer = malloc(session->buffers.pool->buffer_bytes);
    code = buffer != NULL ? prepare_make(session, descriptor, &header,
                                         prepare_count_metadata(session, buffer), prepared)
                          : ERROR_NOT_ENOUGH_MEMORY;
    free(buffer);
    etwas_log_header_free(&header);
    return code;
}

void etwas_prepared_snapshot_free(struct etwas_prepared_snapshot *prepared)
{
    struct etwas_memory memory = prepared->memory;

    etwas_memory_destroy(&memory);
}
