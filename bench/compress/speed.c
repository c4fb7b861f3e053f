/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "speed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#ifdef ETWAS_BENCH_WITH_LZ4
#include <lz4.h>
#endif

#include "etl/layout.h"
#include "etl/xpress.h"

enum {
    ROOM_BYTES = 1 << 20, /* enough for either encoder and a buffer of 64 KB */
};

/* Returns the number of compressed bytes. */
typedef uint32_t compressor(const uint8_t *records, uint32_t bytes, uint8_t *room);

static uint32_t by_etwas(const uint8_t *records, uint32_t bytes, uint8_t *room)
{
    static uint64_t memory[ETWAS_XPRESS_MEMORY_BYTES / sizeof(uint64_t)];

    return etwas_xpress_encode(records, bytes, room, ROOM_BYTES, memory);
}

#ifdef ETWAS_BENCH_WITH_LZ4
static uint32_t by_lz4(const uint8_t *records, uint32_t bytes, uint8_t *room)
{
    return (uint32_t)LZ4_compress_default((const char *)records, (char *)room, (int)bytes,
                                          ROOM_BYTES);
}
#endif

static double processor_seconds(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Compresses all buffers once. Returns MB/s, or 0 if one was not compressed. */
static double pass(const uint8_t *content, uint64_t bytes, compressor *compress, uint8_t *room)
{
    struct etwas_etl_buffer_header header;
    double begun = processor_seconds();
    uint64_t records = 0;
    uint64_t at = 0;

    memcpy(&header, content, sizeof header);
    for (at = header.buffer_bytes; at < bytes; at += header.buffer_bytes) {
        memcpy(&header, content + at, sizeof header);
        if (header.buffer_bytes < sizeof header || header.offset < sizeof header ||
            header.offset > header.buffer_bytes || header.buffer_bytes > bytes - at ||
            compress(content + at + sizeof header, header.offset - (uint32_t)sizeof header, room) ==
                0) {
            return 0;
        }
        records += header.offset - sizeof header;
    }
    return (double)records / 1e6 / (processor_seconds() - begun);
}

static double better(double one, double other)
{
    return one > other ? one : other;
}

const char *speed_measure(int file, unsigned passes, struct speed *speed)
{
    uint8_t *room = malloc(ROOM_BYTES);
    struct stat status;
    uint8_t *content;

    *speed = (struct speed){0};
    if (room == NULL || fstat(file, &status) != 0) {
        free(room);
        return "the file cannot be read";
    }
    content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (content == MAP_FAILED) {
        free(room);
        return "the file cannot be read";
    }
    for (unsigned index = 0; index < passes; index++) {
        speed->etwas_mb_per_s =
            better(speed->etwas_mb_per_s, pass(content, (uint64_t)status.st_size, by_etwas, room));
#ifdef ETWAS_BENCH_WITH_LZ4
        speed->lz4_mb_per_s =
            better(speed->lz4_mb_per_s, pass(content, (uint64_t)status.st_size, by_lz4, room));
#endif
    }
    (void)munmap(content, (size_t)status.st_size);
    free(room);
    return speed->etwas_mb_per_s > 0 ? NULL : "a buffer was not compressed";
}
