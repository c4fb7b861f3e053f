/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a hostile process would need luck for (hostile_test.c): words of a session's mapping that
 * lie in the one way that matters, at the moment at which the host goes by them.
 */
#include <ck_pr.h>
#include <unistd.h>

#include "buffer/collect.h"
#include "buffer/current.h"
#include "buffer/pool_count.h"
#include "buffer/pool_join.h"
#include "buffer/retention.h"
#include "control/lifecycle.h"
#include "platform/testpoint.h"
#include "shared/guests.h"

enum {
    EVENTS = 4000,
    LOST = 5,
};

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 200};
static const etwas_session_options stream = {
    .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER, .buffer_size_kb = 4, .minimum_buffers = 40};

static void begin(struct hosted *hosted, const etwas_session_options *options)
{
    host_or_skip();
    etwas_invariants_are_broken = true;
    host_start(hosted, "forged", options == &stream ? folder_path("log.etl") : NULL, options);
}

static void end(struct hosted *hosted)
{
    etwas_session_counts counts;

    host_stop(hosted, &counts);
    etwas_invariants_are_broken = false;
}

static void log_all(const struct hosted *hosted)
{
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(hosted->session, number), ERROR_SUCCESS);
    }
}

/* Returns a session with an open window, for which buffers are pinned; the caller has the role. */
static struct etwas_session *open_window(const struct hosted *hosted)
{
    const etwas_trigger_options options = {.log_file = folder_path("window%d.etl"),
                                           .after_ms = 600000};
    struct etwas_session *session;

    assert_int_equal(etwas_trigger_arm(hosted->session, &options), ERROR_SUCCESS);
    assert_int_equal(etwas_trigger(hosted->session), ERROR_SUCCESS);
    session = host_take_role(hosted);
    while (session->drain.recorder->pin_count == 0) {
        etwas_lifecycle_release_role(session);
        (void)usleep(1000);
        session = host_take_role(hosted);
    }
    return session;
}

/*
 * There is room in a snapshot's list for what lies about its state, and for fewer buffers than are
 * pinned.
 */
static void a_pinned_buffer_that_says_it_is_not_is_listed_twice(void **state)
{
    struct hosted hosted;
    struct etwas_session *session;
    uint64_t allocated;

    (void)state;
    begin(&hosted, &recorder);
    log_all(&hosted);
    session = open_window(&hosted);
    for (uint32_t index = 0; index < session->drain.recorder->pin_count; index++) {
        const struct etwas_pin *pin = &session->drain.recorder->pins[index];

        ck_pr_store_64(&session->buffers.pool->owners[pin->buffer], pin->owner);
    }
    etwas_lifecycle_release_role(session);
    allocated = ck_pr_load_64(&session->buffers.pool->words->allocated);
    assert_int_equal(etwas_snapshot(hosted.session, folder_path("log.etl")), ERROR_SUCCESS);
    ck_pr_store_64(&session->buffers.pool->words->allocated, 1);
    assert_int_equal(etwas_snapshot(hosted.session, folder_path("log.etl")), ERROR_SUCCESS);
    ck_pr_store_64(&session->buffers.pool->words->allocated, allocated);
    end(&hosted);
}

/* The slot with the most in it: the one of the processor that logged. */
static uint32_t find_slot(const struct etwas_pool *pool, struct etwas_chain *chain)
{
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        if (etwas_chain_begin(pool, slot, chain)) {
            return slot;
        }
    }
    fail_msg("nothing was logged");
    return 0;
}

static void a_chain_that_is_a_ring_has_an_end(void **state)
{
    struct hosted hosted;
    struct etwas_session *session;
    struct etwas_buffer_link *link;
    struct etwas_chain chain;
    uint32_t slot;

    (void)state;
    begin(&hosted, &recorder);
    log_all(&hosted);
    session = host_take_role(&hosted);
    slot = find_slot(session->buffers.pool, &chain);
    link = &session->buffers.pool->buffers[chain.buffer].link;
    ck_pr_store_64(&link->previous_owner, chain.owner);
    ck_pr_store_32(&link->previous, chain.buffer);
    assert_true(etwas_chain_begin(session->buffers.pool, slot, &chain));
    assert_int_equal(chain.previous, chain.buffer);
    while (etwas_chain_back(session->buffers.pool, &chain)) {
        assert_true(chain.left < session->buffers.pool->region_buffers);
    }
    etwas_lifecycle_release_role(session);
    end(&hosted);
}

static uint64_t recorded_in(const struct etwas_pool *pool)
{
    struct etwas_pool_counts counts;

    etwas_pool_count(pool, &counts);
    return counts.recorded;
}

/* What lies in it will be in no file; nobody else gets it. */
static void a_quarantined_slot_counts_nothing_and_is_no_guests(void **state)
{
    struct hosted hosted;
    struct etwas_session *session;
    struct etwas_pool *pool;
    uint32_t number;
    uint32_t other;
    uint32_t slot;

    (void)state;
    begin(&hosted, &stream);
    number = host_take_slot(&hosted);
    session = host_take_role(&hosted);
    pool = session->buffers.pool;
    slot = pool->slot_count - pool->guest_slots + number;
    ck_pr_store_64(&pool->owners[0], etwas_owner(1, slot, ETWAS_OWNER_HELD));
    ck_pr_store_64(&pool->buffers[0].commit, LOST * ETWAS_COMMIT_ONE_RECORD);
    assert_int_equal(recorded_in(pool), LOST);
    ck_pr_store_64(&etwas_pool_slot(pool, slot)->word,
                   etwas_slot_word(1, pool->region_buffers, ETWAS_FIRST_UNIT + 1));
    etwas_collector_gather(&session->drain.collector, slot, ETWAS_COLLECT_FULL);
    assert_true(etwas_pool_is_quarantined(pool, slot));
    assert_int_equal(recorded_in(pool), 0);
    etwas_lifecycle_release_role(session);

    host_reap(&hosted, number);
    other = host_take_slot(&hosted);
    assert_int_not_equal(other, number);
    host_reap(&hosted, other);
    end(&hosted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_pinned_buffer_that_says_it_is_not_is_listed_twice),
        FOLDER_TEST(a_chain_that_is_a_ring_has_an_end),
        FOLDER_TEST(a_quarantined_slot_counts_nothing_and_is_no_guests),
    };

    return cmocka_run_group_tests_name("a forged mapping", tests, hosts_setup, hosts_teardown);
}
