/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hostile files: flipped bits, every byte of what matters set to what hurts, files cut anywhere.
 * Nothing may crash, which the sanitizers check; in every build what is lost must be named.
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
#include "hostile.h"
#include "support/places.h"

struct file {
    uint8_t *bytes;
    size_t size;
    size_t events; /* of the sound file, header event included */
};

static struct file made[3]; /* plain, compressed, 32-bit and old */

static void put_items_event(struct builder *builder, int64_t stamp)
{
    struct {
        struct etwas_etl_event_header header;
        struct etwas_etl_extended_item item;
        uint8_t data[16];
        struct etwas_etl_extended_item last;
        uint8_t payload[8];
    } record = {
        .header =
            {
                .size = sizeof record,
                .header_type = ETWAS_ETL_EVENT_HEADER64,
                .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                .flags = 1,
                .time_stamp = stamp,
            },
        .item = {24, 1, 1, 16},
        .last = {8, 16, 0, 0},
    };

    builder_raw(builder, &record, sizeof record);
}

static void put_others(struct builder *builder, int64_t stamp)
{
    const struct etwas_etl_perfinfo_header perfinfo = {
        .version = 0x8102,
        .header_type = ETWAS_ETL_PERFINFO64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = sizeof perfinfo + 20,
        .type = 0x2E,
        .group = 0x0F,
        .time_stamp = stamp,
    };
    const struct etwas_etl_instance_header instance = {
        .full =
            {
                .size = sizeof instance + 20,
                .header_type = ETWAS_ETL_INSTANCE64,
                .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                .time_stamp = stamp,
            },
    };
    const struct etwas_etl_message_header message = {
        .size = sizeof message + 40,
        .marker_flags = ETWAS_ETL_MESSAGE_MARKER_FLAGS,
        .option_flags = 0xA3,
    };
    static const uint8_t payload[40];

    builder_record(builder, &perfinfo, sizeof perfinfo, payload, 20);
    builder_record(builder, &instance, sizeof instance, payload, 20);
    builder_record(builder, &message, sizeof message, payload, 40);
}

static void make_file(struct file *file, bool compressed, bool old)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    uint32_t number = 0;

    options.buffer_bytes = 1024;
    options.compressed = compressed;
    options.narrow = old;
    options.legacy = old;
    builder_begin(&builder, &options);
    for (uint16_t i = 0; i < 6; i++) {
        builder_buffer(&builder, i % 3);
        for (int j = 0; j < 3; j++) {
            number++;
            builder_number(&builder, 2000 + number, number);
        }
        put_items_event(&builder, 2000 + number);
        put_others(&builder, 2000 + number);
    }
    builder_end(&builder);
    file->bytes = builder.bytes;
    file->size = builder.size;
    file->events = 1 + 6 * 7;
}

static int make_files(void **state)
{
    (void)state;
    make_file(&made[0], false, false);
    make_file(&made[1], true, false);
    make_file(&made[2], false, true);
    return 0;
}

static int free_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        free(made[i].bytes);
    }
    return 0;
}

static void the_made_files_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        run_file(put_file(0, made[i].bytes, made[i].size));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.event_count, made[i].events);
    }
}

static void files_cut_anywhere_are_read_to_the_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t length = 0; length < made[i].size; length++) {
            read_hostile(made[i].bytes, length, made[i].events);
        }
    }
}

/* One bit makes no event disappear unnamed, but for a size that grows by its neighbours' exactly,
 * which nothing in the format can show: in these files such a size takes three. */
static void single_bits_flipped_anywhere_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint8_t *bytes = malloc(made[i].size);

        assert_non_null(bytes);
        for (size_t round = 0; round < 3000; round++) {
            size_t at = next_random() % made[i].size;

            memcpy(bytes, made[i].bytes, made[i].size);
            bytes[at] ^= (uint8_t)(1u << next_random() % 8);
            read_hostile(bytes, made[i].size, made[i].events - 3);
        }
        free(bytes);
    }
}

static void many_bits_flipped_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint8_t *bytes = malloc(made[i].size);

        assert_non_null(bytes);
        for (size_t round = 0; round < 1500; round++) {
            memcpy(bytes, made[i].bytes, made[i].size);
            for (uint32_t flips = next_random() % 64; flips > 0; flips--) {
                bytes[next_random() % made[i].size] ^= (uint8_t)(1u << next_random() % 8);
            }
            read_hostile(bytes, made[i].size, 1);
        }
        free(bytes);
    }
}

/* Every byte of the log file header, of two buffer headers and of their records, set to the values
 * that make sizes and counts overflow. */
static void every_byte_set_to_what_hurts_does_no_harm(void **state)
{
    static const uint8_t values[] = {0x00, 0x7F, 0xFF};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t at = 0; at < 2 * 1024 + 200 && at < made[i].size; at++) {
            uint8_t before = made[i].bytes[at];

            for (size_t v = 0; v < sizeof values; v++) {
                made[i].bytes[at] = values[v];
                read_hostile(made[i].bytes, made[i].size, 1);
            }
            made[i].bytes[at] = before;
        }
    }
}

/* Every aligned u32 of the headers, set to the limits around which checks go wrong. */
static void every_word_set_to_a_limit_does_no_harm(void **state)
{
    static const uint32_t values[] = {
        0,         71,        72,         73,         1023,    1024,     1025,     0xFFFF,
        0x1000000, 0x1000001, 0x7FFFFFFF, 0x80000000, ~0u - 7, ~0u - 71, ~0u - 72, ~0u};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t at = 0; at + 4 <= 1024 + 200; at += 4) {
            uint8_t before[4];

            memcpy(before, made[i].bytes + at, 4);
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                memcpy(made[i].bytes + at, &values[v], 4);
                read_hostile(made[i].bytes, made[i].size, 1);
            }
            memcpy(made[i].bytes + at, before, 4);
        }
    }
}

