/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that is still written, buffer by buffer: what is whole comes once, and what is cut comes
 * later and is no damage.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "buffers.h"
#include "builder.h"

enum {
    IN_BUFFER = 8,
    BUFFERS = 6,
    EVENTS = IN_BUFFER * BUFFERS,
    STEP = 97, /* bytes that the file grows by: no part of a buffer begins at its multiples alone */
};

static struct builder builder;
static uint64_t ends[BUFFERS + 1]; /* of the buffers in the file, buffer 0 first */

/* A session's file without an end, with events 0, 1, 2 … in the order of their place. */
static void build(bool compressed)
{
    struct builder_options options = builder_defaults();
    uint32_t number = 0;

    options.compressed = compressed;
    options.buffer_bytes = 1024;
    options.end_filetime = 0;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        builder_buffer(&builder, (uint16_t)(i % 2));
        for (uint32_t j = 0; j < IN_BUFFER; j++, number++) {
            builder_number(&builder, 2000 + number, number);
        }
    }
    builder_end(&builder);
    run_buffers(put_file(0, builder.bytes, builder.size), 0, UINT64_MAX);
    assert_int_equal(given.count, BUFFERS);
    ends[0] = given.buffers[0].begun.file_offset;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        ends[i + 1] = given.buffers[i].begun.file_offset + given.buffers[i].begun.file_bytes;
    }
}

static uint32_t whole_in(uint64_t bytes)
{
    uint32_t whole = 0;

    while (whole < BUFFERS && ends[whole + 1] <= bytes) {
        whole++;
    }
    return whole;
}

/* Events `first` to `last` - 1 came, in this order, and no damage. */
static void assert_events(uint32_t first, uint32_t last)
{
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(collected.event_count, last - first);
    for (uint32_t i = 0; i < last - first; i++) {
        assert_int_equal(collected.events[i].number, first + i);
    }
}

/* ---- growing --------------------------------------------------------------------------------- */

static void a_file_cut_anywhere_has_its_whole_buffers(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        for (uint64_t bytes = ends[0]; bytes <= builder.size; bytes++) {
            run_buffers(put_file(0, builder.bytes, bytes), 0, UINT64_MAX);
            assert_events(0, whole_in(bytes) * IN_BUFFER);
        }
        builder_free(&builder);
    }
}

/* The file is opened anew each time. */
static void read_in_steps_it_is_the_same(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint64_t from = 0;
        uint32_t seen = 0;

        build(compressed != 0);
        for (uint64_t bytes = ends[0]; seen < BUFFERS; bytes += STEP) {
            bytes = bytes < builder.size ? bytes : builder.size;
            run_buffers(put_file(0, builder.bytes, bytes), from, UINT64_MAX);
            assert_events(seen * IN_BUFFER, whole_in(bytes) * IN_BUFFER);
            seen = whole_in(bytes);
            from = given.next > 0 ? given.next : from;
        }
        builder_free(&builder);
    }
}

static void one_handle_follows_the_file(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        const char *path;
        etwas_trace_handle trace;
        int file;

        build(compressed != 0);
        path = put_file(0, builder.bytes, ends[0]);
        file = open(path, O_WRONLY | O_CLOEXEC);
        given_forget();
        trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
        for (uint64_t bytes = ends[0]; bytes < builder.size;) {
            uint64_t more = builder.size - bytes < STEP ? builder.size - bytes : STEP;

            assert_int_equal(pwrite(file, builder.bytes + bytes, more, (off_t)bytes), more);
            bytes += more;
            give_more(trace, given.next, UINT64_MAX);
            assert_events(0, whole_in(bytes) * IN_BUFFER);
            assert_int_equal(collected.information.file_bytes, bytes);
        }
        assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
        (void)close(file);
        builder_free(&builder);
    }
}

/* The file's space as it is set aside, zeroes, and for as much again; the caller frees it. */
static uint8_t *set_space_aside(void)
{
    uint8_t *space;

    builder_log_header(&builder)->log_file_mode |= EVENT_TRACE_FILE_MODE_PREALLOCATE;
    space = calloc(2, builder.size);
    assert_non_null(space);
    return space;
}

/*
 * The space is there from the beginning; what is written to it goes from its beginning to its end.
 */
