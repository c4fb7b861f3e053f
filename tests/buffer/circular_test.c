/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Buffering mode: the newest events stay, the oldest go, and a snapshot takes nothing away. */
#include <ck_pr.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "buffer/slot.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    MANY = 20000,
    BUFFERS = 12
};

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = BUFFERS};

static void expect_true_and_complete(etwas_trace_handle session, const char *path,
                                     uint64_t expected)
{
    struct readback result;

    walk_back(session, path, true, &result);
    assert_int_equal(result.wrong + result.unexpected, 0);
    assert_int_equal(result.events, expected);
}

/* R74, I4; the newest events are there without a gap. */
static void the_newest_events_stay_and_the_overwritten_are_counted_apart(void **state)
{
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = MANY,
                                                                .largest_payload = 100});
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    while (writer_log(writer) == ERROR_SUCCESS) {
        if (writer->attempted % 4000 == 0) {
            counts = counts_of(session);
            expect_exact_account(session, &counts);
        }
    }
    leave_one_processor();
    assert_int_equal(writer->recorded, MANY);
    counts = counts_of(session);
    expect_nothing_lost(counts);
    assert_true(counts.overwritten > MANY / 2);
    assert_int_equal(query_session(session).EventsLost, 0);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    expect_true_and_complete(session, path, counts.recorded);
    for (uint64_t number = 0; number < MANY; number++) {
        assert_int_equal(writer->events[number].seen, number >= MANY - counts.recorded);
    }
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

static void a_second_snapshot_holds_the_same_history_and_what_came_since(void **state)
{
    const char *first = folder_path("first.etl");
    const char *second = folder_path("second.etl");
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 100, .largest_payload = 100});
    etwas_session_counts counts;

    (void)state;
    for (int index = 0; index < 50; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, first), ERROR_SUCCESS);
    assert_int_equal(etwas_snapshot(session, second), ERROR_SUCCESS);
    expect_true_and_complete(session, first, 50);
    expect_true_and_complete(session, second, 50);
    for (int index = 0; index < 20; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, second), ERROR_SUCCESS);
    expect_true_and_complete(session, first, 50);
    expect_true_and_complete(session, second, 70);
    counts = counts_of(session);
    assert_int_equal(counts.recorded, 70);
    stop_session(session, NULL);
}

/* ---- held ------------------------------------------------------------------------------------ */

struct held {
    struct writer *writer;
    enum etwas_testpoint point;
    uint32_t before; /* events before the one it is held in; 13: that one goes the quick way */
    pthread_t thread;
    uint32_t code;
};

static void *held_main(void *argument)
{
    struct held *held = argument;

    for (uint32_t index = 0; index < held->before; index++) {
        (void)writer_log_bytes(held->writer, 40);
    }
    hold_me(held->point);
    held->code = writer_log_bytes(held->writer, 40);
    return NULL;
}

static void *held_at_first_event(void *argument)
{
    struct held *held = argument;

    hold_me(held->point);
    held->code = writer_log_bytes(held->writer, 40);
    return NULL;
}

