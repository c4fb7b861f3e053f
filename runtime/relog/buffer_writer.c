/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "relog/relogger.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/xpress.h"
#include "platform/file.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

uint32_t etwas_relog_write_at(int descriptor, const void *bytes, size_t count, uint64_t position)
{
    struct iovec vector = {(void *)(uintptr_t)bytes, count};
    int error = 0;

    return etwas_file_write(descriptor, &vector, 1, position, NULL, &error) == count
               ? ERROR_SUCCESS
               : etwas_file_write_error(error);
}

static uint32_t writer_write_buffer(const struct etwas_relog_writer *writer,
                                    const struct etwas_etl_buffer_header *header,
                                    const uint8_t *body)
{
    struct iovec vector[] = {
        {(void *)(uintptr_t)header, HEADER_BYTES},
        {(void *)(uintptr_t)body, header->buffer_bytes - HEADER_BYTES},
    };
    int error = 0;

    return etwas_file_write(writer->descriptor, vector, 2, writer->end, NULL, &error) ==
                   header->buffer_bytes
               ? ERROR_SUCCESS
               : etwas_file_write_error(error);
}

uint32_t etwas_relog_writer_open(struct etwas_relog_writer *writer, bool compressed)
{
    writer->buffers = 1;
    writer->newest = INT64_MIN;
    writer->end = writer->buffer_bytes;
    if (compressed) {
        writer->compressed = malloc(writer->buffer_bytes);
        writer->memory = malloc(ETWAS_XPRESS_MEMORY_BYTES);
    }
    return compressed && (writer->compressed == NULL || writer->memory == NULL)
               ? ERROR_NOT_ENOUGH_MEMORY
               : ERROR_SUCCESS;
}

void etwas_relog_writer_free(struct etwas_relog_writer *writer)
{
    for (uint32_t i = 0; i < ETWAS_RELOG_PROCESSORS; i++) {
        if (writer->of[i] != NULL) {
            free(writer->of[i]->content);
            free(writer->of[i]);
        }
    }
    free(writer->compressed);
    free(writer->memory);
}

static struct etwas_relog_buffer *writer_buffer_of(struct etwas_relog_writer *writer,
                                                   uint32_t processor)
{
    struct etwas_relog_buffer *buffer = writer->of[processor];

    if (buffer == NULL) {
        buffer = calloc(1, sizeof *buffer);
        if (buffer == NULL) {
            return NULL;
        }
        writer->of[processor] = buffer;
    }
    if (buffer->content == NULL) {
        buffer->content = malloc(writer->buffer_bytes);
    }
    return buffer->content != NULL ? buffer : NULL;
}

static void writer_begin_buffer(struct etwas_relog_writer *writer,
                                struct etwas_relog_buffer *buffer,
                                const struct etwas_relog_entry *entry)
{
    buffer->header = (struct etwas_etl_buffer_header){
        .time_stamp = INT64_MIN,
        .processor = entry->processor,
        .logger_id = entry->logger_id,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .offset = HEADER_BYTES,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
        .type = ETWAS_ETL_BUFFER_GENERIC,
    };
    if (entry->processor >= writer->processors) {
        writer->processors = entry->processor + 1u;
    }
}

/*
 * Returns what follows the buffer's header in the file. A buffer that does not get smaller by
 * compression is written as it is, without padding.
 */
static const uint8_t *writer_buffer_body(struct etwas_relog_writer *writer,
                                         struct etwas_relog_buffer *buffer)
{
    struct etwas_etl_buffer_header *header = &buffer->header;
    uint32_t bytes = header->offset - HEADER_BYTES;
    uint32_t made;

    if (writer->compressed == NULL) {
        memset(buffer->content + header->offset, ETWAS_ETL_PADDING_BYTE,
               writer->buffer_bytes - header->offset);
        header->buffer_bytes = writer->buffer_bytes;
        return buffer->content + HEADER_BYTES;
    }
    made = etwas_xpress_encode(buffer->content + HEADER_BYTES, bytes, writer->compressed, bytes,
                               writer->memory);
    if (made == 0) {
        header->buffer_bytes = header->offset;
        return buffer->content + HEADER_BYTES;
    }
    header->flags |= ETWAS_ETL_BUFFER_COMPRESSED;
    header->buffer_bytes = HEADER_BYTES + made;
    return writer->compressed;
}

uint32_t etwas_relog_writer_close_buffer(struct etwas_relog_writer *writer, uint32_t processor)
{
    struct etwas_relog_buffer *buffer = writer->of[processor];
    struct etwas_etl_buffer_header *header;
    const uint8_t *body;
    uint32_t code;

    if (buffer == NULL || buffer->header.offset == 0) {
        return ERROR_SUCCESS;
    }
    header = &buffer->header;
    if (header->time_stamp == INT64_MIN) { /* messages without stamps */
        header->time_stamp = buffer->key;
    }
    header->saved_offset = header->offset;
    header->current_offset = header->offset;
    header->sequence_number = writer->buffers;
    body = writer_buffer_body(writer, buffer);
    code = writer_write_buffer(writer, header, body);
    writer->last = *header;
    writer->last_at = writer->end;
    writer->end += header->buffer_bytes;
    writer->buffers++;
    header->offset = 0;
    return code;
}

uint32_t etwas_relog_writer_add(struct etwas_relog_writer *writer,
                                const struct etwas_relog_entry *entry, const void *record,
                                const int64_t *stamp)
{
    uint32_t rounded = (uint32_t)etwas_etl_round_up_8(entry->bytes);
    struct etwas_relog_buffer *buffer;
    uint32_t code = ERROR_SUCCESS;

    if (entry->bytes == 0) {
        writer->gaps++;
        return ERROR_SUCCESS;
    }
    buffer = writer_buffer_of(writer, entry->processor);
    if (buffer == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (buffer->header.offset != 0 &&
        (writer->buffer_bytes - buffer->header.offset < rounded ||
         (writer->own && stamp != NULL && *stamp < buffer->header.time_stamp))) {
        code = etwas_relog_writer_close_buffer(writer, entry->processor);
    }
    if (buffer->header.offset == 0) {
        writer_begin_buffer(writer, buffer, entry);
    }
    if (buffer->gaps != writer->gaps) {
        buffer->gaps = writer->gaps;
        buffer->header.flags |= ETWAS_ETL_BUFFER_EVENTS_LOST | ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
    memcpy(buffer->content + buffer->header.offset, record, rounded);
    buffer->header.offset += rounded;
    buffer->key = entry->key;
    if (stamp != NULL && *stamp > buffer->header.time_stamp) {
        buffer->header.time_stamp = *stamp;
    }
    if (stamp != NULL && *stamp > writer->newest) {
        writer->newest = *stamp;
    }
    return code;
}

uint32_t etwas_relog_writer_end(struct etwas_relog_writer *writer)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t i = 0; i < writer->processors && code == ERROR_SUCCESS; i++) {
        code = etwas_relog_writer_close_buffer(writer, i);
    }
    if (code == ERROR_SUCCESS && writer->buffers > 1) {
        writer->last.flags |= ETWAS_ETL_BUFFER_FLUSH_MARKER;
        code = etwas_relog_write_at(writer->descriptor, &writer->last, sizeof writer->last,
                                    writer->last_at);
    }
    return code;
}
