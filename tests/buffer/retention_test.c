/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The gauge of a flight recorder: how far back it goes, against what a snapshot of it holds. */
#include <ck_pr.h>
#include <sched.h>
#include <string.h>

#include "buffer/pool.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    MANY = 5000,
    MOST_STREAMS = 4096,
};

static const etwas_session_options recorder = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                               .clock = ETWAS_CLOCK_QPC,
                                               .buffer_size_kb = 4,
                                               .minimum_buffers = 12};

static uint64_t stream_ns[MOST_STREAMS];

static etwas_retention ask(etwas_trace_handle session)
{
    etwas_retention retention;

    assert_int_equal(etwas_retention_query(session, &retention, stream_ns, MOST_STREAMS),
                     ERROR_SUCCESS);
    assert_true(retention.streams >= 1 && retention.streams <= MOST_STREAMS);
    assert_true(retention.shortest < retention.streams);
    for (uint32_t stream = 0; stream < retention.streams; stream++) {
        assert_true(stream_ns[stream] >= retention.covered_ns);
        assert_true(stream_ns[stream] <= retention.longest_ns);
    }
    assert_true(stream_ns[retention.shortest] == retention.covered_ns);
    return retention;
}

static void a_recorder_that_overwrote_nothing_holds_the_whole_session(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    int64_t started = etwas_clock_read(ETWAS_CLOCK_QPC);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 100, .largest_payload = 100});

    (void)state;
    stay_on_one_processor();
    while (writer_log(writer) == ERROR_SUCCESS) {
        int64_t now = etwas_clock_read(ETWAS_CLOCK_QPC);

        assert_true((int64_t)ask(session).covered_ns >= now - started);
    }
    leave_one_processor();
    assert_int_equal(counts_of(session).overwritten, 0);
    stop_session(session, NULL);
}

/* What is newer than the gauge says is in the snapshot, and what is in the snapshot it says. */
static void the_gauge_says_what_a_snapshot_holds(void **state)
{
    static int64_t before[MANY];
    static int64_t after[MANY];
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session = start_session(NULL, &recorder);
    int64_t started = etwas_clock_read(ETWAS_CLOCK_QPC);
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = MANY,
                                                                .largest_payload = 100});
    etwas_retention retention;
    struct readback result;
    int64_t asked;
    int64_t answered;
    int64_t since_at_least;
    int64_t since_at_most;
    uint64_t first = 0;

    (void)state;
    stay_on_one_processor();
    for (uint32_t number = 0; number < MANY; number++) {
        before[number] = etwas_clock_read(ETWAS_CLOCK_QPC);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        after[number] = etwas_clock_read(ETWAS_CLOCK_QPC);
    }
    leave_one_processor();
    asked = etwas_clock_read(ETWAS_CLOCK_QPC);
    retention = ask(session);
    answered = etwas_clock_read(ETWAS_CLOCK_QPC);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    walk_back(session, path, true, &result);
    while (first < MANY && writer->events[first].seen == 0) {
        first++;
    }
    assert_true(first > 0 && first < MANY);
    since_at_least = asked - (int64_t)retention.covered_ns;
    since_at_most = answered - (int64_t)retention.covered_ns;
    assert_true(since_at_most >= before[first - 1]);
    assert_true(since_at_least <= after[first]);
    /* The other processors have recorded nothing, and overwritten nothing. */
    if (retention.streams > 1) {
        assert_true((int64_t)retention.longest_ns >= asked - started);
    }
    stop_session(session, NULL);
}

static void the_gauge_never_says_more_while_writers_overwrite(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct writers writers;

    (void)state;
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = MANY,
                                           .largest_payload = 500});
    while (writer_progress(writers.list[0]) < MANY) {
        int64_t asked = etwas_clock_read(ETWAS_CLOCK_QPC);
        int64_t since = asked - (int64_t)ask(session).covered_ns;
        int64_t later = (int64_t)ask(session).covered_ns;

        /* What was overwritten once stays so. */
        assert_true(etwas_clock_read(ETWAS_CLOCK_QPC) - later >= since);
        (void)sched_yield();
    }
    writers_join(&writers);
    stop_session(session, NULL);
}

