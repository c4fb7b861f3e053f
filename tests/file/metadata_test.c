/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata in log files: what was described is in each file of each kind, also what is
 * described later, and no event is accounted otherwise.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_modes.h"
#include "platform/testpoint.h"
#include "support/flushing.h"
#include "support/inside.h"
#include "support/metadata.h"
#include "support/places.h"
#include "support/readback.h"

enum {
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    CLASSES = 3,
    FLUSHES = 60,
    EVENTS_A_FLUSH = 20,
};

static struct metadata metadata;

static int describe_some(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < CLASSES; number++) {
        (void)describe_one(2 + number);
    }
    return 0;
}

static etwas_trace_handle start(const char *path, uint32_t mode, uint32_t size)
{
    const etwas_session_options options = {
        .log_file_mode = mode,
        .maximum_file_size = size,
        .buffer_size_kb = 4,
        .minimum_buffers = 64,
        .clock = (mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 ? ETWAS_CLOCK_SYSTEM_TIME : 0,
        .flusher = {.no_thread = true},
    };

    return start_session(path, &options);
}

/* Each described class once, with its map, and nothing else. */
static void expect_once(const char *path, uint32_t classes)
{
    metadata_read(path, &metadata);
    for (uint32_t number = 0; number < METADATA_CLASSES; number++) {
        assert_int_equal(metadata.classes[number], number < classes);
        assert_int_equal(metadata.maps[number], number < classes);
    }
    assert_int_equal(metadata.others + metadata.formats, 0);
}

/* ---- each kind of file ----------------------------------------------------------------------- */

/* R74: not an event is accounted otherwise, and QUERY counts what is in the file. */
static void every_file_has_what_was_described_and_the_account_is_exact(void **state)
{
    static const struct {
        uint32_t mode;
        uint32_t size; /* KB with that bit, else MB */
    } modes[] = {
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0},
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL | KB, 4096},
        {EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0},
        {EVENT_TRACE_FILE_MODE_PREALLOCATE, 4},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 1024},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 64},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 16},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 12},
        {EVENT_TRACE_FILE_MODE_CIRCULAR | KB | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 64},
        {EVENT_TRACE_FILE_MODE_APPEND, 0},
    };

    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start(path, modes[row].mode, modes[row].size);
        struct writer *writer = small_writer(session);
        etwas_session_counts counts;

        expect_once(path, CLASSES);
        stay_on_one_processor();
        for (int flush = 0; flush < FLUSHES; flush++) {
            log_and_flush(writer, EVENTS_A_FLUSH);
            assert_int_equal(query_session(session).BuffersWritten,
                             log_header_of(path).start.buffers_written +
                                 totals_of(path).overwritten_buffers);
            /* Wherever a circular file is in its round. */
            expect_once(path, CLASSES);
        }
        leave_one_processor();
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_is_exact(session, path, &counts);
        expect_once(path, CLASSES);
        assert_int_equal(metadata.events, counts.recorded);
        assert_int_equal(unlink(path), 0);
    }
}

/* A batch may be longer than the file has places for data. */
static void it_survives_batches_that_go_round_at_once(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start(path, EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 40);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    for (int flush = 0; flush < 5; flush++) {
        log_and_flush(writer, 1500);
        expect_once(path, CLASSES);
    }
    leave_one_processor();
    stop_session(session, &counts);
    assert_true(counts.overwritten > counts.recorded);
    expect_file_is_exact(session, path, &counts);
    expect_once(path, CLASSES);
}

/* I8 across parts: the walker looks at all of them together. */
static void expect_set(const char *folder)
{
    char command[1024];

    (void)snprintf(command, sizeof command, WALKER " --set '%s'/part*.etl", folder);
    assert_int_equal(system(command), 0);
}

