/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A writer held between any two steps of the shared protocol: nobody waits for it (I5), a flush and a
 * stop get along without it (I6), and every event is accounted for when it goes on (I4).
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "flush/drain.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    AFTER = 5,
    MANY = 5000,
    LATER = 100
};

#define NEVER_NS (UINT64_C(3600) * 1000000000)
#define SOON_NS (UINT64_C(20) * 1000000)

static const enum etwas_testpoint points[] = {
    ETWAS_POINT_RESERVE_LOADED,    ETWAS_POINT_STAMPED,          ETWAS_POINT_RESERVED,
    ETWAS_POINT_WRITTEN,           ETWAS_POINT_MARKED,           ETWAS_POINT_SWITCH_ENTERED,
    ETWAS_POINT_SWITCH_FOUND_FREE, ETWAS_POINT_SWITCH_GREW,      ETWAS_POINT_SWITCH_CLAIMED,
    ETWAS_POINT_SWITCH_NAMED,      ETWAS_POINT_SWITCH_INSTALLED,
};
enum {
    POINTS = sizeof points / sizeof points[0]
};

/* ---- the thread that is held ----------------------------------------------------------------- */

/*
 * Events the held thread logs before the one it is held in: that is number 10, TraceEvent, which goes
 * the general way, or number 13, an instance event that goes the quick way (writer.h).
 */
static const uint32_t befores[] = {10, 13};
enum {
    WAYS = 2
};

struct held {
    enum etwas_testpoint point;
    uint32_t before;
    struct writer *writer;
    pthread_t thread;
    uint64_t last; /* the number of the event during which it is held */
    uint32_t last_code;
    uint32_t then; /* events to log once it goes on */
};

static bool is_on_slow_path(enum etwas_testpoint point)
{
    return point >= ETWAS_POINT_SWITCH_ENTERED;
}

static bool has_reserved(enum etwas_testpoint point)
{
    return point == ETWAS_POINT_RESERVED || point == ETWAS_POINT_WRITTEN ||
           point == ETWAS_POINT_MARKED;
}

static void *held_main(void *argument)
{
    struct held *held = argument;

    for (uint32_t index = 0; index < held->before; index++) {
        (void)writer_log_bytes(held->writer, 40);
    }
    hold_me(held->point);
    /* A switch comes when the buffer is full; anything else with the next event. */
    do {
        held->last = held->writer->attempted;
        held->last_code = writer_log_bytes(held->writer, is_on_slow_path(held->point) ? 1000 : 40);
    } while (is_on_slow_path(held->point) && hold_passed(held->point) == 0);
    for (uint32_t index = 0; index < held->then; index++) {
        (void)writer_log_bytes(held->writer, 40);
    }
    return NULL;
}

/* Starts the thread and waits until it is held. All on one processor, so that everybody shares its slot. */
static void hold_one(struct held *held, etwas_trace_handle session, enum etwas_testpoint point,
                     uint32_t before)
{
    hold_count_from_zero();
    *held = (struct held){
        .point = point,
        .before = before,
        .writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 1000}),
        .then = LATER,
    };
    assert_int_equal(pthread_create(&held->thread, NULL, held_main, held), 0);
    hold_wait();
}

static void let_go(struct held *held)
{
    hold_release();
    assert_int_equal(pthread_join(held->thread, NULL), 0);
}

static int setup(void **state)
{
    int code = folder_setup(state);

    stay_on_one_processor();
    return code;
}

static int teardown(void **state)
{
    leave_one_processor();
    etwas_drain_patience_ns = TEST_PATIENCE_NS;
    return folder_teardown(state);
}

/* ---- nobody waits ---------------------------------------------------------------------------- */

static void a_writer_held_at_any_point_delays_nobody_and_loses_nothing(void **state)
{
    (void)state;
    etwas_drain_patience_ns = NEVER_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 4096};
        etwas_trace_handle session = start_shared_session(path, &options);
        etwas_session_counts counts;
        struct writers writers;
        struct held held;

        hold_one(&held, session, point, befores[turn % WAYS]);
        writers_start(&writers, 2,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = MANY,
                                               .largest_payload = 100});
        writers_join(&writers); /* returns only if nobody waits */
        assert_int_equal(writers_totals(session).lost, 0);
        let_go(&held);
        assert_int_equal(held.last_code, ERROR_SUCCESS);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(counts.recorded, writers_totals(session).attempted);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* What the flusher's pass does for the writers: it offers what nobody holds. */
static void offer_what_is_free(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    (void)pthread_mutex_lock(&inside->role);
    etwas_pool_mend_free_set(inside->pool);
    (void)pthread_mutex_unlock(&inside->role);
}

