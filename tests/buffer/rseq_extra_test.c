/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads that are not registered for restartable sequences, in a session that has them: their
 * events make a stream of their own beside the processors'. And a record that no sequence takes.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "buffer/publish.h"
#include "platform/processor.h"
#include "session/handle.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    REGISTERED_BYTES = 32, /* what glibc registers; __rseq_size may be less */
    REGISTERED = 3,
    UNREGISTERED = 2,
    EVENTS = 10000,
    MOST_PAYLOAD = 500,
    LARGE_PAYLOAD = 3000,
};

/* The calling thread loses its registration for good. */
static bool unregister_me(void)
{
    const char *area = etwas_thread_pointer() + __rseq_offset;

    return syscall(SYS_rseq, area, REGISTERED_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0 ||
           syscall(SYS_rseq, area, __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
}

struct thread {
    struct writer *writer;
    bool unregistered;
    pthread_t thread;
};

static void *write_all(void *argument)
{
    struct thread *thread = argument;

    if (thread->unregistered && !unregister_me()) {
        abort();
    }
    while (writer_log(thread->writer) != ERROR_MORE_DATA) {
    }
    return NULL;
}

static void start_thread(struct thread *thread, const struct writer_options *what,
                         bool unregistered)
{
    thread->writer = writer_new(what);
    thread->unregistered = unregistered;
    assert_int_equal(pthread_create(&thread->thread, NULL, write_all, thread), 0);
}

static void join(struct thread *thread)
{
    assert_int_equal(pthread_join(thread->thread, NULL), 0);
}

static etwas_trace_handle start(bool circular, const char *path, uint32_t buffers)
{
    const etwas_session_options options = {
        .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = 4,
        .minimum_buffers = circular ? buffers : 0,
        .maximum_buffers = buffers,
        .protocol = ETWAS_PROTOCOL_RSEQ,
    };

    return start_session(circular ? NULL : path, &options);
}

static void expect_exact_end(etwas_trace_handle session, bool circular, const char *path,
                             etwas_session_counts *counts)
{
    if (circular) {
        expect_recorder_is_exact(session, path);
    }
    stop_session(session, counts);
    assert_int_equal(counts->lost_abandoned, 0);
    assert_int_equal(counts->lost, writers_totals(session).lost);
    if (circular) {
        expect_exact_account(session, counts);
    } else {
        expect_file_is_exact(session, path, counts);
    }
}

/* All its events are there, in a stream of the number of processors. */
static void a_thread_without_registration_writes_a_stream_of_its_own(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int circular = 0; circular < 2; circular++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start(circular == 1, path, circular == 1 ? 200 : 4000);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = 300,
                                      .largest_payload = MOST_PAYLOAD};
        struct thread thread;
        etwas_session_counts counts;

        start_thread(&thread, &what, true);
        join(&thread);
        counts = counts_of(session);
        assert_int_equal(counts.committed_shared, 300);
        assert_int_equal(counts.committed_rseq, 0);
        expect_nothing_lost(counts);
        assert_int_equal(counts.overwritten, 0);
        expect_exact_end(session, circular == 1, path, &counts);
        assert_int_equal(counts.recorded, 300);
        writers_forget();
    }
}

static void threads_with_and_without_registration_write_together(void **state)
{
    static const uint32_t buffers[] = {4000, 8, 30};

    (void)state;
    skip_without_sequences();
    for (size_t turn = 0; turn < 2 * sizeof buffers / sizeof buffers[0]; turn++) {
        bool circular = turn % 2 == 1;
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start(circular, path, buffers[turn / 2]);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = EVENTS,
                                      .largest_payload = MOST_PAYLOAD};
        struct thread threads[REGISTERED + UNREGISTERED];
        etwas_session_counts counts;

        for (int index = 0; index < REGISTERED + UNREGISTERED; index++) {
            start_thread(&threads[index], &what, index >= REGISTERED);
        }
        for (int index = 0; index < REGISTERED + UNREGISTERED; index++) {
            join(&threads[index]);
        }
        expect_exact_end(session, circular, path, &counts);
        assert_int_equal(counts.committed_rseq + counts.committed_shared + counts.lost_no_buffer,
                         writers_totals(session).attempted);
        /* In a file's few buffers the fastest may leave nothing to the others. */
        if (circular || turn == 0) {
            assert_true(counts.committed_shared != 0 && counts.committed_rseq != 0);
        }
        writers_forget();
    }
}

