/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_file_internal.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "etl/own_record.h"
#include "file/log_file.h"
#include "platform/file.h"
#include "platform/processor.h"

enum {
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    LOG_AT = ETWAS_ETL_LOG_HEADER_FILE_OFFSET,
    LEAST_BYTES = LOG_AT + (int)sizeof(struct etwas_etl_log_header64),
    LAYOUT_MAJOR = 1, /* of a file whose buffers all have the same size */
    COMPRESSED_LAYOUT_MAJOR = 2,
};

/* Files of these modes are not in the order in which they were written, or are part of a set. */
static const uint32_t other_modes =
    EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_BUFFERING_MODE;

static bool append_is_compressed(uint32_t log_file_mode)
{
    return (log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0;
}

/* ---- buffer 0 -------------------------------------------------------------------------------- */

/* Returns the size of a record, whose type says where the size is. */
static uint32_t append_record_size(const uint8_t *record)
{
    uint8_t type = record[2];
    bool in_second = (type >= ETWAS_ETL_SYSTEM32 && type <= ETWAS_ETL_COMPACT64) ||
                     type == ETWAS_ETL_PERFINFO32 || type == ETWAS_ETL_PERFINFO64;
    uint16_t size;

    memcpy(&size, record + (in_second ? 4 : 0), sizeof size);
    return size;
}

static bool append_is_trace_file(const uint8_t *content, uint64_t file_bytes)
{
    struct etwas_etl_buffer_header buffer;
    struct etwas_etl_system_header system;

    memcpy(&buffer, content, sizeof buffer);
    memcpy(&system, content + HEADER_BYTES, sizeof system);
    return file_bytes >= LEAST_BYTES && buffer.type == ETWAS_ETL_BUFFER_HEADER &&
           buffer.state == ETWAS_ETL_BUFFER_STATE_FLUSH && buffer.buffer_bytes >= LEAST_BYTES &&
           buffer.buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           system.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
           (system.header_type == ETWAS_ETL_SYSTEM64 || system.header_type == ETWAS_ETL_SYSTEM32) &&
           system.type == 0 && system.group == ETWAS_ETL_GROUP_HEADER;
}

/* R95: the file must have the session's properties. */
static bool append_matches_session(const uint8_t *content,
                                   const struct etwas_log_file_options *options)
{
    uint32_t processors = etwas_processor_count();
    bool compressed = append_is_compressed(options->log_file_mode);
    struct etwas_etl_buffer_header buffer;
    struct etwas_etl_log_header64 log;

    memcpy(&buffer, content, sizeof buffer);
    memcpy(&log, content + LOG_AT, sizeof log);
    return content[HEADER_BYTES + 2] == ETWAS_ETL_SYSTEM64 &&
           log.start.pointer_bytes == sizeof(void *) &&
           buffer.buffer_bytes == options->buffer_bytes &&
           log.start.buffer_bytes == options->buffer_bytes &&
           log.clock_type == ETWAS_CLOCK_KIND_SYSTEM && options->clock == ETWAS_CLOCK_KIND_SYSTEM &&
           /*
            * The header counts one more if threads that cannot run restartable sequences have a
            * stream.
            */
           (log.start.number_of_processors == processors ||
            log.start.number_of_processors == processors + 1) &&
           log.start.version[2] == (compressed ? COMPRESSED_LAYOUT_MAJOR : LAYOUT_MAJOR) &&
           append_is_compressed(log.start.log_file_mode) == compressed &&
           (log.start.log_file_mode & other_modes) == 0 &&
           (!options->process_times ||
            log.start.timer_resolution_100ns == etwas_log_header_timer_resolution(options));
}

/* Finds etwas's own records after the first. Returns false if what follows is not records. */
static bool append_find_own_records(struct etwas_log_header *header)
{
    uint32_t at = HEADER_BYTES + (uint32_t)etwas_etl_round_up_8(
                                     append_record_size(header->content + HEADER_BYTES));

    while (at < header->bytes) {
        const uint8_t *record = header->content + at;
        struct etwas_etl_full_header full;
        uint32_t size;

        if (header->bytes - at < sizeof(uint64_t) || record[3] != ETWAS_ETL_MARKER_FLAGS) {
            return false;
        }
        size = append_record_size(record);
        if (size < sizeof(uint64_t) || size > header->bytes - at) {
            return false;
        }
        if (record[2] == ETWAS_ETL_FULL_HEADER64 && size >= sizeof full) {
            memcpy(&full, record, sizeof full);
            if (etwas_etl_is_own_record(&full) && full.type == ETWAS_ETL_CALIBRATION_TYPE &&
                size == sizeof(struct etwas_etl_calibration_record)) {
                header->calibration_offset = at;
            } else if (etwas_etl_is_own_record(&full) && full.type == ETWAS_ETL_TOTALS_TYPE &&
                       size >= sizeof full + ETWAS_ETL_TOTALS_LEAST_BYTES &&
                       size <= sizeof(struct etwas_etl_totals_record)) {
                header->totals_offset = at;
                header->totals_bytes = size - (uint32_t)sizeof full;
            }
        }
        at += (uint32_t)etwas_etl_round_up_8(size);
    }
    return true;
}

/* Whether the first record is whole and long enough, and its two names end inside it. */
static bool append_header_is_sane(const uint8_t *content,
                                  const struct etwas_log_file_options *options)
{
    struct etwas_etl_buffer_header buffer;
    uint32_t size = append_record_size(content + HEADER_BYTES);
    uint32_t names_end = HEADER_BYTES + size;
    uint32_t ended = 0;

    memcpy(&buffer, content, sizeof buffer);
    if (buffer.offset > options->buffer_bytes || buffer.offset < LEAST_BYTES ||
        buffer.offset % sizeof(uint64_t) != 0 || names_end > buffer.offset) {
        return false;
    }
    for (uint32_t at = LEAST_BYTES; at + 1 < names_end; at += sizeof(etwas_wchar)) {
        ended += content[at] == 0 && content[at + 1] == 0;
    }
    return ended >= 2;
}

static uint32_t append_read_header(uint8_t *content, uint64_t file_bytes,
                                   const struct etwas_log_file_options *options,
                                   struct etwas_log_header *header)
{
    struct etwas_etl_buffer_header buffer;

    if (!append_is_trace_file(content, file_bytes)) {
        return ERROR_FILE_CORRUPT;
    }
    if (!append_matches_session(content, options)) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(&buffer, content, sizeof buffer);
    *header = (struct etwas_log_header){
        .content = content,
        .bytes = buffer.offset,
        .clock = options->clock,
        .started = options->started,
    };
    if (file_bytes < options->buffer_bytes || !append_header_is_sane(content, options) ||
        !append_find_own_records(header)) {
        return ERROR_FILE_CORRUPT;
    }
    return ERROR_SUCCESS;
}

/* ---- data buffers ---------------------------------------------------------------------------- */

/*
 * Whether this is a valid header of one of `count` data buffers, with the size of the file's
 * buffers or, in a compressed file, at most that.
 */
static bool append_is_data_buffer(const struct etwas_etl_buffer_header *buffer,
                                  const struct etwas_log_file_options *options, uint64_t count)
{
    bool compressed = (buffer->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;
    bool has_size =
        append_is_compressed(options->log_file_mode)
            ? buffer->buffer_bytes >= HEADER_BYTES && buffer->buffer_bytes <= options->buffer_bytes
            : buffer->buffer_bytes == options->buffer_bytes && !compressed;

    return has_size && buffer->offset >= HEADER_BYTES &&
           buffer->offset <= (compressed ? options->buffer_bytes : buffer->buffer_bytes) &&
           buffer->type == ETWAS_ETL_BUFFER_GENERIC &&
           buffer->state == ETWAS_ETL_BUFFER_STATE_FLUSH && buffer->sequence_number >= 1 &&
           buffer->sequence_number <= (int64_t)count;
}

static uint32_t append_check_buffers(int descriptor, uint64_t file_bytes,
                                     const struct etwas_log_file_options *options,
                                     struct etwas_log_append *append)
{
    /* An incomplete buffer does not count. The size of a compressed one is in its header. */
    uint32_t least = append_is_compressed(options->log_file_mode) ? (uint32_t)HEADER_BYTES
                                                                  : options->buffer_bytes;
    uint64_t most = file_bytes / least;
    struct etwas_etl_log_header64 log;
    uint64_t at = options->buffer_bytes;

    if (most > UINT32_MAX) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(&log, append->header.content + LOG_AT, sizeof log);
    append->buffers = 1;
    while (file_bytes - at >= least) {
        struct etwas_etl_buffer_header buffer;

        if (etwas_file_read(descriptor, &buffer, sizeof buffer, at) != sizeof buffer) {
            return ERROR_FILE_CORRUPT;
        }
        if (buffer.buffer_bytes == 0 && log.start.end_filetime == 0) {
            break; /* reserved space, never used */
        }
        if (!append_is_data_buffer(&buffer, options, most - 1) ||
            etwas_etl_buffer_processor(&buffer) >= log.start.number_of_processors) {
            return ERROR_FILE_CORRUPT;
        }
        if (buffer.buffer_bytes > file_bytes - at) {
            break;
        }
        append->last = at;
        append->last_flags = buffer.flags;
        append->buffers++;
        at += buffer.buffer_bytes;
    }
    append->end = at;
    return ERROR_SUCCESS;
}

uint32_t etwas_log_append_check(int descriptor, uint64_t file_bytes,
                                const struct etwas_log_file_options *options,
                                struct etwas_log_append *append)
{
    /* Zeroed, so that checks of a file shorter than a header read defined bytes. */
    size_t room = options->buffer_bytes > LEAST_BYTES ? options->buffer_bytes : LEAST_BYTES;
    uint8_t *content = calloc(1, room);
    uint32_t code;

    *append = (struct etwas_log_append){0};
    if (content == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    (void)etwas_file_read(descriptor, content, options->buffer_bytes, 0);
    code = append_read_header(content, file_bytes, options, &append->header);
    if (code == ERROR_SUCCESS) {
        code = append_check_buffers(descriptor, file_bytes, options, append);
    }
    if (code != ERROR_SUCCESS) {
        free(content);
    }
    return code;
}
