/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a log file has of a session's buffers: each buffer of it is found once, the longest first,
 * and files in which all look alike, or that are mostly holes, take no longer than others. What is
 * long here is so long that a search which looks at everything again and again runs into the test's
 * limit of time.
 */
#include "recover/own_logs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "etl/xpress.h"
#include "support/folder.h"

enum {
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    BUFFER_BYTES = 1024,
    MOST_BYTES = BUFFER_BYTES - HEADER_BYTES,
    MANY = 30000,
    PROCESSOR = 3,
};

static FILE *begin_file(const char *name)
{
    static const uint8_t first[BUFFER_BYTES] = {1};
    FILE *file = fopen(folder_path(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(first, 1, sizeof first, file), sizeof first);
    return file;
}

static void add_buffer(FILE *file, const void *records, uint32_t bytes)
{
    uint8_t buffer[BUFFER_BYTES] = {0};
    const struct etwas_etl_buffer_header header = {
        .buffer_bytes = BUFFER_BYTES,
        .saved_offset = HEADER_BYTES + bytes,
        .processor = PROCESSOR,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
    };

    memcpy(buffer, &header, sizeof header);
    memcpy(buffer + HEADER_BYTES, records, bytes);
    assert_int_equal(fwrite(buffer, 1, sizeof buffer, file), sizeof buffer);
}

static struct etwas_log_tail *open_tail(FILE *file, const char *name)
{
    int files[] = {-1, -1};

    assert_int_equal(fclose(file), 0);
    files[0] = open(folder_path(name), O_RDONLY | O_CLOEXEC);
    assert_true(files[0] >= 0);
    return etwas_log_tail_open(files, BUFFER_BYTES);
}

/* The words of a buffer; those that begin alike differ behind. */
static void make_records(uint64_t *words, uint64_t number)
{
    for (size_t word = 0; word < MOST_BYTES / sizeof *words; word++) {
        words[word] = word < 100 ? word : number;
    }
}

static void the_longest_is_found_and_each_once(void **state)
{
    uint64_t words[MOST_BYTES / 8];
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    make_records(words, 7);
    add_buffer(file, words, 8);
    add_buffer(file, words, 80);
    add_buffer(file, words, 400);
    add_buffer(file, words, 400);
    add_buffer(file, words, 16);
    tail = open_tail(file, "log");
    assert_non_null(tail);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR + 1, (const uint8_t *)words, sizeof words),
                     0);
    for (uint32_t turn = 0; turn < 2; turn++) {
        assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                         400);
    }
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, 64), 16);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words), 80);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words), 8);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words), 0);
    etwas_log_tail_close(tail);
}

static void parts_are_found_one_behind_the_other(void **state)
{
    uint64_t words[MOST_BYTES / 8];
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    make_records(words, 9);
    add_buffer(file, words, 96);
    add_buffer(file, words + 12, 8);
    add_buffer(file, words + 13, 200);
    tail = open_tail(file, "log");
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                     96 + 8 + 200);
    etwas_log_tail_close(tail);
}

static void many_that_begin_alike_are_told_apart(void **state)
{
    uint64_t words[MOST_BYTES / 8];
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    for (uint64_t number = 0; number < MANY; number++) {
        make_records(words, number);
        add_buffer(file, words, sizeof words);
    }
    tail = open_tail(file, "log");
    for (uint64_t number = MANY + 10; number-- > 0;) {
        make_records(words, number);
        assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                         number < MANY ? sizeof words : 0);
    }
    etwas_log_tail_close(tail);
}

static void many_that_are_the_same_are_many(void **state)
{
    uint64_t words[MOST_BYTES / 8];
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    make_records(words, 0);
    for (uint32_t number = 0; number < MANY; number++) {
        add_buffer(file, words, number % 2 == 0 ? 8 : sizeof words);
    }
    tail = open_tail(file, "log");
    for (uint32_t number = 0; number < MANY; number++) {
        assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                         number < MANY / 2 ? sizeof words : 8);
    }
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words), 0);
    etwas_log_tail_close(tail);
}

/* A compressed file of one buffer: two words, and zeroes that one match makes. */
static void a_compressed_buffer_that_begins_with_a_long_match_is_found(void **state)
{
    const uint64_t words[MOST_BYTES / 8] = {0x1234567, 0x89ABCDEF};
    const struct etwas_etl_log_header64 log = {.start.log_file_mode = EVENT_TRACE_COMPRESSED_MODE};
    static uint32_t memory[ETWAS_XPRESS_MEMORY_BYTES / sizeof(uint32_t)];
    uint8_t packed[MOST_BYTES];
    uint32_t bytes = etwas_xpress_encode(words, sizeof words, packed, sizeof packed, memory);
    const struct etwas_etl_buffer_header header = {
        .buffer_bytes = HEADER_BYTES + bytes,
        .saved_offset = HEADER_BYTES + sizeof words,
        .processor = PROCESSOR,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_COMPRESSED,
    };
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    assert_in_range(bytes, 1, 40);
    assert_int_equal(fseeko(file, ETWAS_ETL_LOG_HEADER_FILE_OFFSET, SEEK_SET), 0);
    assert_int_equal(fwrite(&log, sizeof log, 1, file), 1);
    assert_int_equal(fseeko(file, BUFFER_BYTES, SEEK_SET), 0);
    assert_int_equal(fwrite(&header, sizeof header, 1, file), 1);
    assert_int_equal(fwrite(packed, 1, bytes, file), bytes);
    tail = open_tail(file, "log");
    assert_non_null(tail);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                     sizeof words);
    etwas_log_tail_close(tail);
}

static void holes_are_passed_over(void **state)
{
    enum {
        BUFFERS_OF_HOLE = 1 << 30
    };
    uint64_t words[MOST_BYTES / 8];
    FILE *file = begin_file("log");
    struct etwas_log_tail *tail;

    (void)state;
    make_records(words, 1);
    assert_int_equal(fseeko(file, (off_t)BUFFERS_OF_HOLE * BUFFER_BYTES, SEEK_SET), 0);
    add_buffer(file, words, sizeof words);
    tail = open_tail(file, "log");
    assert_non_null(tail);
    assert_int_equal(etwas_log_tail_has(tail, PROCESSOR, (const uint8_t *)words, sizeof words),
                     sizeof words);
    etwas_log_tail_close(tail);
    assert_int_equal(truncate(folder_path("log"), (off_t)BUFFERS_OF_HOLE * BUFFER_BYTES), 0);
    assert_null(open_tail(fopen(folder_path("log"), "rb"), "log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_longest_is_found_and_each_once),
        FOLDER_TEST(parts_are_found_one_behind_the_other),
        FOLDER_TEST(many_that_begin_alike_are_told_apart),
        FOLDER_TEST(many_that_are_the_same_are_many),
        FOLDER_TEST(a_compressed_buffer_that_begins_with_a_long_match_is_found),
        FOLDER_TEST(holes_are_passed_over),
    };

    return cmocka_run_group_tests_name("recover_log_tail", tests, NULL, NULL);
}
