/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_window.h"

#include <etwas/winerror.h>
#include <string.h>

#include "file/log_file_internal.h"

/* Appends a record to the scratch buffer. */
static void window_append_record(struct etwas_log_file *file, struct etwas_drained *buffer,
                                 uint8_t type, uint8_t version, const void *payload, size_t bytes)
{
    uint8_t *to = file->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes;
    struct etwas_etl_full_header header =
        etwas_log_header_own(&file->header, sizeof header + bytes, type, version);

    header.time_stamp = buffer->newest;
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, payload, bytes);
    buffer->data_bytes += (uint32_t)(sizeof header + bytes);
    buffer->records++;
}

static bool window_has_room(const struct etwas_log_file *file, const struct etwas_drained *buffer)
{
    return ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes +
               sizeof(struct etwas_etl_full_header) + sizeof(struct etwas_etl_window) <=
           file->buffer_bytes;
}

struct etwas_log_write etwas_log_window_write(struct etwas_log_file *file,
                                              const struct etwas_etl_window *window,
                                              const struct etwas_coverage_gap *gaps, int64_t stamp,
                                              uint32_t sequence_number)
{
    struct etwas_log_write result = {.code = ERROR_SUCCESS};
    uint32_t gap = 0;
    bool begun = false;

    while (!begun || gap < window->missing) {
        struct etwas_drained buffer = {
            .whole = file->scratch,
            .data = file->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES,
            .time_stamp = stamp,
            .newest = stamp,
            .sequence_number = sequence_number + result.written,
        };
        struct etwas_log_write write = {.code = ERROR_SUCCESS};

        if (!begun) {
            window_append_record(file, &buffer, ETWAS_ETL_WINDOW_TYPE, ETWAS_ETL_WINDOW_VERSION,
                                 window, sizeof *window);
            begun = true;
        }
        for (; gap < window->missing && window_has_room(file, &buffer); gap++) {
            const struct etwas_etl_missing missing = {
                .version = ETWAS_ETL_MISSING_VERSION,
                .processor = gaps[gap].slot,
                .from_raw = gaps[gap].from,
                .to_raw = gaps[gap].to,
            };

            window_append_record(file, &buffer, ETWAS_ETL_MISSING_TYPE, ETWAS_ETL_MISSING_VERSION,
                                 &missing, sizeof missing);
        }
        etwas_log_write_buffers(file, &buffer, 1, &write);
        result.written += write.written;
        result.code = write.code;
        if (write.written == 0) {
            break;
        }
    }
    return result;
}