/* So that it is known what must be left of it. */
static void write_alone(struct thread *thread, struct writer_options *what, bool is_outside,
                        const char *path)
{
    start_thread(thread, what, is_outside);
    join(thread);
    assert_int_equal(thread->writer->recorded, what->events);
    expect_recorder_is_exact(what->session, path);
}

/* The last event of either is there. */
static void expect_last_of_each(etwas_trace_handle session, const char *path,
                                const struct thread *outside, const struct thread *inside)
{
    struct readback result;

    walk_back(session, path, true, &result);
    assert_int_equal(outside->writer->events[1999].seen, 1);
    assert_int_equal(inside->writer->events[1999].seen, 1);
}

/*
 * The extra slot has its share of the buffers, in a recorder that has few; the processors get
 * along with the rest, by turns, and lose nothing.
 */
static void the_extra_slot_leaves_the_processors_of_a_small_recorder_what_they_need(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session;
    etwas_session_counts counts;
    struct writer_options what = {
        .class_handle = writer_class(), .events = 2000, .largest_payload = LARGE_PAYLOAD};

    (void)state;
    skip_without_sequences();
    session = start(true, path, 1); /* as few as there may be */
    what.session = session;
    stay_on_one_processor();
    for (int round = 0; round < 3; round++) {
        struct thread outside;
        struct thread inside;

        write_alone(&outside, &what, true, path);
        write_alone(&inside, &what, false, path);
        expect_last_of_each(session, path, &outside, &inside);
    }
    leave_one_processor();
    counts = counts_of(session);
    expect_nothing_lost(counts);
    assert_int_equal(counts.committed_shared, 3 * 2000);
    expect_exact_end(session, true, path, &counts);
}

/* A pass of the flusher comes at least once a second. */
static void wait_until_the_extra_slot_has_one_buffer(etwas_trace_handle session)
{
    const struct etwas_pool *pool = inside_of(session)->buffers.pool;

    for (int tries = 0; ck_pr_load_32(&pool->words->shared_held) != 1; tries++) {
        assert_true(tries < 120 * 1000);
        (void)usleep(1000);
    }
}

/*
 * Where nobody without registration logs any more, the processors get what is older than all they
 * have.
 */
static void the_extra_slot_gives_back_what_is_the_oldest(void **state)
{
    const char *path = folder_path("trace.etl");
    struct writer_options what = {
        .class_handle = writer_class(), .events = 2000, .largest_payload = LARGE_PAYLOAD};
    etwas_trace_handle session;
    etwas_session_counts counts;

    (void)state;
    skip_without_sequences();
    session = start(true, path, 1); /* as few as there may be */
    what.session = session;
    stay_on_one_processor();
    for (int round = 0; round < 3; round++) {
        struct thread outside;
        struct thread inside;

        write_alone(&outside, &what, true, path);
        write_alone(&inside, &what, false, path);
        wait_until_the_extra_slot_has_one_buffer(session);
        write_alone(&inside, &what, false, path);
        /* That of the one outside is in its current buffer. */
        expect_last_of_each(session, path, &outside, &inside);
    }
    leave_one_processor();
    counts = counts_of(session);
    expect_nothing_lost(counts);
    expect_exact_end(session, true, path, &counts);
}