/* ---- several processors ---------------------------------------------------------------------- */

enum {
    FILLING = 976, /* bytes of payload: with a header of 48, and of a buffer of 4 KB, 3 fit */
    A_BUFFER = 3,
    SOME = 40,
    ADDED = 3,
};

static uint32_t list_processors(uint32_t *processors, cpu_set_t *allowed)
{
    uint32_t count = 0;

    assert_int_equal(sched_getaffinity(0, sizeof *allowed, allowed), 0);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, allowed)) {
            processors[count++] = processor;
        }
    }
    return count;
}

static void go_to(uint32_t processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static struct writer *filler(etwas_trace_handle session, uint64_t events)
{
    return writer_new(
        &(struct writer_options){.session = session, .events = events, .largest_payload = FILLING});
}

/* The extra stream has events of a thread that was interrupted too often, which is rare. */
static uint32_t held_by_extra(etwas_trace_handle session)
{
    const struct etwas_pool *pool = inside_of(session)->buffers.pool;

    return pool->rseq_slots != 0 ? ck_pr_load_32(&pool->words->shared_held) : 0;
}

/* Each idle processor has one buffer, and the busy one all others. */
static void idle_processors_leave_all_but_a_buffer_each_to_the_busy_one(void **state)
{
    static int64_t before[MANY];
    static uint32_t processors[CPU_SETSIZE];
    cpu_set_t allowed;
    uint32_t count = list_processors(processors, &allowed);
    etwas_trace_handle session = start_session(NULL, &recorder);
    uint32_t buffers = query_session(session).MinimumBuffers;
    uint32_t events = A_BUFFER * (buffers + SOME);
    struct writer *writer = filler(session, events + (uint64_t)count * SOME);
    uint32_t others;
    int64_t asked;
    int64_t since;

    (void)state;
    assert_true(events <= MANY);
    for (uint32_t index = 0; index < count; index++) {
        go_to(processors[index]);
        for (uint32_t event = 0; event < SOME; event++) {
            assert_int_equal(writer_log_bytes(writer, FILLING), ERROR_SUCCESS);
        }
    }
    for (uint32_t event = 0; event < events; event++) {
        before[event] = etwas_clock_read(ETWAS_CLOCK_QPC);
        assert_int_equal(writer_log_bytes(writer, FILLING), ERROR_SUCCESS);
    }
    asked = etwas_clock_read(ETWAS_CLOCK_QPC);
    (void)ask(session);
    since = asked - (int64_t)stream_ns[processors[count - 1]];
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    /* One of the other buffers is being filled. */
    others = (count - 1) + held_by_extra(session);
    assert_true(since <= before[events - A_BUFFER * (buffers - others - 1)]);
    stop_session(session, NULL);
}

/* What counts is when a buffer was full, not since when it was current. */
static void a_buffer_that_was_current_for_long_is_held_as_long_as_others(void **state)
{
    static uint32_t processors[CPU_SETSIZE];
    cpu_set_t allowed;
    uint32_t count = list_processors(processors, &allowed);
    etwas_trace_handle session = start_session(NULL, &recorder);
    int64_t started = etwas_clock_read(ETWAS_CLOCK_QPC);
    uint32_t buffers = query_session(session).MinimumBuffers;
    struct writer *writer = filler(session, MANY);
    const struct {
        uint32_t processor;
        uint32_t events;
    } steps[] = {{0, 1},
                 {count - 1, A_BUFFER * (buffers + SOME)},
                 {0, A_BUFFER},
                 {count - 1, A_BUFFER * (buffers - 6)},
                 {count - 1, A_BUFFER * buffers}};

    (void)state;
    for (uint32_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
        int64_t asked;

        go_to(processors[steps[step].processor]);
        for (uint32_t event = 0; event < steps[step].events; event++) {
            assert_int_equal(writer_log_bytes(writer, FILLING), ERROR_SUCCESS);
        }
        asked = etwas_clock_read(ETWAS_CLOCK_QPC);
        (void)ask(session);
        if (count > 1 && held_by_extra(session) == 0) {
            bool has_all = (int64_t)stream_ns[processors[0]] >= asked - started;

            assert_int_equal(has_all, step < sizeof steps / sizeof steps[0] - 1);
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    stop_session(session, NULL);
}

/*
 * The same events to two sessions, wherever the thread is: the one with more buffers has each at
 * least as long. It is started and logged to first and asked last, which makes its answers no
 * longer.
 */
static void another_buffer_never_makes_a_history_shorter(void **state)
{
    static uint32_t processors[CPU_SETSIZE];
    static uint64_t fewer_ns[MOST_STREAMS];
    etwas_session_options larger = recorder;
    cpu_set_t allowed;
    uint32_t count = list_processors(processors, &allowed);
    etwas_trace_handle session = start_session(NULL, &recorder);
    etwas_trace_handle fewer;
    etwas_trace_handle more;
    struct writer *to_fewer;
    struct writer *to_more;
    uint64_t random = 1;

    (void)state;
    larger.minimum_buffers = query_session(session).MinimumBuffers + ADDED;
    stop_session(session, NULL);
    more = start_session(NULL, &larger);
    fewer = start_session(NULL, &recorder);
    to_more = filler(more, MANY);
    to_fewer = filler(fewer, MANY);
    for (uint32_t event = 0; event < MANY; event++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (random >> 60 == 0) {
            go_to(processors[(random >> 32) % 4 == 0 ? (random >> 40) % count : 0]);
        }
        assert_int_equal(writer_log_bytes(to_more, (uint32_t)(random >> 33) % FILLING),
                         ERROR_SUCCESS);
        assert_int_equal(writer_log_bytes(to_fewer, (uint32_t)(random >> 33) % FILLING),
                         ERROR_SUCCESS);
        if (event % 50 == 0 && held_by_extra(more) == 0 && held_by_extra(fewer) == 0) {
            uint32_t streams = ask(fewer).streams;

            memcpy(fewer_ns, stream_ns, streams * sizeof *fewer_ns);
            assert_int_equal(ask(more).streams, streams);
            for (uint32_t index = 0; index < count; index++) {
                assert_true(stream_ns[processors[index]] >= fewer_ns[processors[index]]);
            }
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    assert_true(counts_of(more).overwritten > 0);
    stop_session(more, NULL);
    stop_session(fewer, NULL);
}

static void only_a_running_recorder_has_a_gauge(void **state)
{
    const etwas_session_options other = {.buffer_size_kb = 4};
    etwas_trace_handle session = start_session(NULL, &recorder);
    etwas_trace_handle file = start_session(folder_path("f.etl"), &other);
    etwas_retention retention;

    (void)state;
    assert_int_equal(etwas_retention_query(session, NULL, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_retention_query(session, &retention, NULL, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_retention_query(0, &retention, NULL, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_retention_query(file, &retention, NULL, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_retention_query(session, &retention, NULL, 0), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(file, NULL);
    assert_int_equal(etwas_retention_query(session, &retention, NULL, 0), ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_recorder_that_overwrote_nothing_holds_the_whole_session),
        FOLDER_TEST(the_gauge_says_what_a_snapshot_holds),
        FOLDER_TEST(the_gauge_never_says_more_while_writers_overwrite),
        FOLDER_TEST(idle_processors_leave_all_but_a_buffer_each_to_the_busy_one),
        FOLDER_TEST(a_buffer_that_was_current_for_long_is_held_as_long_as_others),
        FOLDER_TEST(another_buffer_never_makes_a_history_shorter),
        FOLDER_TEST(only_a_running_recorder_has_a_gauge),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
