/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * STOP: final numbers, second and concurrent stops, and a table without a free entry (R138, R139,
 * R141).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "session/fixture.h"
#include "support/writer.h"

static void r141_stop_returns_the_final_numbers_and_the_handle_is_dead(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct block block;
    etwas_session_counts counts;

    (void)state;
    for (uint64_t number = 0; number < 100; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    prepare_block(&block, "");
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP),
                     ERROR_SUCCESS);
    assert_string_equal(block.file_name, folder_path("f.etl"));
    assert_true(block.properties.Wnode.HistoricalContext == session);
    assert_int_equal(block.properties.EventsLost, 0);
    assert_int_equal(block.properties.LogBuffersLost, 0);
    assert_int_equal(block.properties.FreeBuffers, block.properties.NumberOfBuffers);
    assert_in_range(block.properties.BuffersWritten, 2, 1 + 100);
    assert_int_equal(count_events(folder_path("f.etl")), 100);

    /* The second one. */
    prepare_block(&block, "");
    for (uint32_t code = EVENT_TRACE_CONTROL_QUERY; code <= EVENT_TRACE_CONTROL_FLUSH; code++) {
        if (code != EVENT_TRACE_CONTROL_UPDATE) {
            assert_int_equal(ControlTraceA(session, NULL, &block.properties, code),
                             ERROR_WMI_INSTANCE_NOT_FOUND);
        }
    }
    assert_int_equal(etwas_stop(session, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_flush(session), ERROR_INVALID_HANDLE);
    assert_int_equal(log_number(session, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, session), ERROR_INVALID_PARAMETER);
    /* Its last counts stay until another session takes its entry. */
    counts = counts_of(session);
    assert_int_equal(counts.recorded, 100);
    expect_nothing_lost(counts);
    assert_int_equal(etwas_counts(session, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_counts(0, &counts), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_counts(session + 0x100, &counts), ERROR_INVALID_HANDLE);
}

/* ---- stops at the same time ------------------------------------------------------------------ */

enum {
    STOPPERS = 6,
    ROUNDS = 60
};

struct stoppers {
    etwas_trace_handle session;
    pthread_barrier_t barrier;
    uint32_t done;
    uint32_t busy;
    uint32_t gone;
    uint32_t odd;
};

static void *stop_at_once(void *argument)
{
    struct stoppers *stoppers = argument;
    struct block block;
    uint32_t code;

    prepare_block(&block, "");
    (void)pthread_barrier_wait(&stoppers->barrier);
    code = StopTraceA(stoppers->session, NULL, &block.properties);
    switch (code) {
    case ERROR_SUCCESS:
        ck_pr_inc_32(&stoppers->done);
        break;
    case ERROR_ACTIVE_CONNECTIONS:
        ck_pr_inc_32(&stoppers->busy);
        break;
    case ERROR_WMI_INSTANCE_NOT_FOUND:
        ck_pr_inc_32(&stoppers->gone);
        break;
    default:
        ck_pr_inc_32(&stoppers->odd);
        break;
    }
    return NULL;
}

static void r141_of_concurrent_stops_exactly_one_succeeds(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct stoppers stoppers = {.session = start_session(folder_path("f.etl"), &small_session)};
        const struct writer_options writing = {.session = stoppers.session, .largest_payload = 100};
        pthread_t threads[STOPPERS];
        struct writers writers;
        etwas_session_counts counts;

        writers_start(&writers, 1, &writing);
        assert_int_equal(pthread_barrier_init(&stoppers.barrier, NULL, STOPPERS), 0);
        for (int index = 0; index < STOPPERS; index++) {
            assert_int_equal(pthread_create(&threads[index], NULL, stop_at_once, &stoppers), 0);
        }
        for (int index = 0; index < STOPPERS; index++) {
            assert_int_equal(pthread_join(threads[index], NULL), 0);
        }
        writers_join(&writers); /* the session refuses them now */
        (void)pthread_barrier_destroy(&stoppers.barrier);
        assert_int_equal(stoppers.done, 1);
        assert_int_equal(stoppers.odd, 0);
        assert_int_equal(stoppers.busy + stoppers.gone, STOPPERS - 1);
        counts = counts_of(stoppers.session);
        expect_exact_account(stoppers.session, &counts);
        writers_forget();
    }
}

/* ---- while it stops -------------------------------------------------------------------------- */

static sem_t inside;
static sem_t go_on;
static uint32_t logged_inside;

