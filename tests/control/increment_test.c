/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* INCREMENT_FILE, by itself and between updates while writers write (R96, R140). */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/writer.h"
#include "update.h"

static uint32_t increment(etwas_trace_handle session, struct block *block)
{
    prepare_block(block, "");
    return ControlTraceA(session, NULL, &block->properties, EVENT_TRACE_CONTROL_INCREMENT_FILE);
}

/* R96: what was logged before is in the old part, and QUERY names the new one. */
static void r96_increment_file_begins_the_next_part(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("s%02d.etl"), &options);
    struct block block;
    char name[32];

    (void)state;
    for (uint32_t part = 1; part <= 3; part++) {
        for (uint32_t number = 0; number < part; number++) {
            assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        }
        assert_int_equal(increment(session, &block), ERROR_SUCCESS);
        (void)snprintf(name, sizeof name, "s%02u.etl", part + 1);
        assert_string_equal(block.file_name, folder_path(name));
        (void)snprintf(name, sizeof name, "s%02u.etl", part);
        assert_int_equal(count_events(folder_path(name)), part);
    }
    /* Another set begins at 1. */
    prepare_block(&block, folder_path("t%d.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    expect_name(session, folder_path("t1.etl"));
    prepare_block(&block, folder_path("t.etl"));
    assert_int_equal(update(session, &block), ERROR_INVALID_NAME);
    assert_int_equal(increment(session, &block), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("s04.etl")), 0);
    assert_int_equal(count_events(folder_path("t1.etl")), 0);
    assert_int_equal(count_events(folder_path("t2.etl")), 1);
}

static void r96_increment_file_is_for_sets_only(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_BUFFERING_MODE};
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {.log_file_mode = modes[index],
                                               .maximum_file_size = 1};
        etwas_trace_handle session = start_session(folder_path("f%d.etl"), &options);

        assert_int_equal(increment(session, &block), ERROR_INVALID_PARAMETER);
        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        stop_session(session, NULL);
    }
}

/* The next part cannot be begun: the present one goes on, its number is not used up. */
static void r96_a_part_that_cannot_be_begun_changes_nothing(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("s%d.etl"), &options);
    struct belongings before;
    struct block block;

    (void)state;
    assert_int_equal(mkdir(folder_path("s2.etl"), 0777), 0);
    before = count_belongings();
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(increment(session, &block), ERROR_BAD_PATHNAME);
    expect_name(session, folder_path("s1.etl"));
    assert_nothing_gained(&before);
    assert_int_equal(log_number(session, 2), ERROR_SUCCESS);
    assert_int_equal(rmdir(folder_path("s2.etl")), 0);
    assert_int_equal(increment(session, &block), ERROR_SUCCESS);
    expect_name(session, folder_path("s2.etl"));
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("s1.etl")), 2);
    assert_int_equal(count_events(folder_path("s2.etl")), 0);
}

/* Changes while writers write: every event is in exactly one of the files, or counted. */
static void updates_lose_no_event_of_the_writers(void **state)
{
    enum {
        CHANGES = 10,
        WRITERS = 3
    };
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .buffer_size_kb = 4,
                                           .maximum_file_size = 64};
    etwas_trace_handle session = start_session(folder_path("s%d.etl"), &options);
    uint32_t maximum = query_session(session).MaximumBuffers;
    const struct writer_options load = {.session = session, .largest_payload = 100};
    etwas_session_counts counts;
    struct writers writers = {0};
    uint64_t events = 0;
    char name[32];

    (void)state;
    writers_start(&writers, WRITERS, &load);
    for (uint32_t change = 1; change <= CHANGES; change++) {
        struct block block;

        assert_int_equal(increment(session, &block), ERROR_SUCCESS);
        prepare_block(&block, NULL);
        block.properties.MaximumBuffers = maximum + change % 3;
        block.properties.FlushTimer = 1 + change % 2;
        assert_int_equal(update(session, &block), ERROR_SUCCESS);
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    /* A part that was full before its time has made one more. */
    for (uint32_t part = 1; part <= CHANGES + 1 || exists(folder_path(name)); part++) {
        struct events read;

        (void)snprintf(name, sizeof name, "s%u.etl", part);
        read_events(folder_path(name), 0, &read);
        events += read.count;
        free_events(&read);
        (void)snprintf(name, sizeof name, "s%u.etl", part + 1);
    }
    assert_int_equal(events, counts.recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r96_increment_file_begins_the_next_part),
        FOLDER_TEST(r96_increment_file_is_for_sets_only),
        FOLDER_TEST(r96_a_part_that_cannot_be_begun_changes_nothing),
        FOLDER_TEST(updates_lose_no_event_of_the_writers),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
