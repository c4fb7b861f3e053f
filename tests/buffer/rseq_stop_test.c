/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stopping sessions with restartable sequences (I6): while a writer stands inside any step, and
 * under load; another session starts in the same place at once, and nothing meant for the first
 * lands in it.
 */
#include <ck_pr.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "clock/clock.h"
#include "platform/rseq.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 600,
    AFTER = 20,
    BUFFERS = 16,
};

/* Longer than a test takes, and shorter than the machine runs: no time lies before its start. */
#define FIVE_SECONDS (INT64_C(5) * ETWAS_CLOCK_FILETIME_PER_SECOND)

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static etwas_trace_handle start(bool buffering, uint32_t clock, const char *path)
{
    const etwas_session_options options = {
        .log_file_mode = buffering ? EVENT_TRACE_BUFFERING_MODE : 0,
        .clock = clock,
        .buffer_size_kb = 4,
        .minimum_buffers = 4,
        .maximum_buffers = BUFFERS,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };

    return start_session(buffering ? NULL : path, &options);
}

static struct writer *new_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 2 * EVENTS});
}

/* Two writers that log the same number of events bring their sessions into the same state. */
static uint32_t log_next(struct writer *writer)
{
    return writer_log_bytes(writer, (uint32_t)writer->attempted * 97 % 900);
}

/* ---- a writer that stands inside a step ------------------------------------------------------ */

struct scene {
    enum sequence_step step;
    uint32_t point;
    bool buffering;
    bool held; /* by a handler, until another thread has stopped the session */
    /*
     * Both sessions have the system's clock, which is set back between them: the writer's stamp
     * alone does not tell it that it is late.
     */
    bool set_back;

    etwas_trace_handle first;
    etwas_trace_handle second;
    struct writer *writer; /* of the first session */
    struct writer *later;  /* of the second */
    etwas_session_counts counts;
    uint32_t code; /* of the interrupted event */
    bool fired;
    sem_t is_held;
    sem_t may_go;
};

static uint32_t clock_of(const struct scene *scene)
{
    return scene->set_back ? ETWAS_CLOCK_SYSTEM_TIME : 0;
}

/* The session ends, and another begins in its place and gets as far. */
static void replace_session(struct scene *scene)
{
    const struct etwas_session *place = inside_of(scene->first);

    stop_session(scene->first, &scene->counts);
    if (scene->set_back) {
        ck_pr_store_64(&etwas_clock_system_step, (uint64_t)-FIVE_SECONDS);
    }
    scene->second = start(scene->buffering, clock_of(scene), folder_path("second.etl"));
    assert_ptr_equal(inside_of(scene->second), place);
    scene->later->options.session = scene->second;
    for (uint64_t number = 0; number < scene->writer->attempted; number++) {
        (void)log_next(scene->later);
    }
}

static void stand_inside(void *context)
{
    struct scene *scene = context;

    scene->fired = true;
    if (scene->held) {
        (void)sem_post(&scene->is_held);
        wait_for(&scene->may_go);
    } else {
        replace_session(scene);
    }
}

static void *write_until_interrupted(void *argument)
{
    struct scene *scene = argument;
    struct interruptions interruptions = {
        .session = scene->first,
        .step = scene->step,
        .point = scene->point,
        .skip = scene->step == STEP_PUBLISH ? 20 : 2,
        .most = 1,
        .act = stand_inside,
        .context = scene,
    };

    interruptions_begin(&interruptions);
    while (!scene->fired && scene->writer->attempted < EVENTS) {
        interruptions_arm_quick();
        scene->code = log_next(scene->writer);
    }
    interruptions_end();
    if (!scene->fired && scene->held) {
        (void)sem_post(&scene->is_held);
        return NULL;
    }
    for (int number = 0; number < AFTER; number++) {
        (void)log_next(scene->writer);
    }
    return NULL;
}

static void expect_exact_end(etwas_trace_handle session, bool buffering, const char *path)
{
    etwas_session_counts counts;

    if (buffering) {
        expect_recorder_is_exact(session, path);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.committed_shared, 0);
    if (buffering) {
        expect_exact_account(session, &counts);
    } else {
        expect_file_reads_back(session, path, &counts);
    }
}