static uint32_t hold_the_stop(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                              void *buffer)
{
    (void)context;
    (void)bytes;
    if (request == WMI_DISABLE_EVENTS) {
        /* The providers are disabled first, and may still log. */
        logged_inside = log_number(GetTraceLoggerHandle(buffer), 1);
        (void)sem_post(&inside);
        while (sem_wait(&go_on) != 0) {
        }
    }
    return ERROR_SUCCESS;
}

static void r141_a_session_that_is_being_stopped_has_active_connections(void **state)
{
    struct stoppers stoppers = {.session = start_session(folder_path("f.etl"), NULL)};
    etwas_trace_handle registration;
    struct block block;
    pthread_t thread;

    (void)state;
    assert_int_equal(sem_init(&inside, 0, 0), 0);
    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    assert_int_equal(pthread_barrier_init(&stoppers.barrier, NULL, 1), 0);
    assert_int_equal(
        RegisterTraceGuidsA(hold_the_stop, NULL, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, stoppers.session), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, stop_at_once, &stoppers), 0);
    while (sem_wait(&inside) != 0) {
    }
    prepare_block(&block, "");
    assert_int_equal(StopTraceA(stoppers.session, NULL, &block.properties),
                     ERROR_ACTIVE_CONNECTIONS);
    assert_int_equal(etwas_stop(stoppers.session, NULL), ERROR_ACTIVE_CONNECTIONS);
    assert_int_equal(QueryTraceA(stoppers.session, NULL, &block.properties), ERROR_SUCCESS);
    (void)sem_post(&go_on);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stoppers.done, 1);
    assert_int_equal(logged_inside, ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    (void)pthread_barrier_destroy(&stoppers.barrier);
    (void)sem_destroy(&inside);
    (void)sem_destroy(&go_on);
}

/* ---- one free entry for two threads ---------------------------------------------------------- */

enum {
    ENTRIES = 64,
    TURNS = 100
};

struct turns {
    const char *name;
    const char *path;
    uint32_t buffer_kb;
    uint32_t wrong;
};

/*
 * Each session ends with its own numbers and name, also if another session takes its entry the
 * moment it is free.
 */
static void *take_turns(void *argument)
{
    struct turns *turns = argument;

    for (int turn = 0; turn < TURNS;) {
        struct block block;
        etwas_trace_handle session;
        uint32_t code;

        prepare_block(&block, turns->path);
        block.properties.BufferSize = turns->buffer_kb;
        block.properties.MaximumBuffers = 1; /* the least there may be */
        code = StartTraceA(&session, turns->name, &block.properties);
        if (code == ERROR_NO_SYSTEM_RESOURCES) {
            (void)sched_yield(); /* to the thread that has the entry */
            continue;
        }
        turn++;
        turns->wrong += code != ERROR_SUCCESS;
        turns->wrong += block.properties.Wnode.HistoricalContext != session;
        turns->wrong += block.properties.BufferSize != turns->buffer_kb;
        prepare_block(&block, "");
        code = StopTraceA(session, NULL, &block.properties);
        turns->wrong += code != ERROR_SUCCESS;
        turns->wrong += block.properties.Wnode.HistoricalContext != session;
        turns->wrong += block.properties.BufferSize != turns->buffer_kb;
        turns->wrong += block.properties.BuffersWritten != 1;
        turns->wrong += strcmp(block.session_name, turns->name) != 0;
        turns->wrong += strcmp(block.file_name, turns->path) != 0;
    }
    return NULL;
}

static void a_session_ends_with_its_own_numbers_when_its_place_is_taken_at_once(void **state)
{
    const etwas_session_options small = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 4,
        .flusher.no_thread = true,
    };
    struct turns turns[2] = {{.name = "left", .path = folder_path("1.etl"), .buffer_kb = 8},
                             {.name = "right", .path = folder_path("2.etl"), .buffer_kb = 16}};
    etwas_trace_handle others[ENTRIES - 1];
    pthread_t threads[2];

    (void)state;
    for (int index = 0; index < ENTRIES - 1; index++) {
        others[index] = start_session(NULL, &small);
    }
    for (int index = 0; index < 2; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, take_turns, &turns[index]), 0);
    }
    for (int index = 0; index < 2; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
        assert_int_equal(turns[index].wrong, 0);
    }
    for (int index = 0; index < ENTRIES - 1; index++) {
        stop_session(others[index], NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r141_stop_returns_the_final_numbers_and_the_handle_is_dead),
        FOLDER_TEST(r141_of_concurrent_stops_exactly_one_succeeds),
        FOLDER_TEST(r141_a_session_that_is_being_stopped_has_active_connections),
        FOLDER_TEST(a_session_ends_with_its_own_numbers_when_its_place_is_taken_at_once),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
