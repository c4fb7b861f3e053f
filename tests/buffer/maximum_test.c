/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The most buffers a session may have, changed while it runs (R70): more come into use after it is
 * raised, none after it is lowered, and those in use stay (R71).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "buffer/pool_free.h"
#include "platform/memory.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BUFFER_KB = 4,
    MAXIMUM = 40, /* more than the minimum of 18 processors */
    CAPACITY = 4 * MAXIMUM,
    PAYLOAD = 1000,
    MOST_EVENTS = 4000,
    WRITERS = 4,
    CHANGES = 60,
    RAISED_BY = 5,
    EVENTS_A_CHANGE = 4000,
    EVENTS = 200000,
    ALL_EVENTS = WRITERS * EVENTS,
};

static uint64_t allocated_in(const struct etwas_pool *pool)
{
    return ck_pr_load_64(&pool->words->allocated);
}

/* Logs events until one is lost. Returns how many were recorded. */
static uint32_t fill(struct writer *writer)
{
    uint32_t recorded = 0;
    uint32_t code;

    while ((code = writer_log_bytes(writer, PAYLOAD)) == ERROR_SUCCESS) {
        recorded++;
    }
    assert_int_equal(code, ERROR_NOT_ENOUGH_MEMORY);
    return recorded;
}

static void growth_goes_on_after_the_maximum_is_raised_and_stops_after_it_is_lowered(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = BUFFER_KB, .maximum_buffers = MAXIMUM, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_session *place = inside_of(session);
    struct etwas_pool *pool = place->buffers.pool;
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = MOST_EVENTS});
    etwas_session_counts counts;
    uint64_t resident;
    uint32_t recorded;

    (void)state;
    stay_on_one_processor();
    (void)fill(writer);
    assert_int_equal(allocated_in(pool), MAXIMUM);

    assert_int_equal(etwas_pool_set_maximum(pool, 2 * MAXIMUM), 2 * MAXIMUM);
    assert_int_equal(allocated_in(pool), MAXIMUM);
    (void)fill(writer);
    assert_int_equal(allocated_in(pool), 2 * MAXIMUM);

    /* A maximum below what is in use takes nothing away, now or when the buffers are free. */
    assert_int_equal(etwas_pool_set_maximum(pool, MAXIMUM), MAXIMUM);
    resident = etwas_memory_resident_bytes(&pool->memory);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    recorded = fill(writer);
    assert_true(recorded > MAXIMUM * (BUFFER_KB * 1024 / (PAYLOAD + 80)));
    assert_int_equal(allocated_in(pool), 2 * MAXIMUM);
    assert_int_equal(etwas_memory_resident_bytes(&pool->memory), resident);

    /* The minimum and the capacity are its limits (R68). */
    assert_int_equal(etwas_pool_set_maximum(pool, 1), place->configuration.minimum_buffers);
    assert_int_equal(etwas_pool_set_maximum(pool, UINT32_MAX), CAPACITY);
    (void)fill(writer);
    assert_int_equal(allocated_in(pool), CAPACITY);
    assert_false(etwas_pool_grow(pool));

    stop_session(session, &counts);
    leave_one_processor();
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    assert_int_equal(counts.lost, writers_totals(session).lost);
    expect_file_reads_back(session, path, &counts);
    writers_forget();
}

/* Lets the writers log some more events, together. */
static uint64_t progress_of(const struct writers *writers)
{
    uint64_t progress = 0;

    for (uint32_t index = 0; index < writers->count; index++) {
        progress += writer_progress(writers->list[index]);
    }
    return progress;
}

static void let_all_write(const struct writers *writers)
{
    uint64_t enough = progress_of(writers) + EVENTS_A_CHANGE;

    enough = enough < ALL_EVENTS ? enough : ALL_EVENTS;
    while (progress_of(writers) < enough) {
        (void)sched_yield();
    }
}

static uint32_t change_maximum(struct etwas_session *place, uint32_t maximum)
{
    (void)pthread_mutex_lock(&place->drain.role);
    maximum = etwas_pool_set_maximum(place->buffers.pool, maximum);
    (void)pthread_mutex_unlock(&place->drain.role);
    return maximum;
}

/* The maximum is by turns far below what is in use, and a little above. */
static void the_maximum_changes_while_all_processors_write(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = BUFFER_KB, .maximum_buffers = MAXIMUM};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_session *place = inside_of(session);
    struct etwas_pool *pool = place->buffers.pool;
    uint64_t before = allocated_in(pool);
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    writers_start(&writers, WRITERS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = EVENTS,
                                           .largest_payload = 3000});
    for (uint32_t change = 0; change < CHANGES; change++) {
        uint32_t wanted = change % 2 == 0 ? 1 : (uint32_t)before + RAISED_BY;
        uint64_t maximum = change_maximum(place, wanted);
        uint64_t now;

        maximum = maximum < allocated_in(pool) ? allocated_in(pool) : maximum;
        let_all_write(&writers);
        now = allocated_in(pool);
        assert_true(now >= before);
        assert_true(now <= CAPACITY);
        /* Each that had read the maximum before, a writer or the flusher, may take one more. */
        assert_true(now <= maximum + WRITERS + 1);
        before = now;
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, &counts);
    expect_file_reads_back(session, path, &counts);
    writers_forget();
}

static void the_capacity_is_four_times_the_maximum_within_what_the_machine_has(void **state)
{
    const uint32_t buffer_bytes = 1 << 20;
    uint64_t limit = etwas_memory_limit_bytes() / buffer_bytes;

    (void)state;
    if (limit > ETWAS_POOL_MAXIMUM_BUFFERS) {
        limit = ETWAS_POOL_MAXIMUM_BUFFERS;
    }
    assert_int_equal(etwas_pool_capacity_for(10, 4096), 40);
    assert_int_equal(etwas_pool_capacity_for((uint32_t)limit / 4, buffer_bytes), limit / 4 * 4);
    assert_int_equal(etwas_pool_capacity_for((uint32_t)limit - 1, buffer_bytes), limit);
    assert_int_equal(etwas_pool_capacity_for((uint32_t)limit, buffer_bytes), limit);
    /* A session that was given more keeps it. */
    assert_int_equal(etwas_pool_capacity_for((uint32_t)limit + 1, buffer_bytes), limit + 1);
    assert_int_equal(etwas_pool_capacity_for(ETWAS_POOL_MAXIMUM_BUFFERS, 4096),
                     ETWAS_POOL_MAXIMUM_BUFFERS);
    assert_int_equal(etwas_pool_capacity_for(UINT32_MAX, buffer_bytes), UINT32_MAX);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(growth_goes_on_after_the_maximum_is_raised_and_stops_after_it_is_lowered),
        FOLDER_TEST(the_maximum_changes_while_all_processors_write),
        FOLDER_TEST(the_capacity_is_four_times_the_maximum_within_what_the_machine_has),
    };

    choose_tests(argument_count, arguments);
    return RUN_WITH_EACH_PROTOCOL(tests);
}