/* Shared protocol: the next oldest buffer is taken instead of one with a writer inside. */
static void the_buffer_of_a_held_writer_is_not_used_again_before_it_goes_on(void **state)
{
    static const enum etwas_testpoint points[] = {ETWAS_POINT_RESERVED, ETWAS_POINT_WRITTEN,
                                                  ETWAS_POINT_MARKED};

    (void)state;
    for (size_t turn = 0; turn < 2 * sizeof points / sizeof points[0]; turn++) {
        enum etwas_testpoint point = points[turn / 2];
        const char *path = folder_path("snapshot.etl");
        etwas_trace_handle session = start_shared_session(NULL, &recorder);
        struct held held = {.point = point, .before = turn % 2 == 0 ? 10 : 13};
        struct writer *other = writer_new(&(struct writer_options){.session = session,
                                                                   .class_handle = writer_class(),
                                                                   .events = MANY,
                                                                   .largest_payload = 100});
        etwas_session_counts counts;
        struct readback result;

        stay_on_one_processor();
        hold_count_from_zero();
        held.writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 20});
        assert_int_equal(pthread_create(&held.thread, NULL, held_main, &held), 0);
        hold_wait();
        while (writer_log(other) == ERROR_SUCCESS) {
        }
        leave_one_processor();
        assert_int_equal(other->recorded, MANY);
        /* Older than everything else there is, and still whole. */
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        walk_back(session, path, true, &result);
        /* A marked record is there although its writer does not know yet that it has written it. */
        assert_int_equal(result.wrong, point == ETWAS_POINT_MARKED ? 1 : 0);
        for (uint64_t number = 0; number < held.before; number++) {
            assert_int_equal(held.writer->events[number].seen, 1);
        }
        hold_release();
        assert_int_equal(pthread_join(held.thread, NULL), 0);
        assert_int_equal(held.code, ERROR_SUCCESS);
        counts = counts_of(session);
        expect_exact_account(session, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        expect_true_and_complete(session, path, counts.recorded);
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        writers_forget();
    }
}

struct snapshot_thread {
    etwas_trace_handle session;
    const char *path;
    pthread_t thread;
    uint32_t code;
};

static void *snapshot_main(void *argument)
{
    struct snapshot_thread *snapshot = argument;

    hold_me(ETWAS_POINT_SNAPSHOT_PINNED);
    snapshot->code = etwas_snapshot(snapshot->session, snapshot->path);
    return NULL;
}

/*
 * Newest first. In a shared slot that is the current buffer, which is pinned like any other; in one
 * with restartable sequences the current one is copied, and the one before it is pinned.
 */
static void a_snapshot_that_stands_still_holds_one_buffer_and_nobody_up(void **state)
{
    enum {
        FULL = 4, /* events fill the first buffer, one more begins the second */
        PAYLOAD = (4096 - 72) / FULL / 8 * 8 - 72
    };
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct snapshot_thread snapshot = {.session = session, .path = folder_path("snapshot.etl")};
    struct writer *early = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = FULL + 1});
    struct writer *other = writer_new(&(struct writer_options){.session = session,
                                                               .class_handle = writer_class(),
                                                               .events = MANY,
                                                               .largest_payload = 100});
    uint64_t first_held = sessions_have_sequences() ? 0 : FULL;
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    stay_on_one_processor();
    while (writer_log_bytes(early, PAYLOAD) == ERROR_SUCCESS) {
    }
    hold_count_from_zero();
    assert_int_equal(pthread_create(&snapshot.thread, NULL, snapshot_main, &snapshot), 0);
    hold_wait();
    while (writer_log(other) == ERROR_SUCCESS) {
    }
    leave_one_processor();
    assert_int_equal(other->recorded, MANY);
    hold_release();
    assert_int_equal(pthread_join(snapshot.thread, NULL), 0);
    assert_int_equal(snapshot.code, ERROR_SUCCESS);
    walk_back(session, snapshot.path, true, &result);
    assert_int_equal(result.wrong + result.unexpected, 0);
    /* What was pinned or copied first is whole, however much was overwritten meanwhile. */
    for (uint64_t number = 0; number <= FULL; number++) {
        assert_int_equal(early->events[number].seen, number >= first_held);
    }
    counts = counts_of(session);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

/*
 * Shared protocol: a buffer that a writer has claimed but not yet made current is that writer's
 * alone: a snapshot that pinned it would give it back twice.
 */
