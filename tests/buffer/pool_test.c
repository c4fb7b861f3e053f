/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The words of a slot, and the pool by itself: which slot owns which buffer (I3), and when the
 * flusher is woken.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "buffer/pool.h"
#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/pool_free.h"
#include "buffer/slot.h"
#include "platform/wait.h"
#include "support/hold.h"
#include "support/start.h"

enum {
    BUFFER_BYTES = 4096,
    SLOTS = 2
};

static void a_slot_word_packs_count_buffer_and_units(void **state)
{
    static const struct {
        uint64_t count;
        uint32_t buffer;
        uint32_t units;
        uint64_t word;
    } rows[] = {
        {0, 0, 0, 0},
        {1, 2, 9, UINT64_C(0x0000010000800009)},
        {0, 0, 512, 512},
        {0, 1, 9, UINT64_C(0x0000000000400009)},
        {1, 0, 0, UINT64_C(0x0000010000000000)},
        {0xFFFFFF, 0x3FFFF, 0x3FFFFF, UINT64_MAX},
        {0xABCDEF, ETWAS_POOL_MAXIMUM_BUFFERS, 2097152, UINT64_C(0xABCDEFFFFFA00000)},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        uint64_t word = etwas_slot_word(rows[index].count, rows[index].buffer, rows[index].units);

        assert_true(word == rows[index].word);
        assert_int_equal(etwas_word_count(word), rows[index].count);
        assert_int_equal(etwas_word_buffer(word), rows[index].buffer);
        assert_int_equal(etwas_word_units(word), rows[index].units);
        /* Whatever takes its place has another count; an empty word has no buffer and no room. */
        assert_int_equal(etwas_word_count(etwas_word_next(word, 7, 9)),
                         ((rows[index].count + 1) & 0xFFFFFF) | 0x800000);
        assert_int_equal(etwas_word_buffer(etwas_word_next(word, 7, 9)), 7);
        assert_int_equal(etwas_word_buffer(etwas_word_empty(word)), ETWAS_NO_BUFFER);
        assert_true(etwas_word_units(etwas_word_empty(word)) >= (16u << 20) / ETWAS_UNIT_BYTES);
        assert_true(etwas_word_empty(word) != word);
        /* No word of a shared slot is one of a slot with sequences. */
        assert_true(etwas_word_next(word, 7, 9) >> 63 == 1);
        assert_true(etwas_word_none() >> 63 == 0);
    }
}

static struct etwas_pool *pool_of(uint32_t minimum, uint32_t maximum)
{
    struct etwas_pool *pool = etwas_pool_create(&(struct etwas_pool_options){
        .buffer_bytes = BUFFER_BYTES,
        .minimum_buffers = minimum,
        .maximum_buffers = maximum,
        .slots = SLOTS,
    });

    assert_non_null(pool);
    return pool;
}

static bool is_zero_behind_header(const struct etwas_pool *pool, uint32_t buffer)
{
    const uint8_t *start = etwas_pool_buffer(pool, buffer);

    for (uint32_t at = ETWAS_ETL_BUFFER_HEADER_BYTES; at < BUFFER_BYTES; at++) {
        if (start[at] != 0) {
            return false;
        }
    }
    return true;
}

