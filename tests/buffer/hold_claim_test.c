/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A writer held while it claims a buffer: another writer that needs one finds what there is, and
 * the flusher is woken in time. No event is lost while a buffer is free, or can be had.
 */
#include "buffer/pool_free.h"
#include "held.h"
#include "support/inside.h"

enum {
    PAYLOAD = 1000, /* three in a buffer */
};

struct scene {
    etwas_trace_handle session;
    struct writer *other; /* another thread of the slot */
    struct held held;
};

/* A session that only flushes drain. The maximum of 1 is raised to the minimum. */
static void begin_scene(struct scene *scene, uint32_t maximum_buffers)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = maximum_buffers, .flusher.no_thread = true};

    *scene = (struct scene){.session = start_shared_session(folder_path("trace.etl"), &options)};
    scene->other = short_writer(scene->session);
}

static void log_other(const struct scene *scene)
{
    assert_int_equal(writer_log_bytes(scene->other, PAYLOAD), ERROR_SUCCESS);
}

static void log_until_free(const struct scene *scene, uint64_t buffers)
{
    while (counts_of(scene->session).buffers_free > buffers) {
        log_other(scene);
    }
}

/* The held writer has its event, and nobody lost any. */
static void end_scene(struct scene *scene)
{
    etwas_session_counts counts;

    let_go(&scene->held);
    assert_int_equal(scene->held.last_code, ERROR_SUCCESS);
    stop_session(scene->session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(scene->session, folder_path("trace.etl"), &counts);
    writers_forget();
}

/* What the flusher's pass does for the writers: it offers what nobody holds. */
static void offer_what_is_free(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    (void)pthread_mutex_lock(&inside->drain.role);
    etwas_pool_repair_free_set(inside->buffers.pool);
    (void)pthread_mutex_unlock(&inside->drain.role);
}

static void a_writer_whose_new_buffer_another_takes_gets_one_more(void **state)
{
    struct scene scene;
    uint64_t allocated;

    (void)state;
    begin_scene(&scene, 64);
    hold_one(&scene.held, scene.session, ETWAS_POINT_SWITCH_GREW, 10);
    allocated = counts_of(scene.session).buffers_allocated;
    offer_what_is_free(scene.session);
    /* Two buffers' worth: into the offered one, and through it. */
    for (int number = 0; number < 6; number++) {
        log_other(&scene);
    }
    assert_int_equal(counts_of(scene.session).buffers_free, 0);
    assert_int_equal(counts_of(scene.session).buffers_allocated, allocated + 1);
    end_scene(&scene);
}

/* The writer has taken the bit of the last free buffer, and nothing else. */
static void a_free_buffer_is_found_though_a_held_writer_hides_it(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene, 1);
    log_until_free(&scene, 1);
    hold_one(&scene.held, scene.session, ETWAS_POINT_SWITCH_FOUND_FREE, 0);
    log_until_free(&scene, 0);
    scene.held.then = 0;
    end_scene(&scene);
}

/* The writer has brought the last buffer into use, and does not hold it yet. */
static void a_new_buffer_is_found_though_the_writer_that_took_it_is_held(void **state)
{
    struct scene scene;
    uint64_t maximum;

    (void)state;
    begin_scene(&scene, 1);
    maximum = counts_of(scene.session).buffers_allocated + 1;
    stop_session(scene.session, NULL);
    begin_scene(&scene, (uint32_t)maximum);
    hold_one(&scene.held, scene.session, ETWAS_POINT_SWITCH_GREW, 0);
    assert_int_equal(counts_of(scene.session).buffers_allocated, maximum);
    log_other(&scene);
    assert_int_equal(counts_of(scene.session).buffers_free, 0);
    scene.held.then = 0;
    end_scene(&scene);
}

/* The session is at its maximum, and nothing is free when it looks. */
static void a_writer_that_found_no_buffer_looks_again_when_its_slot_changed_meanwhile(void **state)
{
    struct scene scene;

    (void)state;
    begin_scene(&scene, 1);
    hold_one(&scene.held, scene.session, ETWAS_POINT_SWITCH_FOUND_NONE, 10);
    assert_int_equal(etwas_flush(scene.session), ERROR_SUCCESS);
    assert_int_equal(writer_log_bytes(scene.other, 100), ERROR_SUCCESS);
    end_scene(&scene);
}

/* Few are free. The flusher's pass comes after the claim: too early for the buffer that is full. */
static void the_flusher_is_woken_when_the_full_buffer_can_be_collected(void **state)
{
    struct etwas_pool *pool;
    struct scene scene;

    (void)state;
    begin_scene(&scene, 1);
    pool = inside_of(scene.session)->buffers.pool;
    log_until_free(&scene, 1);
    hold_one(&scene.held, scene.session, ETWAS_POINT_SWITCH_CLAIMED, 0);
    (void)etwas_pool_begin_pass(pool);
    scene.held.then = 0;
    let_go(&scene.held);
    assert_int_not_equal(ck_ec32_value(&pool->words->wake), pool->words->pass_began);
    stop_session(scene.session, NULL);
    writers_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLD_TEST(a_writer_whose_new_buffer_another_takes_gets_one_more),
        HOLD_TEST(a_free_buffer_is_found_though_a_held_writer_hides_it),
        HOLD_TEST(a_new_buffer_is_found_though_the_writer_that_took_it_is_held),
        HOLD_TEST(a_writer_that_found_no_buffer_looks_again_when_its_slot_changed_meanwhile),
        HOLD_TEST(the_flusher_is_woken_when_the_full_buffer_can_be_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
