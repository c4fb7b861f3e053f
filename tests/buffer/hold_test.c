/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A writer held between any two steps of the shared protocol: nobody waits for it (I5), a stop gets
 * along without it (I6), and every event is accounted for when it goes on (I4).
 */
#include "held.h"
#include "support/inside.h"

enum {
    MANY = 5000
};

/* ---- nobody waits ---------------------------------------------------------------------------- */

static void a_writer_held_at_any_point_delays_nobody_and_loses_nothing(void **state)
{
    (void)state;
    etwas_drain_timeout_ns = NEVER_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = held_points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 4096};
        etwas_trace_handle session = start_shared_session(path, &options);
        etwas_session_counts counts;
        struct writers writers;
        struct held held;

        hold_one(&held, session, point, held_befores[turn % WAYS]);
        writers_start(&writers, 2,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = MANY,
                                               .largest_payload = 100});
        writers_join(&writers); /* returns only if nobody waits */
        assert_int_equal(writers_totals(session).lost, 0);
        let_go(&held);
        assert_int_equal(held.last_code, ERROR_SUCCESS);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(counts.recorded, writers_totals(session).attempted);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* What the last events of a stopped session may have become. */
static bool is_last_code(enum etwas_testpoint point, uint32_t code)
{
    return code == (has_reserved(point) ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_HANDLE);
}

static void a_stop_returns_while_a_writer_is_held_and_counts_it_when_it_goes_on(void **state)
{
    (void)state;
    etwas_drain_timeout_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = held_points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 64};
        etwas_trace_handle session = start_shared_session(path, &options);
        struct writer *other = short_writer(session);
        struct etwas_session *inside = inside_of(session);
        struct etwas_pool *pool = inside->buffers.pool;
        etwas_session_counts counts;
        struct readback result;
        struct held held;

        hold_one(&held, session, point, held_befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        /* Past the gate a writer keeps the pool alive; before it there is nothing to keep. */
        if (has_reserved(point) || is_on_slow_path(point)) {
            assert_ptr_equal(inside->buffers.pool, pool);
        } else {
            assert_null(inside->buffers.pool);
        }
        assert_int_equal(writer_log_bytes(other, 8), ERROR_INVALID_HANDLE);
        let_go(&held);
        assert_true(is_last_code(point, held.last_code));
        assert_int_equal(held.writer->refused,
                         LATER + (held.last_code == ERROR_INVALID_HANDLE ? 1 : 0));
        counts = counts_of(session);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.events, counts.recorded);
        writers_forget();
    }
}

/* The place the next session will get: the one longest unused. */
static const struct etwas_session *next_place(void)
{
    const struct etwas_session *next = NULL;

    etwas_control_lock();
    for (int index = 0; index < ETWAS_SESSIONS; index++) {
        const struct etwas_session *place = &etwas_sessions[index];

        if (place->entry.state == ETWAS_SESSION_FREE &&
            (next == NULL || place->entry.freed_at < next->entry.freed_at)) {
            next = place;
        }
    }
    etwas_control_unlock();
    return next;
}

/* Sessions come and go until the next one gets this place. */
static etwas_trace_handle start_in_place(const struct etwas_session *place, const char *path)
{
    const etwas_session_options passing = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4};
    const etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 8, .clock = 2};
    etwas_trace_handle session;

    for (int attempt = 0; attempt < ETWAS_SESSIONS && next_place() != place; attempt++) {
        stop_session(start_shared_session(NULL, &passing), NULL);
    }
    session = start_shared_session(path, &options);
    assert_ptr_equal(inside_of(session), place);
    return session;
}

static void a_held_writer_does_not_touch_a_session_started_later_in_the_same_place(void **state)
{
    (void)state;
    etwas_drain_timeout_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = held_points[turn / WAYS];
        const char *later_path = folder_path("later.etl");
        etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
        struct etwas_session *place = inside_of(session);
        etwas_session_counts counts;
        etwas_trace_handle later;
        struct writer *writer;
        struct held held;

        hold_one(&held, session, point, held_befores[turn % WAYS]);
        stop_session(session, NULL);
        later = start_in_place(place, later_path);
        writer = writer_new(&(struct writer_options){
            .session = later, .class_handle = writer_class(), .events = 1000});
        /*
         * As far as the held writer saw the old one: but for its epoch the slot's word is the same.
         */
        for (uint32_t number = 0; number < held.before; number++) {
            assert_int_equal(writer_log_bytes(writer, 40), ERROR_SUCCESS);
        }
        let_go(&held);
        assert_true(is_last_code(point, held.last_code));
        for (int number = 0; number < LATER; number++) {
            assert_int_equal(writer_log_bytes(writer, 50), ERROR_SUCCESS);
        }
        stop_session(later, &counts);
        assert_int_equal(counts.recorded, held.before + LATER);
        expect_nothing_lost(counts);
        expect_file_is_exact(later, later_path, &counts);
        writers_forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLD_TEST(a_writer_held_at_any_point_delays_nobody_and_loses_nothing),
        HOLD_TEST(a_stop_returns_while_a_writer_is_held_and_counts_it_when_it_goes_on),
        HOLD_TEST(a_held_writer_does_not_touch_a_session_started_later_in_the_same_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
