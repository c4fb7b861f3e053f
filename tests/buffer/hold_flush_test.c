/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flush while a writer is held: it takes what is whole, waits no longer than its timeout, and
 * harms nobody else.
 */
#include <sched.h>
#include <setjmp.h>
#include <unistd.h>

#include "held.h"
#include "support/inside.h"

enum {
    HOLES = 5,
};

static struct etwas_drain_result drain(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);
    struct etwas_drain_result result;

    (void)pthread_mutex_lock(&inside->drain.role);
    result = etwas_drain(inside, ETWAS_COLLECT_FULL);
    (void)pthread_mutex_unlock(&inside->drain.role);
    return result;
}

/* Its commit wakes nobody: the flusher has to know that it should look again soon. */
static void a_pass_tells_that_full_buffers_wait_for_a_held_writer(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = short_writer(session);
    struct etwas_drain_result result;
    etwas_session_counts counts;
    struct held held;

    (void)state;
    etwas_drain_timeout_ns = NEVER_NS;
    hold_one(&held, session, ETWAS_POINT_RESERVED, 1);
    assert_false(drain(session).waits);
    for (int number = 0; number < 9; number++) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    result = drain(session);
    assert_int_equal(result.buffers, 0);
    assert_true(result.waits);
    let_go(&held);
    result = drain(session);
    assert_true(result.buffers >= 2);
    assert_false(result.waits);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

struct fate {
    enum etwas_testpoint point;
    uint32_t held_in_file; /* the held event is in the file: its marker was stored */
    uint32_t after_lost;   /* events of the same buffer behind it */
    uint32_t code;         /* what its writer is told */
};

static const struct fate fates[] = {
    {ETWAS_POINT_RESERVED, 0, AFTER, ERROR_NOT_ENOUGH_MEMORY},
    {ETWAS_POINT_WRITTEN, 0, AFTER, ERROR_NOT_ENOUGH_MEMORY},
    /* Whole, and the records behind it too; only the count came too late. */
    {ETWAS_POINT_MARKED, 1, 0, ERROR_NOT_ENOUGH_MEMORY},
};

static void a_flush_gives_up_on_a_held_writer_and_takes_what_is_whole_before_the_hole(void **state)
{
    (void)state;
    etwas_drain_timeout_ns = SOON_NS;
    for (size_t turn = 0; turn < WAYS * sizeof fates / sizeof fates[0]; turn++) {
        const struct fate *fate = &fates[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.maximum_buffers = 8, .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_shared_session(path, &options);
        struct writer *other = short_writer(session);
        etwas_session_counts counts;
        struct readback result;
        struct held held;

        hold_one(&held, session, fate->point, held_befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_written, 2);
        assert_int_equal(counts.recorded,
                         held.before + fate->held_in_file + AFTER - fate->after_lost);
        /* The buffer is kept aside until its writer is through. */
        assert_int_equal(counts.buffers_allocated - counts.buffers_free, 1);

        let_go(&held);
        assert_int_equal(held.writer->events[held.last].result,
                         fate->code == ERROR_SUCCESS ? WRITER_RECORDED : WRITER_LOST);
        assert_int_equal(held.last_code, fate->code);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_free, counts.buffers_allocated);
        assert_int_equal(counts.lost, 1 - fate->held_in_file + fate->after_lost);
        assert_int_equal(counts.lost_abandoned, counts.lost);
        expect_exact_account(session, &counts);

        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.missing, fate->after_lost);
        assert_int_equal(result.unexpected, fate->held_in_file);
        assert_int_equal(result.events_lost, counts.lost);
        writers_forget();
    }
}

/* ---- jumps out of calls ---------------------------------------------------------------------- */

static sigjmp_buf out;
static bool jumps;

static void jump_out(enum etwas_testpoint point)
{
    if (jumps && point == ETWAS_POINT_RESERVED) {
        jumps = false;
        siglongjmp(out, 1);
    }
}

