/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What one consumer of a real-time session leaves to the next, and to the accounts. */
#include <ck_pr.h>
#include <sched.h>

#include "support/flushing.h"
#include "support/hold.h"
#include "support/inside.h"

/*
 * R171: however many consumers leave in the middle of a buffer, of the backlog or of what is new,
 * together they see every event once, and in the order in which it was logged.
 */
static void consumers_that_leave_hand_over_to_the_next(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;
    uint64_t seen = 0;

    (void)state;
    log_and_flush(writer, 3000);
    for (uint64_t round = 0; round < 30; round++) {
        struct consumer consumer = {.stop_after_buffers = 1 + round % 3};

        log_and_flush(writer, 100);
        consumer_open(&consumer, session);
        log_and_flush(writer, 100);
        if (round == 29) {
            consumer.stop_after_buffers = 0;
        }
        consumer_start(&consumer);
        if (round == 29) {
            stop_session(session, &counts);
        }
        consumer_join(&consumer);
        assert_int_equal(consumer.code, round == 29 ? ERROR_SUCCESS : ERROR_CANCELLED);
        for (uint64_t index = 0; index < consumer.events; index++) {
            assert_int_equal(consumer.seen[index].number, seen + index);
        }
        assert_int_equal(consumer.wrong, 0);
        seen += consumer.events;
        consumer_free(&consumer);
    }
    assert_int_equal(seen, 9000);
    assert_int_equal(counts.recorded, 9000);
    expect_nothing_lost(counts);
    assert_int_equal(counts.realtime_buffers_lost, 0);
}

/* The account of a buffer of which a part was given is the other part. */
static void what_the_last_consumer_did_not_give_is_counted_to_the_event(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer whole = {0};
    struct consumer part = {.stop_after_buffers = 1};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&whole, session);
    consumer_open(&part, session);
    log_and_flush(writer, 1000);
    consumer_start(&part);
    consumer_join(&part);
    /* The events are not lost yet: the other consumer has them in its queue. */
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    expect_nothing_lost(counts_of(session));
    assert_int_equal(CloseTrace(whole.trace), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, part.events);
    assert_int_equal(counts.lost_undelivered, 1000 - part.events);
    expect_exact_account(session, &counts);
    consumer_free(&part);
}

/*
 * A consumer that reads the backlog had it alone: when it leaves, the next one gets it beside
 * others.
 */
static void a_backlog_left_unread_beside_another_consumer_is_kept(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer first = {.stop_after_buffers = 1};
    struct consumer other = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 2000);
    consumer_open(&first, session);
    consumer_open(&other, session);
    consumer_start(&first);
    consumer_join(&first);
    assert_true(first.events < 2000);
    consumer_open(&next, session);
    log_and_flush(writer, 500);
    consumer_start(&other);
    consumer_start(&next);
    stop_and_join(session, &counts, &other);
    consumer_join(&next);
    assert_int_equal(counts.recorded, 2500);
    assert_int_equal(other.events, 500);
    assert_int_equal(first.events + next.events, 2500);
    assert_int_equal(next.seen[0].number, first.events);
    assert_int_equal(next.backwards, 0);
    consumer_free(&first);
    consumer_free(&other);
    consumer_free(&next);
}

/*
 * A consumer that leaves returns what no other consumer has; what another consumer has still to get
 * comes once.
 */
static void what_another_consumer_has_is_not_handed_back(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer idle = {0};
    struct consumer other = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&idle, session);
    consumer_open(&other, session);
    log_and_flush(writer, 1000);
    assert_int_equal(CloseTrace(idle.trace), ERROR_SUCCESS);
    consumer_start(&other);
    consumer_wait(&other, 1000);
    assert_int_equal(CloseTrace(other.trace), ERROR_CTX_CLOSE_PENDING);
    consumer_join(&other);
    consume_to_the_end(&next, session, &counts);
    assert_int_equal(next.events, 0);
    assert_int_equal(counts.recorded, 1000);
    expect_nothing_lost(counts);
    consumer_free(&other);
    consumer_free(&next);
}

/* R174: a consumer need not read what is left when its session has ended. */
static void a_consumer_may_leave_after_the_end_without_reading(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer first = {.stop_after_buffers = 1};
    struct consumer late = {.stop_after_buffers = 2};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 5000);
    consume(&first, session);
    consumer_join(&first);
    consumer_open(&late, session);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 5000);
    consumer_start(&late);
    consumer_join(&late);
    assert_int_equal(late.code, ERROR_CANCELLED);
    assert_int_equal(late.seen[0].number, first.events);
    consumer_free(&first);
    consumer_free(&late);
}

enum {
    PASSES_BY_TIME = 3
};

/*
 * What waited in the pool for lack of a consumer goes at once: the flusher begins a pass that knows
 * of a wake. Nobody else wakes it here; the passes it begins by itself do not count as that.
 */
static void a_consumer_that_connects_wakes_the_flusher(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE};
    etwas_trace_handle session = start_session(NULL, &options);
    const struct etwas_pool *pool = inside_of(session)->buffers.pool;
    struct consumer consumer = {0};
    uint32_t before = ck_pr_load_32(&pool->words->pass_began);

    (void)state;
    consumer_open(&consumer, session);
    hold_count_from_zero();
    while (ck_pr_load_32(&pool->words->pass_began) == before) {
        assert_true(hold_passed(ETWAS_POINT_FREE_COUNTED) < PASSES_BY_TIME);
        (void)sched_yield();
    }
    hold_release_all();
    stop_session(session, NULL);
    assert_int_equal(CloseTrace(consumer.trace), ERROR_SUCCESS);
    consumer_free(&consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(consumers_that_leave_hand_over_to_the_next),
        FOLDER_TEST(what_the_last_consumer_did_not_give_is_counted_to_the_event),
        FOLDER_TEST(a_backlog_left_unread_beside_another_consumer_is_kept),
        FOLDER_TEST(what_another_consumer_has_is_not_handed_back),
        FOLDER_TEST(a_consumer_may_leave_after_the_end_without_reading),
        FOLDER_TEST(a_consumer_that_connects_wakes_the_flusher),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