static void the_pool_grows_from_minimum_to_maximum_and_no_further(void **state)
{
    enum {
        MINIMUM = 4,
        MAXIMUM = 11
    };
    struct etwas_pool *pool = pool_of(MINIMUM, MAXIMUM);
    struct etwas_pool_counts counts;
    bool taken[MAXIMUM] = {false};
    uint32_t buffer;

    (void)state;
    etwas_pool_count(pool, &counts);
    assert_int_equal(counts.allocated, MINIMUM);
    assert_int_equal(counts.free, MINIMUM);
    for (int index = 0; index < MAXIMUM; index++) {
        assert_true(etwas_pool_claim(pool, 0, &buffer));
        assert_in_range(buffer, 0, MAXIMUM - 1);
        assert_false(taken[buffer]);
        taken[buffer] = true;
        assert_int_equal(pool->buffers[buffer].commit, 0);
        assert_true(is_zero_behind_header(pool, buffer));
        memset(etwas_pool_buffer(pool, buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES, 0xA5,
               BUFFER_BYTES - ETWAS_ETL_BUFFER_HEADER_BYTES);
    }
    assert_false(etwas_pool_claim(pool, 0, &buffer));
    assert_false(etwas_pool_grow(pool));
    etwas_pool_count(pool, &counts);
    assert_int_equal(counts.allocated, MAXIMUM);
    assert_int_equal(counts.free, 0);
    /* Given back, a buffer is as good as new. */
    etwas_pool_release(pool, 5, BUFFER_BYTES / ETWAS_UNIT_BYTES);
    assert_true(etwas_pool_claim(pool, 0, &buffer));
    assert_int_equal(buffer, 5);
    assert_true(is_zero_behind_header(pool, buffer));
    etwas_pool_destroy(pool);
}

static void growing_ahead_adds_free_buffers_up_to_the_maximum(void **state)
{
    struct etwas_pool *pool = pool_of(2, 5);
    struct etwas_pool_counts counts;

    (void)state;
    for (uint32_t grown = 1; grown <= 3; grown++) {
        assert_true(etwas_pool_grow(pool));
        etwas_pool_count(pool, &counts);
        assert_int_equal(counts.allocated, 2 + grown);
        assert_int_equal(counts.free, 2 + grown);
    }
    assert_false(etwas_pool_grow(pool));
    etwas_pool_destroy(pool);
}

/* As a writer does when its slot changes buffers. */
static bool claim_as_a_writer(struct etwas_pool *pool, uint32_t *buffer)
{
    bool claimed = etwas_pool_claim(pool, 0, buffer);

    if (claimed) {
        etwas_pool_wake_if_few(pool, 0);
    }
    return claimed;
}

/* Between two passes of the flusher there is one wake at most. */
static void the_flusher_is_woken_at_most_once_a_pass_when_buffers_run_low(void **state)
{
    struct etwas_pool *pool = pool_of(16, 16);
    uint32_t before = ck_ec32_value(&pool->words->wake);
    uint32_t buffer;
    int claimed;

    (void)state;
    for (int pass = 1; pass <= 3; pass++) {
        for (claimed = 0; claim_as_a_writer(pool, &buffer); claimed++) {
            if (claimed == 0) {
                /* Many are free: nobody is woken. */
                assert_int_equal(ck_ec32_value(&pool->words->wake), before + (uint32_t)pass - 1);
            }
        }
        assert_int_equal(claimed, 16);
        assert_int_equal(ck_ec32_value(&pool->words->wake), before + (uint32_t)pass);
        etwas_pool_wake_flusher(pool);
        assert_int_equal(ck_ec32_value(&pool->words->wake), before + (uint32_t)pass);
        for (buffer = 0; buffer < 16; buffer++) {
            etwas_pool_release(pool, buffer, ETWAS_FIRST_UNIT);
        }
        (void)etwas_pool_begin_pass(pool);
    }
    etwas_pool_destroy(pool);
}

static void *sleep_as_the_flusher(void *pool)
{
    struct etwas_pool *mine = pool;

    etwas_wait(&mine->words->wake, etwas_pool_begin_pass(mine), UINT64_C(3600) * 1000000000);
    return NULL;
}

static void *wake_and_be_held(void *pool)
{
    hold_me(ETWAS_POINT_WAKING);
    etwas_pool_wake_flusher(pool);
    return NULL;
}

static void a_writer_that_is_held_while_it_wakes_the_flusher_leaves_that_to_the_next(void **state)
{
    struct etwas_pool *pool = pool_of(2, 2);
    pthread_t flusher;
    pthread_t writer;

    (void)state;
    hold_count_from_zero();
    assert_int_equal(pthread_create(&flusher, NULL, sleep_as_the_flusher, pool), 0);
    while (!ck_ec32_has_waiters(&pool->words->wake)) {
        (void)sched_yield();
    }
    assert_int_equal(pthread_create(&writer, NULL, wake_and_be_held, pool), 0);
    hold_wait();
    etwas_pool_wake_flusher(pool);
    assert_int_equal(hold_passed(ETWAS_POINT_WAKING), 2);
    assert_int_equal(pthread_join(flusher, NULL), 0);
    /* That one has come back: until the flusher's next pass nobody makes a system call. */
    etwas_pool_wake_flusher(pool);
    assert_int_equal(hold_passed(ETWAS_POINT_WAKING), 2);
    hold_release();
    assert_int_equal(pthread_join(writer, NULL), 0);
    hold_release_all();
    etwas_pool_destroy(pool);
}

/* ---- the count of what is free --------------------------------------------------------------- */

static struct etwas_pool *claimed_from;
static uint32_t claims;

static void claim_at(enum etwas_testpoint point)
{
    uint32_t buffer;

    if (point == ETWAS_POINT_FREE_COUNTED) {
        for (uint32_t index = 0; index < claims; index++) {
            assert_true(etwas_pool_claim(claimed_from, 0, &buffer));
        }
    }
}

/* The flusher is held, or slow, between looking and counting. */
static void what_is_claimed_while_the_flusher_counts_is_not_counted_as_free(void **state)
{
    struct etwas_pool *pool = pool_of(16, 16);

    (void)state;
    claimed_from = pool;
    claims = 5;
    etwas_testpoint_set(claim_at);
    etwas_pool_repair_free_set(pool);
    etwas_testpoint_set(NULL);
    assert_int_equal(etwas_pool_free_about(pool), 11);
    etwas_pool_destroy(pool);
}

/* The flusher offers the buffer that is new and nobody holds yet, and somebody takes it. */
static void offer_and_claim_at(enum etwas_testpoint point)
{
    uint32_t buffer;

    if (point == ETWAS_POINT_SWITCH_GREW && claims != 0) {
        claims--;
        etwas_pool_repair_free_set(claimed_from);
        assert_true(etwas_pool_claim(claimed_from, 0, &buffer));
    }
}

static void who_finds_a_new_buffer_taken_gets_one_more(void **state)
{
    struct etwas_pool *pool = pool_of(2, 5);
    uint32_t buffer;

    (void)state;
    for (int claim = 0; claim < 2; claim++) {
        assert_true(etwas_pool_claim(pool, 0, &buffer));
    }
    claimed_from = pool;
    claims = 2;
    etwas_testpoint_set(offer_and_claim_at);
    assert_true(etwas_pool_claim(pool, 0, &buffer));
    etwas_testpoint_set(NULL);
    assert_int_equal(claims, 0);
    assert_int_equal(buffer, 4);
    etwas_pool_destroy(pool);
}

/* One more claim, and then the flusher's pass, come between a claim and its counting. */
static void claim_and_count_at(enum etwas_testpoint point)
{
    uint32_t buffer;

    if (point == ETWAS_POINT_SWITCH_TOOK_FREE && claims != 0) {
        claims--;
        assert_true(etwas_pool_claim(claimed_from, 0, &buffer));
    } else if (point == ETWAS_POINT_SWITCH_TOOK_FREE) {
        etwas_pool_repair_free_set(claimed_from);
    }
}

static void a_count_below_zero_is_few(void **state)
{
    struct etwas_pool *pool = pool_of(2, 2);
    uint32_t before;
    uint32_t buffer;

    (void)state;
    claimed_from = pool;
    claims = 1;
    etwas_testpoint_set(claim_and_count_at);
    assert_true(etwas_pool_claim(pool, 0, &buffer));
    etwas_testpoint_set(NULL);
    assert_int_equal(etwas_pool_free_about(pool), -2);
    etwas_pool_release(pool, 0, ETWAS_FIRST_UNIT);
    etwas_pool_release(pool, 1, ETWAS_FIRST_UNIT);
    for (int claim = 0; claim < 2; claim++) {
        before = ck_ec32_value(&pool->words->wake);
        (void)etwas_pool_begin_pass(pool);
        assert_true(claim_as_a_writer(pool, &buffer));
        assert_int_equal(ck_ec32_value(&pool->words->wake), before + 1);
    }
    /* The flusher corrects the count. */
    etwas_pool_repair_free_set(pool);
    assert_int_equal(etwas_pool_free_about(pool), 0);
    etwas_pool_destroy(pool);
}

/* ---- the accounts ---------------------------------------------------------------------------- */

struct count {
    struct etwas_pool *pool;
    uint32_t begun;
    struct etwas_pool_counts counts;
};

static void *count_once(void *argument)
{
    struct count *count = argument;

    ck_pr_store_32(&count->begun, 1);
    etwas_pool_count(count->pool, &count->counts);
    return NULL;
}

/* I4. The settling thread loses its processor for more than a time slice: the count waits. */
static void an_event_whose_fate_is_being_settled_is_counted_once(void **state)
{
    const struct timespec a_while = {.tv_nsec = 300000000};
    struct count count = {.pool = pool_of(2, 2)};
    struct etwas_pool *pool = count.pool;
    pthread_t thread;
    uint32_t buffer;

    (void)state;
    assert_true(etwas_pool_claim(pool, 0, &buffer));
    ck_pr_store_64(&pool->buffers[buffer].commit, ETWAS_COMMIT_ONE_RECORD);
    etwas_pool_account_begin(pool);
    etwas_pool_account(pool, 0, ETWAS_DISPOSITION_WRITTEN, 1);
    assert_int_equal(pthread_create(&thread, NULL, count_once, &count), 0);
    while (ck_pr_load_32(&count.begun) == 0) {
        (void)sched_yield();
    }
    (void)nanosleep(&a_while, NULL);
    ck_pr_store_64(&pool->buffers[buffer].commit, 0);
    etwas_pool_account_end(pool);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(count.counts.recorded, 1);
    etwas_pool_destroy(pool);
}

/* ---- from several threads -------------------------------------------------------------------- */

enum {
    THREADS = 4,
    ROUNDS = 50000,
    MOST = 24,
    HELD = 5
};

struct shared {
    struct etwas_pool *pool;
    uint32_t owner[MOST]; /* 0: nobody; else the worker: two owners are a fault */
    uint32_t faults;
};

struct worker {
    struct shared *shared;
    uint32_t id;
    pthread_t thread;
};

static void *claim_and_release(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    uint32_t held[HELD];
    uint32_t count = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t buffer;

        if (count < HELD && (round * worker->id) % 3 != 0 &&
            etwas_pool_claim(shared->pool, 0, &buffer)) {
            if (!ck_pr_cas_32(&shared->owner[buffer], 0, worker->id) ||
                ck_pr_load_64(&shared->pool->buffers[buffer].commit) != 0) {
                ck_pr_inc_32(&shared->faults);
            }
            held[count++] = buffer;
        } else if (count > 0) {
            buffer = held[--count];
            if (!ck_pr_cas_32(&shared->owner[buffer], worker->id, 0)) {
                ck_pr_inc_32(&shared->faults);
            }
            etwas_pool_release(shared->pool, buffer, ETWAS_FIRST_UNIT);
        }
    }
    while (count > 0) {
        ck_pr_store_32(&shared->owner[held[--count]], 0);
        etwas_pool_release(shared->pool, held[count], ETWAS_FIRST_UNIT);
    }
    return NULL;
}