/* Fills buffer after buffer of one slot, and in each leaves an event that nobody will finish. */
static void leave_holes(struct writer *writer)
{
    for (volatile uint32_t hole = 0; hole < HOLES; hole++) {
        if (sigsetjmp(out, 0) == 0) {
            jumps = true;
            (void)writer_log_bytes(writer, 1000);
        }
        for (uint32_t number = 0; number < 4; number++) {
            assert_int_equal(writer_log_bytes(writer, 1000), ERROR_SUCCESS);
        }
    }
}

/* One timeout is for all of them: when a flush returns, it waits for none any more. */
static void a_flush_gives_up_on_all_that_do_not_come_out_of_their_calls_together(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher.no_thread = true};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    struct writer *writer = short_writer(session);
    etwas_session_counts counts;

    (void)state;
    etwas_drain_timeout_ns = SOON_NS;
    etwas_testpoint_set(jump_out);
    leave_holes(writer);
    etwas_testpoint_set(NULL);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    counts = counts_of(session);
    assert_int_equal(counts.recorded + counts.lost_abandoned, 4 * HOLES);
    assert_true(counts.lost_abandoned >= HOLES);
    assert_false(drain(session).waits);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.lost, 4 * HOLES);
    writers_forget();
}

/*
 * Held on the slow path it owes no record: all that is recorded is written, and it goes on as if
 * nothing was.
 */
static void a_flush_does_not_lose_anything_to_a_writer_held_while_it_changes_buffers(void **state)
{
    (void)state;
    etwas_drain_timeout_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = held_points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
        etwas_trace_handle session;
        etwas_session_counts counts;
        struct writer *other;
        struct held held;

        if (has_reserved(point)) {
            continue;
        }
        session = start_shared_session(path, &options);
        other = short_writer(session);
        hold_one(&held, session, point, held_befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.recorded, held.last + AFTER);
        let_go(&held);
        assert_int_equal(held.last_code, ERROR_SUCCESS);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

static void *flush_main(void *session)
{
    return etwas_flush(*(etwas_trace_handle *)session) == ERROR_SUCCESS ? session : NULL;
}

/* False on a machine, or in a group, of one processor. */
static bool move_to_another_processor(int here)
{
    cpu_set_t set;

    leave_one_processor();
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return false;
    }
    CPU_CLR((unsigned)here, &set);
    return CPU_COUNT(&set) != 0 && sched_setaffinity(0, sizeof set, &set) == 0;
}

/*
 * Only the flush drains this session, and it waits for a held writer: were the other processor's
 * buffers not collected meanwhile, its writer would never get many times the pool recorded.
 */
static void a_flush_that_waits_for_a_held_writer_drains_the_other_processors(void **state)
{
    enum {
        ENOUGH = 2000,
        PAYLOAD = 1000
    };
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    int here = sched_getcpu();
    etwas_session_counts counts;
    struct writer *other;
    struct held held;
    pthread_t thread;
    void *flushed;

    (void)state;
    etwas_drain_timeout_ns = NEVER_NS;
    hold_one(&held, session, ETWAS_POINT_RESERVED, 1);
    if (!move_to_another_processor(here)) {
        let_go(&held);
        stop_session(session, NULL);
        print_message("skipped: there are no two processors\n");
        skip();
    }
    other = writer_new(&(struct writer_options){.session = session, .largest_payload = PAYLOAD});
    assert_int_equal(pthread_create(&thread, NULL, flush_main, &session), 0);
    while (other->recorded < ENOUGH && other->attempted < other->options.events) {
        if (writer_log_bytes(other, PAYLOAD) != ERROR_SUCCESS) {
            (void)usleep(100);
        }
    }
    assert_int_equal(other->recorded, ENOUGH);
    let_go(&held);
    assert_int_equal(pthread_join(thread, &flushed), 0);
    assert_ptr_equal(flushed, &session);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLD_TEST(a_pass_tells_that_full_buffers_wait_for_a_held_writer),
        HOLD_TEST(a_flush_gives_up_on_all_that_do_not_come_out_of_their_calls_together),
        HOLD_TEST(a_flush_gives_up_on_a_held_writer_and_takes_what_is_whole_before_the_hole),
        HOLD_TEST(a_flush_does_not_lose_anything_to_a_writer_held_while_it_changes_buffers),
        HOLD_TEST(a_flush_that_waits_for_a_held_writer_drains_the_other_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
