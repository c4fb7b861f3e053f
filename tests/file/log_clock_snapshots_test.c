/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock snapshots of a log file alone, with readings made up: where they go when there are
 * many, and which go when they may not be many. Reading n, from 1, was at n µs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "file/log_file_internal.h"
#include "platform/file.h"
#include "support/clock_snapshots.h"
#include "support/folder.h"

enum {
    SMALL_BYTES = 4096,
    UNIT_NS = 1000,
};

static struct clock_snapshots clock_snapshots;

static struct etwas_clock_reading reading_of(int64_t number)
{
    return (struct etwas_clock_reading){
        .tsc = number * UNIT_NS,
        .qpc_ns = number * UNIT_NS,
        .filetime = ETWAS_CLOCK_UNIX_EPOCH_FILETIME + number * UNIT_NS / 100,
        .system_stamp = ETWAS_CLOCK_UNIX_EPOCH_FILETIME + number * UNIT_NS / 100,
        .filetime_error_ns = 150,
        .stamp_error_ns = 250,
    };
}

struct request {
    uint32_t mode;
    uint32_t buffer_bytes;
    uint32_t places; /* 0: no limit */
    uint32_t name_units;
    const struct etwas_clock_reading *opened;
    const struct etwas_clock_history *history;
};

static uint32_t create(const struct request *request, struct etwas_log_file **file)
{
    static const etwas_wchar session_name[] = {'k', 0};
    etwas_wchar file_name[2048] = {0};
    struct etwas_log_file_options options = {
        .path = folder_path("clock_snapshots.etl"),
        .session_name = session_name,
        .file_name = file_name,
        .buffer_bytes = request->buffer_bytes,
        .processors = 2,
        .clock = ETWAS_CLOCK_KIND_QPC,
        .log_file_mode = request->mode,
        .maximum_bytes = (uint64_t)request->places * request->buffer_bytes,
        .started = reading_of(0),
        .opened = request->opened,
        .history = request->history,
    };

    for (uint32_t unit = 0; unit < request->name_units; unit++) {
        file_name[unit] = 'n';
    }
    return etwas_log_file_create(&options, file);
}

static struct etwas_log_file *begin(uint32_t mode, uint32_t places)
{
    const struct request request = {.mode = mode, .buffer_bytes = SMALL_BYTES, .places = places};
    struct etwas_log_file *file = NULL;

    assert_int_equal(create(&request, &file), ERROR_SUCCESS);
    return file;
}

/* One buffer with one record of `number` µs, of this processor. */
static void write_data(struct etwas_log_file *file, uint32_t processor, int64_t number)
{
    const struct etwas_etl_full_header record = {
        .size = sizeof record,
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .time_stamp = number * UNIT_NS,
    };
    const struct etwas_drained buffer = {
        .data = &record,
        .data_bytes = sizeof record,
        .records = 1,
        .processor = processor,
        .time_stamp = record.time_stamp,
        .newest = record.time_stamp,
    };

    assert_int_equal(etwas_log_file_write(file, &buffer, 1).written, 1);
}

static uint32_t take(struct etwas_log_file *file, int64_t number, bool quiet)
{
    const struct etwas_clock_reading reading = reading_of(number);
    struct etwas_log_write write = etwas_log_clock_snapshots_add(file, &reading, quiet, 0);

    assert_int_equal(write.code, ERROR_SUCCESS);
    assert_int_equal(write.replaced, 0);
    return write.written;
}

static void finish(struct etwas_log_file *file)
{
    assert_true(etwas_log_file_finish(file, &(struct etwas_log_file_totals){0}));
    assert_true(etwas_log_file_close(file));
    clock_snapshots_read(folder_path("clock_snapshots.etl"), &clock_snapshots);
    assert_int_equal(clock_snapshots.list[0].reason, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED);
    assert_int_equal(clock_snapshots.list[clock_snapshots.count - 1].reason,
                     ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED);
    assert_int_equal(
        clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED), 1);
    assert_int_equal(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED),
                     1);
}

/* The number of the reading that a running clock snapshot was made of. */
static int64_t number_of(uint32_t index)
{
    return clock_snapshots.list[index].qpc_ns / UNIT_NS;
}

static bool has(int64_t number)
{
    for (uint32_t index = 0; index < clock_snapshots.count; index++) {
        if (number_of(index) == number) {
            return true;
        }
    }
    return false;
}

/* ---- room ------------------------------------------------------------------------------------ */

