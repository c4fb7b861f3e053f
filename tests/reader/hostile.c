/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "hostile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "buffers.h"
#include "builder.h"
#include "collect.h"
#include "etl/layout.h"

uint32_t next_random(void)
{
    static uint64_t random_state = 6364136223846793005u;

    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

/* Whatever is in it, a file that is opened and has an end is the same buffer by buffer. */
static void compare(const char *path, const uint8_t *bytes, size_t size)
{
    struct etwas_etl_log_header_start start;
    bool replaces;

    if (size < ETWAS_ETL_LOG_HEADER_FILE_OFFSET + sizeof start) {
        return;
    }
    memcpy(&start, bytes + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, sizeof start);
    replaces =
        (start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0 && start.end_filetime == 0;
    if (!replaces) {
        compare_with_process_trace(path, start.end_filetime != 0);
    }
}

void read_hostile(const uint8_t *bytes, size_t size, size_t events)
{
    const char *path = put_file(0, bytes, size);

    if (next_random() % 4 == 0) {
        run_files(&path, 1, 0, NULL, NULL);
    }
    run_file(path);
    assert_true(collected.code == ERROR_SUCCESS || collected.code == ERROR_FILE_CORRUPT);
    if (collected.code == ERROR_SUCCESS) {
        assert_int_equal(collected.damage_count, 0);
        /* A damage that makes another sound file cannot lose events silently. */
        assert_true(collected.event_count >= events);
    } else if (collected.event_count > 0) {
        assert_true(collected.damage_count > 0);
    }
    assert_int_equal(collected.information.damages, collected.damage_count);
    for (size_t i = 0; i < collected.damage_count && i < COLLECT_DAMAGES; i++) {
        assert_in_range(collected.damages[i].kind, ETWAS_DAMAGE_TRUNCATED, ETWAS_DAMAGE_READ);
        assert_true(collected.damages[i].file_offset <= size);
    }
    if (collected.event_count > 0 && next_random() % 4 == 0) {
        compare(path, bytes, size);
    }
}
