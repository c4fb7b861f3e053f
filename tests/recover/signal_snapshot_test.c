/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is in a snapshot that a signal handler takes, and what goes wrong with one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "flush/drain.h"
#include "flush/flusher.h"
#include "platform/file.h"
#include "recover/signal_handler.h"
#include "support/clock_snapshots.h"
#include "support/inside.h"
#include "support/metadata.h"
#include "support/readback.h"
#include "support/writer.h"

/* ---- what is in it --------------------------------------------------------------------------- */

static int log_and_prepare(const char *path, const etwas_session_options *options)
{
    int descriptor = open_file(folder_path("snapshot.etl"));

    session = start_session(path, options);
    assert_int_equal(etwas_snapshot_prepare(session, descriptor, &prepared), ERROR_SUCCESS);
    return descriptor;
}

static void log_events(uint64_t events)
{
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = events});

    while (writer_log(writer) != ERROR_MORE_DATA) {
    }
}

static void end_prepared(int descriptor)
{
    stop_session(session, NULL);
    assert_int_equal(etwas_snapshot_signal_safe(prepared), ERROR_INVALID_HANDLE);
    etwas_snapshot_discard(prepared);
    assert_int_equal(close(descriptor), 0);
}

static void a_recorder_is_in_it_with_its_clock_snapshots_and_metadata_as_often_as_it_is_asked_for(
    void **state)
{
    enum {
        READINGS = 200
    };
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4,
                                           .minimum_buffers = 16,
                                           .flusher = {.no_thread = true}};
    const char *path = folder_path("snapshot.etl");
    static struct clock_snapshots clock_snapshots;
    struct metadata metadata;
    struct readback result;
    struct etwas_session *inside;
    int descriptor;

    (void)state;
    etwas_clock_snapshot_interval_ns = 0;
    for (int class_number = 0; class_number < 40; class_number++) {
        (void)describe_one(20);
    }
    descriptor = log_and_prepare(NULL, &options);
    inside = inside_of(session);
    for (int reading = 1; reading < READINGS; reading++) {
        (void)pthread_mutex_lock(&inside->drain.role);
        etwas_session_clock_read_if_due(inside);
        (void)pthread_mutex_unlock(&inside->drain.role);
    }
    for (int turn = 0; turn < 3; turn++) {
        etwas_session_counts counts;

        (void)describe_one(5);
        log_events(1000);
        counts = counts_of(session);
        assert_int_equal(snapshot_as_handler(), ERROR_SUCCESS);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.wrong + result.events_lost, 0);
        read_back(session, path, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.wrong + result.damages + result.unfinished, 0);
        clock_snapshots_read(path, &clock_snapshots);
        assert_int_equal(clock_snapshots.count, READINGS + 1);
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, described_classes(), 1));
    }
    assert_true(counts_of(session).overwritten > 0);
    etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;
    end_prepared(descriptor);
}

/* What a flush has written is in the log file alone, also of a buffer that is not full. */
static void a_session_with_a_file_has_in_it_what_its_file_has_not(void **state)
{
    int descriptor = log_and_prepare(folder_path("trace.etl"), &filing);
    struct readback result;

    (void)state;
    log_events(300);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    log_events(200);
    assert_int_equal(snapshot_as_handler(), ERROR_SUCCESS);
    read_back(session, folder_path("snapshot.etl"), &result);
    assert_int_equal(result.events, 200);
    assert_int_equal(result.wrong + result.damages + result.events_lost, 0);
    walk_back(session, folder_path("snapshot.etl"), true, &result);
    assert_int_equal(result.events, 200);
    end_prepared(descriptor);
}

/* Each is whole, whatever is overwritten, or written to the log file, meanwhile. */
static void snapshots_beside_writers_and_a_flusher_are_whole(void **state)
{
    const etwas_session_options small = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 16};
    const etwas_session_options flushed = {.buffer_size_kb = 4,
                                           .maximum_buffers = 32,
                                           .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                           .flush_timer = 1};

    (void)state;
    for (int turn = 0; turn < 10; turn++) {
        bool is_small = turn % 2 == 0;
        int descriptor = log_and_prepare(is_small ? NULL : folder_path("trace.etl"),
                                         is_small ? &small : &flushed);
        struct readback result;
        struct writers writers;

        writers_start(&writers, 2,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .largest_payload = 300,
                                               .events = 100000});
        while (writer_progress(writers.list[0]) < 1000) {
            (void)usleep(100);
        }
        assert_int_equal(snapshot_as_handler(), ERROR_SUCCESS);
        writers_end(&writers);
        writers_join(&writers);
        read_back(session, folder_path("snapshot.etl"), &result);
        assert_int_equal(result.wrong + result.damages + result.unexpected, 0);
        walk_back(session, folder_path("snapshot.etl"), true, &result);
        assert_int_equal(result.wrong, 0);
        end_prepared(descriptor);
        writers_forget();
    }
}

