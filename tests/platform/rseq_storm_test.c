/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Restartable sequences of many threads: preempted, moved and signalled at any moment. Counters are
 * incremented without an atomic operation and without a lock, and must come out exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "platform/sequence.h"
#include "support/alarm.h"

enum {
    INCREMENTS = 100000, /* of each thread, at least */
    ABORTS = 200,        /* of all threads, at least: or the test has shown nothing */
    RECORDS = 1024,
    RECORD_WORDS = 40,
    INTERVAL_NS = 100000
};

/*
 * One processor's. Only its sequences write there: increment n also writes record n % RECORDS, each
 * word of it n. An aborted one may have written there too; the next to commit writes all of it.
 */
struct counter {
    uint64_t count;
    uint64_t records[RECORDS][RECORD_WORDS];
    uint8_t apart[128];
};

struct worker {
    pthread_t thread;
    struct counter *counters; /* by processor */
    uint32_t kind;            /* commit by a store, by an exchange */
    uint32_t thread_id;
    uint32_t done;
    uint64_t increments; /* the handler's too */
};

static uint64_t aborted;
static _Thread_local struct worker *worker_here; /* NULL: this thread's handler does nothing */

static void skip_without_sequences(void)
{
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
}

/* ---- one increment --------------------------------------------------------------------------- */

static enum etwas_rseq_result try_increment(const struct worker *worker)
{
    uint32_t processor = etwas_processor_of_rseq();
    struct counter *counter = &worker->counters[processor];
    uint64_t count = ck_pr_load_64(&counter->count);
    uint64_t record[RECORD_WORDS];
    const struct etwas_rseq_check unchanged = {.word = &counter->count, .expected = count};
    const struct etwas_rseq_copy copy = {
        .to = counter->records[count % RECORDS], .from = record, .bytes = sizeof record};
    const struct etwas_rseq_sequence sequence = {.checks = &unchanged,
                                                 .check_count = 1,
                                                 .copies = &copy,
                                                 .copy_count = 1,
                                                 .target = &counter->count,
                                                 .expected = count,
                                                 .value = count + 1,
                                                 .processor = processor,
                                                 .exchange = worker->kind};

    for (size_t index = 0; index < RECORD_WORDS; index++) {
        record[index] = count;
    }
    return run(&sequence);
}

static void increment(struct worker *worker)
{
    enum etwas_rseq_result result = try_increment(worker);

    while (result != ETWAS_RSEQ_COMMITTED) {
        if (result == ETWAS_RSEQ_ABORTED) {
            ck_pr_inc_64(&aborted);
        }
        result = try_increment(worker);
    }
    /* The handler of the same thread counts here too. */
    ck_pr_inc_64(&worker->increments);
}

static uint64_t expect_whole(const struct counter *counter)
{
    uint64_t first = counter->count > RECORDS ? counter->count - RECORDS + 1 : 0;

    for (uint64_t count = first; count < counter->count; count++) {
        for (size_t index = 0; index < RECORD_WORDS; index++) {
            assert_int_equal(counter->records[count % RECORDS][index], count);
        }
    }
    return counter->count;
}

/* ---- a storm --------------------------------------------------------------------------------- */

static void on_alarm(int number)
{
    (void)number;
    if (worker_here != NULL) {
        increment(worker_here);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    timer_t timer;

    worker_here = worker;
    ck_pr_store_32(&worker->thread_id, (uint32_t)gettid());
    timer = start_alarms(INTERVAL_NS);
    while (ck_pr_load_64(&worker->increments) < INCREMENTS || ck_pr_load_64(&aborted) < ABORTS) {
        increment(worker);
    }
    end_alarms(timer);
    worker_here = NULL;
    ck_pr_store_32(&worker->done, 1);
    return NULL;
}

static void pin(uint32_t thread_id, uint32_t processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    /* A thread may have ended meanwhile. */
    (void)sched_setaffinity((pid_t)thread_id, sizeof one, &one);
}

/* The processors the test may use, in a row. */
static uint32_t allowed_processors(uint32_t processors[CPU_SETSIZE])
{
    uint32_t count = 0;
    cpu_set_t allowed;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            processors[count++] = processor;
        }
    }
    return count;
}

/*
 * Moves the threads from processor to processor, the first `processor_count` of them, until all are
 * done.
 */
static void move_until_done(struct worker *workers, uint32_t worker_count,
                            const uint32_t *processors, uint32_t processor_count)
{
    uint32_t turn = 0;
    uint32_t done = 0;

    while (done < worker_count) {
        const struct timespec pause = {.tv_nsec = 200000};

        done = 0;
        for (uint32_t index = 0; index < worker_count; index++) {
            uint32_t thread_id = ck_pr_load_32(&workers[index].thread_id);

            if (thread_id != 0) {
                pin(thread_id, processors[(index + turn) % processor_count]);
            }
            done += ck_pr_load_32(&workers[index].done);
        }
        turn++;
        (void)nanosleep(&pause, NULL);
    }
}