static void clock_snapshots_that_do_not_fit_move_into_buffers_and_none_is_missing(void **state)
{
    enum {
        MANY = 300
    };
    struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
    uint32_t capacity = file->clock_snapshots.capacity;
    uint32_t moved = 0;

    (void)state;
    assert_true(capacity > 30);
    for (int64_t number = 1; number <= MANY; number++) {
        if (number % 3 == 0) {
            write_data(file, number % 2 == 0, number);
        }
        moved += take(file, number, false);
    }
    assert_int_equal(moved, MANY / (capacity - 1));
    assert_int_equal(etwas_log_file_buffers(file), 1 + MANY / 3 + moved);
    finish(file);
    assert_int_equal(clock_snapshots.buffers, moved);
    assert_int_equal(clock_snapshots.count, MANY + 2);
    for (int64_t number = 1; number <= MANY; number++) {
        assert_int_equal(number_of((uint32_t)number), number);
        assert_int_equal(clock_snapshots.list[number].reason, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
    }
}

/* Its stamp is that of the newest record of its processor before it, and of no other. */
static void a_clock_snapshot_buffer_keeps_its_processors_stream_in_order(void **state)
{
    struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
    struct etwas_etl_buffer_header header;
    struct etwas_etl_full_header record;
    int64_t number = 1;

    (void)state;
    write_data(file, 0, 7);
    write_data(file, 1, 9);
    while (take(file, number, false) == 0) {
        number++;
    }
    assert_int_equal(pread(file->descriptor, &header, sizeof header, 3 * SMALL_BYTES),
                     sizeof header);
    assert_int_equal(pread(file->descriptor, &record, sizeof record,
                           3 * SMALL_BYTES + ETWAS_ETL_BUFFER_HEADER_BYTES),
                     sizeof record);
    assert_int_equal(header.time_stamp, 7 * UNIT_NS);
    assert_int_equal(record.time_stamp, 7 * UNIT_NS);
    assert_int_equal(header.processor, 0);
    assert_int_equal(header.sequence_number, 3);
    finish(file);
}

static void intervals_without_events_go_first_and_cost_the_file_nothing(void **state)
{
    enum {
        QUIET = 1000
    };
    struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
    uint64_t stored;

    (void)state;
    write_data(file, 0, 1);
    assert_int_equal(take(file, 1, false), 0);
    stored = file->clock_snapshots.stored_at;
    assert_int_equal(stored, 1);
    for (int64_t number = 2; number <= QUIET; number++) {
        assert_int_equal(take(file, number, true), 0);
        /* What was stored last is what it was. */
        assert_true(file->clock_snapshots.stored <= file->clock_snapshots.begin + 2 * 96);
    }
    assert_int_equal(take(file, QUIET + 1, false), 0);
    for (int64_t number = QUIET + 2; number <= 2 * QUIET; number++) {
        assert_int_equal(take(file, number, true), 0);
    }
    finish(file);
    assert_int_equal(clock_snapshots.buffers, 0);
    /* The ends of the two intervals with events. */
    assert_true(has(1) && has(QUIET) && has(QUIET + 1));
}

/* ---- fewer ----------------------------------------------------------------------------------- */

static void a_small_file_drops_every_second_clock_snapshot_and_takes_half_as_many(void **state)
{
    enum {
        MANY = 2000
    };
    struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 63);
    uint32_t capacity = file->clock_snapshots.capacity;
    int64_t longest = 0;

    (void)state;
    for (int64_t number = 1; number <= MANY; number++) {
        assert_int_equal(take(file, number, false), 0);
    }
    finish(file);
    assert_int_equal(clock_snapshots.buffers, 0);
    assert_true(clock_snapshots.count >= capacity / 2 && clock_snapshots.count <= capacity + 2);
    for (uint32_t index = 1; index + 1 < clock_snapshots.count; index++) {
        int64_t step = number_of(index) - number_of(index - 1);

        longest = step > longest ? step : longest;
    }
    /* Evenly: none is much longer than the others. */
    assert_true(longest <= 4 * MANY / (int64_t)capacity);
}

/* Also of a large one that does not get on: data take the places, not clock snapshots. */
static void a_circular_file_keeps_its_newest_clock_snapshots_dense(void **state)
{
    static const uint32_t places[] = {4, 63, 100};
    enum {
        MANY = 2000
    };

    (void)state;
    for (size_t row = 0; row < sizeof places / sizeof places[0]; row++) {
        struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_CIRCULAR, places[row]);
        uint32_t capacity = file->clock_snapshots.capacity;

        for (int64_t number = 1; number <= MANY; number++) {
            assert_int_equal(take(file, number, false), 0);
        }
        finish(file);
        assert_int_equal(clock_snapshots.buffers, 0);
        assert_true(clock_snapshots.count >= 3 * capacity / 4);
        for (uint32_t back = 0; back < capacity / 2; back++) {
            assert_int_equal(number_of(clock_snapshots.count - 2 - back), MANY - back);
        }
        assert_true(number_of(2) - number_of(1) > 2);
    }
}