static void a_snapshot_leaves_a_claimed_buffer_to_its_writer(void **state)
{
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session = start_shared_session(NULL, &recorder);
    struct held held = {.point = ETWAS_POINT_SWITCH_NAMED};
    struct writer *other = writer_new(&(struct writer_options){.session = session,
                                                               .class_handle = writer_class(),
                                                               .events = MANY,
                                                               .largest_payload = 100});
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    held.writer = writer_new(
        &(struct writer_options){.session = session, .class_handle = writer_class(), .events = 20});
    hold_count_from_zero();
    assert_int_equal(pthread_create(&held.thread, NULL, held_at_first_event, &held), 0);
    hold_wait();
    /* The one buffer in use is another writer's. */
    assert_int_equal(writer_log_bytes(other, 10), ERROR_SUCCESS);
    hold_count_from_zero();
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    assert_int_equal(hold_passed(ETWAS_POINT_SNAPSHOT_PINNED), 1);
    expect_true_and_complete(session, path, 1);
    hold_release();
    assert_int_equal(pthread_join(held.thread, NULL), 0);
    leave_one_processor();
    assert_int_equal(held.code, ERROR_SUCCESS);
    counts = counts_of(session);
    assert_int_equal(counts.buffers_free, counts.buffers_allocated - 1);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2);
}

/* Stopping a recorder consumes nothing and leaves no file behind. */
static void a_recorder_stops_with_exact_counts_while_writers_write(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        etwas_trace_handle session = start_session(NULL, &recorder);
        etwas_session_counts counts;
        struct writers writers;

        writers_start(&writers, 3,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = MANY,
                                               .largest_payload = 500});
        while (counts_of(session).overwritten == 0 && writer_progress(writers.list[0]) < MANY) {
        }
        stop_session(session, &counts);
        writers_join(&writers);
        expect_exact_account(session, &counts);
        counts = counts_of(session);
        expect_exact_account(session, &counts);
        writers_forget();
    }
}

/* For as long under ThreadSanitizer, where an event costs ten times as much. */
enum {
    CROWD = 12,
#ifdef __SANITIZE_THREAD__
    EVENTS_OF_THE_CROWD = 8000
#else
    EVENTS_OF_THE_CROWD = 80000
#endif
};

struct crowd_member {
    etwas_trace_handle session;
    uint64_t recorded;
    uint64_t lost;
};

/* As fast as can be: what is logged does not matter, only what is said of it. */
static void *log_in_a_crowd(void *argument)
{
    struct {
        EVENT_TRACE_HEADER header;
        char payload[1200];
    } event = {.header.Size = sizeof event, .header.Flags = WNODE_FLAG_TRACED_GUID};
    struct crowd_member *member = argument;

    for (int number = 0; number < EVENTS_OF_THE_CROWD; number++) {
        uint32_t code = TraceEvent(member->session, &event.header);

        member->recorded += code == ERROR_SUCCESS;
        member->lost += code == ERROR_NOT_ENOUGH_MEMORY;
    }
    return NULL;
}

/*
 * More writers than buffers that are complete: claims fail and are raced for. No buffer gets two
 * owners, so none is lost from the pool and no event from the accounts.
 */
static void more_writers_than_buffers_lose_events_but_never_a_buffer(void **state)
{
    const etwas_session_options few = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = CROWD};

    (void)state;
    for (int round = 0; round < 3; round++) {
        struct crowd_member members[CROWD] = {{0}};
        etwas_trace_handle session = start_session(NULL, &few);
        struct etwas_session *inside = inside_of(session);
        uint64_t recorded = 0;
        uint64_t lost = 0;
        etwas_session_counts counts;
        pthread_t threads[CROWD];

        for (int index = 0; index < CROWD; index++) {
            members[index].session = session;
            assert_int_equal(pthread_create(&threads[index], NULL, log_in_a_crowd, &members[index]),
                             0);
        }
        for (int index = 0; index < CROWD; index++) {
            assert_int_equal(pthread_join(threads[index], NULL), 0);
            recorded += members[index].recorded;
            lost += members[index].lost;
        }
        assert_int_equal(recorded + lost, CROWD * EVENTS_OF_THE_CROWD);
        stop_session(session, &counts);
        assert_int_equal(counts.recorded + counts.overwritten, recorded);
        assert_int_equal(counts.lost, lost);
        /* Every buffer was quiet, so the pool could be given back. */
        assert_null(inside->buffers.pool);
    }
}

/* ---- finding the oldest (buffer/oldest.c) ------------------------------------------ */

