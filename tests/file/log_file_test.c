/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The log file alone: buffers written from where they lie, past the page cache or through it, and
 * buffers that are copied, make the same file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "file/log_file.h"
#include "file/log_file_internal.h"
#include "platform/file.h"
#include "support/folder.h"

enum {
    BUFFER_BYTES = 16 << 10,
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    BUFFERS = ETWAS_BATCH_BUFFERS,
    MB = 1 << 20,
};

/* Buffers as a pool hands them out: page-aligned, zero behind their data. */
struct buffers {
    uint8_t *memory;
    struct etwas_drained list[BUFFERS];
};

static uint32_t random_below(uint32_t limit)
{
    static uint64_t random_state = 1;

    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

static void fill_buffers(struct buffers *buffers)
{
    buffers->memory = aligned_alloc(4096, (size_t)BUFFERS * BUFFER_BYTES);
    assert_non_null(buffers->memory);
    memset(buffers->memory, 0, (size_t)BUFFERS * BUFFER_BYTES);
    for (uint32_t index = 0; index < BUFFERS; index++) {
        uint8_t *start = buffers->memory + (size_t)index * BUFFER_BYTES;
        uint32_t room = BUFFER_BYTES - HEADER_BYTES;
        uint32_t used = index % 5 == 0 ? room : random_below(room / 8 + 1) * 8;

        for (uint32_t byte = 0; byte < used; byte++) {
            start[HEADER_BYTES + byte] = (uint8_t)random_below(256);
        }
        buffers->list[index] = (struct etwas_drained){
            .data = start + HEADER_BYTES,
            .data_bytes = used,
            .records = index + 1,
            .processor = index % 3,
            .time_stamp = 1000 + index,
        };
    }
}

static struct etwas_log_file *create_with(const char *path, uint32_t log_file_mode,
                                          uint64_t maximum_bytes)
{
    static const etwas_wchar name[] = {'l', 'o', 'g', 0};
    const struct etwas_log_file_options options = {
        .path = path,
        .session_name = name,
        .file_name = name,
        .buffer_bytes = BUFFER_BYTES,
        .processors = 3,
        .clock = ETWAS_CLOCK_KIND_QPC,
        .log_file_mode = log_file_mode,
        .maximum_bytes = maximum_bytes,
        .maximum_file_size = (uint32_t)(maximum_bytes / MB),
        .logger_id = 7,
    };
    struct etwas_log_file *file;

    assert_int_equal(etwas_log_file_create(&options, &file), ERROR_SUCCESS);
    return file;
}

static struct etwas_log_file *create(const char *path, uint32_t maximum_mb)
{
    return create_with(path, EVENT_TRACE_FILE_MODE_NONE, (uint64_t)maximum_mb << 20);
}

static void finish(struct etwas_log_file *file)
{
    assert_true(etwas_log_file_finish(file, &(struct etwas_log_file_totals){0}));
    assert_true(etwas_log_file_close(file));
}

enum which {
    ALL_COPIED,
    ALL_WHOLE,
    SOME_WHOLE
};

static void choose_whole(struct buffers *buffers, enum which which)
{
    for (uint32_t index = 0; index < BUFFERS; index++) {
        bool whole = which == ALL_WHOLE || (which == SOME_WHOLE && random_below(3) != 0);

        buffers->list[index].whole = whole ? buffers->memory + (size_t)index * BUFFER_BYTES : NULL;
    }
}

static void expect_all_written(struct etwas_log_file *file, const struct buffers *buffers)
{
    struct etwas_log_write write = etwas_log_file_write(file, buffers->list, BUFFERS);

    assert_int_equal(write.written, BUFFERS);
    assert_int_equal(write.code, ERROR_SUCCESS);
    assert_int_equal(write.replaced, 0);
}

static off_t size_of(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

static void expect_buffer_in_file(const uint8_t *written, const struct etwas_drained *buffer,
                                  uint32_t sequence_number)
{
    struct etwas_etl_buffer_header header;
    uint32_t end = HEADER_BYTES + buffer->data_bytes;

    memcpy(&header, written, sizeof header);
    assert_int_equal(header.sequence_number, sequence_number);
    assert_int_equal(header.offset, end);
    assert_int_equal(header.processor, buffer->processor);
    assert_int_equal(header.time_stamp, buffer->time_stamp);
    assert_int_equal(header.logger_id, 7);
    assert_memory_equal(written + HEADER_BYTES, buffer->data, buffer->data_bytes);
    for (uint32_t byte = end; byte < BUFFER_BYTES; byte++) {
        assert_int_equal(written[byte], ETWAS_ETL_PADDING_BYTE);
    }
}

/* The data buffers of a file: `times` times those of the list. */
static void expect_file_of(const char *path, const struct buffers *buffers, uint32_t times)
{
    uint8_t *written = malloc(BUFFER_BYTES);
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_non_null(written);
    assert_true(file >= 0);
    assert_int_equal(size_of(path), (off_t)(1 + times * BUFFERS) * BUFFER_BYTES);
    for (uint32_t number = 1; number <= times * BUFFERS; number++) {
        assert_int_equal(pread(file, written, BUFFER_BYTES, (off_t)number * BUFFER_BYTES),
                         BUFFER_BYTES);
        if (number == times * BUFFERS) {
            /* Finished: the last one has a mark, which is not what is tested here. */
            written[offsetof(struct etwas_etl_buffer_header, flags)] = 0;
        }
        expect_buffer_in_file(written, &buffers->list[(number - 1) % BUFFERS], number);
    }
    (void)close(file);
    free(written);
}

static void expect_zero_behind_data(const struct buffers *buffers)
{
    for (uint32_t index = 0; index < BUFFERS; index++) {
        const uint8_t *start = buffers->memory + (size_t)index * BUFFER_BYTES;

        for (uint32_t byte = HEADER_BYTES + buffers->list[index].data_bytes; byte < BUFFER_BYTES;
             byte++) {
            assert_int_equal(start[byte], 0);
        }
    }
}

/* On the tests' file system and on a tmpfs, which takes no direct writes. */
static void whole_buffers_and_copied_ones_make_the_same_file(void **state)
{
    char in_memory[64];
    const char *const paths[] = {folder_path("trace.etl"), in_memory};
    struct buffers buffers;

    (void)state;
    (void)snprintf(in_memory, sizeof in_memory, "/dev/shm/etwas_log_file_test.%ld", (long)getpid());
    fill_buffers(&buffers);
    for (size_t place = 0; place < 2; place++) {
        if (place == 1 && access("/dev/shm", W_OK) != 0) {
            continue;
        }
        for (enum which which = ALL_COPIED; which <= SOME_WHOLE; which++) {
            struct etwas_log_file *file = create(paths[place], 0);
            struct etwas_log_lost lost;

            choose_whole(&buffers, which);
            expect_all_written(file, &buffers);
            assert_int_equal(etwas_log_file_sync(file, &(struct etwas_log_file_totals){0}, &lost),
                             ERROR_SUCCESS);
            expect_all_written(file, &buffers);
            expect_zero_behind_data(&buffers);
            assert_int_equal(etwas_log_file_buffers(file), 1 + 2 * BUFFERS);
            finish(file);
            expect_file_of(paths[place], &buffers, 2);
            assert_int_equal(unlink(paths[place]), 0);
        }
    }
    free(buffers.memory);
}

/*
 * Read while it grows, by another descriptor: the whole buffers are there, and nothing behind them.
 */
static void a_file_in_progress_ends_with_its_last_whole_buffer_and_reserves_none_at_its_end(
    void **state)
{
    enum {
        TIMES = 48 /* 48 MB: beyond the first reservations */
    };
    const char *path = folder_path("trace.etl");
    struct etwas_log_file *file = create(path, 0);
    struct buffers buffers;
    struct stat status;

    (void)state;
    fill_buffers(&buffers);
    choose_whole(&buffers, ALL_WHOLE);
    for (uint32_t times = 1; times <= TIMES; times++) {
        uint8_t written[HEADER_BYTES];
        uint32_t last = times * BUFFERS;
        struct etwas_etl_buffer_header header;
        int reader;

        expect_all_written(file, &buffers);
        assert_int_equal(size_of(path), (off_t)(1 + last) * BUFFER_BYTES);
        reader = open(path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(reader, written, sizeof written, (off_t)last * BUFFER_BYTES),
                         sizeof written);
        memcpy(&header, written, sizeof header);
        assert_int_equal(header.sequence_number, last);
        (void)close(reader);
    }
    finish(file);
    expect_file_of(path, &buffers, TIMES);
    assert_int_equal(stat(path, &status), 0);
    assert_true((off_t)status.st_blocks * 512 < status.st_size + MB);
    free(buffers.memory);
}

static void the_maximum_size_cuts_a_batch_and_reserves_nothing_beyond_it(void **state)
{
    enum {
        MAXIMUM_MB = 40,
        MOST = MAXIMUM_MB * MB / BUFFER_BYTES - 1 /* without buffer 0 */
    };
    const char *path = folder_path("trace.etl");
    struct etwas_log_file *file = create(path, MAXIMUM_MB);
    struct etwas_log_write write;
    struct buffers buffers;
    struct stat status;
    uint32_t written = 0;

    (void)state;
    fill_buffers(&buffers);
    choose_whole(&buffers, ALL_WHOLE);
    do {
        write = etwas_log_file_write(file, buffers.list, BUFFERS);
        written += write.written;
        assert_int_equal(stat(path, &status), 0);
        assert_true((off_t)status.st_blocks * 512 < (off_t)(MAXIMUM_MB + 1) * MB);
    } while (write.written == BUFFERS);
    assert_int_equal(write.code, ERROR_SUCCESS);
    assert_int_equal(written, MOST);
    assert_int_equal(size_of(path), (off_t)MAXIMUM_MB * MB);
    finish(file);
    free(buffers.memory);
}

/* ---- circular -------------------------------------------------------------------------------- */

static int circular_file;
static uint32_t cached_writes; /* of whole buffers, through the page cache */

static long count_cached(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_WRITE && bytes >= BUFFER_BYTES &&
        (fcntl(circular_file, F_GETFL) & O_DIRECT) == 0) {
        cached_writes++;
    }
    return (long)bytes;
}

/* The records of data buffer `number`, from 0. */
static uint32_t records_of(uint64_t number)
{
    return (uint32_t)(number % BUFFERS) + 1;
}

static void expect_round_file(const char *path, const struct buffers *buffers, uint32_t places,
                              uint64_t total)
{
    uint8_t *written = malloc(BUFFER_BYTES);
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_non_null(written);
    assert_int_equal(size_of(path), (off_t)(1 + places) * BUFFER_BYTES);
    for (uint64_t number = total - places; number < total; number++) {
        uint64_t place = 1 + number % places;

        assert_int_equal(pread(file, written, BUFFER_BYTES, (off_t)(place * BUFFER_BYTES)),
                         BUFFER_BYTES);
        expect_buffer_in_file(written, &buffers->list[number % BUFFERS],
                              (uint32_t)(number - (total - places)) + 1);
    }
    (void)close(file);
    free(written);
}

/* R94: fewer places than a batch has buffers, as many, and more; whole buffers and copied ones. */
static void batches_go_round_past_the_page_cache_and_say_what_they_replaced(void **state)
{
    static const uint32_t sizes[] = {2, 3, 63, 64, 65, 200};
    const char *path = folder_path("trace.etl");
    struct buffers buffers;

    (void)state;
    fill_buffers(&buffers);
    for (size_t index = 0; index < 2 * sizeof sizes / sizeof sizes[0]; index++) {
        uint32_t places = sizes[index / 2];
        struct etwas_log_file *file = create_with(path, EVENT_TRACE_FILE_MODE_CIRCULAR,
                                                  (uint64_t)(places + 1) * BUFFER_BYTES);
        uint64_t total = 0;

        choose_whole(&buffers, index % 2 == 0 ? ALL_WHOLE : SOME_WHOLE);
        circular_file = file->descriptor;
        cached_writes = 0;
        etwas_file_set_failure_hook(count_cached);
        for (int batch = 0; batch < 10; batch++) {
            struct etwas_log_write write = etwas_log_file_write(file, buffers.list, BUFFERS);
            uint64_t replaced = 0;

            for (uint64_t number = total; number < total + BUFFERS; number++) {
                replaced += number >= places ? records_of(number - places) : 0;
            }
            total += BUFFERS;
            assert_int_equal(write.written, BUFFERS);
            assert_int_equal(write.code, ERROR_SUCCESS);
            assert_int_equal(write.replaced, replaced);
            expect_zero_behind_data(&buffers);
        }
        etwas_file_set_failure_hook(NULL);
        /* A disk that was found slow is helped by the cache. */
        assert_true(cached_writes == 0 || !file->direct.possible || index % 2 != 0 ||
                    file->direct.cached_until != 0);
        finish(file);
        expect_round_file(path, &buffers, places, total);
    }
    free(buffers.memory);
}

enum {
    NUMBERED = 1300,
    FIRST_NUMBERED = 700,
    NUMBERED_BYTES = 4096,
};

static uint32_t asked_ahead;
static uint32_t numbered;
static uint32_t shortest_ahead; /* at any number but the last ones */

static long watch_ahead(enum etwas_log_file_call call, size_t bytes)
{
    asked_ahead += call == ETWAS_FILE_READ_AHEAD;
    if (call == ETWAS_FILE_WRITE) {
        uint32_t ahead = asked_ahead - numbered++;

        shortest_ahead = ahead < shortest_ahead && asked_ahead < NUMBERED ? ahead : shortest_ahead;
    }
    return (long)bytes;
}

/* Each header lies in a page of its own, and none should be waited for alone. */
static void headers_are_read_ahead_of_the_one_that_is_numbered(void **state)
{
    int file;

    (void)state;
    asked_ahead = 0;
    numbered = 0;
    shortest_ahead = NUMBERED;
    assert_int_equal(etwas_file_create(folder_path("trace.etl"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_SUCCESS);
    etwas_file_set_failure_hook(watch_ahead);
    assert_true(etwas_log_patch_number_round(file, NUMBERED_BYTES, NUMBERED, FIRST_NUMBERED));
    etwas_file_set_failure_hook(NULL);
    assert_int_equal(asked_ahead, NUMBERED);
    assert_in_range(shortest_ahead, 200, NUMBERED / 2);
    for (uint32_t place = 1; place <= NUMBERED; place++) {
        struct etwas_etl_buffer_header header = {0};
        uint32_t behind = place < FIRST_NUMBERED ? NUMBERED : 0;

        (void)pread(file, &header, sizeof header, (off_t)place * NUMBERED_BYTES);
        assert_int_equal(header.sequence_number, place + behind - FIRST_NUMBERED + 1);
    }
    assert_true(etwas_file_close(file));
}

/*
 * The cache is used up to the middle of a batch, which is written in one piece: none of it is known
 * to be on the device, so all of it is looked for when a sync is refused.
 */
static void what_went_through_the_cache_is_noted_to_its_end(void **state)
{
    struct etwas_log_file *file = create(folder_path("trace.etl"), 0);
    struct buffers buffers;

    (void)state;
    fill_buffers(&buffers);
    choose_whole(&buffers, ALL_WHOLE);
    file->direct.possible = true;
    file->direct.cached_until = (1 + BUFFERS / 2) * BUFFER_BYTES;
    expect_all_written(file, &buffers);
    assert_int_equal(file->audit.tracked - file->audit.durable, BUFFERS);
    finish(file);
    free(buffers.memory);
}

/* ---- failures -------------------------------------------------------------------------------- */

static uint32_t writes_left; /* before one is refused */

static long refuse_one(enum etwas_log_file_call call, size_t bytes)
{
    return call != ETWAS_FILE_WRITE || writes_left-- != 0 ? (long)bytes : -ENOSPC;
}

static void a_write_refused_anywhere_in_a_mixed_batch_leaves_what_is_counted(void **state)
{
    const char *path = folder_path("trace.etl");
    struct buffers buffers;
    bool failed = true;

    (void)state;
    fill_buffers(&buffers);
    choose_whole(&buffers, SOME_WHOLE);
    for (uint32_t before = 0; failed; before++) {
        struct etwas_log_file *file = create(path, 0);
        struct etwas_log_write write;

        writes_left = before;
        etwas_file_set_failure_hook(refuse_one);
        write = etwas_log_file_write(file, buffers.list, BUFFERS);
        etwas_file_set_failure_hook(NULL);
        failed = write.code != ERROR_SUCCESS;
        assert_int_equal(write.code, failed ? ERROR_DISK_FULL : ERROR_SUCCESS);
        assert_int_equal(write.written < BUFFERS, failed);
        assert_true(write.written >= before || !failed);
        assert_int_equal(size_of(path), (off_t)(1 + write.written) * BUFFER_BYTES);
        expect_zero_behind_data(&buffers);
        /* The file goes on behind them. */
        expect_all_written(file, &buffers);
        assert_int_equal(size_of(path), (off_t)(1 + write.written + BUFFERS) * BUFFER_BYTES);
        finish(file);
    }
    free(buffers.memory);
}

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

#define LOG_FILE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_FILE_TEST(whole_buffers_and_copied_ones_make_the_same_file),
        LOG_FILE_TEST(
            a_file_in_progress_ends_with_its_last_whole_buffer_and_reserves_none_at_its_end),
        LOG_FILE_TEST(the_maximum_size_cuts_a_batch_and_reserves_nothing_beyond_it),
        LOG_FILE_TEST(batches_go_round_past_the_page_cache_and_say_what_they_replaced),
        LOG_FILE_TEST(headers_are_read_ahead_of_the_one_that_is_numbered),
        LOG_FILE_TEST(what_went_through_the_cache_is_noted_to_its_end),
        LOG_FILE_TEST(a_write_refused_anywhere_in_a_mixed_batch_leaves_what_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
