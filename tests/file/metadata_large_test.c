/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata that takes more than a buffer, and more than there is room for.
 */
#include <unistd.h>

#include "file_modes.h"
#include "support/flushing.h"
#include "support/metadata.h"
#include "support/readback.h"

enum {
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    BUFFER_KB = 4,
    CLASSES = 100, /* of which two fit in a buffer */
    FIELDS = 20,
};

static struct metadata metadata;

static int describe_many(void **state)
{
    (void)state;
    while (described_classes() < CLASSES) {
        (void)describe_one(FIELDS);
    }
    return 0;
}

/* Logs to a file, which goes round if it is circular; what it has of the classes. */
static void record(uint32_t mode, uint32_t size, uint32_t events, etwas_session_counts *counts)
{
    const char *path = folder_path("trace.etl");
    const etwas_session_options options = {
        .log_file_mode = mode,
        .maximum_file_size = size,
        .buffer_size_kb = BUFFER_KB,
        .flusher = {.no_thread = true},
    };
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = small_writer(session);

    stay_on_one_processor();
    while (writer->attempted < events) {
        log_and_flush(writer, 100);
    }
    leave_one_processor();
    stop_session(session, counts);
    expect_file_is_exact(session, path, counts);
    metadata_read(path, &metadata);
    assert_int_equal(metadata.events, counts->recorded);
    assert_int_equal(unlink(path), 0);
}

static uint32_t classes_found(void)
{
    uint32_t found = 0;

    for (uint32_t number = 0; number < CLASSES; number++) {
        assert_true(metadata.classes[number] <= 1);
        found += metadata.classes[number];
    }
    return found;
}

static void it_fills_as_many_buffers_as_it_needs(void **state)
{
    etwas_session_counts counts;

    (void)state;
    record(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 1000, &counts);
    assert_int_equal(classes_found(), CLASSES);
    record(EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 500, 20000, &counts);
    assert_true(counts.overwritten > counts.recorded);
    assert_int_equal(classes_found(), CLASSES);
}

/* Events come first: at least half of a small file is theirs. */
static void it_takes_half_of_a_small_file_at_most(void **state)
{
    etwas_session_counts counts;

    (void)state;
    record(EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 84, 5000, &counts);
    assert_int_equal(classes_found(), 10 * 2);
    record(EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 12, 5000, &counts);
    assert_int_equal(classes_found(), 2);
    record(EVENT_TRACE_FILE_MODE_SEQUENTIAL | KB, 84, 100, &counts);
    assert_int_equal(classes_found(), 10 * 2);
}

/* What fits in no buffer of the session is left out, and what comes behind it is not. */
static void what_is_larger_than_a_buffer_is_left_out(void **state)
{
    uint32_t large = describe_one(100);
    uint32_t behind = describe_one(1);
    etwas_session_counts counts;

    (void)state;
    record(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 100, &counts);
    assert_int_equal(metadata.classes[large], 0);
    assert_int_equal(metadata.maps[large], 1);
    assert_int_equal(metadata.classes[behind], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(it_fills_as_many_buffers_as_it_needs),
        FOLDER_TEST(it_takes_half_of_a_small_file_at_most),
        FOLDER_TEST(what_is_larger_than_a_buffer_is_left_out),
    };

    return cmocka_run_group_tests(tests, describe_many, NULL);
}
