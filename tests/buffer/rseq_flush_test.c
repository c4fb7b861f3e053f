/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Flushes and snapshots of sessions with restartable sequences: the committed part of a buffer is
 * taken while its writers go on, and while one of them stands inside any step (I1, I3, I8).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "buffer/interrupt.h"
#include "buffer/slot.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 400,
    BUFFERS = 16,
};

static etwas_trace_handle start(bool buffering, const char *path)
{
    const etwas_session_options options = {
        .log_file_mode = buffering ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = 4,
        .minimum_buffers = buffering ? BUFFERS : 4,
        .maximum_buffers = BUFFERS,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };

    return start_session(buffering ? NULL : path, &options);
}

static struct writer *new_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = EVENTS});
}

/* ---- flush ----------------------------------------------------------------------------------- */

static uint64_t word_here(etwas_trace_handle session)
{
    return ck_pr_load_64(&etwas_slot_of(inside_of(session)->index, (uint32_t)sched_getcpu())->word);
}

/* The rest of it is written later, nothing twice. */
static void a_flush_writes_what_is_there_and_leaves_the_buffer_to_its_writers(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session;
    struct writer *writer;
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    skip_without_sequences();
    stay_on_one_processor();
    session = start(false, path);
    writer = new_writer(session);
    for (uint32_t round = 0; round < 40; round++) {
        uint64_t word;
        uint64_t written;

        for (uint32_t number = 0; number < round % 5; number++) {
            assert_int_equal(writer_log_bytes(writer, 30 * number), ERROR_SUCCESS);
        }
        written = counts_of(session).buffers_written;
        word = round != 0 ? word_here(session) : 0;
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        if (round != 0) {
            assert_int_equal(word_here(session), word);
        }
        /* Nothing new, nothing written. */
        if (round % 5 == 0) {
            assert_int_equal(counts_of(session).buffers_written, written);
        }
        read_back(session, path, &result);
        assert_int_equal(result.wrong + result.missing + result.unexpected, 0);
        assert_int_equal(result.events, writer->attempted);
    }
    leave_one_processor();
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
}

struct flusher {
    etwas_trace_handle session;
    uint32_t end;
    uint64_t flushes;
    pthread_t thread;
};

static void *flush_again_and_again(void *argument)
{
    struct flusher *flusher = argument;

    while (ck_pr_load_32(&flusher->end) == 0) {
        if (etwas_flush(flusher->session) != ERROR_SUCCESS) {
            return NULL;
        }
        ck_pr_inc_64(&flusher->flushes);
        (void)sched_yield();
    }
    return flusher;
}

