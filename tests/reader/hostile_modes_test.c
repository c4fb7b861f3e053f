/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hostile files of the modes that leave more than a row of buffers: wrapped ones, finished and not,
 * appended ones, space set aside; with our own records in buffer 0. Every field of them that the
 * reader goes by is damaged. Nothing may crash or hang, and what is lost must be named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "etl/own_record.h"
#include "hostile.h"

enum {
    B = 1024,
    PLACES = 6,
    IN_BUFFER = 8,
    SPACE = 3, /* buffers set aside */
    FILES = 5,
};

struct file {
    uint8_t *bytes;
    size_t size;
    size_t events;    /* of the sound file, header event included */
    bool wrapped;     /* its buffers are searched for torn ones */
    size_t totals_at; /* the totals record */
};

static struct file made[FILES];

static void begin_file(struct builder *builder, uint32_t mode, uint32_t part, bool one_stream,
                       struct file *file)
{
    struct builder_options options = builder_defaults();
    const struct etwas_etl_totals totals = {1, part, 40, 4, 3, 1, 0, 0, 0, 0};
    const struct etwas_etl_clock_trust trust = {.version = ETWAS_ETL_CLOCK_RECORD_VERSION};

    options.buffer_bytes = B;
    options.clock_type = ETWAS_ETL_CLOCK_CYCLES;
    options.mode = mode;
    options.legacy = one_stream;
    builder_begin(builder, &options);
    builder_calibration(builder);
    builder_totals(builder, &totals);
    file->totals_at = builder->record_at;
    builder_own(builder, ETWAS_ETL_CLOCK_RECORD_TYPE, &trust, sizeof trust);
    for (int64_t n = 0; n < 2; n++) {
        const struct etwas_etl_clock_snapshot snapshot = {
            .version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
            .raw_stamp = 1000 + n * 10000000,
            .qpc_ns = n * 1000000000,
            .filetime = BUILDER_START + n * 10000000,
        };

        builder_clock_snapshot(builder, &snapshot);
    }
}

static void put_buffers(struct builder *builder, uint32_t count, uint16_t processors)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < count; i++) {
        builder_buffer(builder, (uint16_t)(i % processors));
        for (uint32_t j = 0; j < IN_BUFFER; j++) {
            number++;
            builder_number(builder, 2000 + number, number);
        }
    }
    builder_end(builder);
    for (uint32_t i = 1; i <= count; i++) {
        builder_header(builder, i)->time_stamp = 2000 + (int64_t)(i * IN_BUFFER);
    }
}

static void store_file(struct file *file, struct builder *builder, size_t events)
{
    file->bytes = builder->bytes;
    file->size = builder->size;
    file->events = 1 + events;
}

static void make_wrapped(struct file *file, bool finished, bool one_stream)
{
    struct builder builder;

    begin_file(&builder, one_stream ? EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0, 0, one_stream,
               file);
    put_buffers(&builder, 2 * PLACES + 2, one_stream ? 1 : 3);
    builder_wrap(&builder, PLACES, finished);
    file->wrapped = !finished;
    store_file(file, &builder, PLACES * IN_BUFFER);
}

static void make_appended(struct file *file)
{
    struct builder builder;

    begin_file(&builder, EVENT_TRACE_FILE_MODE_APPEND, 0, false, file);
    put_buffers(&builder, PLACES, 3);
    builder_log_header(&builder)->buffers_written = 3;
    store_file(file, &builder, PLACES * IN_BUFFER);
}

static void make_with_space(struct file *file)
{
    struct builder builder;

    begin_file(&builder, EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_FILE_MODE_NEWFILE, 2,
               false, file);
    put_buffers(&builder, PLACES, 3);
    builder_log_header(&builder)->end_filetime = 0;
    builder.bytes = realloc(builder.bytes, builder.size + SPACE * B);
    assert_non_null(builder.bytes);
    memset(builder.bytes + builder.size, 0, SPACE * B);
    builder.size += SPACE * B;
    store_file(file, &builder, PLACES * IN_BUFFER);
}

static int make_files(void **state)
{
    (void)state;
    make_wrapped(&made[0], false, false);
    make_wrapped(&made[1], true, false);
    make_wrapped(&made[2], false, true);
    make_appended(&made[3]);
    make_with_space(&made[4]);
    return 0;
}

static int free_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        free(made[i].bytes);
    }
    return 0;
}

static void the_made_files_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        run_file(put_file(0, made[i].bytes, made[i].size));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.event_count, made[i].events);
        assert_int_equal(collected.information.unfinished, i != 1);
        assert_int_equal(collected.information.overwritten_events, 40);
        assert_int_equal(collected.information.lost_events, 3);
        assert_int_equal(collected.information.part, i == 4 ? 2 : 0);
    }
}

/* A file without an end may end anywhere between two buffers: only what it counts must be there. */
static void files_cut_anywhere_are_read_to_the_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        for (size_t length = 0; length < made[i].size; length++) {
            read_hostile(made[i].bytes, length, 1);
        }
    }
}

