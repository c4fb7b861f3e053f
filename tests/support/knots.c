/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/knots.h"

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

static void add(struct knots *knots, const uint8_t *record)
{
    struct etwas_etl_knot_record knot;

    memcpy(&knot, record, sizeof knot);
    assert_int_equal(knot.header.size, sizeof knot);
    assert_int_equal(knot.header.version, ETWAS_ETL_KNOT_VERSION);
    assert_int_equal(knot.knot.version, ETWAS_ETL_KNOT_VERSION);
    assert_true(knots->count < KNOTS_MOST);
    knots->list[knots->count++] = knot.knot;
}

/* Returns how many of the records are knots. */
static uint32_t read_buffer(struct knots *knots, const uint8_t *buffer)
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
        if (own && full.type == ETWAS_ETL_KNOT_TYPE) {
            add(knots, buffer + at);
            found++;
        } else if (header.type != ETWAS_ETL_BUFFER_HEADER) {
            /* Behind a knot there is nothing else. */
            assert_int_equal(found, 0);
            return 0;
        } else if (own && full.type == ETWAS_ETL_CLOCK_RECORD_TYPE) {
            knots->has_clock = true;
            memcpy(&knots->clock, buffer + at + sizeof full, sizeof knots->clock);
        }
        at += (uint32_t)etwas_etl_round_up_8(
            full.header_type == ETWAS_ETL_FULL_HEADER64 ? full.size : system.size);
    }
    return found;
}

static int by_time(const void *left, const void *right)
{
    int64_t one = ((const struct etwas_etl_knot *)left)->qpc_ns;
    int64_t other = ((const struct etwas_etl_knot *)right)->qpc_ns;

    return one < other ? -1 : one > other;
}

void knots_read(const char *path, struct knots *knots)
{
    size_t bytes;
    uint8_t *content = content_of(path, &bytes);
    uint32_t kept = 0;
    uint32_t size;

    memset(knots, 0, sizeof *knots);
    assert_true(bytes >= ETWAS_ETL_SMALLEST_BUFFER_BYTES);
    memcpy(&size, content, sizeof size);
    for (size_t at = 0; at + size <= bytes; at += size) {
        uint32_t found = read_buffer(knots, content + at);

        if (at != 0 && found != 0) {
            knots->first_place = knots->buffers == 0 ? (uint32_t)(at / size) : knots->first_place;
            knots->buffers++;
        }
    }
    qsort(knots->list, knots->count, sizeof knots->list[0], by_time);
    for (uint32_t index = 0; index < knots->count; index++) {
        if (kept == 0 || knots->list[kept - 1].qpc_ns != knots->list[index].qpc_ns) {
            knots->list[kept++] = knots->list[index];
        }
    }
    knots->count = kept;
    free(content);
}

uint32_t knots_with(const struct knots *knots, uint32_t reason)
{
    uint32_t found = 0;

    for (uint32_t index = 0; index < knots->count; index++) {
        found += knots->list[index].reason == reason;
    }
    return found;
}
