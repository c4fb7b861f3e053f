/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What looks at the invariants while the other tests run sees each of them broken. */
#include <ck_pr.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/collect.h"
#include "buffer/pool.h"
#include "buffer/valid.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 5
};

static struct etwas_session *start_with_events(etwas_trace_handle *session)
{
    const etwas_session_options options = {.flusher = {.no_thread = true}};
    struct writer *writer;

    *session = start_session(folder_path("trace.etl"), &options);
    writer = writer_new(&(struct writer_options){.session = *session, .events = EVENTS});
    stay_on_one_processor();
    while (writer_log_bytes(writer, 40) == ERROR_SUCCESS) {
    }
    leave_one_processor();
    return inside_of(*session);
}

/* Puts `wrong` where something right is, and sees that it is seen. */
static void expect_seen_64(const struct etwas_pool *pool, uint64_t *word, uint64_t wrong)
{
    uint64_t right = ck_pr_load_64(word);

    assert_true(etwas_pool_is_valid(pool));
    ck_pr_store_64(word, wrong);
    assert_false(etwas_pool_is_valid(pool));
    ck_pr_store_64(word, right);
    assert_true(etwas_pool_is_valid(pool));
}

/* I3, I4. */
static void a_pool_that_is_not_as_it_should_be_is_seen(void **state)
{
    etwas_trace_handle session;
    struct etwas_pool *pool = start_with_events(&session)->buffers.pool;
    uint64_t next = ck_pr_load_64(&pool->words->ticket);
    uint32_t current = 0;
    uint64_t owner;

    (void)state;
    while (etwas_owner_state(pool->owners[current]) != ETWAS_OWNER_HELD) {
        current++;
    }
    owner = pool->owners[current];
    expect_seen_64(pool, &pool->words->allocated, (uint64_t)pool->region_buffers + 1);
    expect_seen_64(pool, &pool->words->account_ends, pool->words->account_begins + 1);
    expect_seen_64(pool, &pool->words->accounted_recorded, 1);
    expect_seen_64(pool, &pool->owners[current], etwas_owner_as(owner, ETWAS_OWNER_FREE));
    expect_seen_64(pool, &pool->owners[current], etwas_owner_as(owner, ETWAS_OWNER_CLOSED));
    expect_seen_64(pool, &pool->owners[current], etwas_owner_as(owner, ETWAS_OWNER_PINNED));
    expect_seen_64(pool, &pool->owners[current],
                   etwas_owner(etwas_owner_ticket(owner), pool->slot_count, ETWAS_OWNER_HELD));
    expect_seen_64(pool, &pool->owners[current],
                   etwas_owner(etwas_owner_ticket(owner),
                               etwas_owner_slot(owner) == 0 && pool->slot_count > 1,
                               ETWAS_OWNER_HELD));
    expect_seen_64(pool, &pool->owners[0], etwas_owner(next, 0, ETWAS_OWNER_FREE));
    assert_true(etwas_buffer_is_owned(pool, current));
    assert_false(etwas_buffer_is_owned(pool, (uint32_t)pool->words->allocated));
    assert_true(etwas_commit_is_valid(pool, 8, 8));
    assert_false(etwas_commit_is_valid(pool, pool->buffer_bytes, 8));
    assert_false(etwas_commit_is_valid(pool, ETWAS_COMMIT_CLOSED, 8));
    stop_session(session, NULL);
}

/* I1, I2, I4. */
static void a_buffer_whose_records_are_not_as_they_should_be_is_seen(void **state)
{
    etwas_trace_handle session;
    struct etwas_session *inside = start_with_events(&session);
    struct etwas_collected collected = {.begin_units = ETWAS_FIRST_UNIT};
    struct etwas_etl_full_header *second;
    int64_t stamp;

    (void)state;
    for (uint32_t slot = 0; slot < inside->drain.collector.slot_count; slot++) {
        const struct etwas_slot *its = etwas_pool_slot(inside->buffers.pool, slot);
        uint64_t word = ck_pr_load_64(&its->word);

        if (etwas_word_buffer(word) != ETWAS_NO_BUFFER) {
            collected.buffer = etwas_word_buffer(word);
            collected.end_units = etwas_word_units(word);
            collected.newest = (int64_t)ck_pr_load_64(&its->newest);
        }
    }
    collected.records = EVENTS;
    assert_true(etwas_collected_is_valid(inside->buffers.pool, &collected));
    collected.records++;
    assert_false(etwas_collected_is_valid(inside->buffers.pool, &collected));
    collected.records = EVENTS;
    collected.end_units--;
    assert_false(etwas_collected_is_valid(inside->buffers.pool, &collected));
    collected.end_units += 2;
    assert_false(etwas_collected_is_valid(inside->buffers.pool, &collected));
    collected.end_units--;
    second = (struct etwas_etl_full_header *)(void *)(etwas_pool_buffer(inside->buffers.pool,
                                                                        collected.buffer) +
                                                      ETWAS_ETL_BUFFER_HEADER_BYTES +
                                                      (collected.end_units - ETWAS_FIRST_UNIT) *
                                                          ETWAS_UNIT_BYTES / EVENTS);
    stamp = second->time_stamp;
    second->time_stamp = 1;
    assert_false(etwas_collected_is_valid(inside->buffers.pool, &collected));
    second->time_stamp = stamp;
    assert_true(etwas_collected_is_valid(inside->buffers.pool, &collected));
    collected.newest = stamp - 1;
    assert_false(etwas_collected_is_valid(inside->buffers.pool, &collected));
    stop_session(session, NULL);
}

static void a_broken_invariant_ends_the_process(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        ETWAS_INVARIANT(false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_pool_that_is_not_as_it_should_be_is_seen),
        FOLDER_TEST(a_buffer_whose_records_are_not_as_they_should_be_is_seen),
        FOLDER_TEST(a_broken_invariant_ends_the_process),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