static void a_writer_whose_new_buffer_another_takes_gets_one_more(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;
    uint64_t allocated;

    (void)state;
    hold_one(&held, session, ETWAS_POINT_SWITCH_GREW, 10);
    allocated = counts_of(session).buffers_allocated;
    offer_what_is_free(session);
    /* Two buffers' worth: into the offered one, and through it. */
    for (int number = 0; number < 6; number++) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    assert_int_equal(counts_of(session).buffers_free, 0);
    assert_int_equal(counts_of(session).buffers_allocated, allocated + 1);
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The writer has taken the bit of the last free buffer, and nothing else. */
static void a_free_buffer_is_found_though_a_held_writer_hides_it(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;

    (void)state;
    while (counts_of(session).buffers_free > 1) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    hold_one(&held, session, ETWAS_POINT_SWITCH_FOUND_FREE, 0);
    while (counts_of(session).buffers_free != 0) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    held.then = 0;
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 0);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The writer has brought the last buffer into use, and does not hold it yet. */
static void a_new_buffer_is_found_though_the_writer_that_took_it_is_held(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    etwas_session_counts counts = counts_of(session);
    struct writer *other;
    struct held held;

    (void)state;
    stop_session(session, NULL);
    options.maximum_buffers = (uint32_t)counts.buffers_allocated + 1;
    session = start_shared_session(path, &options);
    other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    hold_one(&held, session, ETWAS_POINT_SWITCH_GREW, 0);
    assert_int_equal(counts_of(session).buffers_allocated, options.maximum_buffers);
    assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).buffers_free, 0);
    held.then = 0;
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 0);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* The session is at its maximum, and nothing is free when it looks. */
static void a_writer_that_found_no_buffer_looks_again_when_its_slot_changed_meanwhile(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    etwas_session_counts counts;
    struct held held;

    (void)state;
    hold_one(&held, session, ETWAS_POINT_SWITCH_FOUND_NONE, 10);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
    let_go(&held);
    assert_int_equal(held.last_code, ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 0);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

/* Few are free. The flusher's pass comes after the claim: too early for the buffer that is full. */
static void the_flusher_is_woken_when_the_full_buffer_can_be_collected(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    struct etwas_pool *pool = inside_of(session)->pool;
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    struct held held;

    (void)state;
    while (counts_of(session).buffers_free > 1) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    hold_one(&held, session, ETWAS_POINT_SWITCH_CLAIMED, 0);
    (void)etwas_pool_begin_pass(pool);
    held.then = 0;
    let_go(&held);
    assert_int_not_equal(ck_ec32_value(&pool->wake), pool->pass_began);
    stop_session(session, NULL);
    writers_forget();
}

/* ---- flush ----------------------------------------------------------------------------------- */

static struct etwas_drain_result drain(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);
    struct etwas_drain_result result;

    (void)pthread_mutex_lock(&inside->role);
    result = etwas_drain(inside, ETWAS_COLLECT_FULL);
    (void)pthread_mutex_unlock(&inside->role);
    return result;
}

/* Its commit wakes nobody: the flusher has to know that it should look again soon. */
static void a_pass_tells_that_full_buffers_wait_for_a_held_writer(void **state)
{
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher.no_thread = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_shared_session(path, &options);
    struct writer *other = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000});
    struct etwas_drain_result result;
    etwas_session_counts counts;
    struct held held;

    (void)state;
    etwas_drain_patience_ns = NEVER_NS;
    hold_one(&held, session, ETWAS_POINT_RESERVED, 1);
    assert_false(drain(session).waits);
    for (int number = 0; number < 9; number++) {
        assert_int_equal(writer_log_bytes(other, 1000), ERROR_SUCCESS);
    }
    result = drain(session);
    assert_int_equal(result.buffers, 0);
    assert_true(result.waits);
    let_go(&held);
    result = drain(session);
    assert_true(result.buffers >= 2);
    assert_false(result.waits);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 0);
    expect_file_is_exact(session, path, &counts);
    writers_forget();
}

struct fate {
    enum etwas_testpoint point;
    uint32_t held_in_file; /* the held event is in the file: its marker was stored */
    uint32_t after_lost;   /* events of the same buffer behind it */
    uint32_t code;         /* what its writer is told */
};

static const struct fate fates[] = {
    {ETWAS_POINT_RESERVED, 0, AFTER, ERROR_NOT_ENOUGH_MEMORY},
    {ETWAS_POINT_WRITTEN, 0, AFTER, ERROR_NOT_ENOUGH_MEMORY},
    /* Whole, and the records behind it too; only the count came too late. */
    {ETWAS_POINT_MARKED, 1, 0, ERROR_NOT_ENOUGH_MEMORY},
};