enum {
    HUGE_BUFFERS = 16384,
    EVENTS_A_BUFFER = 4, /* of PAYLOAD_OF_FOUR bytes */
    PAYLOAD_OF_FOUR = (4096 - 72) / EVENTS_A_BUFFER / 8 * 8 - 72
};

static void fill_buffers(struct writer *writer, uint32_t buffers)
{
    for (uint32_t number = 0; number < EVENTS_A_BUFFER * buffers; number++) {
        assert_int_equal(writer_log_bytes(writer, PAYLOAD_OF_FOUR), ERROR_SUCCESS);
    }
}

/*
 * Protects all owner words behind the page of `buffer`. The first ones stay readable: the check
 * whether the pool is valid reads them.
 */
static void protect_owners(const struct etwas_pool *pool, uint32_t buffer, int protection)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)pool->owners;
    char *behind = first + (buffer * sizeof(uint64_t) / page + 1) * page;
    char *end = first + pool->layout.capacity * sizeof(uint64_t) / page * page;

    assert_int_equal((uintptr_t)first % page, 0);
    assert_int_equal(mprotect(behind, (size_t)(end - behind), protection), 0);
}

/*
 * A recorder that has wrapped takes its oldest buffer without looking at the others: their owner
 * words cannot be read meanwhile.
 */
static void a_switch_looks_at_few_buffers_of_many(void **state)
{
    const etwas_session_options huge = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                        .buffer_size_kb = 4,
                                        .minimum_buffers = HUGE_BUFFERS,
                                        .maximum_buffers = HUGE_BUFFERS,
                                        .flusher.no_thread = true};
    etwas_trace_handle session = start_session(NULL, &huge);
    struct etwas_pool *pool = inside_of(session)->buffers.pool;
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = EVENTS_A_BUFFER * 3 * HUGE_BUFFERS});
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    fill_buffers(writer, HUGE_BUFFERS + 1000);
    protect_owners(pool, 1000, PROT_NONE);
    fill_buffers(writer, 20);
    protect_owners(pool, 1000, PROT_READ | PROT_WRITE);
    fill_buffers(writer, 20);
    leave_one_processor();
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.overwritten,
                     EVENTS_A_BUFFER * (HUGE_BUFFERS + 1000 + 40));
    expect_nothing_lost(counts);
}

/*
 * Hints are only candidates: whatever they say, left by a writer of the session before too, the
 * recorder goes on and its account is exact.
 */
static void a_hint_that_says_anything_costs_no_event(void **state)
{
    const char *path = folder_path("snapshot.etl");
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct etwas_pool *pool = inside_of(session)->buffers.pool;
    const uint32_t candidates = ETWAS_OLDEST_KINDS * pool->layout.level_at[pool->layout.levels];
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = EVENTS_A_BUFFER * 40 * BUFFERS});
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    for (uint32_t turn = 0; turn < 3 * BUFFERS; turn++) {
        fill_buffers(writer, turn % 7 + BUFFERS / 2);
        for (uint32_t candidate = 0; candidate < candidates; candidate++) {
            ck_pr_store_64(&pool->candidates[candidate],
                           turn % 4 == 0 ? UINT64_MAX - turn : turn / 2);
        }
    }
    leave_one_processor();
    counts = counts_of(session);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    expect_true_and_complete(session, path, counts.recorded);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_newest_events_stay_and_the_overwritten_are_counted_apart),
        FOLDER_TEST(a_second_snapshot_holds_the_same_history_and_what_came_since),
        FOLDER_TEST(the_buffer_of_a_held_writer_is_not_used_again_before_it_goes_on),
        FOLDER_TEST(a_snapshot_that_stands_still_holds_one_buffer_and_nobody_up),
        FOLDER_TEST(a_snapshot_leaves_a_claimed_buffer_to_its_writer),
        FOLDER_TEST(a_recorder_stops_with_exact_counts_while_writers_write),
        FOLDER_TEST(more_writers_than_buffers_lose_events_but_never_a_buffer),
        FOLDER_TEST(a_switch_looks_at_few_buffers_of_many),
        FOLDER_TEST(a_hint_that_says_anything_costs_no_event),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