static void the_images_of_a_session_with_stacks_are_those_of_then(void **state)
{
    int descriptor = open_file(folder_path("snapshot.etl"));
    struct metadata metadata;

    (void)state;
    session = start_session(NULL, &recorder);
    take_stacks(session);
    assert_int_equal(etwas_snapshot_prepare(session, descriptor, &prepared), ERROR_SUCCESS);
    log_events(10);
    assert_int_equal(snapshot_as_handler(), ERROR_SUCCESS);
    metadata_read(folder_path("snapshot.etl"), &metadata);
    assert_int_equal(metadata.events, 10);
    assert_int_equal(metadata.programs, 1);
    assert_true(metadata.images > 1);
    end_prepared(descriptor);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void what_cannot_be_prepared_is_refused(void **state)
{
    const int modes[] = {O_RDONLY, O_WRONLY | O_APPEND};
    etwas_prepared_snapshot *none;
    int pipes[2];

    (void)state;
    session = start_session(NULL, &small_recorder);
    assert_int_equal(close(open_file(folder_path("snapshot.etl"))), 0);
    for (int index = 0; index < 2; index++) {
        int descriptor = open(folder_path("snapshot.etl"), modes[index] | O_CLOEXEC);

        assert_int_equal(etwas_snapshot_prepare(session, descriptor, &none),
                         ERROR_INVALID_PARAMETER);
        assert_null(none);
        (void)close(descriptor);
    }
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(etwas_snapshot_prepare(session, pipes[1], &none), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_snapshot_prepare(session, -1, &none), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_snapshot_prepare(session, pipes[1], NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_snapshot_prepare(0, pipes[1], &none), ERROR_INVALID_HANDLE);
    stop_session(session, NULL);
    assert_int_equal(etwas_snapshot_prepare(session, pipes[1], &none), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_snapshot_signal_safe(NULL), ERROR_INVALID_PARAMETER);
    etwas_snapshot_discard(NULL);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

static int writes_left;

static long fill_disk(enum etwas_log_file_call call, size_t bytes)
{
    bool full = call == ETWAS_FILE_WRITE && bytes > 4000 && writes_left-- <= 0;

    return full ? -ENOSPC : (long)bytes;
}

/* What has room is in the file, which says how much is not. */
static void a_full_disk_is_reported(void **state)
{
    int descriptor = log_and_prepare(NULL, &recorder);
    struct readback result;

    (void)state;
    log_events(500);
    writes_left = 5;
    etwas_file_set_failure_hook(fill_disk);
    assert_int_equal(snapshot_as_handler(), ERROR_DISK_FULL);
    etwas_file_set_failure_hook(NULL);
    assert_int_equal(snapshot_as_handler(), ERROR_SUCCESS);
    read_back(session, folder_path("snapshot.etl"), &result);
    assert_int_equal(result.events, 500);
    end_prepared(descriptor);
}

static sem_t is_inside;
static sem_t may_go_on;

/* The first write of the snapshot waits. */
static long wait_in_write(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_WRITE) {
        etwas_file_set_failure_hook(NULL);
        (void)sem_post(&is_inside);
        while (sem_wait(&may_go_on) != 0) {
        }
    }
    return (long)bytes;
}

static void *write_snapshot(void *code)
{
    *(uint32_t *)code = snapshot_as_handler();
    return NULL;
}

/* Its memory stays until the handler is through, and a second handler is refused. */
static void a_stop_does_not_wait_for_ever_and_takes_nothing_from_a_handler(void **state)
{
    int descriptor = log_and_prepare(NULL, &recorder);
    struct readback result;
    pthread_t thread;
    uint32_t code = 1;

    (void)state;
    log_events(500);
    (void)sem_init(&is_inside, 0, 0);
    (void)sem_init(&may_go_on, 0, 0);
    etwas_file_set_failure_hook(wait_in_write);
    assert_int_equal(pthread_create(&thread, NULL, write_snapshot, &code), 0);
    while (sem_wait(&is_inside) != 0) {
    }
    assert_int_equal(snapshot_as_handler(), ERROR_BUSY);
    etwas_drain_timeout_ns = 20000000;
    stop_session(session, NULL);
    etwas_drain_timeout_ns = TEST_DRAIN_TIMEOUT_NS;
    (void)sem_post(&may_go_on);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(code, ERROR_SUCCESS);
    read_back(session, folder_path("snapshot.etl"), &result);
    assert_int_equal(result.events, 500);
    assert_int_equal(snapshot_as_handler(), ERROR_INVALID_HANDLE);
    etwas_snapshot_discard(prepared);
    assert_int_equal(close(descriptor), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(
            a_recorder_is_in_it_with_its_clock_snapshots_and_metadata_as_often_as_it_is_asked_for),
        FOLDER_TEST(a_session_with_a_file_has_in_it_what_its_file_has_not),
        FOLDER_TEST(the_images_of_a_session_with_stacks_are_those_of_then),
        FOLDER_TEST(snapshots_beside_writers_and_a_flusher_are_whole),
        FOLDER_TEST(what_cannot_be_prepared_is_refused),
        FOLDER_TEST(a_full_disk_is_reported),
        FOLDER_TEST(a_stop_does_not_wait_for_ever_and_takes_nothing_from_a_handler),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