static void a_flush_gives_up_on_a_held_writer_and_takes_what_is_whole_before_the_hole(void **state)
{
    (void)state;
    etwas_drain_patience_ns = SOON_NS;
    for (size_t turn = 0; turn < WAYS * sizeof fates / sizeof fates[0]; turn++) {
        const struct fate *fate = &fates[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.maximum_buffers = 8, .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_shared_session(path, &options);
        struct writer *other = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 1000});
        etwas_session_counts counts;
        struct readback result;
        struct held held;

        hold_one(&held, session, fate->point, befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_written, 2);
        assert_int_equal(counts.recorded,
                         held.before + fate->held_in_file + AFTER - fate->after_lost);
        /* The buffer is kept aside until its writer is through. */
        assert_int_equal(counts.buffers_allocated - counts.buffers_free, 1);

        let_go(&held);
        assert_int_equal(held.writer->events[held.last].result,
                         fate->code == ERROR_SUCCESS ? WRITER_RECORDED : WRITER_LOST);
        assert_int_equal(held.last_code, fate->code);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_free, counts.buffers_allocated);
        assert_int_equal(counts.lost, 1 - fate->held_in_file + fate->after_lost);
        assert_int_equal(counts.lost_abandoned, counts.lost);
        expect_exact_account(session, &counts);

        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.missing, fate->after_lost);
        assert_int_equal(result.unexpected, fate->held_in_file);
        assert_int_equal(result.events_lost, counts.lost);
        writers_forget();
    }
}

/* Held on the slow path it owes no record: all that is recorded is written, and it goes on as if nothing was. */
static void a_flush_does_not_lose_anything_to_a_writer_held_while_it_changes_buffers(void **state)
{
    (void)state;
    etwas_drain_patience_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
        etwas_trace_handle session;
        etwas_session_counts counts;
        struct writer *other;
        struct held held;

        if (has_reserved(point)) {
            continue;
        }
        session = start_shared_session(path, &options);
        other = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 1000});
        hold_one(&held, session, point, befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        counts = counts_of(session);
        assert_int_equal(counts.recorded, held.last + AFTER);
        let_go(&held);
        assert_int_equal(held.last_code, ERROR_SUCCESS);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* What the last events of a stopped session may have become. */
static bool is_last_code(enum etwas_testpoint point, uint32_t code)
{
    return code == (has_reserved(point) ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_HANDLE);
}

static void a_stop_returns_while_a_writer_is_held_and_counts_it_when_it_goes_on(void **state)
{
    (void)state;
    etwas_drain_patience_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = points[turn / WAYS];
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 64};
        etwas_trace_handle session = start_shared_session(path, &options);
        struct writer *other = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 1000});
        struct etwas_session *inside = inside_of(session);
        struct etwas_pool *pool = inside->pool;
        etwas_session_counts counts;
        struct readback result;
        struct held held;

        hold_one(&held, session, point, befores[turn % WAYS]);
        for (int number = 0; number < AFTER; number++) {
            assert_int_equal(writer_log_bytes(other, 100), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        /* Past the gate a writer keeps the pool alive; before it there is nothing to keep. */
        if (has_reserved(point) || is_on_slow_path(point)) {
            assert_ptr_equal(inside->pool, pool);
        } else {
            assert_null(inside->pool);
        }
        assert_int_equal(writer_log_bytes(other, 8), ERROR_INVALID_HANDLE);
        let_go(&held);
        assert_true(is_last_code(point, held.last_code));
        assert_int_equal(held.writer->refused,
                         LATER + (held.last_code == ERROR_INVALID_HANDLE ? 1 : 0));
        counts = counts_of(session);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.events, counts.recorded);
        writers_forget();
    }
}

/* The place the next session will get: the one longest unused. */
static const struct etwas_session *next_place(void)
{
    const struct etwas_session *next = NULL;

    etwas_control_lock();
    for (int index = 0; index < ETWAS_SESSIONS; index++) {
        const struct etwas_session *place = &etwas_sessions[index];

        if (place->state == ETWAS_SESSION_FREE &&
            (next == NULL || place->freed_at < next->freed_at)) {
            next = place;
        }
    }
    etwas_control_unlock();
    return next;
}

/* Sessions come and go until the next one gets this place. */
static etwas_trace_handle start_in_place(const struct etwas_session *place, const char *path)
{
    const etwas_session_options passing = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4};
    const etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 8, .clock = 2};
    etwas_trace_handle session;

    for (int attempt = 0; attempt < ETWAS_SESSIONS && next_place() != place; attempt++) {
        stop_session(start_shared_session(NULL, &passing), NULL);
    }
    session = start_shared_session(path, &options);
    assert_ptr_equal(inside_of(session), place);
    return session;
}