static void play(struct scene *scene)
{
    const char *first_path = folder_path("first.etl");

    scene->first = start(scene->buffering, clock_of(scene), first_path);
    scene->writer = new_writer(scene->first);
    scene->later = new_writer(0);
    (void)sem_init(&scene->is_held, 0, 0);
    (void)sem_init(&scene->may_go, 0, 0);
    if (scene->held) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, write_until_interrupted, scene), 0);
        wait_for(&scene->is_held);
        if (scene->fired) {
            replace_session(scene); /* returns only if stop does not wait for the writer */
            (void)sem_post(&scene->may_go);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
    } else {
        (void)write_until_interrupted(scene);
    }
    if (!scene->fired) {
        fail_msg("%s was not interrupted at point %u (%s)", sequence_step_name(scene->step),
                 scene->point, scene->buffering ? "buffering" : "file");
    }
    assert_int_equal(scene->code, ERROR_INVALID_HANDLE);
    assert_int_equal(scene->writer->refused, 1 + AFTER);
    if (scene->buffering) {
        expect_exact_account(scene->first, &scene->counts);
    } else {
        expect_file_reads_back(scene->first, first_path, &scene->counts);
    }
    for (int number = 0; number < AFTER; number++) {
        (void)log_next(scene->later);
    }
    assert_int_equal(scene->later->refused, 0);
    expect_exact_end(scene->second, scene->buffering, folder_path("second.etl"));
    ck_pr_store_64(&etwas_clock_system_step, 0);
    writers_forget();
}

static void play_all(bool held)
{
    skip_without_sequences();
    interruptions_prepare();
    entries_fill();
    stay_on_one_processor();
    for (enum sequence_step step = 0; step < STEPS; step++) {
        for (uint32_t point = sequence_first_point(step); point <= sequence_last_point(step);
             point++) {
            for (int turn = 0; turn < 4; turn++) {
                struct scene scene = {.step = step,
                                      .point = point,
                                      .buffering = turn % 2 == 1,
                                      .set_back = turn >= 2,
                                      .held = held};

                if (sequence_happens(step, scene.buffering) &&
                    (!scene.set_back || step <= STEP_QUICK)) {
                    play(&scene);
                }
            }
        }
    }
    leave_one_processor();
    entries_empty();
}

static void a_handler_stops_the_session_inside_any_step_and_starts_another(void **state)
{
    (void)state;
    play_all(false);
}

/* I5, I6: stop does not wait for it, and it finds out that the session has ended. */
static void a_writer_is_held_inside_any_step_while_the_session_ends_and_another_begins(void **state)
{
    (void)state;
    play_all(true);
}

/* ---- without a fence ------------------------------------------------------------------------- */

/*
 * Where the kernel refuses the fence, nobody knows whether a writer is still inside: its memory
 * stays. What was recorded by then is in the file all the same.
 */
static void without_a_fence_the_memory_stays_and_the_place_is_used_again(void **state)
{
    (void)state;
    skip_without_sequences();
    entries_fill();
    stay_on_one_processor();
    for (int turn = 0; turn < 4; turn++) {
        bool buffering = turn % 2 == 1;
        const char *path = folder_path("first.etl");
        etwas_trace_handle session = start(buffering, 0, path);
        struct etwas_session *place = inside_of(session);
        struct etwas_pool *pool = place->buffers.pool;
        struct writer *writer = new_writer(session);
        etwas_session_counts counts;

        while (writer->attempted < 100) {
            (void)log_next(writer);
        }
        if (!buffering && turn >= 2) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            (void)log_next(writer);
        }
        etwas_rseq_fence_fails = true;
        stop_session(session, &counts);
        etwas_rseq_fence_fails = false;
        assert_ptr_equal(place->buffers.pool, pool);
        assert_int_equal(log_next(writer), ERROR_INVALID_HANDLE);
        expect_exact_account(session, &counts);
        if (!buffering) {
            expect_file_reads_back(session, path, &counts);
        }
        counts = counts_of(session);
        expect_exact_account(session, &counts);

        session = start(buffering, 0, path);
        assert_ptr_equal(inside_of(session), place);
        assert_ptr_not_equal(place->buffers.pool, pool);
        writer = new_writer(session);
        while (writer->attempted < 100) {
            (void)log_next(writer);
        }
        expect_exact_end(session, buffering, path);
        assert_null(place->buffers.pool);
        writers_forget();
    }
    leave_one_processor();
    entries_empty();
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_handler_stops_the_session_inside_any_step_and_starts_another),
        FOLDER_TEST(a_writer_is_held_inside_any_step_while_the_session_ends_and_another_begins),
        FOLDER_TEST(without_a_fence_the_memory_stays_and_the_place_is_used_again),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
