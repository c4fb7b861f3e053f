/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/clock_snapshots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t *content_of(const char *path, size_t *bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    uint8_t *content;

    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    content = malloc((size_t)status.st_size + 1);
    assert_non_null(content);
    *bytes = (size_t)pread(file, content, (size_t)status.st_size, 0);
    (void)close(file);
    return content;
}

static void add(struct clock_snapshots *clock_snapshots, const uint8_t *record)
{
    struct etwas_etl_clock_snapshot_record clock_snapshot;

    memcpy(&clock_snapshot, record, sizeof clock_snapshot);
    assert_int_equal(clock_snapshot.header.size, sizeof clock_snapshot);
    assert_int_equal(clock_snapshot.header.version, ETWAS_ETL_CLOCK_SNAPSHOT_VERSION);
    assert_int_equal(clock_snapshot.clock_snapshot.version, ETWAS_ETL_CLOCK_SNAPSHOT_VERSION);
    assert_true(clock_snapshots->count < CLOCK_SNAPSHOTS_MOST);
    clock_snapshots->list[clock_snapshots->count++] = clock_snapshot.clock_snapshot;
}

/* Returns how many of the records are clock snapshots. */
static uint32_t read_buffer(struct clock_snapshots *clock_snapshots, const uint8_t *buffer)
{
    struct etwas_etl_buffer_header header;
    uint32_t at = sizeof header;
    uint32_t found = 0;

    memcpy(&header, buffer, sizeof header);
    while (at + sizeof(struct etwas_etl_full_header) <= header.offset) {
        struct etwas_etl_full_header full;
        struct etwas_etl_system_header system;
        bool own;

        memcpy(&full, buffer + at, sizeof full);
        memcpy(&system, buffer + at, sizeof system);
        own = full.header_type == ETWAS_ETL_FULL_HEADER64 && etwas_etl_is_own_record(&full);
        if (own && full.type == ETWAS_ETL_CLOCK_SNAPSHOT_TYPE) {
            add(clock_snapshots, buffer + at);
            found++;
        } else if (header.type != ETWAS_ETL_BUFFER_HEADER) {
            /* A buffer of clock snapshots has nothing else. */
            assert_int_equal(found, 0);
            return 0;
        } else if (own && full.type == ETWAS_ETL_CLOCK_RECORD_TYPE) {
            clock_snapshots->has_clock = true;
            memcpy(&clock_snapshots->clock, buffer + at + sizeof full,
                   sizeof clock_snapshots->clock);
        }
        at += (uint32_t)etwas_etl_round_up_8(
            full.header_type == ETWAS_ETL_FULL_HEADER64 ? full.size : system.size);
    }
    return found;
}

static int by_time(const void *left, const void *right)
{
    int64_t one = ((const struct etwas_etl_clock_snapshot *)left)->qpc_ns;
    int64_t other = ((const struct etwas_etl_clock_snapshot *)right)->qpc_ns;

    return one < other ? -1 : one > other;
}

void clock_snapshots_read(const char *path, struct clock_snapshots *clock_snapshots)
{
    size_t bytes;
    uint8_t *content = content_of(path, &bytes);
    uint32_t kept = 0;
    uint32_t size;

    memset(clock_snapshots, 0, sizeof *clock_snapshots);
    assert_true(bytes >= ETWAS_ETL_SMALLEST_BUFFER_BYTES);
    memcpy(&size, content, sizeof size);
    for (size_t at = 0; at + size <= bytes; at += size) {
        uint32_t found = read_buffer(clock_snapshots, content + at);

        if (at != 0 && found != 0) {
            clock_snapshots->first_place = clock_snapshots->buffers == 0
                                               ? (uint32_t)(at / size)
                                               : clock_snapshots->first_place;
            clock_snapshots->buffers++;
        }
    }
    qsort(clock_snapshots->list, clock_snapshots->count, sizeof clock_snapshots->list[0], by_time);
    for (uint32_t index = 0; index < clock_snapshots->count; index++) {
        if (kept == 0 ||
            clock_snapshots->list[kept - 1].qpc_ns != clock_snapshots->list[index].qpc_ns) {
            clock_snapshots->list[kept++] = clock_snapshots->list[index];
        }
    }
    clock_snapshots->count = kept;
    free(content);
}

uint32_t clock_snapshots_with(const struct clock_snapshots *clock_snapshots, uint32_t reason)
{
    uint32_t found = 0;

    for (uint32_t index = 0; index < clock_snapshots->count; index++) {
        found += clock_snapshots->list[index].reason == reason;
    }
    return found;
}
