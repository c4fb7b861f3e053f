/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session with restartable sequences at its maximum: an event is lost only when its processor has
 * no room, no spare and no free buffer, whatever other threads of the processor do meanwhile; and
 * the flusher is woken in time.
 */
#include "buffer/interrupt.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    PAYLOAD = 1000, /* three in a buffer */
    MOST_EVENTS = 4000
};

static const etwas_session_options options = {.buffer_size_kb = 4,
                                              .maximum_buffers = 1, /* the minimum, then */
                                              .protocol = ETWAS_PROTOCOL_RSEQ,
                                              .flusher.no_thread = true};

struct scene {
    etwas_trace_handle session;
    struct writer *writer;
    struct writer *other; /* another thread of the processor, that runs while the writer does not */
};

static struct scene begin_scene(void)
{
    struct writer_options writer = {.class_handle = writer_class(), .events = MOST_EVENTS};
    struct scene scene;

    skip_without_sequences();
    scene.session = start_session(folder_path("trace.etl"), &options);
    writer.session = scene.session;
    scene.writer = writer_new(&writer);
    scene.other = writer_new(&writer);
    return scene;
}

static void end_scene(const struct scene *scene)
{
    etwas_session_counts counts;

    stop_session(scene->session, &counts);
    expect_nothing_lost(counts);
    expect_file_reads_back(scene->session, folder_path("trace.etl"), &counts);
}

static void log_until_one_is_free(const struct scene *scene)
{
    while (counts_of(scene->session).buffers_free > 1) {
        assert_int_equal(writer_log_bytes(scene->writer, PAYLOAD), ERROR_SUCCESS);
    }
}

/* Logs until the step was interrupted before it began. Every event is recorded. */
static void log_until_interrupted(const struct scene *scene, enum sequence_step step,
                                  void (*act)(void *context), void *context)
{
    struct interruptions interruptions = {.session = scene->session,
                                          .step = step,
                                          .point = 0,
                                          .most = 1,
                                          .act = act,
                                          .context = context};

    interruptions_begin(&interruptions);
    while (interruptions.total == 0) {
        assert_int_equal(writer_log_bytes(scene->writer, PAYLOAD), ERROR_SUCCESS);
    }
    interruptions_end();
}

static void flush_and_log(void *context)
{
    const struct scene *scene = context;

    assert_int_equal(etwas_flush(scene->session), ERROR_SUCCESS);
    assert_int_equal(writer_log_bytes(scene->other, PAYLOAD), ERROR_SUCCESS);
}

static void an_event_is_not_lost_where_another_thread_has_made_room_meanwhile(void **state)
{
    struct scene scene = begin_scene();

    (void)state;
    log_until_interrupted(&scene, STEP_LOST, flush_and_log, &scene);
    end_scene(&scene);
}

static void log_one(void *context)
{
    const struct scene *scene = context;

    assert_int_equal(writer_log_bytes(scene->other, PAYLOAD), ERROR_SUCCESS);
}

/* The writer has taken the bit of the last free buffer, and nothing else. */
static void a_free_buffer_is_found_though_a_sleeping_writer_hides_it(void **state)
{
    struct scene scene = begin_scene();
    struct etwas_pool *pool = inside_of(scene.session)->buffers.pool;

    (void)state;
    log_until_one_is_free(&scene);
    log_until_interrupted(&scene, STEP_CLAIM, log_one, &scene);
    assert_int_equal(counts_of(scene.session).buffers_free, 0);
    assert_int_equal(pool->words->allocated, pool->words->maximum_buffers);
    end_scene(&scene);
}

static void pass_as_the_flusher(void *context)
{
    (void)etwas_pool_begin_pass(context);
}

/*
 * Few are free. The flusher's pass comes after CLAIM: too early for the buffer that is full after
 * ADOPT.
 */
static void the_flusher_is_woken_when_the_full_buffer_can_be_collected(void **state)
{
    struct scene scene = begin_scene();
    struct etwas_pool *pool = inside_of(scene.session)->buffers.pool;

    (void)state;
    log_until_one_is_free(&scene);
    log_until_interrupted(&scene, STEP_ADOPT, pass_as_the_flusher, pool);
    assert_int_not_equal(ck_ec32_value(&pool->words->wake), pool->words->pass_began);
    end_scene(&scene);
}

static int setup(void **state)
{
    int code = folder_setup(state);

    stay_on_one_processor();
    return code;
}

static int teardown(void **state)
{
    leave_one_processor();
    writers_forget();
    return folder_teardown(state);
}

#define EXHAUSTED_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        EXHAUSTED_TEST(an_event_is_not_lost_where_another_thread_has_made_room_meanwhile),
        EXHAUSTED_TEST(a_free_buffer_is_found_though_a_sleeping_writer_hides_it),
        EXHAUSTED_TEST(the_flusher_is_woken_when_the_full_buffer_can_be_collected),
    };

    choose_tests(argument_count, arguments);
    interruptions_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