static void each_part_has_it(void **state)
{
    etwas_trace_handle session =
        start(folder_path("part%d.etl"),
              EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | KB, 16);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;
    struct parts parts;

    (void)state;
    for (int flush = 0; flush < FLUSHES / 4; flush++) {
        log_and_flush(writer, EVENTS_A_FLUSH);
    }
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(parts.count > 5);
    expect_set(folder_path("."));
    for (uint32_t part = 1; part <= parts.count; part++) {
        char name[32];

        (void)snprintf(name, sizeof name, "part%u.etl", part);
        expect_once(folder_path(name), CLASSES);
    }
}

static void each_session_of_an_appended_file_adds_it(void **state)
{
    const char *path = folder_path("appended.etl");

    (void)state;
    for (uint32_t index = 1; index <= 3; index++) {
        etwas_trace_handle session = start(path, EVENT_TRACE_FILE_MODE_APPEND, 0);
        struct readback result;

        log_and_flush(small_writer(session), 100);
        stop_session(session, NULL);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, 100);
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, CLASSES, index));
        assert_int_equal(metadata.events, 100 * index);
    }
}

static void each_snapshot_has_it(void **state)
{
    etwas_trace_handle session = start(NULL, EVENT_TRACE_BUFFERING_MODE, 0);
    struct writer *writer = small_writer(session);

    (void)state;
    for (int number = 0; number < 3; number++) {
        const char *path = folder_path("snapshot.etl");
        struct readback result;

        log_events(writer, 100);
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong + result.unexpected + result.missing, 0);
        read_back(session, path, &result);
        assert_int_equal(result.wrong + result.damages, 0);
        assert_int_equal(result.events, 100 * (number + 1));
        expect_once(path, CLASSES);
    }
    stop_session(session, NULL);
}

/* ---- described later ------------------------------------------------------------------------- */

static void what_is_described_later_comes_with_the_next_flush_or_at_the_end(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR | KB};

    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        const char *path = folder_path("later.etl");
        uint32_t before = described_classes();
        etwas_trace_handle session = start(path, modes[row], 64);
        struct writer *writer = small_writer(session);
        etwas_session_counts counts;

        log_and_flush(writer, 10);
        expect_once(path, before);
        (void)describe_one(1);
        expect_once(path, before);
        /* The flush writes it also if nothing was logged. */
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, before + 1, 1));
        for (int flush = 0; flush < FLUSHES; flush++) {
            log_and_flush(writer, EVENTS_A_FLUSH);
            metadata_read(path, &metadata);
            assert_true(has_classes(&metadata, before + 1, 1));
        }
        (void)describe_one(1);
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, before + 2, 1));
        assert_int_equal(unlink(path), 0);
    }
}

static struct writer *late_writer;

/* The flush takes nothing of what is logged here: the next one does. */
static void log_too_late(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_COLLECT_LOOKED && late_writer != NULL) {
        log_events(late_writer, 10);
        late_writer = NULL;
    }
}

/* I2: in the stream of the first processor metadata is no later than the events behind it. */
static void what_is_described_between_flushes_is_stamped_between_their_events(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR | KB};

    cpu_set_t first;

    (void)state;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    stay_on_one_processor();
    if (!sessions_have_sequences() || sched_setaffinity(0, sizeof first, &first) != 0) {
        leave_one_processor();
        print_message("skipped: the thread cannot stay on the first processor, or there are no "
                      "restartable sequences\n");
        skip();
    }
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        const char *path = folder_path("behind.etl");
        etwas_trace_handle session = start(path, modes[row], 1024);
        struct writer *writer = small_writer(session);
        etwas_session_counts counts;

        late_writer = writer;
        etwas_testpoint_set(log_too_late);
        log_and_flush(writer, 10);
        etwas_testpoint_set(NULL);
        assert_null(late_writer);
        (void)describe_one(1);
        stop_session(session, &counts);
        assert_int_equal(counts.recorded, 20);
        expect_file_is_exact(session, path, &counts);
        assert_int_equal(unlink(path), 0);
    }
    leave_one_processor();
}