static void space_set_aside_has_nothing_yet(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint8_t *space;

        build(compressed != 0);
        space = set_space_aside();
        for (uint64_t bytes = ends[0]; bytes <= builder.size; bytes++) {
            uint32_t most = whole_in(bytes);

            memcpy(space, builder.bytes, bytes);
            run_buffers(put_file(0, space, 2 * builder.size), 0, UINT64_MAX);
            /*
             * Where a buffer's last bytes are zeroes, they are there when something is behind it.
             */
            assert_true(collected.event_count == most * IN_BUFFER || space[ends[most] - 1] == 0);
            assert_events(0, (uint32_t)collected.event_count);
            assert_true(given.count + 1 >= most && given.count <= most);
        }
        free(space);
        builder_free(&builder);
    }
}

/* All of the file is written when the header at this offset has been looked at. */
static uint64_t when = UINT64_MAX;
static const char *written_path;

ssize_t __real_pread(int descriptor, void *target, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *target, size_t bytes, off_t offset);

ssize_t __wrap_pread(int descriptor, void *target, size_t bytes, off_t offset)
{
    ssize_t got = __real_pread(descriptor, target, bytes, offset);

    if ((uint64_t)offset == when && bytes == sizeof(struct etwas_etl_buffer_header)) {
        int file = open(written_path, O_WRONLY | O_CLOEXEC);

        when = UINT64_MAX;
        assert_int_equal(pwrite(file, builder.bytes, builder.size, 0), builder.size);
        (void)close(file);
    }
    return got;
}

/* Where there was nothing a session may have written meanwhile, and more behind it. */
static void nothing_is_left_out_that_was_written_meanwhile(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint8_t *space;

        build(compressed != 0);
        space = set_space_aside();
        memcpy(space, builder.bytes, ends[2]);
        written_path = put_file(0, space, 2 * builder.size);
        when = ends[2];
        run_buffers(written_path, 0, UINT64_MAX);
        assert_true(when == UINT64_MAX);
        assert_events(0, (uint32_t)collected.event_count);
        run_buffers(written_path, given.next, UINT64_MAX);
        assert_true(collected.event_count == 0 || collected.events[0].number == 2 * IN_BUFFER);
        free(space);
        builder_free(&builder);
    }
}

/* What cannot be used is damage when something is behind it. */
static void what_cannot_be_used_at_the_end_is_not_there_yet(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        memset(builder.bytes + ends[3], 0x5A, ends[4] - ends[3]);
        run_buffers(put_file(0, builder.bytes, ends[4]), 0, UINT64_MAX);
        assert_events(0, 3 * IN_BUFFER);
        run_buffers(put_file(0, builder.bytes, ends[5]), given.next, UINT64_MAX);
        assert_int_equal(given.code, ERROR_FILE_CORRUPT);
        assert_int_equal(collected.damage_count, 1);
        assert_int_equal(collected.damages[0].kind, ETWAS_DAMAGE_BUFFER_HEADER);
        assert_int_equal(collected.damages[0].file_offset, ends[3]);
        assert_int_equal(collected.damages[0].bytes_skipped, ends[4] - ends[3]);
        assert_int_equal(collected.event_count, IN_BUFFER);
        assert_int_equal(collected.events[0].number, 4 * IN_BUFFER);
        /* It lies between buffers. */
        assert_int_equal(given.buffers[0].ended.damages, 0);
        builder_free(&builder);
    }
}

static void damage_is_counted_where_it_is_met(void **state)
{
    (void)state;
    build(false);
    builder_header(&builder, 3)->saved_offset = 80;
    memset(builder.bytes + ends[3] + 72 + 56, 0, 8);
    run_buffers(put_file(0, builder.bytes, builder.size), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 2);
    assert_int_equal(given.buffers[2].ended.damages, 1);
    assert_int_equal(given.buffers[2].ended.bytes_skipped, 0);
    assert_int_equal(given.buffers[2].ended.records, IN_BUFFER);
    assert_int_equal(given.buffers[3].ended.damages, 1);
    assert_true(given.buffers[3].ended.bytes_skipped > 0);
    assert_int_equal(given.buffers[4].ended.damages, 0);
    /* If it begins behind them, nothing is wrong. */
    run_buffers(put_file(0, builder.bytes, builder.size), ends[4], UINT64_MAX);
    assert_events(4 * IN_BUFFER, EVENTS);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_anywhere_has_its_whole_buffers),
        cmocka_unit_test(read_in_steps_it_is_the_same),
        cmocka_unit_test(one_handle_follows_the_file),
        cmocka_unit_test(space_set_aside_has_nothing_yet),
        cmocka_unit_test(nothing_is_left_out_that_was_written_meanwhile),
        cmocka_unit_test(what_cannot_be_used_at_the_end_is_not_there_yet),
        cmocka_unit_test(damage_is_counted_where_it_is_met),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
