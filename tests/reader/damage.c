/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "damage.h"

struct builder builder;

static void build(bool compressed)
{
    struct builder_options options = builder_defaults();
    uint32_t number = 0;

    options.compressed = compressed;
    builder_begin(&builder, &options);
    for (uint16_t i = 0; i < BUFFERS; i++) {
        builder_buffer(&builder, i % 3);
        for (int j = 0; j < EVENTS_IN_BUFFER; j++) {
            number++;
            builder_number(&builder, 2000 + number, number);
        }
    }
    builder_end(&builder);
}

int damage_begin(void **state)
{
    (void)state;
    build(false);
    return 0;
}

int damage_begin_compressed(void **state)
{
    (void)state;
    build(true);
    return 0;
}

int damage_end(void **state)
{
    (void)state;
    builder_free(&builder);
    return 0;
}

void read_damaged(void)
{
    run_file(put_file(0, builder.bytes, builder.size));
}

void assert_all_but(uint32_t first, uint32_t last)
{
    size_t at = 1;

    for (uint32_t number = 1; number <= BUFFERS * EVENTS_IN_BUFFER; number++) {
        if (number >= first && number <= last) {
            continue;
        }
        assert_true(at < collected.event_count);
        assert_int_equal(collected.events[at++].number, number);
    }
    assert_int_equal(collected.event_count, at);
    assert_int_equal(collected.information.events, at - 1);
}

void assert_one_damage(etwas_damage_kind kind, uint64_t offset, uint64_t skipped)
{
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].kind, kind);
    assert_int_equal(collected.damages[0].file_offset, offset);
    assert_int_equal(collected.damages[0].bytes_skipped, skipped);
    assert_int_equal(collected.information.damages, 1);
    assert_int_equal(collected.information.bytes_skipped, skipped);
    assert_int_equal(collected.information.buffers_damaged, skipped > 0 ? 1 : 0);
}