/* One place in 64 at most, and the events that had it are said to be replaced. */
static void clock_snapshots_take_few_places_of_a_file_of_limited_size(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR,
                                     EVENT_TRACE_FILE_MODE_PREALLOCATE};
    enum {
        PLACES = 101, /* buffer 0 is one */
        DATA = 90
    };

    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        struct etwas_log_file *file = begin(modes[row], PLACES);
        int64_t number = 0;
        uint32_t moved = 0;
        uint32_t rounds = modes[row] == EVENT_TRACE_FILE_MODE_CIRCULAR ? 20 : 1;

        for (uint32_t data = 1; data <= rounds * DATA; data++) {
            write_data(file, 0, number);
            for (int times = 0; times < 10; times++) {
                const struct etwas_clock_reading reading = reading_of(++number);
                struct etwas_log_write write =
                    etwas_log_clock_snapshots_add(file, &reading, false, 0);

                moved += write.written;
                assert_int_equal(write.replaced, write.written != 0 && data + moved > PLACES - 1);
            }
        }
        assert_true(moved >= 1 && moved <= rounds * DATA / 63);
        finish(file);
        assert_true(clock_snapshots.buffers >= 1 && clock_snapshots.buffers <= 2);
    }
}

/* ---- a writer that is killed ----------------------------------------------------------------- */

static size_t left_bytes; /* then it is killed */

static long write_until_killed(enum etwas_log_file_call call, size_t bytes)
{
    size_t now = bytes < left_bytes ? bytes : left_bytes;

    if (call != ETWAS_FILE_WRITE) {
        return (long)bytes;
    }
    left_bytes -= now;
    return now == 0 ? -EIO : (long)now;
}

/*
 * Also when clock snapshots in the middle of buffer 0 have gone: no clock snapshot is half one and
 * half another.
 */
