/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * CIRCULAR (R94): the newest events replace the oldest, and every one of them is accounted for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/log_file_internal.h"
#include "file_modes.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BYTES_A_KB = 1024,
    CIRCULAR = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
};

/* ---- the cursor alone ------------------------------------------------------------------------ */

static void data_buffers_go_round_and_say_what_they_replace(void **state)
{
    enum {
        LIMIT = 5,
        ROUNDS = 4
    };
    struct etwas_log_cursor cursor;

    (void)state;
    assert_true(etwas_log_cursor_begin(&cursor, LIMIT, true));
    for (uint32_t number = 0; number < LIMIT * ROUNDS; number++) {
        uint32_t left = LIMIT - number % LIMIT;
        uint32_t before;

        assert_int_equal(etwas_log_cursor_next(&cursor), 1 + number % LIMIT);
        assert_int_equal(etwas_log_cursor_room(&cursor, 100), left);
        assert_int_equal(etwas_log_cursor_room(&cursor, 1), 1);
        assert_int_equal(etwas_log_cursor_used(&cursor), 1 + (number < LIMIT ? number : LIMIT));
        assert_int_equal(etwas_log_cursor_replaces(&cursor), number >= LIMIT);
        before = etwas_log_cursor_advance(&cursor, 100 + number);
        assert_int_equal(before, number < LIMIT ? 0 : 100 + number - LIMIT);
    }
    /* What a place has lost is not replaced once more. */
    assert_int_equal(etwas_log_cursor_clear(&cursor, etwas_log_cursor_next(&cursor)),
                     100 + LIMIT * (ROUNDS - 1));
    assert_int_equal(etwas_log_cursor_advance(&cursor, 1), 0);
    etwas_log_cursor_end(&cursor);
}

static void without_rounds_the_last_place_is_the_last(void **state)
{
    struct etwas_log_cursor cursor;

    (void)state;
    assert_true(etwas_log_cursor_begin(&cursor, 2, false));
    assert_int_equal(etwas_log_cursor_room(&cursor, 9), 2);
    (void)etwas_log_cursor_advance(&cursor, 1);
    assert_int_equal(etwas_log_cursor_room(&cursor, 9), 1);
    (void)etwas_log_cursor_advance(&cursor, 1);
    assert_int_equal(etwas_log_cursor_room(&cursor, 9), 0);
    assert_int_equal(etwas_log_cursor_used(&cursor), 3);
    etwas_log_cursor_end(&cursor);
}

/* ---- through a session ----------------------------------------------------------------------- */

/* What is missing of a single writer's events is older than what is there. */
static void expect_newest(const struct writer *writer)
{
    uint64_t number = 0;

    while (number < writer->attempted && writer->events[number].seen == 0) {
        number++;
    }
    for (; number < writer->attempted; number++) {
        assert_true(writer->events[number].seen == 1 ||
                    writer->events[number].result != WRITER_RECORDED);
    }
}

/* R94, R74: files of 2, 3 and 15 places go round hundreds of times. */
static void the_newest_events_stay_and_the_others_are_counted_overwritten(void **state)
{
    static const uint32_t sizes_kb[] = {12, 16, 64};

    (void)state;
    for (size_t index = 0; index < sizeof sizes_kb / sizeof sizes_kb[0]; index++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.log_file_mode = CIRCULAR,
                                         .buffer_size_kb = 4,
                                         .maximum_buffers = 64,
                                         .maximum_file_size = sizes_kb[index]};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(
            &(struct writer_options){.session = session, .events = 20000, .largest_payload = 200});
        etwas_session_counts counts;

        stay_on_one_processor();
        for (int event = 0; event < 20000; event++) {
            (void)writer_log(writer);
            if (event % 500 == 0) {
                /* Parts of buffers take room too. */
                assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
                assert_true(size_of(path) <= (off_t)sizes_kb[index] * BYTES_A_KB);
            }
        }
        leave_one_processor();
        stop_session(session, &counts);
        assert_true(counts.recorded > 0);
        assert_true(counts.overwritten > 100 * counts.recorded / sizes_kb[index]);
        assert_true(counts.buffers_written > 300);
        assert_int_equal(size_of(path), sizes_kb[index] * BYTES_A_KB);
        assert_int_equal(log_header_of(path).start.buffers_written, sizes_kb[index] / 4);
        assert_int_equal(log_header_of(path).start.log_file_mode, CIRCULAR);
        assert_int_equal(totals_of(path).overwritten_buffers,
                         counts.buffers_written - sizes_kb[index] / 4);
        expect_circular_file(session, path, &counts);
        expect_newest(writer);
    }
}

/* A file that is not full is an ordinary one. */
static void before_its_first_round_it_is_like_a_sequential_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {
        .log_file_mode = CIRCULAR, .buffer_size_kb = 4, .maximum_file_size = 1024};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 400, .largest_payload = 200});
    etwas_session_counts counts;

    (void)state;
    for (int event = 0; event < 300; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.overwritten, 0);
    assert_int_equal(counts.recorded, 300);
    expect_file_is_exact(session, path, &counts);
}

/* I4 at every moment: what is recorded, overwritten and lost is never more than what was tried. */
static void several_writers_and_a_timer_of_milliseconds_account_for_every_event(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = CIRCULAR | EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .buffer_size_kb = 8,
                                     .maximum_buffers = 64,
                                     .maximum_file_size = 8 * 70, /* more than one batch */
                                     .flush_timer = 2};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts before = {0};
    etwas_session_counts counts;
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session, .largest_payload = 900});
    struct writers writers;

    (void)state;
    writers_start(&writers, 4,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 25000,
                                           .largest_payload = 900});
    for (int query = 0; query < 200; query++) {
        counts = counts_of(session);
        assert_true(counts.recorded + counts.overwritten + counts.lost >=
                    before.recorded + before.overwritten + before.lost);
        assert_true(counts.overwritten >= before.overwritten);
        before = counts;
    }
    writers_join(&writers);
    /* They may have lost most of theirs before the flusher ran. */
    while (counts_of(session).overwritten == 0) {
        wait_for_room(session);
        (void)writer_log(writer);
    }
    stop_session(session, &counts);
    expect_circular_file(session, path, &counts);
}