/* Of any size, and while the session's own thread writes what is full. */
static void flushes_while_writers_write_take_each_event_once_and_in_order(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int turn = 0; turn < 3; turn++) {
        const etwas_session_options options = {
            .buffer_size_kb = turn == 1 ? 64 : 4,
            .maximum_buffers = turn == 2 ? 8 : 2000,
            .flush_timer = 1,
            .clock = turn == 1 ? ETWAS_CLOCK_TSC : ETWAS_CLOCK_QPC,
            .protocol = ETWAS_PROTOCOL_RSEQ,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(path, &options);
        struct flusher flusher = {.session = session};
        etwas_session_counts counts;
        struct writers writers;
        void *result;

        assert_int_equal(pthread_create(&flusher.thread, NULL, flush_again_and_again, &flusher), 0);
        while (ck_pr_load_64(&flusher.flushes) == 0) {
            (void)sched_yield();
        }
        writers_start(&writers, 4,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = 8000,
                                               .largest_payload = 300});
        writers_join(&writers);
        ck_pr_store_32(&flusher.end, 1);
        assert_int_equal(pthread_join(flusher.thread, &result), 0);
        assert_ptr_equal(result, &flusher);
        stop_session(session, &counts);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- while a writer stands inside a step ----------------------------------------------------- */

struct taking {
    etwas_trace_handle session;
    const char *path;
    bool buffering;
    struct writer *writer;
    const struct interruptions *interruptions;
};

/* What is recorded is there, all of it, and the event under way is not. */
static void take_and_look(void *context)
{
    const struct taking *taking = context;
    etwas_session_counts counts = counts_of(taking->session);
    struct readback result;

    assert_int_equal(counts.recorded + counts.overwritten + counts.lost, taking->writer->attempted);
    assert_int_equal(taking->buffering ? etwas_snapshot(taking->session, taking->path)
                                       : etwas_flush(taking->session),
                     ERROR_SUCCESS);
    read_back(taking->session, taking->path, &result);
    if (result.wrong + result.unexpected + result.damages != 0 ||
        result.events != counts.recorded || result.missing != counts.overwritten) {
        fail_msg("%s, point %u: %llu of %llu events, %llu wrong, first: %s",
                 sequence_step_name(taking->interruptions->step), taking->interruptions->point,
                 (unsigned long long)result.events, (unsigned long long)counts.recorded,
                 (unsigned long long)result.wrong, result.first_wrong);
    }
}

static void take_inside(enum sequence_step step, uint32_t point, bool buffering)
{
    struct taking taking = {.path = folder_path("trace.etl"), .buffering = buffering};
    struct interruptions interruptions = {
        .step = step, .point = point, .most = 12, .act = take_and_look, .context = &taking};
    etwas_session_counts counts;

    taking.session = start(buffering, taking.path);
    taking.writer = new_writer(taking.session);
    taking.interruptions = &interruptions;
    interruptions.session = taking.session;
    interruptions_begin(&interruptions);
    for (int number = 0; number < EVENTS; number++) {
        interruptions_arm_quick();
        (void)writer_log_bytes(taking.writer, 300 + (uint32_t)number % 600);
    }
    interruptions_end();
    /* A full pool is emptied by the first flush inside. */
    assert_true(interruptions.total >= 1);
    if (buffering) {
        expect_recorder_is_exact(taking.session, taking.path);
    }
    stop_session(taking.session, &counts);
    if (!buffering) {
        expect_file_reads_back(taking.session, taking.path, &counts);
    }
    writers_forget();
}

static void take_inside_all_steps(bool buffering)
{
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (enum sequence_step step = 0; step < STEPS; step++) {
        for (uint32_t point = sequence_first_point(step); point <= sequence_last_point(step);
             point++) {
            if (sequence_happens(step, buffering)) {
                take_inside(step, point, buffering);
            }
        }
    }
    leave_one_processor();
}

static void a_flush_inside_any_step_of_a_writer_takes_all_that_is_recorded(void **state)
{
    (void)state;
    take_inside_all_steps(false);
}

static void a_snapshot_inside_any_step_of_a_writer_holds_all_that_is_recorded(void **state)
{
    (void)state;
    take_inside_all_steps(true);
}

/* ---- a snapshot that stands still ------------------------------------------------------------ */

struct snapshot_thread {
    etwas_trace_handle session;
    const char *path;
    enum etwas_testpoint point;
    pthread_t thread;
    uint32_t code;
};

static void *snapshot_main(void *argument)
{
    struct snapshot_thread *snapshot = argument;

    hold_me(snapshot->point);
    snapshot->code = etwas_snapshot(snapshot->session, snapshot->path);
    return NULL;
}

/*
 * Held before it copies a current buffer, or with a full one pinned, while the writer goes on for
 * less than a buffer, for several, or once round the whole recorder and more.
 */
static void a_snapshot_that_stands_still_holds_only_whole_records_of_one_history(void **state)
{
    static const enum etwas_testpoint points[] = {ETWAS_POINT_SNAPSHOT_COPIES,
                                                  ETWAS_POINT_SNAPSHOT_PINNED};
    static const uint32_t go_on[] = {1, 2, 5, 9, 30, 90, 180};

    (void)state;
    skip_without_sequences();
    stay_on_one_processor();
    for (size_t turn = 0; turn < 2 * sizeof go_on / sizeof go_on[0]; turn++) {
        etwas_trace_handle session = start(true, NULL);
        struct snapshot_thread snapshot = {
            .session = session, .path = folder_path("snapshot.etl"), .point = points[turn % 2]};
        struct writer *writer = new_writer(session);
        uint64_t before = 10 + turn;
        struct readback result;

        while (writer->attempted < before) {
            assert_int_equal(writer_log_bytes(writer, 500), ERROR_SUCCESS);
        }
        hold_count_from_zero();
        assert_int_equal(pthread_create(&snapshot.thread, NULL, snapshot_main, &snapshot), 0);
        hold_wait();
        for (uint32_t number = 0; number < go_on[turn / 2]; number++) {
            assert_int_equal(writer_log_bytes(writer, 1100), ERROR_SUCCESS);
        }
        hold_release();
        assert_int_equal(pthread_join(snapshot.thread, NULL), 0);
        assert_int_equal(snapshot.code, ERROR_SUCCESS);
        walk_back(session, snapshot.path, true, &result);
        assert_int_equal(result.wrong + result.unexpected, 0);
        if (snapshot.point == ETWAS_POINT_SNAPSHOT_PINNED) {
            uint64_t seen = 0;

            /*
             * The current buffer had been copied, and the newest full one is kept: seven records of
             * 500.
             */
            for (uint64_t number = before - 7; number < before; number++) {
                seen += writer->events[number].seen;
            }
            assert_int_equal(seen, 7);
            assert_true(result.events >= 7);
        }
        expect_recorder_is_exact(session, snapshot.path);
        stop_session(session, NULL);
        writers_forget();
    }
    leave_one_processor();
}

/* ---- snapshots under load -------------------------------------------------------------------- */

enum {
    SNAPSHOTS = 12,
    LOADING = 4,
    MANY = 60000,
};

/* The files are looked at when it is known what was recorded. */
static void snapshots_under_load_hold_whole_records_in_order(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int turn = 0; turn < 2; turn++) {
        const etwas_session_options options = {
            .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
            .buffer_size_kb = turn == 0 ? 4 : 64,
            .minimum_buffers = turn == 0 ? 8 : 16,
            .clock = ETWAS_CLOCK_TSC,
            .protocol = ETWAS_PROTOCOL_RSEQ,
        };
        etwas_trace_handle session = start_session(NULL, &options);
        const char *paths[SNAPSHOTS];
        struct writers writers;

        writers_start(&writers, LOADING,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = MANY,
                                               .largest_payload = turn == 0 ? 500 : 5000});
        for (int number = 0; number < SNAPSHOTS; number++) {
            char name[32];

            (void)snprintf(name, sizeof name, "snapshot %d.etl", number);
            paths[number] = folder_path(name);
            while (writer_progress(writers.list[0]) < MANY / 4 / SNAPSHOTS * (uint64_t)number) {
                (void)sched_yield();
            }
            assert_int_equal(etwas_snapshot(session, paths[number]), ERROR_SUCCESS);
        }
        writers_end(&writers);
        writers_join(&writers);
        for (int number = 0; number < SNAPSHOTS; number++) {
            struct readback result;

            walk_back(session, paths[number], true, &result);
            if (result.wrong != 0) {
                fail_msg("%llu events are wrong; first: %s", (unsigned long long)result.wrong,
                         result.first_wrong);
            }
            assert_int_equal(result.unexpected, 0);
        }
        expect_recorder_is_exact(session, folder_path("last.etl"));
        stop_session(session, NULL);
        writers_forget();
    }
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_flush_writes_what_is_there_and_leaves_the_buffer_to_its_writers),
        FOLDER_TEST(flushes_while_writers_write_take_each_event_once_and_in_order),
        FOLDER_TEST(a_flush_inside_any_step_of_a_writer_takes_all_that_is_recorded),
        FOLDER_TEST(a_snapshot_inside_any_step_of_a_writer_holds_all_that_is_recorded),
        FOLDER_TEST(a_snapshot_that_stands_still_holds_only_whole_records_of_one_history),
        FOLDER_TEST(snapshots_under_load_hold_whole_records_in_order),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
