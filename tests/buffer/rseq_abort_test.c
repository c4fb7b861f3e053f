/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every step of the restartable protocol, interrupted at every point (I1, I3, I4, I7): by a handler
 * that does nothing, that logs itself, or that lets another thread of the processor log meanwhile.
 */
#include <ck_pr.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 600,
    MANY_EVENTS = 3000, /* when most are lost */
    HANDLER_EVENTS = 120000,
    FLUSH_EVERY = 90, /* more than the pool holds: the last ones before a flush are lost */
    BUFFERS = 16,
    MANY_BUFFERS = 400, /* for many new ones */
    LARGEST_PAYLOAD = 1400,
    EVENTS_OF_ANOTHER = 7,
};

/* ---- what the handler does ------------------------------------------------------------------- */

static void log_one(void *writer)
{
    (void)writer_log(writer);
}

/* More than the whole of a small recorder: each buffer changes hands, each word may come back. */
static void log_many(void *writer)
{
    for (int number = 0; number < 40; number++) {
        (void)writer_log(writer);
    }
}

/* Another thread of the same processor, which logs whenever it is asked. */
struct another {
    struct writer *writer;
    pthread_t thread;
    sem_t go;
    sem_t done;
    bool end;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static void *another_main(void *argument)
{
    struct another *another = argument;

    for (;;) {
        wait_for(&another->go);
        if (another->end) {
            return NULL;
        }
        for (int number = 0; number < EVENTS_OF_ANOTHER; number++) {
            (void)writer_log(another->writer);
        }
        (void)sem_post(&another->done);
    }
}

static void let_another_log(void *context)
{
    struct another *another = context;

    (void)sem_post(&another->go);
    wait_for(&another->done);
}

static void another_start(struct another *another, struct writer *writer)
{
    another->writer = writer;
    another->end = false;
    (void)sem_init(&another->go, 0, 0);
    (void)sem_init(&another->done, 0, 0);
    assert_int_equal(pthread_create(&another->thread, NULL, another_main, another), 0);
}

static void another_end(struct another *another)
{
    another->end = true;
    (void)sem_post(&another->go);
    assert_int_equal(pthread_join(another->thread, NULL), 0);
}

/* ---- a session with interruptions ------------------------------------------------------------ */

enum act {
    ACT_NONE,
    ACT_LOG_ONE,
    ACT_LOG_MANY,
    ACT_ANOTHER,
    ACTS
};

static void (*const acts[ACTS])(void *) = {NULL, log_one, log_many, let_another_log};

static void expect_each_point_interrupted(const struct interruptions *interruptions, bool buffering)
{
    for (uint32_t point = sequence_first_point(interruptions->step);
         point <= sequence_last_point(interruptions->step); point++) {
        if (interruptions->fired[point] == 0) {
            fail_msg("%s was not interrupted at point %u (%s)",
                     sequence_step_name(interruptions->step), point,
                     buffering ? "buffering" : "file");
        }
    }
}

static void run_interrupted(enum sequence_step step, enum act act, bool buffering)
{
    const etwas_session_options options = {
        .log_file_mode = buffering ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = 4,
        .minimum_buffers = 4,
        .maximum_buffers = step == STEP_GROW ? MANY_BUFFERS : BUFFERS,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(buffering ? NULL : path, &options);
    struct writer_options what = {.session = session,
                                  .class_handle = writer_class(),
                                  .events =
                                      act == ACT_LOG_MANY && !buffering ? MANY_EVENTS : EVENTS,
                                  .largest_payload = LARGEST_PAYLOAD,
                                  .even_sizes = true};
    struct writer_options for_handler = what;
    struct writer *writer = writer_new(&what);
    struct interruptions interruptions = {
        .session = session, .step = step, .point = TAKE_TURNS, .act = acts[act]};
    struct another another;
    etwas_session_counts counts;
    uint64_t aborts;

    for_handler.events = HANDLER_EVENTS;
    interruptions.context = writer_new(&for_handler);
    if (act == ACT_ANOTHER) {
        another_start(&another, interruptions.context);
        interruptions.context = &another;
    }
    (void)sequences_aborted();
    interruptions_begin(&interruptions);
    while (writer->attempted < what.events) {
        interruptions_arm_quick();
        (void)writer_log(writer);
        if (!buffering && writer->attempted % FLUSH_EVERY == 0) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
    }
    interruptions_end();
    aborts = sequences_aborted() +
             (step == STEP_QUICK ? interruptions.total - interruptions.fired[0] : 0);
    if (act == ACT_ANOTHER) {
        another_end(&another);
    }

    expect_each_point_interrupted(&interruptions, buffering);
    counts = counts_of(session);
    /* Every abort was counted; those of quick sequences that nobody planned we do not know. */
    assert_true(counts.restarts >= aborts);
    /* None gave up. */
    assert_int_equal(counts.committed_shared, 0);
    assert_int_equal(counts.committed_rseq + counts.lost_no_buffer,
                     writers_totals(session).attempted);
    assert_int_equal(counts.lost, writers_totals(session).lost);
    if (buffering) {
        expect_recorder_is_exact(session, path);
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
    } else {
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
    }
    assert_int_equal(writers_totals(session).refused, 0);
    writers_forget();
}

static void run_all(enum act act)
{
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (int step = 0; step < STEPS; step++) {
        for (int buffering = 0; buffering < 2; buffering++) {
            if (sequence_happens((enum sequence_step)step, buffering == 1)) {
                run_interrupted((enum sequence_step)step, act, buffering == 1);
            }
        }
    }
    leave_one_processor();
}

static void a_step_interrupted_at_any_point_is_begun_again(void **state)
{
    (void)state;
    run_all(ACT_NONE);
}

static void a_handler_logs_inside_any_step_of_its_thread(void **state)
{
    (void)state;
    run_all(ACT_LOG_ONE);
}

/* Buffers are filled, closed and claimed again under the step that is interrupted. */
static void a_handler_takes_all_buffers_inside_any_step_of_its_thread(void **state)
{
    (void)state;
    run_all(ACT_LOG_MANY);
}

static void another_thread_of_the_processor_logs_inside_any_step(void **state)
{
    (void)state;
    run_all(ACT_ANOTHER);
}

/*
 * A writer that is interrupted closes the buffer at its next try. No buffer is forgotten, however
 * often that happens, so the recorder keeps its length.
 */
static void a_buffer_is_closed_however_often_that_is_interrupted(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4,
                                           .minimum_buffers = BUFFERS,
                                           .protocol = ETWAS_PROTOCOL_RSEQ};

    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (uint32_t point = sequence_first_point(STEP_CLOSE) + 1;
         point <= sequence_last_point(STEP_CLOSE); point++) {
        etwas_trace_handle session = start_session(NULL, &options);
        struct writer *writer = writer_new(&(struct writer_options){
            .session = session, .events = EVENTS, .largest_payload = LARGEST_PAYLOAD});
        struct interruptions interruptions = {.session = session,
                                              .step = STEP_CLOSE,
                                              .point = point,
                                              .skip = 2,
                                              .most = 40,
                                              .always = true};

        interruptions_begin(&interruptions);
        while (writer->attempted < EVENTS) {
            assert_int_equal(writer_log_bytes(writer, 1000), ERROR_SUCCESS);
        }
        interruptions_end();
        assert_int_equal(interruptions.total, 40);
        expect_recorder_is_exact(session, folder_path("trace.etl"));
        /* Three events a buffer; one or two buffers are spare or being filled. */
        assert_true(counts_of(session).recorded > 3 * (BUFFERS - 3));
        stop_session(session, NULL);
        writers_forget();
    }
    leave_one_processor();
}

/* A handler that logs just when a buffer is full, and gets no further than claiming the next. */
struct half_way {
    struct interruptions interruptions; /* of the handler's own event */
    struct writer *writer;
};

static void claim_and_give_up(void *context)
{
    struct half_way *half_way = context;

    interruptions_begin(&half_way->interruptions);
    (void)writer_log_bytes(half_way->writer, 1000);
    interruptions_end();
}

/* Buffers that are some processor's: the current one, the next, and none besides. */
static uint32_t held_by_processors(etwas_trace_handle session)
{
    const struct etwas_pool *pool = inside_of(session)->buffers.pool;
    uint32_t held = 0;

    for (uint32_t buffer = 0; buffer < pool->words->allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        held += etwas_owner_state(owner) == ETWAS_OWNER_HELD &&
                etwas_pool_is_rseq_slot(pool, etwas_owner_slot(owner));
    }
    return held;
}

/* The processor has one claimed buffer then; its writer takes that one, and claims no other. */
static void a_buffer_that_a_handler_claimed_inside_a_claim_is_not_forgotten(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4,
                                           .minimum_buffers = BUFFERS,
                                           .protocol = ETWAS_PROTOCOL_RSEQ};

    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (uint32_t point = sequence_first_point(STEP_CLAIM);
         point <= sequence_last_point(STEP_CLAIM); point++) {
        etwas_trace_handle session = start_session(NULL, &options);
        struct writer_options what = {.session = session, .events = EVENTS};
        struct writer *writer = writer_new(&what);
        struct half_way half_way = {
            .interruptions = {.session = session,
                              .step = STEP_ADOPT,
                              .point = point != 0 ? point : 1,
                              .always = true},
            .writer = writer_new(&what),
        };
        struct interruptions interruptions = {.session = session,
                                              .step = STEP_CLAIM,
                                              .point = point,
                                              .skip =
                                                  2, /* while there are free ones, both find one */
                                              .most = 3,
                                              .act = claim_and_give_up,
                                              .context = &half_way};

        interruptions_begin(&interruptions);
        while (writer->attempted < EVENTS) {
            assert_int_equal(writer_log_bytes(writer, 1000), ERROR_SUCCESS);
        }
        interruptions_end();
        assert_int_equal(interruptions.total, 3);
        assert_int_equal(counts_of(session).committed_shared, 3);
        expect_nothing_lost(counts_of(session));
        expect_recorder_is_exact(session, folder_path("trace.etl"));
        assert_true(held_by_processors(session) <= 2);
        stop_session(session, NULL);
        writers_forget();
    }
    leave_one_processor();
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_step_interrupted_at_any_point_is_begun_again),
        FOLDER_TEST(a_handler_logs_inside_any_step_of_its_thread),
        FOLDER_TEST(a_handler_takes_all_buffers_inside_any_step_of_its_thread),
        FOLDER_TEST(a_buffer_is_closed_however_often_that_is_interrupted),
        FOLDER_TEST(a_buffer_that_a_handler_claimed_inside_a_claim_is_not_forgotten),
        FOLDER_TEST(another_thread_of_the_processor_logs_inside_any_step),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