static void a_writer_that_is_killed_at_any_byte_leaves_whole_clock_snapshots(void **state)
{
    enum {
        LARGE_BYTES = 16384,
        STEP_BYTES = 8
    };
    const struct request request = {
        .mode = EVENT_TRACE_FILE_MODE_CIRCULAR, .buffer_bytes = LARGE_BYTES, .places = 8};
    uint32_t least = UINT32_MAX;

    (void)state;
    for (size_t bytes = 0; bytes <= LARGE_BYTES + 4096; bytes += STEP_BYTES) {
        struct etwas_log_file *file = NULL;
        const struct etwas_clock_reading reading = reading_of(1000);

        assert_int_equal(create(&request, &file), ERROR_SUCCESS);
        for (int64_t number = 1; number <= file->clock_snapshots.capacity; number++) {
            if (number == file->clock_snapshots.capacity) {
                write_data(file, 0, number);
            }
            assert_int_equal(take(file, number, false), 0);
        }
        write_data(file, 0, 1000);
        left_bytes = bytes;
        etwas_file_set_failure_hook(write_until_killed);
        (void)etwas_log_clock_snapshots_add(file, &reading, false, 0);
        etwas_file_set_failure_hook(NULL);
        clock_snapshots_read(folder_path("clock_snapshots.etl"), &clock_snapshots);
        least = clock_snapshots.count < least ? clock_snapshots.count : least;
        for (uint32_t index = 0; index < clock_snapshots.count; index++) {
            const struct etwas_etl_clock_snapshot *clock_snapshot = &clock_snapshots.list[index];

            assert_int_equal(clock_snapshot->raw_stamp, clock_snapshot->qpc_ns);
            assert_int_equal(clock_snapshot->filetime, reading_of(number_of(index)).filetime);
            assert_true(index == 0 || clock_snapshot->reason == ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
        }
        finish(file);
        assert_true(has(1000));
    }
    assert_int_equal(least, 1);
}

/* ---- beginnings ------------------------------------------------------------------------------ */

static void names_may_be_so_long_that_only_the_two_ends_fit(void **state)
{
    const uint32_t empty = etwas_etl_header_buffer_bytes(1, 0);
    const uint32_t fit = (SMALL_BYTES - empty) / 2; /* units of two bytes */
    struct request request = {.buffer_bytes = SMALL_BYTES};
    struct etwas_log_file *file = NULL;

    (void)state;
    for (uint32_t units = fit; units >= fit - 80; units -= 20) {
        uint32_t left = SMALL_BYTES - etwas_etl_header_buffer_bytes(1, units);
        uint32_t capacity = left / (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record);

        assert_true(capacity <= 1 && (capacity == 1) == (units < fit - 40));
        request.name_units = units;
        assert_int_equal(create(&request, &file), ERROR_SUCCESS);
        write_data(file, 0, 1);
        for (int64_t number = 1; number <= 100; number++) {
            assert_int_equal(take(file, number, false), 0);
        }
        assert_int_equal(file->clock_snapshots.capacity, capacity);
        assert_true(file->header.bytes <= SMALL_BYTES);
        finish(file);
        assert_int_equal(clock_snapshots.count, 2 + capacity);
        assert_int_equal(has(100), capacity);
    }
    request.name_units = fit + 4;
    assert_int_equal(create(&request, &file), ERROR_BAD_PATHNAME);
}

static void a_later_file_begins_with_what_the_session_has_read_before(void **state)
{
    const struct etwas_clock_reading opened = reading_of(101);
    struct etwas_clock_history history;
    struct request request = {.buffer_bytes = SMALL_BYTES, .opened = &opened, .history = &history};
    struct etwas_log_file *file = NULL;

    (void)state;
    for (uint32_t before = 0; before <= 100; before += before < 10 ? 1 : 45) {
        uint32_t kept =
            before < ETWAS_CLOCK_SNAPSHOTS_INHERITED ? before : ETWAS_CLOCK_SNAPSHOTS_INHERITED;
        struct etwas_clock_reading started = reading_of(0);

        etwas_clock_history_begin(&history, &started);
        for (uint32_t number = 101 - before; number <= 100; number++) {
            struct etwas_clock_reading reading = reading_of(number);

            etwas_clock_history_add(&history, &reading);
        }
        assert_int_equal(create(&request, &file), ERROR_SUCCESS);
        assert_int_equal(take(file, 102, false), 0);
        finish(file);
        assert_int_equal(clock_snapshots.count, kept + 4);
        for (uint32_t index = 0; index < kept; index++) {
            assert_int_equal(number_of(1 + index), 101 - kept + index);
            assert_int_equal(clock_snapshots.list[1 + index].reason,
                             ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
        }
        assert_int_equal(clock_snapshots.list[1 + kept].reason,
                         ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED);
        assert_int_equal(number_of(1 + kept), 101);
        assert_int_equal(number_of(2 + kept), 102);
    }
}

static void a_file_that_is_ended_twice_has_one_end(void **state)
{
    struct etwas_log_file *file = begin(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);

    (void)state;
    write_data(file, 0, 1);
    assert_int_equal(take(file, 1, false), 0);
    assert_true(etwas_log_file_end(file, &(struct etwas_log_file_totals){0}));
    /* Nothing is taken in any more. */
    assert_int_equal(take(file, 2, false), 0);
    finish(file);
    assert_int_equal(clock_snapshots.count, 3);
}

/* ---- the history ----------------------------------------------------------------------------- */

static void a_history_forgets_the_old_more_than_the_new(void **state)
{
    enum {
        MANY = 100000
    };
    static struct etwas_clock_history history;
    struct etwas_clock_reading reading = reading_of(0);

    (void)state;
    etwas_clock_history_begin(&history, &reading);
    for (int64_t number = 1; number <= MANY; number++) {
        reading = reading_of(number);
        etwas_clock_history_add(&history, &reading);
        assert_true(history.count <= ETWAS_CLOCK_HISTORY_READINGS);
    }
    assert_int_equal(history.readings[0].tsc, 0);
    for (uint32_t index = 1; index < history.count; index++) {
        assert_true(history.readings[index].tsc > history.readings[index - 1].tsc);
    }
    assert_true(history.count > ETWAS_CLOCK_HISTORY_READINGS / 2);
    for (uint32_t back = 0; back < ETWAS_CLOCK_HISTORY_READINGS / 2; back++) {
        assert_int_equal(history.readings[history.count - 1 - back].tsc,
                         (MANY - back) * (int64_t)UNIT_NS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(clock_snapshots_that_do_not_fit_move_into_buffers_and_none_is_missing),
        FOLDER_TEST(a_clock_snapshot_buffer_keeps_its_processors_stream_in_order),
        FOLDER_TEST(intervals_without_events_go_first_and_cost_the_file_nothing),
        FOLDER_TEST(a_small_file_drops_every_second_clock_snapshot_and_takes_half_as_many),
        FOLDER_TEST(a_circular_file_keeps_its_newest_clock_snapshots_dense),
        FOLDER_TEST(clock_snapshots_take_few_places_of_a_file_of_limited_size),
        FOLDER_TEST(names_may_be_so_long_that_only_the_two_ends_fit),
        FOLDER_TEST(a_later_file_begins_with_what_the_session_has_read_before),
        FOLDER_TEST(a_writer_that_is_killed_at_any_byte_leaves_whole_clock_snapshots),
        FOLDER_TEST(a_file_that_is_ended_twice_has_one_end),
        cmocka_unit_test(a_history_forgets_the_old_more_than_the_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