static void expect_exact_counts(uint32_t worker_count, uint32_t processor_count, uint32_t kind)
{
    static uint32_t processors[CPU_SETSIZE];
    uint32_t allowed = allowed_processors(processors);
    struct counter *counters = calloc(etwas_processor_count(), sizeof *counters);
    struct worker *workers = calloc(worker_count, sizeof *workers);
    uint64_t counted = 0;
    uint64_t incremented = 0;

    assert_non_null(counters);
    assert_non_null(workers);
    aborted = 0;
    for (uint32_t index = 0; index < worker_count; index++) {
        workers[index].counters = counters;
        workers[index].kind = kind;
        assert_int_equal(pthread_create(&workers[index].thread, NULL, worker_main, &workers[index]),
                         0);
    }
    move_until_done(workers, worker_count, processors,
                    processor_count < allowed ? processor_count : allowed);
    for (uint32_t index = 0; index < worker_count; index++) {
        assert_int_equal(pthread_join(workers[index].thread, NULL), 0);
        incremented += workers[index].increments;
    }
    for (uint32_t processor = 0; processor < etwas_processor_count(); processor++) {
        counted += expect_whole(&counters[processor]);
    }
    assert_int_equal(counted, incremented);
    free(workers);
    free(counters);
}

static void two_threads_on_one_processor_count_exactly_under_a_storm_of_signals(void **state)
{
    (void)state;
    skip_without_sequences();
    handle_signal(SIGALRM, on_alarm);
    expect_exact_counts(2, 1, 0);
    expect_exact_counts(2, 1, 1);
}

static void threads_that_are_moved_all_the_time_count_exactly_on_each_processor(void **state)
{
    (void)state;
    skip_without_sequences();
    handle_signal(SIGALRM, on_alarm);
    expect_exact_counts(5, UINT32_MAX, 0);
    expect_exact_counts(5, UINT32_MAX, 1);
}

/* ---- one word of several processors ---------------------------------------------------------- */

enum {
    EXCHANGERS = 4
};

static void *exchange_main(void *argument)
{
    uint64_t *word = argument;
    uint32_t committed = 0;

    while (committed < INCREMENTS) {
        uint64_t found = ck_pr_load_64(word);
        const struct etwas_rseq_sequence sequence = {.target = word,
                                                     .expected = found,
                                                     .value = found + 1,
                                                     .processor = etwas_processor_of_rseq(),
                                                     .exchange = 1};

        committed += run(&sequence) == ETWAS_RSEQ_COMMITTED;
    }
    return NULL;
}

/* A store would be enough on one processor, and loses increments here. */
static void an_exchange_is_exact_among_processors(void **state)
{
    pthread_t threads[EXCHANGERS];
    uint64_t word = 0;

    (void)state;
    skip_without_sequences();
    for (uint32_t index = 0; index < EXCHANGERS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, exchange_main, &word), 0);
    }
    for (uint32_t index = 0; index < EXCHANGERS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    assert_int_equal(word, EXCHANGERS * INCREMENTS);
}

/* ---- the fence ------------------------------------------------------------------------------- */

enum {
    FENCES = 300,
    LONG_COPY_BYTES = 32768,
    LOOKS = 2000
};

struct gated {
    uint64_t gate;
    uint64_t count;
    uint32_t kind;
    uint32_t processor;
    uint32_t stop;
    uint8_t from[LONG_COPY_BYTES];
    uint8_t to[LONG_COPY_BYTES];
};

/* Counts while the gate is open. There is time for a fence between the check and the commit. */
static void *count_through_the_gate(void *argument)
{
    struct gated *gated = argument;
    const struct etwas_rseq_check open = {.word = &gated->gate, .expected = 1};
    const struct etwas_rseq_copy copy = {
        .to = gated->to, .from = gated->from, .bytes = LONG_COPY_BYTES};
    struct etwas_rseq_sequence sequence = {.checks = &open,
                                           .check_count = 1,
                                           .copies = &copy,
                                           .copy_count = 1,
                                           .target = &gated->count,
                                           .processor = gated->processor,
                                           .exchange = gated->kind};

    pin(0, gated->processor);
    while (ck_pr_load_32(&gated->stop) == 0) {
        sequence.expected = ck_pr_load_64(&gated->count);
        sequence.value = sequence.expected + 1;
        (void)run(&sequence);
    }
    return NULL;
}

static void after_a_fence_nothing_commits_that_saw_what_was_before(void **state)
{
    static uint32_t processors[CPU_SETSIZE];
    uint32_t allowed = allowed_processors(processors);
    struct gated *gated = calloc(1, sizeof *gated);
    pthread_t thread;

    (void)state;
    skip_without_sequences();
    assert_non_null(gated);
    for (gated->kind = 0; gated->kind < 2; gated->kind++) {
        gated->stop = 0;
        gated->processor = processors[allowed - 1];
        assert_int_equal(pthread_create(&thread, NULL, count_through_the_gate, gated), 0);
        for (uint32_t fence = 0; fence < FENCES; fence++) {
            uint64_t before = ck_pr_load_64(&gated->count);
            uint64_t after;

            ck_pr_store_64(&gated->gate, 1);
            while (ck_pr_load_64(&gated->count) == before) {
                (void)sched_yield();
            }
            ck_pr_store_64(&gated->gate, 0);
            assert_true(etwas_rseq_fence());
            after = ck_pr_load_64(&gated->count);
            for (uint32_t look = 0; look < LOOKS; look++) {
                assert_int_equal(ck_pr_load_64(&gated->count), after);
            }
        }
        ck_pr_store_32(&gated->stop, 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    free(gated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_on_one_processor_count_exactly_under_a_storm_of_signals),
        cmocka_unit_test(threads_that_are_moved_all_the_time_count_exactly_on_each_processor),
        cmocka_unit_test(an_exchange_is_exact_among_processors),
        cmocka_unit_test(after_a_fence_nothing_commits_that_saw_what_was_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