/* I6: stop waits for nobody here either; a thread that comes later is refused. */
static void sessions_end_while_threads_without_registration_write(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int round = 0; round < 20; round++) {
        bool circular = round % 2 == 1;
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start(circular, path, 60);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = EVENTS * 4,
                                      .largest_payload = MOST_PAYLOAD};
        struct thread threads[REGISTERED + UNREGISTERED];
        etwas_session_counts counts;

        for (int index = 0; index < REGISTERED + UNREGISTERED; index++) {
            start_thread(&threads[index], &what, index >= REGISTERED);
        }
        while (writer_progress(threads[REGISTERED].writer) < 100 ||
               writer_progress(threads[0].writer) < 100) {
            (void)sched_yield();
        }
        stop_session(session, &counts);
        for (int index = 0; index < REGISTERED + UNREGISTERED; index++) {
            join(&threads[index]);
        }
        expect_exact_account(session, &counts);
        assert_int_equal(counts.lost_abandoned, 0);
        if (!circular) {
            expect_file_reads_back(session, path, &counts);
        }
        writers_forget();
    }
}

/*
 * A caller's thread makes a field shorter while its event, too long to be put together beforehand,
 * is logged: what an earlier event left in the buffer does not get into the record.
 */
static void fields_that_become_shorter_let_no_old_bytes_into_a_long_record(void **state)
{
    static const uint8_t zeroes[LARGE_PAYLOAD];
    static const uint8_t payload[] = {0xEE, 0xEE, 0xEE, 0xEE};
    const MOF_FIELD field = {.DataPtr = (uint64_t)(uintptr_t)payload, .Length = sizeof payload};
    struct etwas_etl_instance_header header = {
        .full = {.size = sizeof header.full + LARGE_PAYLOAD,
                 .header_type = ETWAS_ETL_FULL_HEADER64,
                 .marker_flags = ETWAS_ETL_MARKER_FLAGS},
    };
    const struct etwas_unstamped_record record = {.header = &header,
                                                  .header_bytes = sizeof header.full,
                                                  .bytes = sizeof header.full + LARGE_PAYLOAD,
                                                  .fields = &field,
                                                  .field_count = 1};
    struct etwas_session *session;
    struct etwas_session_key key;
    etwas_trace_handle handle;
    const uint8_t *found;
    uint64_t word;

    (void)state;
    skip_without_sequences();
    handle = start(false, folder_path("trace.etl"), 8);
    session = inside_of(handle);
    stay_on_one_processor();
    assert_int_equal(
        writer_log_bytes(writer_new(&(struct writer_options){.session = handle, .events = 1}), 0),
        ERROR_SUCCESS);
    word = etwas_slot_of(session->index, etwas_processor_current())->word;
    memset(etwas_pool_buffer(session->buffers.pool, etwas_word_buffer(word)) +
               (size_t)etwas_word_units(word) * ETWAS_UNIT_BYTES,
           0xAA, LARGE_PAYLOAD);
    assert_true(etwas_session_key_of(handle, &key));
    assert_int_equal(etwas_publish(key.index, key.generation, 0, &record), ERROR_SUCCESS);
    leave_one_processor();
    assert_int_equal(counts_of(handle).committed_shared, 1);
    word = etwas_slot_of(session->index, etwas_slot_count)->word;
    found = etwas_pool_buffer(session->buffers.pool, etwas_word_buffer(word)) +
            ETWAS_ETL_BUFFER_HEADER_BYTES + sizeof header.full;
    assert_memory_equal(found, payload, sizeof payload);
    assert_memory_equal(found + sizeof payload, zeroes, LARGE_PAYLOAD - sizeof payload);
    stop_session(handle, NULL);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_thread_without_registration_writes_a_stream_of_its_own),
        FOLDER_TEST(threads_with_and_without_registration_write_together),
        FOLDER_TEST(the_extra_slot_leaves_the_processors_of_a_small_recorder_what_they_need),
        FOLDER_TEST(the_extra_slot_gives_back_what_is_the_oldest),
        FOLDER_TEST(sessions_end_while_threads_without_registration_write),
        FOLDER_TEST(fields_that_become_shorter_let_no_old_bytes_into_a_long_record),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