static void a_held_writer_does_not_touch_a_session_started_later_in_the_same_place(void **state)
{
    (void)state;
    etwas_drain_patience_ns = SOON_NS;
    for (int turn = 0; turn < WAYS * POINTS; turn++) {
        enum etwas_testpoint point = points[turn / WAYS];
        const char *later_path = folder_path("later.etl");
        etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
        struct etwas_session *place = inside_of(session);
        etwas_session_counts counts;
        etwas_trace_handle later;
        struct writer *writer;
        struct held held;

        hold_one(&held, session, point, befores[turn % WAYS]);
        stop_session(session, NULL);
        later = start_in_place(place, later_path);
        writer = writer_new(&(struct writer_options){
            .session = later, .class_handle = writer_class(), .events = 1000});
        /* As far as the held writer saw the old one: but for its epoch the slot's word is the same. */
        for (uint32_t number = 0; number < held.before; number++) {
            assert_int_equal(writer_log_bytes(writer, 40), ERROR_SUCCESS);
        }
        let_go(&held);
        assert_true(is_last_code(point, held.last_code));
        for (int number = 0; number < LATER; number++) {
            assert_int_equal(writer_log_bytes(writer, 50), ERROR_SUCCESS);
        }
        stop_session(later, &counts);
        assert_int_equal(counts.recorded, held.before + LATER);
        expect_nothing_lost(counts);
        expect_file_is_exact(later, later_path, &counts);
        writers_forget();
    }
}

#define HOLD_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void *flush_main(void *session)
{
    return etwas_flush(*(etwas_trace_handle *)session) == ERROR_SUCCESS ? session : NULL;
}

/* False on a machine, or in a group, of one processor. */
static bool move_to_another_processor(int here)
{
    cpu_set_t set;

    leave_one_processor();
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return false;
    }
    CPU_CLR((unsigned)here, &set);
    return CPU_COUNT(&set) != 0 && sched_setaffinity(0, sizeof set, &set) == 0;
}

/*
 * Only the flush drains this session, and it waits for a held writer: were the other processor's
 * buffers not collected meanwhile, its writer would never get many times the pool recorded.
 */
static void a_flush_that_waits_for_a_held_writer_drains_the_other_processors(void **state)
{
    enum {
        ENOUGH = 2000,
        PAYLOAD = 1000
    };
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 1, .flusher.no_thread = true};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    int here = sched_getcpu();
    etwas_session_counts counts;
    struct writer *other;
    struct held held;
    pthread_t thread;
    void *flushed;

    (void)state;
    etwas_drain_patience_ns = NEVER_NS;
    hold_one(&held, session, ETWAS_POINT_RESERVED, 1);
    if (!move_to_another_processor(here)) {
        let_go(&held);
        stop_session(session, NULL);
        skip();
    }
    other = writer_new(&(struct writer_options){.session = session, .largest_payload = PAYLOAD});
    assert_int_equal(pthread_create(&thread, NULL, flush_main, &session), 0);
    while (other->recorded < ENOUGH && other->attempted < other->options.events) {
        if (writer_log_bytes(other, PAYLOAD) != ERROR_SUCCESS) {
            (void)usleep(100);
        }
    }
    assert_int_equal(other->recorded, ENOUGH);
    let_go(&held);
    assert_int_equal(pthread_join(thread, &flushed), 0);
    assert_ptr_equal(flushed, &session);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLD_TEST(a_writer_held_at_any_point_delays_nobody_and_loses_nothing),
        HOLD_TEST(a_writer_whose_new_buffer_another_takes_gets_one_more),
        HOLD_TEST(a_free_buffer_is_found_though_a_held_writer_hides_it),
        HOLD_TEST(a_new_buffer_is_found_though_the_writer_that_took_it_is_held),
        HOLD_TEST(a_writer_that_found_no_buffer_looks_again_when_its_slot_changed_meanwhile),
        HOLD_TEST(the_flusher_is_woken_when_the_full_buffer_can_be_collected),
        HOLD_TEST(a_pass_tells_that_full_buffers_wait_for_a_held_writer),
        HOLD_TEST(a_flush_gives_up_on_a_held_writer_and_takes_what_is_whole_before_the_hole),
        HOLD_TEST(a_flush_does_not_lose_anything_to_a_writer_held_while_it_changes_buffers),
        HOLD_TEST(a_stop_returns_while_a_writer_is_held_and_counts_it_when_it_goes_on),
        HOLD_TEST(a_held_writer_does_not_touch_a_session_started_later_in_the_same_place),
        HOLD_TEST(a_flush_that_waits_for_a_held_writer_drains_the_other_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
