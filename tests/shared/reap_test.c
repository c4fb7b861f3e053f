/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * REAP: a guest whose thread runs no sequences, and is killed between any two instructions, leaves
 * its slot so that all it was told is recorded is there, nothing is counted twice or not at all,
 * and each buffer comes back.
 *
 * The guest is traced step by step. Before each instruction the pool is copied and the copy is
 * reaped, as if the process had died there; the host's role is held meanwhile, so that nobody else
 * changes the pool.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/pool_free.h"
#include "buffer/pool_join.h"
#include "buffer/record_walk.h"
#include "control/lifecycle.h"
#include "shared/guests.h"
#include "support/hold.h"
#include "support/step.h"

enum {
    UNTRACED = 77,
    EVENTS = 6, /* that are traced */
    MOST_BUFFERS = 8,
    BUFFER_KB = 4,
    RECORD_BYTES = 56,
    RECORDS = (BUFFER_KB * 1024 - 72) / RECORD_BYTES, /* in a buffer */
};

/* ---- a copy of the pool, and what is reaped of it -------------------------------------------- */

struct post_mortem {
    struct guest_board *board;
    const struct etwas_session *session;
    uint32_t number; /* of the guest's slot */
    struct etwas_pool pool;
    struct etwas_collector_list *lists;
    struct etwas_collector_buffer *entries;
    uint64_t looks;
    uint64_t unfinished;  /* of them found a record that its writer had reserved, and no more */
    uint64_t uncommitted; /* or found one that was whole, and not told */
};

static void copy_pool(struct post_mortem *dead)
{
    const struct etwas_pool *from = dead->session->buffers.pool;
    uint8_t *region = dead->pool.memory.region;
    struct etwas_pool_words *words = dead->pool.words;
    size_t region_bytes = ck_pr_load_64(&from->words->allocated) * from->buffer_bytes;

    memcpy(words, from->words, from->layout.bytes);
    memcpy(region, from->memory.region, region_bytes);
    dead->pool = *from;
    etwas_pool_set_pointers(&dead->pool, words);
    dead->pool.memory.region = region;
    memcpy(dead->lists, dead->session->drain.collector.lists,
           dead->session->drain.collector.slot_count * sizeof *dead->lists);
    memcpy(dead->entries, dead->session->drain.collector.entries,
           from->region_buffers * sizeof *dead->entries);
}

static void begin_post_mortem(struct post_mortem *dead, const struct etwas_session *session)
{
    const struct etwas_pool *pool = session->buffers.pool;

    dead->session = session;
    dead->pool.words = etwas_memory_allocate_permanent(pool->layout.bytes);
    dead->pool.memory.region =
        etwas_memory_allocate_permanent((size_t)pool->region_buffers * pool->buffer_bytes);
    dead->lists = calloc(session->drain.collector.slot_count, sizeof *dead->lists);
    dead->entries = calloc(pool->region_buffers, sizeof *dead->entries);
    assert_non_null(dead->pool.words);
    assert_non_null(dead->pool.memory.region);
    assert_non_null(dead->lists);
    assert_non_null(dead->entries);
}

static void end_post_mortem(struct post_mortem *dead)
{
    (void)munmap(dead->pool.memory.region,
                 (size_t)dead->pool.region_buffers * dead->pool.buffer_bytes);
    (void)munmap(dead->pool.words, dead->pool.layout.bytes);
    free(dead->lists);
    free(dead->entries);
}

/* The numbers in what was collected are the next ones. */
static void expect_numbers(const struct etwas_pool *pool, const struct etwas_collected *collected,
                           uint64_t *next)
{
    const uint8_t *record = etwas_pool_buffer(pool, collected->buffer) +
                            (size_t)collected->begin_units * ETWAS_UNIT_BYTES;

    for (uint32_t index = 0; index < collected->records; index++) {
        uint64_t number;

        memcpy(&number, record + sizeof(struct etwas_etl_full_header), sizeof number);
        assert_int_equal((uint32_t)number, *next);
        ++*next;
        record +=
            (size_t)etwas_record_units(record, etwas_record_marker(record)) * ETWAS_UNIT_BYTES;
    }
}

/* Collects all that the slot has, with a timeout of 0. Each buffer is free afterwards. */
static uint64_t collect_all(struct etwas_collector *collector, uint32_t slot)
{
    struct etwas_collected collected;
    struct etwas_pool_counts counts;
    uint64_t next = 0;

    etwas_collector_gather(collector, slot, ETWAS_COLLECT_SHUT);
    while (etwas_collector_pop(collector, slot, UINT64_MAX, &collected)) {
        assert_false(collected.abandoned);
        expect_numbers(collector->pool, &collected, &next);
        etwas_collector_account(collector, &collected, ETWAS_DISPOSITION_WRITTEN);
    }
    assert_false(etwas_collector_has_pending(collector));
    etwas_pool_count(collector->pool, &counts);
    assert_int_equal(counts.free, counts.allocated);
    assert_int_equal(counts.recorded, next);
    return next;
}

