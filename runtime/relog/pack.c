/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "relog/pack.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/xpress_encode.h"
#include "platform/file.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

uint32_t etwas_relog_write(int descriptor, const void *bytes, size_t count, uint64_t position)
{
    struct iovec vector = {(void *)(uintptr_t)bytes, count};
    int error = 0;

    return etwas_file_write(descriptor, &vector, 1, position, NULL, &error) == count
               ? ERROR_SUCCESS
               : etwas_file_write_error(error);
}

static uint32_t write_buffer(const struct etwas_relog_pack *pack,
                             const struct etwas_etl_buffer_header *header, const uint8_t *body)
{
    struct iovec vector[] = {
        {(void *)(uintptr_t)header, HEADER_BYTES},
        {(void *)(uintptr_t)body, header->buffer_bytes - HEADER_BYTES},
    };
    int error = 0;

    return etwas_file_write(pack->descriptor, vector, 2, pack->end, NULL, &error) ==
                   header->buffer_bytes
               ? ERROR_SUCCESS
               : etwas_file_write_error(error);
}

uint32_t etwas_relog_pack_open(struct etwas_relog_pack *pack, bool compressed)
{
    pack->buffers = 1;
    pack->newest = INT64_MIN;
    pack->end = pack->buffer_bytes;
    if (compressed) {
        pack->compressed = malloc(pack->buffer_bytes);
        pack->memory = malloc(ETWAS_XPRESS_MEMORY_BYTES);
    }
    return compressed && (pack->compressed == NULL || pack->memory == NULL)
               ? ERROR_NOT_ENOUGH_MEMORY
               : ERROR_SUCCESS;
}

void etwas_relog_pack_free(struct etwas_relog_pack *pack)
{
    for (uint32_t i = 0; i < ETWAS_RELOG_PROCESSORS; i++) {
        if (pack->of[i] != NULL) {
            free(pack->of[i]->content);
            free(pack->of[i]);
        }
    }
    free(pack->compressed);
    free(pack->memory);
}

static struct etwas_relog_buffer *buffer_of(struct etwas_relog_pack *pack, uint32_t processor)
{
    struct etwas_relog_buffer *buffer = pack->of[processor];

    if (buffer == NULL) {
        buffer = calloc(1, sizeof *buffer);
        if (buffer == NULL) {
            return NULL;
        }
        pack->of[processor] = buffer;
    }
    if (buffer->content == NULL) {
        buffer->content = malloc(pack->buffer_bytes);
    }
    return buffer->content != NULL ? buffer : NULL;
}

static void begin(struct etwas_relog_pack *pack, struct etwas_relog_buffer *buffer,
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
    if (entry->processor >= pack->processors) {
        pack->processors = entry->processor + 1u;
    }
}

/* What stands in the file behind the buffer's header. One that does not get smaller is as it was, without padding. */
static const uint8_t *body_of(struct etwas_relog_pack *pack, struct etwas_relog_buffer *buffer)
{
    struct etwas_etl_buffer_header *header = &buffer->header;
    uint32_t bytes = header->offset - HEADER_BYTES;
    uint32_t made;

    if (pack->compressed == NULL) {
        memset(buffer->content + header->offset, ETWAS_ETL_PADDING_BYTE,
               pack->buffer_bytes - header->offset);
        header->buffer_bytes = pack->buffer_bytes;
        return buffer->content + HEADER_BYTES;
    }
    made = etwas_xpress_encode(buffer->content + HEADER_BYTES, bytes, pack->compressed, bytes,
                               pack->memory);
    if (made == 0) {
        header->buffer_bytes = header->offset;
        return buffer->content + HEADER_BYTES;
    }
    header->flags |= ETWAS_ETL_BUFFER_COMPRESSED;
    header->buffer_bytes = HEADER_BYTES + made;
    return pack->compressed;
}

uint32_t etwas_relog_pack_close(struct etwas_relog_pack *pack, uint32_t processor)
{
    struct etwas_relog_buffer *buffer = pack->of[processor];
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
    header->sequence_number = pack->buffers;
    body = body_of(pack, buffer);
    code = write_buffer(pack, header, body);
    pack->last = *header;
    pack->last_at = pack->end;
    pack->end += header->buffer_bytes;
    pack->buffers++;
    header->offset = 0;
    return code;
}

uint32_t etwas_relog_pack_add(struct etwas_relog_pack *pack, const struct etwas_relog_entry *entry,
                              const void *record, const int64_t *stamp)
{
    uint32_t rounded = (uint32_t)etwas_etl_round_up_8(entry->bytes);
    struct etwas_relog_buffer *buffer;
    uint32_t code = ERROR_SUCCESS;

    if (entry->bytes == 0) {
        pack->gaps++;
        return ERROR_SUCCESS;
    }
    buffer = buffer_of(pack, entry->processor);
    if (buffer == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (buffer->header.offset != 0 &&
        (pack->buffer_bytes - buffer->header.offset < rounded ||
         (pack->own && stamp != NULL && *stamp < buffer->header.time_stamp))) {
        code = etwas_relog_pack_close(pack, entry->processor);
    }
    if (buffer->header.offset == 0) {
        begin(pack, buffer, entry);
    }
    if (buffer->gaps != pack->gaps) {
        buffer->gaps = pack->gaps;
        buffer->header.flags |= ETWAS_ETL_BUFFER_EVENTS_LOST | ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
    memcpy(buffer->content + buffer->header.offset, record, rounded);
    buffer->header.offset += rounded;
    buffer->key = entry->key;
    if (stamp != NULL && *stamp > buffer->header.time_stamp) {
        buffer->header.time_stamp = *stamp;
    }
    if (stamp != NULL && *stamp > pack->newest) {
        pack->newest = *stamp;
    }
    return code;
}

uint32_t etwas_relog_pack_end(struct etwas_relog_pack *pack)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t i = 0; i < pack->processors && code == ERROR_SUCCESS; i++) {
        code = etwas_relog_pack_close(pack, i);
    }
    if (code == ERROR_SUCCESS && pack->buffers > 1) {
        pack->last.flags |= ETWAS_ETL_BUFFER_FLUSH_MARKER;
        code = etwas_relog_write(pack->descriptor, &pack->last, sizeof pack->last, pack->last_at);
    }
    return code;
}