static void noise_behind_a_good_header_does_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint8_t *bytes = malloc(made[i].size);

        assert_non_null(bytes);
        for (size_t round = 0; round < 500; round++) {
            size_t from = 600 + next_random() % (made[i].size - 600);

            memcpy(bytes, made[i].bytes, made[i].size);
            for (size_t at = from; at < made[i].size; at++) {
                bytes[at] = (uint8_t)next_random();
            }
            read_hostile(bytes, made[i].size, 1);
        }
        free(bytes);
    }
}

/*
 * Reads a file of so many compressed buffers of 87 bytes, on so many processors, each of which
 * promises 16 MiB; it decompresses to so much more.
 */
static void read_bombs(uint32_t buffers, uint32_t processors, uint32_t more)
{
    enum {
        LARGEST = 16 << 20,
        INPUT = 15,
        BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES + INPUT,
    };
    /* A literal, then one match for the rest: its length is in the last four bytes. */
    static const uint8_t beginning[INPUT] = {0xFF, 0xFF, 0xFF, 0x7F, 'x', 7, 0, 0xF, 0xFF};
    const uint32_t match = LARGEST - ETWAS_ETL_BUFFER_HEADER_BYTES - 1 - 3 + more;
    struct etwas_etl_buffer_header header = {
        .buffer_bytes = BYTES,
        .saved_offset = LARGEST,
        .offset = LARGEST,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_COMPRESSED,
    };
    struct builder_options options = builder_defaults();
    struct builder builder;
    uint8_t *bytes;

    options.compressed = true;
    options.processors = processors;
    builder_begin(&builder, &options);
    builder_end(&builder);
    builder_log_header(&builder)->buffer_bytes = LARGEST;
    builder_log_header(&builder)->buffers_written = buffers + 1;
    bytes = malloc(builder.size + buffers * (size_t)BYTES);
    assert_non_null(bytes);
    memcpy(bytes, builder.bytes, builder.size);
    for (uint32_t i = 0; i < buffers; i++) {
        uint8_t *at = bytes + builder.size + i * (size_t)BYTES;

        header.processor = (uint16_t)(i % processors);
        header.sequence_number = (int64_t)i + 1;
        memcpy(at, &header, sizeof header);
        memcpy(at + sizeof header, beginning, INPUT);
        memcpy(at + BYTES - sizeof match, &match, sizeof match);
    }
    run_file(put_file(0, bytes, builder.size + buffers * (size_t)BYTES));
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.event_count, 1);
    assert_int_equal(collected.damage_count, buffers);
    free(bytes);
    builder_free(&builder);
}

/* Two thousand streams: refused, not allocated. */
static void a_small_file_that_promises_much_is_refused(void **state)
{
    (void)state;
    read_bombs(2000, 2000, 1);
    assert_int_equal(damages_of(ETWAS_DAMAGE_COMPRESSION), COLLECT_DAMAGES);
}

/* Each buffer is copied in few pieces: reader_xpress counts them. */
static void a_small_file_that_decompresses_to_much_is_read_at_the_speed_of_memory(void **state)
{
    (void)state;
    read_bombs(300, 1, 0);
    assert_int_equal(damages_of(ETWAS_DAMAGE_RECORD), COLLECT_DAMAGES);
}

static void real_files_damaged_at_random_do_no_harm(void **state)
{
    static const char *const names[] = {"SelfDescribingSingleEvent.etl", "smallEtlFile.etl",
                                        "primitive-types.etl", "lxcore_kernel.etl"};
    bool any = false;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size;
        FILE *file;

        static uint8_t sound[65536];
        static uint8_t bytes[65536];
        char path[4096];

        snprintf(path, sizeof path, "%s/etl-samples/%s", shared_folder(), names[i]);
        file = fopen(path, "rb");
        if (file == NULL) {
            print_message("%s is not there: skipped\n", path);
            continue;
        }
        size = fread(sound, 1, sizeof sound, file);
        fclose(file);
        any = true;
        for (size_t round = 0; round < 1000; round++) {
            memcpy(bytes, sound, size);
            for (uint32_t flips = next_random() % 4 + 1; flips > 0; flips--) {
                /* The padding is most of some files: half of the flips go where the data is. */
                size_t span = flips % 2 == 0 || size < 3000 ? size : 3000;

                bytes[next_random() % span] ^= (uint8_t)(1u << next_random() % 8);
            }
            read_hostile(bytes, round % 4 == 0 ? next_random() % size : size, 1);
        }
    }
    if (!any) {
        print_message("skipped: there are no Windows traces beside the checkout\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_made_files_are_sound),
        cmocka_unit_test(files_cut_anywhere_are_read_to_the_cut),
        cmocka_unit_test(single_bits_flipped_anywhere_do_no_harm),
        cmocka_unit_test(many_bits_flipped_do_no_harm),
        cmocka_unit_test(every_byte_set_to_what_hurts_does_no_harm),
        cmocka_unit_test(every_word_set_to_a_limit_does_no_harm),
        cmocka_unit_test(noise_behind_a_good_header_does_no_harm),
        cmocka_unit_test(a_small_file_that_promises_much_is_refused),
        cmocka_unit_test(a_small_file_that_decompresses_to_much_is_read_at_the_speed_of_memory),
        cmocka_unit_test(real_files_damaged_at_random_do_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, make_files, free_files);

    remove_files();
    return failed;
}