static void single_bits_flipped_anywhere_lose_nothing_unnamed(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        for (size_t round = 0; round < 2500; round++) {
            size_t at = next_random() % made[i].size;
            uint8_t before = made[i].bytes[at];

            made[i].bytes[at] ^= (uint8_t)(1u << next_random() % 8);
            /* A size may grow by those of the records behind it exactly. */
            read_hostile(made[i].bytes, made[i].size, made[i].events - 3);
            made[i].bytes[at] = before;
        }
    }
}

/* The fields of buffer headers and the log header, each with the values around which checks go
 * wrong; in every buffer. */
static void every_word_of_every_header_set_to_a_limit_does_no_harm(void **state)
{
    static const uint32_t values[] = {
        0, 1, 7, 71, 72, B - 1, B, B + 1, 0x7FFFFFFF, 0x80000000, UINT32_MAX - 7, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        for (size_t at = 0; at + 4 <= made[i].size; at += 4) {
            uint8_t before[4];

            if (at >= B && at % B >= 72) {
                continue;
            }
            memcpy(before, made[i].bytes + at, 4);
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                memcpy(made[i].bytes + at, &values[v], 4);
                read_hostile(made[i].bytes, made[i].size, 1);
            }
            memcpy(made[i].bytes + at, before, 4);
        }
    }
}

/* 64-bit numbers: sequence numbers, stamps and counts of the totals at the edges of their range. */
static void numbers_at_the_edge_of_their_range_do_no_harm(void **state)
{
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        for (size_t place = 1; place <= PLACES; place++) {
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                for (size_t field = 16; field <= 24; field += 8) {
                    uint8_t *at = made[i].bytes + place * B + field;
                    uint8_t before[8];

                    memcpy(before, at, 8);
                    memcpy(at, &values[v], 8);
                    read_hostile(made[i].bytes, made[i].size, made[i].events);
                    memcpy(at, before, 8);
                }
            }
        }
        for (size_t field = 0; field < 88; field += 8) {
            uint8_t *at = made[i].bytes + made[i].totals_at + field;
            uint8_t before[8];

            memcpy(before, at, 8);
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                memcpy(at, &values[v], 8);
                read_hostile(made[i].bytes, made[i].size, made[i].events);
            }
            memcpy(at, before, 8);
        }
    }
}

/* All places filled with copies of others: the same buffer twice, an older one, the header's. */
static void buffers_in_each_others_places_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        uint8_t *bytes = malloc(made[i].size);

        assert_non_null(bytes);
        for (size_t from = 0; from <= PLACES; from++) {
            for (size_t to = 1; to <= PLACES; to++) {
                memcpy(bytes, made[i].bytes, made[i].size);
                memcpy(bytes + to * B, made[i].bytes + from * B, B);
                read_hostile(bytes, made[i].size, made[i].events);
                /* Half of it: a torn buffer. */
                memcpy(bytes + to * B, made[i].bytes + to * B, B / 2);
                read_hostile(bytes, made[i].size, 1);
            }
        }
        free(bytes);
    }
}

static void noise_in_any_buffer_does_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        uint8_t *bytes = malloc(made[i].size);

        assert_non_null(bytes);
        for (size_t round = 0; round < 1000; round++) {
            size_t from = B + next_random() % (made[i].size - B);
            size_t length = next_random() % (made[i].size - from);

            memcpy(bytes, made[i].bytes, made[i].size);
            for (size_t at = from; at < from + length; at++) {
                bytes[at] = (uint8_t)next_random();
            }
            read_hostile(bytes, made[i].size, 1);
        }
        free(bytes);
    }
}

/* Sets whose parts lie about themselves, together. */
static void parts_that_lie_do_no_harm(void **state)
{
    static const uint32_t parts[] = {0, 1, 2, 2, UINT32_MAX, 0x80000000, 7};
    const struct file *file = &made[4];
    uint8_t *bytes = malloc(file->size);

    (void)state;
    assert_non_null(bytes);
    for (size_t round = 0; round < 200; round++) {
        const char *paths[7];

        for (size_t i = 0; i < 7; i++) {
            memcpy(bytes, file->bytes, file->size);
            memcpy(bytes + file->totals_at + 48 + 4, &parts[(i + round) % 7], 4);
            if (next_random() % 2 == 0) {
                bytes[next_random() % file->size] ^= (uint8_t)(1u << next_random() % 8);
            }
            paths[i] = put_file((unsigned)i, bytes, file->size);
        }
        run_files(paths, 7, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
        assert_true(collected.code == ERROR_SUCCESS || collected.code == ERROR_FILE_CORRUPT);
        if (collected.code == ERROR_SUCCESS) {
            assert_true(collected.event_count >= 7 * (file->events - 3));
        }
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_made_files_are_sound),
        cmocka_unit_test(files_cut_anywhere_are_read_to_the_cut),
        cmocka_unit_test(single_bits_flipped_anywhere_lose_nothing_unnamed),
        cmocka_unit_test(every_word_of_every_header_set_to_a_limit_does_no_harm),
        cmocka_unit_test(numbers_at_the_edge_of_their_range_do_no_harm),
        cmocka_unit_test(buffers_in_each_others_places_do_no_harm),
        cmocka_unit_test(noise_in_any_buffer_does_no_harm),
        cmocka_unit_test(parts_that_lie_do_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, make_files, free_files);

    remove_files();
    return failed;
}