/*
 * I3. Fewer buffers than the threads would hold, so that growth, exhaustion and return all happen.
 */
static void a_buffer_has_one_owner_however_many_threads_claim_and_release(void **state)
{
    struct shared shared = {.pool = pool_of(2, THREADS * HELD - 3)};
    struct worker workers[THREADS];
    struct etwas_pool_counts counts;
    bool seen[MOST] = {false};
    uint32_t buffer;

    (void)state;
    for (uint32_t index = 0; index < THREADS; index++) {
        workers[index] = (struct worker){.shared = &shared, .id = index + 1};
        assert_int_equal(
            pthread_create(&workers[index].thread, NULL, claim_and_release, &workers[index]), 0);
    }
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(workers[index].thread, NULL), 0);
    }
    assert_int_equal(shared.faults, 0);
    etwas_pool_count(shared.pool, &counts);
    assert_int_equal(counts.free, counts.allocated);
    assert_int_equal(etwas_pool_free_about(shared.pool), (int32_t)counts.free);
    assert_true(counts.allocated <= THREADS * HELD - 3);
    assert_true(etwas_pool_is_idle(shared.pool, shared.pool->slot_count));
    /* None is lost, none is there twice. */
    for (uint32_t index = 0; index < THREADS * HELD - 3; index++) {
        assert_true(etwas_pool_claim(shared.pool, 0, &buffer));
        assert_false(seen[buffer]);
        seen[buffer] = true;
    }
    assert_false(etwas_pool_claim(shared.pool, 0, &buffer));
    etwas_pool_destroy(shared.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_word_packs_count_buffer_and_units),
        cmocka_unit_test(the_pool_grows_from_minimum_to_maximum_and_no_further),
        cmocka_unit_test(growing_ahead_adds_free_buffers_up_to_the_maximum),
        cmocka_unit_test(the_flusher_is_woken_at_most_once_a_pass_when_buffers_run_low),
        cmocka_unit_test(a_writer_that_is_held_while_it_wakes_the_flusher_leaves_that_to_the_next),
        cmocka_unit_test(what_is_claimed_while_the_flusher_counts_is_not_counted_as_free),
        cmocka_unit_test(who_finds_a_new_buffer_taken_gets_one_more),
        cmocka_unit_test(a_count_below_zero_is_few),
        cmocka_unit_test(an_event_whose_fate_is_being_settled_is_counted_once),
        cmocka_unit_test(a_buffer_has_one_owner_however_many_threads_claim_and_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