/* What came before it was taken out and put back where the reaper has to see to it. */
static void note_what_is_left(struct post_mortem *dead, uint32_t slot)
{
    uint64_t word = ck_pr_load_64(&etwas_pool_slot(&dead->pool, slot)->word);
    uint32_t buffer = etwas_word_buffer(word);
    const struct etwas_buffer_control *control;

    if (buffer == ETWAS_NO_BUFFER) {
        return;
    }
    control = &dead->pool.buffers[buffer];
    dead->unfinished += etwas_commit_bytes(control->commit) <
                        (etwas_word_units(word) - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
}

static bool look(void *context, const struct step_moment *moment)
{
    struct post_mortem *dead = context;
    const struct guest_tally *tally = &dead->board->lives[0].threads[1];
    struct etwas_collector collector = {
        .pool = &dead->pool, .lists = dead->lists, .entries = dead->entries};
    struct etwas_pool_counts counts;
    uint32_t slot;
    uint64_t found;

    (void)moment;
    copy_pool(dead);
    collector.slot_count = dead->pool.slot_count;
    slot = dead->pool.rseq_slots + 1 + dead->number;
    note_what_is_left(dead, slot);
    etwas_guest_slot_died(&dead->pool, dead->number);
    etwas_collector_reap(&collector);
    etwas_pool_count(&dead->pool, &counts);
    assert_in_range(counts.recorded, tally->recorded, tally->attempted - tally->lost);
    assert_in_range(counts.lost[ETWAS_SLOT_NO_BUFFER], tally->lost,
                    tally->attempted - tally->recorded);
    assert_int_equal(counts.accounted[ETWAS_DISPOSITION_ABANDONED], 0);
    found = collect_all(&collector, slot);
    assert_int_equal(found, counts.recorded);
    assert_int_equal(etwas_pool_slot(&dead->pool, slot)->slow_writers, 0);
    dead->uncommitted += found > tally->recorded;
    dead->looks++;
    return true;
}

/* ---- the guest ------------------------------------------------------------------------------- */

static void be_traced(const struct hosted *hosted, struct guest_board *board, uint32_t number,
                      uint32_t before)
{
    struct etwas_shared_guest guest;
    etwas_trace_handle session = guest_join(hosted->descriptor, number, &guest);

    guest_unregister();
    for (uint32_t event = 0; event < before; event++) {
        CHECK_IN_CHILD(guest_attempt(session, board, 0, 1) == ERROR_SUCCESS);
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(UNTRACED);
    }
    (void)raise(SIGSTOP);
    for (uint32_t event = 0; event < EVENTS; event++) {
        guest_attempt(session, board, 0, 1);
    }
    (void)raise(SIGSTOP);
    _exit(0);
}

static void step_through(struct post_mortem *dead, const struct hosted *hosted, uint32_t before)
{
    int status;
    int child = fork_child();

    if (child == 0) {
        be_traced(hosted, dead->board, dead->number, before);
    }
    if (!step_await(child, UNTRACED)) {
        print_message("skipped: a process may not be traced\n");
        skip();
    }
    status = step_each(child, look, dead);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

/* So many events are there before. The host's role is held but for the end. */
static void reap_at_each_step(uint32_t mode, const char *file, uint32_t before, uint64_t *lost)
{
    const etwas_session_options options = {.buffer_size_kb = BUFFER_KB,
                                           .minimum_buffers =
                                               mode == 0 ? MOST_BUFFERS / 2 : MOST_BUFFERS,
                                           .maximum_buffers = MOST_BUFFERS,
                                           .log_file_mode = mode};
    struct post_mortem dead = {.board = guest_board_new()};
    const struct guest_tally *tally = &dead.board->lives[0].threads[1];
    etwas_session_counts counts;
    struct etwas_session *session;
    struct hosted hosted;

    host_start(&hosted, "host", file, &options);
    dead.number = host_take_slot(&hosted);
    session = host_take_role(&hosted);
    begin_post_mortem(&dead, session);
    step_through(&dead, &hosted, before);
    end_post_mortem(&dead);
    etwas_guest_slot_died(session->buffers.pool, dead.number);
    etwas_collector_reap(&session->drain.collector);
    etwas_lifecycle_release_role(session);
    host_stop(&hosted, &counts);
    /* A recorder's flusher may have freed some for another guest. */
    assert_int_equal(counts.recorded + counts.overwritten, tally->recorded);
    assert_int_equal(counts.lost_no_buffer, tally->lost);
    assert_true(dead.looks > EVENTS);
    assert_true(dead.unfinished != 0 || tally->lost != 0);
    assert_true(dead.uncommitted != 0 || tally->lost != 0);
    *lost = tally->lost;
    guest_board_free(dead.board);
}

/* Its first buffer; from one to the next; and when there is none left. */
static void reap_before_each_instruction(uint32_t mode, const char *file)
{
    uint64_t lost;

    host_or_skip();
    reap_at_each_step(mode, file, 0, &lost);
    assert_int_equal(lost, 0);
    reap_at_each_step(mode, file, RECORDS - EVENTS / 2, &lost);
    assert_int_equal(lost, 0);
    reap_at_each_step(mode, file, MOST_BUFFERS * RECORDS - EVENTS / 2, &lost);
    assert_int_equal(lost, EVENTS / 2);
}

static void a_guest_dies_anywhere_in_a_session_with_a_file(void **state)
{
    (void)state;
    reap_before_each_instruction(0, folder_path("log.etl"));
}

static void a_guest_dies_anywhere_in_a_recorder(void **state)
{
    (void)state;
    reap_before_each_instruction(EVENT_TRACE_BUFFERING_MODE, NULL);
}

/* ---- holes ----------------------------------------------------------------------------------- */

struct holder {
    etwas_trace_handle session;
    struct guest_board *board;
};

/* Reserves its record, and never goes on. */
static void *reserve_only(void *context)
{
    const struct holder *holder = context;

    guest_unregister();
    hold_me(ETWAS_POINT_RESERVED);
    (void)guest_attempt(holder->session, holder->board, 0, 2);
    return NULL;
}

/* A hole at the beginning of its first buffer, and so many events of another thread behind it. */
static void die_with_a_hole(const struct hosted *hosted, struct guest_board *board, uint32_t number,
                            uint32_t behind)
{
    static struct holder holder;
    struct etwas_shared_guest guest;
    pthread_t thread;

    holder = (struct holder){guest_join(hosted->descriptor, number, &guest), board};
    CHECK_IN_CHILD(pthread_create(&thread, NULL, reserve_only, &holder) == 0);
    hold_wait();
    guest_unregister();
    guest_log(holder.session, board, 0, 1, behind);
    (void)kill(getpid(), SIGKILL);
}

/* As if the writer had died even before it said how long its record would be. */
static void forget_its_length(const struct etwas_pool *pool)
{
    const uint32_t units = (uint32_t)etwas_etl_round_up_8(RECORD_BYTES) / ETWAS_UNIT_BYTES;

    for (uint32_t buffer = 0; buffer < MOST_BUFFERS; buffer++) {
        uint32_t *marker =
            (uint32_t *)(void *)(etwas_pool_buffer(pool, buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES);

        if (*marker == units) {
            *marker = 0;
            return;
        }
    }
    fail();
}

static void expect_what_is_behind_a_hole(uint32_t behind, bool is_said)
{
    const etwas_session_options options = {.buffer_size_kb = BUFFER_KB,
                                           .minimum_buffers = MOST_BUFFERS,
                                           .maximum_buffers = MOST_BUFFERS};
    struct guest_board *board = guest_board_new();
    etwas_session_counts counts;
    struct etwas_session *session;
    struct hosted hosted;
    uint32_t number;
    int status;
    int child;

    host_start(&hosted, "host", folder_path("log.etl"), &options);
    number = host_take_slot(&hosted);
    session = host_take_role(&hosted);
    child = fork_child();
    if (child == 0) {
        die_with_a_hole(&hosted, board, number, behind);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (!is_said) {
        forget_its_length(session->buffers.pool);
    }
    etwas_guest_slot_died(session->buffers.pool, number);
    etwas_collector_reap(&session->drain.collector);
    etwas_lifecycle_release_role(session);
    host_stop(&hosted, &counts);
    assert_int_equal(counts.recorded, behind);
    assert_int_equal(guest_expect_file(folder_path("log.etl"), board, 1, false, 0), behind);
    guest_board_free(board);
}

/* So much that all but the one with the hole have been overwritten. */
static void a_hole_may_be_forgotten_by_a_recorder(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = BUFFER_KB,
                                           .minimum_buffers = MOST_BUFFERS};
    struct guest_board *board = guest_board_new();
    etwas_session_counts counts;
    struct guest_sum sum;
    struct hosted hosted;
    uint32_t number;
    int status;
    int child;

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", NULL, &options);
    number = host_take_slot(&hosted);
    child = fork_child();
    if (child == 0) {
        die_with_a_hole(&hosted, board, number, 4 * MOST_BUFFERS * RECORDS);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    host_reap(&hosted, number);
    host_expect_none_leaked(&hosted);
    host_stop(&hosted, &counts);
    sum = guest_sum(board, 1);
    assert_int_equal(counts.recorded + counts.overwritten, sum.recorded);
    assert_int_equal(counts.lost_no_buffer, sum.lost);
    guest_board_free(board);
}

static void what_is_behind_a_hole_is_there(void **state)
{
    (void)state;
    host_or_skip();
    for (int is_said = 0; is_said < 2; is_said++) {
        expect_what_is_behind_a_hole(RECORDS / 2, is_said != 0);
        expect_what_is_behind_a_hole(2 * RECORDS + RECORDS / 2, is_said != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_guest_dies_anywhere_in_a_session_with_a_file),
        FOLDER_TEST(a_guest_dies_anywhere_in_a_recorder),
        FOLDER_TEST(what_is_behind_a_hole_is_there),
        FOLDER_TEST(a_hole_may_be_forgotten_by_a_recorder),
    };

    return cmocka_run_group_tests_name("reaping guests", tests, hosts_setup, hosts_teardown);
}