static void parts_that_are_ended_have_what_was_described_until_then(void **state)
{
    uint32_t before = described_classes();
    etwas_trace_handle session =
        start(folder_path("late%d.etl"), EVENT_TRACE_FILE_MODE_NEWFILE | KB, 1024);
    etwas_session_counts counts;
    struct parts parts;
    EVENT_TRACE_PROPERTIES block = {
        .Wnode = {.BufferSize = sizeof block, .Flags = WNODE_FLAG_TRACED_GUID}};

    (void)state;
    log_and_flush(small_writer(session), 10);
    (void)describe_one(1);
    assert_int_equal(ControlTraceA(session, NULL, &block, EVENT_TRACE_CONTROL_INCREMENT_FILE),
                     ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_parts_are_exact(session, "late", &counts, &parts);
    assert_int_equal(parts.count, 2);
    expect_once(folder_path("late1.etl"), before + 1);
    expect_once(folder_path("late2.etl"), before + 1);
}

static void formats_of_messages_are_there_too(void **state)
{
    static const etwas_guid guid = {.Data1 = 77};
    const char *path = folder_path("formats.etl");
    etwas_trace_handle session = start(path, 0, 0);
    etwas_session_counts counts;

    (void)state;
    log_and_flush(small_writer(session), 10);
    assert_int_equal(etwas_describe_message(&guid, 1, "%d of %s"), ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
    metadata_read(path, &metadata);
    assert_int_equal(metadata.formats, 1);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static uint32_t stop_describing;

static void *describe_on(void *unused)
{
    static const etwas_guid guid = {.Data1 = 78};

    for (uint32_t number = 0; ck_pr_load_32(&stop_describing) == 0; number++) {
        assert_int_equal(etwas_describe_message(&guid, 1, number % 2 != 0 ? "%d" : "%u"),
                         ERROR_SUCCESS);
    }
    return unused;
}

static int live_as_child(const char *path)
{
    static const etwas_guid guid = {.Data1 = 79};
    const etwas_session_options options = {.flusher.no_thread = true};
    etwas_trace_handle session;

    return etwas_describe_message(&guid, 1, "of a child") == ERROR_SUCCESS &&
                   etwas_start("child", path, &options, &session) == ERROR_SUCCESS &&
                   etwas_stop(session, NULL) == ERROR_SUCCESS
               ? 0
               : 1;
}

/* Whatever the parent's threads were describing when it forked (I7). */
static void a_forks_child_has_what_was_described_and_describes_more(void **state)
{
    const char *path = folder_path("child.etl");
    uint32_t before = described_classes();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, describe_on, NULL), 0);
    for (int child = 0; child < 20; child++) {
        pid_t id = fork();
        int status = -1;

        if (id == 0) {
            _exit(live_as_child(path));
        }
        assert_int_equal(waitpid(id, &status, 0), id);
        assert_int_equal(status, 0);
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, before, 1));
        assert_true(metadata.formats >= 1);
    }
    ck_pr_store_32(&stop_describing, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_file_has_what_was_described_and_the_account_is_exact),
        FOLDER_TEST(it_survives_batches_that_go_round_at_once),
        FOLDER_TEST(each_part_has_it),
        FOLDER_TEST(each_session_of_an_appended_file_adds_it),
        FOLDER_TEST(each_snapshot_has_it),
        FOLDER_TEST(what_is_described_later_comes_with_the_next_flush_or_at_the_end),
        FOLDER_TEST(what_is_described_between_flushes_is_stamped_between_their_events),
        FOLDER_TEST(parts_that_are_ended_have_what_was_described_until_then),
        FOLDER_TEST(formats_of_messages_are_there_too),
        FOLDER_TEST(a_forks_child_has_what_was_described_and_describes_more),
    };

    return cmocka_run_group_tests(tests, describe_some, NULL);
}