/* A process that dies leaves the file as it was at some moment: numbers go on, none is twice. */
static void a_wrapped_file_in_progress_can_be_read(void **state)
{
    const char *path = folder_path("trace.etl");
    const char *copy = folder_path("copy.etl");
    char command[1200];
    etwas_session_options options = {
        .log_file_mode = CIRCULAR, .buffer_size_kb = 4, .maximum_file_size = 32};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 5000, .largest_payload = 200});
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    for (int turn = 0; turn < 12; turn++) {
        for (int event = 0; event < 100; event++) {
            (void)writer_log(writer);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        (void)snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
        assert_int_equal(system(command), 0);
        /* Made true by the flush. */
        assert_int_equal(totals_of(copy).overwritten_events, counts.overwritten);
        assert_int_equal(log_header_of(copy).start.buffers_written, size_of(copy) / 4096);
        read_back(session, copy, &result);
        assert_true(result.unfinished);
        assert_int_equal(result.wrong + result.unexpected, 0);
        assert_int_equal(result.damages, 0);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.missing, counts.overwritten);
    }
    stop_session(session, &counts);
    assert_true(counts.overwritten > 0);
    expect_circular_file(session, path, &counts);
}

/* ---- failures -------------------------------------------------------------------------------- */

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

/*
 * R94: the buffer that a torn write destroyed counts as overwritten, the one that was to take its
 * place as lost; and the rest of the file, newer than both, is not cut off.
 */
static void a_write_torn_in_a_wrapped_file_costs_two_buffers(void **state)
{
    const char *path = folder_path("trace.etl");
    static const uint32_t modes[] = {CIRCULAR, CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        etwas_session_options options = {.log_file_mode = modes[index],
                                         .buffer_size_kb = 8,
                                         .maximum_buffers = 64,
                                         .maximum_file_size = 64};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(
            &(struct writer_options){.session = session, .events = 20000, .largest_payload = 500});
        etwas_session_counts counts;

        tear_one_write_of(7);
        for (int event = 0; event < 20000; event++) {
            (void)writer_log(writer);
            if (event % 100 == 0) {
                (void)etwas_flush(session);
            }
        }
        etwas_file_set_failure_hook(NULL);
        stop_session(session, &counts);
        assert_true(counts.buffers_lost > 10);
        assert_int_equal(size_of(path), 64 * BYTES_A_KB);
        expect_circular_file(session, path, &counts);
    }
}

static uint32_t numbers_left;    /* before they are refused */
static uint32_t numbers_refused; /* and so many are then */

/* Nothing else that is written of a file has the length of a number. */
static long refuse_numbers(enum etwas_log_file_call call, size_t bytes)
{
    if (call != ETWAS_FILE_WRITE || bytes != sizeof(int64_t)) {
        return (long)bytes;
    }
    if (numbers_left != 0) {
        numbers_left--;
        return (long)bytes;
    }
    if (numbers_refused == 0) {
        return (long)bytes;
    }
    numbers_refused--;
    return -EIO;
}

/*
 * R94: at the end each number may be refused: once, and the next attempt gives them all; or from
 * there on, and what is there is found in its order all the same.
 */
static void a_number_that_is_refused_at_the_end_hides_nothing(void **state)
{
    enum {
        PLACES = 7
    };
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = CIRCULAR,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 4 * (PLACES + 1),
                                     .flusher = {.no_thread = true}};

    (void)state;
    for (uint32_t row = 0; row < 2 * PLACES; row++) {
        bool once = row % 2 == 0;
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer =
            writer_new(&(struct writer_options){.session = session, .events = 99});
        etwas_session_counts counts;
        struct readback result;

        /* Three times round, and to the middle. */
        for (int buffer = 0; buffer < 3 * PLACES + 3; buffer++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
        numbers_left = row / 2;
        numbers_refused = once ? 1 : UINT32_MAX;
        etwas_file_set_failure_hook(refuse_numbers);
        stop_session(session, &counts);
        etwas_file_set_failure_hook(NULL);
        assert_int_equal(counts.sync_errors, once ? 1 : 2);
        assert_int_equal(counts.recorded, PLACES);
        if (once) {
            expect_circular_file(session, path, &counts);
        }
        read_back(session, path, &result);
        assert_int_equal(result.wrong + result.unexpected + result.damages, 0);
        assert_int_equal(result.events, PLACES);
    }
}

#define CIRCULAR_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_buffers_go_round_and_say_what_they_replace),
        cmocka_unit_test(without_rounds_the_last_place_is_the_last),
        CIRCULAR_TEST(the_newest_events_stay_and_the_others_are_counted_overwritten),
        CIRCULAR_TEST(before_its_first_round_it_is_like_a_sequential_file),
        CIRCULAR_TEST(several_writers_and_a_timer_of_milliseconds_account_for_every_event),
        CIRCULAR_TEST(a_wrapped_file_in_progress_can_be_read),
        CIRCULAR_TEST(a_write_torn_in_a_wrapped_file_costs_two_buffers),
        CIRCULAR_TEST(a_number_that_is_refused_at_the_end_hides_nothing),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
