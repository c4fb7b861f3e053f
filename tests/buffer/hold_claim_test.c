/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A writer held while it claims a buffer: whoever else needs one finds what there is, and the
 * flusher is woken in time. No event is lost while a buffer is free, or can be had.
 */
#include "held.h"

/* What the flusher's pass does for the writers: it offers what nobody holds. */
static void offer_what_is_free(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    (void)pthread_mutex_lock(&inside->role);
    etwas_pool_mend_free_set(inside->pool);
    (void)pthread_mutex_unlock(&inside->role);
}

static void a_writer_whose_new_buffer_another_takes_gets_one_more(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;
    uint64_t allocated;

    (void)state;
    hold_one(&held, session, ETWAS_POINT_SWITCH_GREW, 10);
    allocated = counts_of(session).buffers_allocated;
    offer_what_is_free(session);
    /* Two buffers' worth: into the offered one, and through it. */
    for (int number = 0; number < 6; number++) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    assert_int_equal(counts_of(session).buffers_free, 0);
    assert_int_equal(counts_of(session).buffers_allocated, allocated + 1);
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The writer has taken the bit of the last free buffer, and nothing else. */
static void a_free_buffer_is_found_though_a_held_writer_hides_it(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;

    (void)state;
    while (counts_of(session).buffers_free > 1) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    hold_one(&held, session, ETWAS_POINT_SWITCH_FOUND_FREE, 0);
    while (counts_of(session).buffers_free != 0) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    held.then = 0;
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The writer has brought the last buffer into use, and does not hold it yet. */
static void a_new_buffer_is_found_though_the_writer_that_took_it_is_held(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    etwas_session_counts counts = counts_of(session);
    struct writer *other;
    struct held held;

    (void)state;
    stop_session(session, NULL);
    options.maximum_buffers = (uint32_t)counts.buffers_allocated + 1;
    session = start_shared_session(path, &options);
    other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    hold_one(&held, session, ETWAS_POINT_SWITCH_GREW, 0);
    assert_int_equal(counts_of(session).buffers_allocated, options.maximum_buffers);
    assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).buffers_free, 0);
    held.then = 0;
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The session is at its maximum, and nothing is free when it looks. */
static void a_writer_that_found_no_buffer_looks_again_when_its_slot_changed_meanwhile(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;

    (void)state;
    hold_one(&held, session, ETWAS_POINT_SWITCH_FOUND_NONE, 10);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* Few are free. The flusher's pass comes after the claim: too early for the buffer that is full. */
static void the_flusher_is_woken_when_the_full_buffer_can_be_collected(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    struct etwas_pool *pool = inside_of(session)->pool;
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    struct held held;

    (void)state;
    while (counts_of(session).buffers_free > 1) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    hold_one(&held, session, ETWAS_POINT_SWITCH_CLAIMED, 0);
    (void)etwas_pool_begin_pass(pool);
    held.then = 0;
    let_go(&held);
    assert_int_not_equal(ck_ec32_value(&pool->wake), pool->pass_began);
    stop_session(session, NULL);
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
