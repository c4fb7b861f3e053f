/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a log file back without the library (drain.h): the header of every buffer, and the payload
 * of every record.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain.h"
#include "etl/layout.h"

enum {
    BUFFERS_AT_A_TIME = 64
};

static const char *check_buffer(const uint8_t *buffer, uint64_t number, struct drain_sum *sum)
{
    struct etwas_etl_buffer_header header;

    memcpy(&header, buffer, sizeof header);
    if (header.buffer_bytes != DRAIN_BUFFER_BYTES || header.offset < sizeof header ||
        header.offset > DRAIN_BUFFER_BYTES ||
        (header.offset - sizeof header) % DRAIN_RECORD_BYTES != 0) {
        return "a buffer's header is wrong";
    }
    if (header.sequence_number != (int64_t)number) {
        return "a buffer's sequence number is wrong";
    }
    for (uint32_t offset = sizeof header; offset < header.offset; offset += DRAIN_RECORD_BYTES) {
        uint64_t payload[2];
        uint16_t size;

        memcpy(&size, buffer + offset, sizeof size);
        memcpy(payload, buffer + offset + sizeof(struct etwas_etl_instance_header), sizeof payload);
        if (size != DRAIN_RECORD_BYTES) {
            return "a record's size is wrong";
        }
        drain_add(sum, payload[0], payload[1]);
    }
    return NULL;
}

static uint32_t counted_buffers(const uint8_t *header_buffer)
{
    struct etwas_etl_log_header_start start;

    memcpy(&start, header_buffer + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, sizeof start);
    return start.buffers_written;
}

static const char *check_file(int file, uint8_t *memory, struct drain_sum *sum)
{
    const size_t at_a_time = (size_t)BUFFERS_AT_A_TIME * DRAIN_BUFFER_BYTES;
    struct stat status;
    uint64_t buffers;

    if (fstat(file, &status) != 0 || status.st_size % DRAIN_BUFFER_BYTES != 0) {
        return "the file is not whole buffers";
    }
    buffers = (uint64_t)status.st_size / DRAIN_BUFFER_BYTES;
    for (uint64_t first = 0; first < buffers; first += BUFFERS_AT_A_TIME) {
        ssize_t got = pread(file, memory, at_a_time, (off_t)(first * DRAIN_BUFFER_BYTES));

        if (got <= 0 || got % DRAIN_BUFFER_BYTES != 0) {
            return "the file cannot be read";
        }
        (void)posix_fadvise(file, (off_t)(first * DRAIN_BUFFER_BYTES), got, POSIX_FADV_DONTNEED);
        if (first == 0 && counted_buffers(memory) != buffers) {
            return "the header counts other buffers than there are";
        }
        for (uint64_t index = first == 0; index < (uint64_t)got / DRAIN_BUFFER_BYTES; index++) {
            const char *wrong =
                check_buffer(memory + index * DRAIN_BUFFER_BYTES, first + index, sum);

            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    return NULL;
}

const char *drain_check(const char *path, struct drain_sum *sum)
{
    uint8_t *memory = malloc((size_t)BUFFERS_AT_A_TIME * DRAIN_BUFFER_BYTES);
    int file = memory != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const char *wrong = "the file cannot be opened";

    *sum = (struct drain_sum){0};
    if (file >= 0) {
        wrong = check_file(file, memory, sum);
        (void)close(file);
    }
    free(memory);
    return wrong;
}
